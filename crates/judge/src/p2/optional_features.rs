//! Checks of optional features: the flags `--json` and `--jsonl`, and a command that prints the JSON Schema.

use super::schemas::{self, SchemaError};
use crate::context::{CheckContext, RunView};
use crate::kit::{absent_feature, declare_success, difference, display_exit, ends_early, list_first};
use crate::verdict::{Assertion, Finding, Judgement, inconclusive};
use agentnative_contract::{counted, is_schema};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::FormatFlag;
use agentnative_core::model::{CheckId, OutputFormat, Stream};
use serde_json::Value;

/// Judges `p2-json-alias`: `--json` and `--jsonl` are equivalent to `--output json` and `--output jsonl`.
pub fn judge_json_alias(context: &CheckContext) -> Judgement {
    // A format without runs may be one that the target lacks.
    let runs_in = |format: &OutputFormat| {
        context.data_probes().next().is_none()
            || context.data_probes().any(|probe| probe.formats.contains(format))
    };
    let mut formats = [OutputFormat::Json, OutputFormat::Jsonl].into_iter().filter(runs_in);
    let with_output = |format: OutputFormat| {
        let mut probes = context.data_probes().filter(|probe| probe.formats.contains(&format)).peekable();
        match probes.peek() {
            Some(_) => probes.any(|probe| probe.has_output_flag(format, context.profile)),
            None => context.profile.has_output_flag(format),
        }
    };
    if !formats.any(with_output) {
        return Judgement::NotApplicable("the target does not select formats with `--output`".into());
    }
    let assertions = context.derived_probes(DerivedKind::Alias).filter_map(|probe| {
        let format = *probe.formats.first()?;
        Some(same_as_long_option(
            &context.plain_run(probe, format)?,
            &context.plain_run(context.source_of(probe)?, format)?,
        ))
    });
    Judgement::from_assertions(assertions, declare_success("json or jsonl"))
}

fn same_as_long_option(short: &RunView, long: &RunView) -> Assertion {
    let scan = long.parsed()?;
    if short.exit() != long.exit() {
        let detail = format!(
            "exited with {}, expected {} as with `--output {}`",
            display_exit(short.exit()),
            display_exit(long.exit()),
            short.format().name()
        );
        return short.failed_at_reason("refused", Stream::Stderr, detail);
    }
    let other = short.scan();
    if other.first_structural_problem().is_some_and(|problem| ends_early(problem.kind)) {
        return Err(short.truncation_reason().into());
    }
    if let Some(problem) = other.first_structural_problem() {
        return short.failed_at(
            "differs",
            Stream::Stdout,
            problem.position,
            format!("the output differs from that of `--output`: {}", problem.message),
        );
    }
    let repeats = long.context.same_data(long.probe, long.format());
    if repeats.iter().any(|again| difference(&scan.shape, &again.scan().shape).is_some()) {
        let what = format!("the output of {} changes from run to run", long.label());
        return Err(long.blocked_by(CheckId::P2OutputStable, what).into());
    }
    match difference(&scan.shape, &other.shape) {
        Some(difference) => {
            long.context.repeated_runs(long.probe, long.format())?;
            let detail = format!("the output differs from that of `--output`: {difference}");
            short.failed_at_pointer("differs", &difference.pointer, detail)
        }
        None => judge_short_flag(short, long),
    }
}

/// Passes if a short flag such as `--json` has an effect: the call without it prints something else, or the target
/// rejects an unknown flag. Otherwise the target may ignore the short flag.
fn judge_short_flag(short: &RunView, long: &RunView) -> Assertion {
    let context = short.context;
    let text = |probe| context.plain_run(probe, OutputFormat::Text);
    let without_flag = context.without_format(long.probe);
    let without = without_flag
        .map(|without_flag| context.scans.scan(without_flag.bytes(Stream::Stdout), short.format()));
    let has_effect = without.is_some_and(|without| {
        without.first_structural_problem().is_some()
            || difference(&without.shape, &short.scan().shape).is_some()
    });
    let ignored = context
        .derived_probes(DerivedKind::IgnoredFlag)
        .find_map(text)
        .is_some_and(|run| context.source_of(run.probe).is_some_and(|source| source.exit == run.exit()));
    if has_effect || !ignored {
        return Ok(());
    }
    let what = format!(
        "{} prints the same as without a flag, and an unknown flag is accepted: there is no evidence that the target supports it",
        short.label()
    );
    let wrong_calls = context.derived_probes(DerivedKind::UnknownFlag).find_map(text);
    match wrong_calls.filter(|run| run.exit() == Some(0)) {
        Some(run) => Err(run.blocked_by(CheckId::P2ExitUsage, what).into()),
        None => inconclusive(what),
    }
}

/// Members at the top of a document that carry the version of its form.
const VERSION_KEYS: [&str; 6] =
    ["schema_version", "schemaVersion", "format_version", "formatVersion", "apiVersion", "$schema"];

