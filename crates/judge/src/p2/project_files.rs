//! The checks of the files around the target: their input, and the schema in the repository.

use super::schemas::{self, SchemaError};
use crate::context::{CheckContext, NO_PROJECT};
use crate::verdict::{Finding, Judgement, Reason};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::facts::{ProjectDocument, ProjectDocuments};
use agentnative_core::model::{BlockedBy, CheckId, Evidence, OutputFormat, Stream};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read as _;
use strict_json::{escape_token, sanitize};

/// Maximum number of schemas that are compared one by one; more are counted.
const MAX_COMPARED: usize = 3;
/// Maximum length of a help text that is read, in bytes.
const MAX_HELP: u64 = 1 << 20;

/// All evidence that these verdicts may rest on.
pub struct ProjectEvidence<'a> {
    /// Files of the project, if there is one.
    pub project: Option<&'a ProjectDocuments>,
    /// Manual page of the target as plain text, if it has one and it was read.
    pub manual: Option<&'a ProjectDocument>,
    /// Help of the target.
    pub help: Option<Help<'a>>,
    /// True if no runs were to be made, so that there is no help.
    pub no_runs: bool,
    /// Exit codes of the target.
    pub exit_codes: Vec<i32>,
    /// Schema that the target prints, if it could be read.
    pub printed: Option<Value>,
}

/// The help of a target.
pub struct Help<'a> {
    /// Name of the probe.
    pub probe: &'a str,
    /// Command line, if it was recorded.
    pub argv: Option<String>,
    /// Stream that it was printed to.
    pub stream: Stream,
    /// Text of the help.
    pub text: String,
}

impl<'a> ProjectEvidence<'a> {
    pub(super) fn collect(context: &'a CheckContext<'a>) -> Self {
        let help = context.derived(DerivedKind::Help).find_map(|probe| {
            let run = context.plain(probe, OutputFormat::Text)?;
            run.exit()?;
            let empty = run.observation.stdout.bytes.is_empty();
            let stream = if empty { Stream::Stderr } else { Stream::Stdout };
            let mut text = Vec::new();
            run.bytes(stream).reader().take(MAX_HELP).read_to_end(&mut text).ok()?;
            let argv = run.observation.command_line();
            Some(Help { probe: &probe.name, argv, stream, text: sanitize::lossless(&text).into_owned() })
        });
        let printed = context.derived(DerivedKind::Schema).find_map(|probe| {
            let run = context.plain(probe, OutputFormat::Json)?;
            if run.exit() == Some(0) { run.value(Stream::Stdout) } else { None }
        });
        let manual = context.manual;
        Self {
            project: context.project.ok(),
            manual,
            help,
            no_runs: context.no_runs,
            exit_codes: expected_exit_codes(context),
            printed,
        }
    }
}

/// Returns the declared exit codes; if there are none, 0 and those of the declared probes.
fn expected_exit_codes(context: &CheckContext) -> Vec<i32> {
    let profile = context.profile;
    if profile.conventions.exit_codes_declared {
        return profile.conventions.exit_codes.clone();
    }
    let declared = context.probes.iter().filter(|probe| probe.is_declared()).filter_map(|probe| probe.exit);
    let codes: BTreeSet<i32> = [0].into_iter().chain(declared).collect();
    codes.into_iter().collect()
}

