//! Contents of new files. The texts to write are empty, so that tests fail until they are filled in.

/// Returns the beginning of a file in `checks/`.
fn check_head(id: &str, principle: u8, order: u16, level: &str, layer: &str) -> String {
    format!(
        r#"id = "{id}"
principle = {principle}
order = {order}
level = "{level}"
layer = "{layer}"
standard = []
title = ""
what = """
"""
why = """
"""
fix = """
"""
"#
    )
}

/// Returns a file in `checks/` for a check of runs.
pub fn check(id: &str, principle: u8, order: u16) -> String {
    check_head(id, principle, order, "must", "behavioral")
        + r#"runs = { formats = ["json"], variants = ["plain"] }

[kinds]

[[example]]
verdict = "pass"
command = "mycli list --output json"
stdout = '''
'''
exit = 0
note = ""

[[example]]
verdict = "fail"
command = "mycli list --output json"
stdout = '''
'''
exit = 0
note = ""
"#
}

/// Returns a file in `checks/` for a check of source code.
pub fn source_check(id: &str, principle: u8, order: u16) -> String {
    check_head(id, principle, order, "should", "source")
        + r#"
[source]

[source.languages.rust]
not_covered = ""

[[source.languages.rust.rule]]
name = "fault"
role = "fault"
words = []
message = ""
rule = '''
rule:
  kind: macro_invocation
'''

[[source.languages.rust.good]]
file = "src/main.rs"
code = '''
'''

[[source.languages.rust.bad]]
file = "src/main.rs"
code = '''
'''
"#
}

/// Returns the module with the logic of a check of runs.
pub fn logic(id: &str, function: &str) -> String {
    format!(
        r#"//! 

use crate::context::CheckContext;
use crate::verdict::{{Assertion, Judgement}};

/// Judges `{id}`.
pub fn {function}(context: &CheckContext) -> Judgement {{
    let assertions = context.data_runs().map(|run| -> Assertion {{
        run.parsed()?;
        Ok(())
    }});
    Judgement::from_assertions(assertions, "")
}}
"#
    )
}

/// Returns the module of the checks of a principle.
pub fn principle(number: u8) -> String {
    format!(
        r"//! The checks of principle {number}.

use super::row::CheckRow;
use agentnative_core::model::CheckId;

pub(super) const CHECKS: &[CheckRow] = &[
];
"
    )
}

/// A target that violates a check, as a script without the violation.
pub const FIXTURE: &str = r#"#!/bin/sh
# 
. "${0%/*}/../../lib/conforming.sh"

main "$@"
"#;

/// The configuration of this target.
pub const FIXTURE_CONFIG: &str = r#"[target]
command = ["./cli"]

[[probe]]
name = "list"
args = ["list"]
"#;

/// Returns a file `contract.toml`.
pub fn contract(name: &str) -> String {
    format!(
        r#"name = "{name}"
title = ""
version = "1"
origin = ""
framing = "document"
schema = "output.schema.json"
"#
    )
}

/// The schema of a contract.
pub const SCHEMA: &str = r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object"
}
"#;

/// The expectations of the examples of a contract, which needs three valid ones.
pub const EXPECTED: &str = r#"[valid]
"least.json" = {}

[invalid]
"no-object.json" = { keyword = "type", at = "" }
"#;

/// Returns a module of a renderer in `src/output/`.
pub fn renderer(name: &str) -> String {
    format!(
        r#"//! 

use super::View;
use agentnative_contract::error::{{Error, Result}};

/// The report as `{name}`.
pub(super) fn render(_view: &View<'_>) -> Result<String> {{
    Err(Error::general("the renderer {name} is not written yet"))
}}
"#
    )
}

/// Returns a rule in `changes.toml`.
pub fn change(id: &str) -> String {
    format!(
        r#"[[rule]]
id = "{id}"
classes = []
title = ""
what = """
"""
why = """
"""

[[rule.example]]
class = "breaking"
back = ""
old = '''{{}}'''
new = '''{{}}'''
"#
    )
}