/// Judges `p2-output-version`: each document, or the printed schema, carries a version.
pub fn judge_output_version(context: &CheckContext) -> Judgement {
    let value = |run: RunView| run.value(Stream::Stdout);
    let runs = context.data_probes().filter_map(|probe| context.plain_run(probe, OutputFormat::Json));
    let documents: Vec<Value> = runs.filter(|run| run.parsed().is_ok()).filter_map(value).collect();
    if !documents.is_empty() && documents.iter().all(carries_version) {
        return Judgement::Pass(format!("in {}", counted(documents.len(), "document")));
    }
    let mut schemas = context
        .known_probes(DerivedKind::Schema)
        .filter_map(|probe| context.plain_run(probe, OutputFormat::Json).and_then(value));
    match schemas.any(|schema| !schema["version"].is_null()) {
        true => Judgement::Pass("in the printed schema".to_owned()),
        false => {
            Judgement::NotApplicable("neither the documents nor their schema carry a version".to_owned())
        }
    }
}

/// Returns whether a document carries the version of its form. A `version` beside a `name` is that of what the document
/// describes, such as a package.
fn carries_version(document: &Value) -> bool {
    let is_version = |key: &&str| document[*key].is_string() || document[*key].is_number();
    let is_of_form = document["version"].is_number() || document["name"].is_null() && is_version(&"version");
    VERSION_KEYS.iter().any(is_version) || is_of_form
}

/// Judges `p2-schema-print`: the target prints a valid JSON Schema, and its output validates against it.
pub fn schema(context: &CheckContext) -> Judgement {
    if context.profile.conventions.schema == FormatFlag::Absent {
        let formats = [OutputFormat::Json, OutputFormat::Jsonl];
        return context.judge_without_formats(&formats).unwrap_or_else(|| {
            let remedy = "add a command that prints the JSON Schema of the output, then declare it";
            Judgement::violated(vec![Finding::lacking("schema", remedy)])
        });
    }
    let broken = |assertion| Judgement::from_assertions([assertion], "");
    let printed = context
        .known_probes(DerivedKind::Schema)
        .find_map(|probe| context.plain_run(probe, OutputFormat::Json));
    let Some(printed) = printed else {
        let prints_json = context.profile.known_formats.iter().any(|format| format.is_json());
        let absent = absent_feature(context, DerivedKind::Schema, "names a schema", "prints none", "fails");
        let Some(absent) = absent.filter(|_| prints_json) else {
            return Judgement::unverified(
                "no command that prints the schema is known: declare `schema`, or `false` if there is none (this check then fails: the standard requires it)",
            );
        };
        return broken(absent);
    };
    if printed.exit() != Some(0) {
        let detail = format!("the schema command exits with {}", display_exit(printed.exit()));
        return broken(printed.failed_at_reason("fails", Stream::Stderr, detail));
    }
    if let Some(problem) = printed.scan().first_structural_problem() {
        let detail = format!("the schema command does not print JSON: {}", problem.message);
        return broken(printed.failed_at("not-json", Stream::Stdout, problem.position, detail));
    }
    let Some(document) = printed.value(Stream::Stdout) else {
        return Judgement::unverified("the printed schema is too large to read");
    };
    let schema = match schemas::compile(&document) {
        Ok(schema) => schema,
        Err(SchemaError::ExternalReference(other)) => {
            return Judgement::unverified(format!(
                "the printed schema refers to {other}, which is not available: print a self-contained schema"
            ));
        }
        Err(SchemaError::Invalid(error)) => {
            let detail = format!("the printed schema is not a valid JSON Schema: {error}");
            return broken(printed.failed_at_start("invalid-schema", Stream::Stdout, detail));
        }
    };
    if !is_schema(&document) {
        let detail = "the printed JSON has no JSON Schema keyword; expected a schema";
        return broken(printed.failed_at_start("no-schema", Stream::Stdout, detail));
    }
    let assertions = context
        .data_probes()
        .filter_map(|probe| context.plain_run(probe, OutputFormat::Json))
        .map(|run| -> Assertion {
            run.parsed()?;
            let Some(value) = run.value(Stream::Stdout) else {
                return inconclusive(format!("the output of {} is too large to validate", run.label()));
            };
            let violations = schema.violations(&value);
            let Some(first) = violations.first() else { return Ok(()) };
            let all: Vec<String> = violations.iter().map(ToString::to_string).collect();
            let detail =
                format!("the output does not validate against the printed schema: {}", list_first(&all));
            run.failed_at_pointer("output-invalid", &first.pointer, detail)
        });
    // Records may have any shape: if there are only records, a valid schema is sufficient.
    let has = |format| context.data_probes().any(|probe| probe.formats.contains(&format));
    let only_records = has(OutputFormat::Jsonl) && !has(OutputFormat::Json);
    Judgement::from_assertions(assertions.chain(only_records.then_some(Ok(()))), declare_success("json"))
}