impl ProjectEvidence<'_> {
    /// `p2-schema-file`
    pub fn schema_file(&self) -> Judgement {
        let Some(project) = self.project else {
            return Judgement::NotApplicable(NO_PROJECT.to_owned());
        };
        let (mut valid, mut wrong, mut of_settings) = (Vec::new(), Vec::new(), Vec::new());
        for ProjectDocument { file, text } in &project.schemas {
            let parsed: Result<Value, String> = serde_json::from_str(text).map_err(|error| error.to_string());
            if let (Some(printed), Ok(schema)) = (&self.printed, &parsed)
                && printed == schema
            {
                return equals_printed(file, schema);
            }
            if schemas::is_for_settings(file, parsed.as_ref().ok()) {
                of_settings.push(file.as_str());
                continue;
            }
            match parsed.and_then(|schema| invalid(&schema).map_or(Ok(schema), Err)) {
                Ok(schema) => valid.push((file.as_str(), schema)),
                Err(error) => wrong.push(not_a_schema(file, &error)),
            }
        }
        if !wrong.is_empty() {
            return Judgement::violated(wrong);
        }
        if valid.is_empty() {
            let others = match &of_settings[..] {
                [] => String::new(),
                files => format!(" of the output (only of settings: {})", files.join(", ")),
            };
            let detail = format!("the repository contains no JSON Schema{others}");
            return Judgement::violated(vec![finding("missing", ".", detail)]);
        }
        match &self.printed {
            None => printed_is_unknown(&valid),
            Some(printed) => Judgement::violated(differences(&valid, printed)),
        }
    }
}

fn finding(kind: &str, file: &str, detail: String) -> Finding {
    Finding::new(kind, Evidence { file: Some(file.to_owned()), detail, ..Evidence::default() })
}

/// Returns why a document is not a valid schema; `None` if it is one, or refers to another document.
fn invalid(schema: &Value) -> Option<String> {
    match schemas::compile(schema) {
        Err(SchemaError::Invalid(error)) => Some(error),
        Ok(_) | Err(SchemaError::ExternalReference(_)) => None,
    }
}

fn not_a_schema(file: &str, error: &str) -> Finding {
    finding("invalid", file, format!("the file is not a valid JSON Schema: {error}"))
}

/// Returns the judgement of a file that equals the printed schema.
fn equals_printed(file: &str, schema: &Value) -> Judgement {
    match schemas::compile(schema) {
        Err(SchemaError::ExternalReference(other)) => Judgement::unverified(format!(
            "{file} equals the printed schema; it refers to {other}, which is not available, so its validity is unknown"
        )),
        Err(SchemaError::Invalid(error)) => Judgement::violated(vec![not_a_schema(file, &error)]),
        Ok(_) => Judgement::Pass(format!("{file} equals the printed schema")),
    }
}

/// Returns the judgement of valid schemas if the printed schema is unknown.
fn printed_is_unknown(valid: &[(&str, Value)]) -> Judgement {
    let found = match valid {
        [(file, _)] => format!("{file} is a valid JSON Schema"),
        several => format!("the repository contains {} valid JSON Schemas", several.len()),
    };
    let cause = CheckId::P2SchemaPrint;
    Judgement::unverified(Reason {
        message: format!(
            "{found}; the printed schema is unknown: declare `schema` under [target], or see {cause}"
        ),
        blocked_by: Some(BlockedBy { id: cause, probe: None, format: None }),
        ..Reason::default()
    })
}

/// Compares valid schemas with the printed one, which none of them equals.
fn differences(valid: &[(&str, Value)], printed: &Value) -> Vec<Finding> {
    if valid.len() > MAX_COMPARED {
        let count = valid.len();
        let detail = format!("none of the {count} JSON Schemas in the repository equals the printed schema");
        return vec![finding("differs", ".", detail)];
    }
    let differ = valid.iter().map(|(file, schema)| {
        let pointer = difference(schema, printed, String::new()).unwrap_or_default();
        let place = if pointer.is_empty() { "at the root".to_owned() } else { format!("at {pointer}") };
        finding("differs", file, format!("the file differs from the printed schema {place}"))
    });
    differ.collect()
}

/// Returns the pointer of the first place where two documents differ.
fn difference(a: &Value, b: &Value, pointer: String) -> Option<String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let pointer = format!("{pointer}/{}", escape_token(key));
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => difference(a, b, pointer),
                    _ => Some(pointer),
                }
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(index, (a, b))| difference(a, b, format!("{pointer}/{index}"))),
        _ => (a != b).then_some(pointer),
    }
}
