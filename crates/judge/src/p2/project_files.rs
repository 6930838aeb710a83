//! Evidence from the files of the target's project, and the check of the JSON Schema in its repository.

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

/// Maximum number of schema files that are compared with the printed schema one by one. If there are more, only their
/// number is reported.
const MAX_COMPARED: usize = 3;
/// Maximum number of bytes of the help that are read.
const MAX_HELP: u64 = 1 << 20;

/// The evidence for `p2-exit-documented` and `p2-schema-file`: project files, manual page, help and printed schema.
pub struct ProjectEvidence<'a> {
    /// README and schema files of the target's project; `None` if there is no project.
    pub project: Option<&'a ProjectDocuments>,
    /// Manual page of the target as plain text; `None` if there is none or it was not read.
    pub manual: Option<&'a ProjectDocument>,
    /// Help that the target printed; `None` if it was not run or did not end.
    pub help: Option<Help<'a>>,
    /// True if this check does not run the target, so that no help is available.
    pub no_runs: bool,
    /// Exit codes that have to be documented.
    pub exit_codes: Vec<i32>,
    /// JSON Schema that the target prints; `None` if it prints none or the schema could not be read.
    pub printed: Option<Value>,
}

/// The help that a target printed.
pub struct Help<'a> {
    /// Name of the probe that printed the help.
    pub probe: &'a str,
    /// Command line of the call; `None` if it was not recorded.
    pub argv: Option<String>,
    /// Stream to which the help was printed.
    pub stream: Stream,
    /// Text of the help, cut after 1 MiB.
    pub text: String,
}

impl<'a> ProjectEvidence<'a> {
    pub(super) fn collect(context: &'a CheckContext<'a>) -> Self {
        let help = context.derived_probes(DerivedKind::Help).find_map(|probe| {
            let run = context.plain_run(probe, OutputFormat::Text)?;
            run.exit()?;
            let empty = run.observation.stdout.bytes.is_empty();
            let stream = if empty { Stream::Stderr } else { Stream::Stdout };
            let mut text = Vec::new();
            run.bytes(stream).reader().take(MAX_HELP).read_to_end(&mut text).ok()?;
            let argv = run.observation.command_line();
            Some(Help { probe: &probe.name, argv, stream, text: sanitize::lossless(&text).into_owned() })
        });
        let printed = context.derived_probes(DerivedKind::Schema).find_map(|probe| {
            let run = context.plain_run(probe, OutputFormat::Json)?;
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

/// Returns the declared exit codes of the target. If none are declared, returns 0 and the exit codes that the declared
/// probes expect.
fn expected_exit_codes(context: &CheckContext) -> Vec<i32> {
    let profile = context.profile;
    if profile.conventions.exit_codes_declared {
        return profile.conventions.exit_codes.clone();
    }
    let declared =
        context.probes.iter().copied().filter(|probe| probe.is_declared()).filter_map(|probe| probe.exit);
    let codes: BTreeSet<i32> = [0].into_iter().chain(declared).collect();
    codes.into_iter().collect()
}

impl ProjectEvidence<'_> {
    /// Judges `p2-schema-file`: the repository contains a valid JSON Schema of the output, equal to the printed one.
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
            match parsed.and_then(|schema| schema_error(&schema).map_or(Ok(schema), Err)) {
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

/// Returns why a document is not a valid JSON Schema. `None` if it is valid, or if it refers to another document and
/// therefore cannot be validated.
fn schema_error(schema: &Value) -> Option<String> {
    match schemas::compile(schema) {
        Err(SchemaError::Invalid(error)) => Some(error),
        Ok(_) | Err(SchemaError::ExternalReference(_)) => None,
    }
}

fn not_a_schema(file: &str, error: &str) -> Finding {
    finding("invalid", file, format!("the file is not a valid JSON Schema: {error}"))
}

/// Judges a schema file that equals the schema that the target prints. Passes if the schema is valid.
fn equals_printed(file: &str, schema: &Value) -> Judgement {
    match schemas::compile(schema) {
        Err(SchemaError::ExternalReference(other)) => Judgement::unverified(format!(
            "{file} equals the printed schema; it refers to {other}, which is not available, so its validity is unknown"
        )),
        Err(SchemaError::Invalid(error)) => Judgement::violated(vec![not_a_schema(file, &error)]),
        Ok(_) => Judgement::Pass(format!("{file} equals the printed schema")),
    }
}

/// Returns unverified, because the target's printed schema is unknown. `valid` contains the valid schema files of the
/// repository, each as name and content.
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

/// Returns findings for schema files that all differ from the schema that the target prints. `valid` contains the name
/// and the content of each file.
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

/// Returns the JSON pointer of the first difference between `a` and `b`; `None` if they are equal. `pointer` is the
/// JSON pointer of `a` and `b` themselves.
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
