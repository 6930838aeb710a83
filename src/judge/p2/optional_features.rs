//! What a target offers beside the three formats.

use super::determinism::{difference, ends_early};
use super::schemas::{self, Refused};
use super::{declare_success, display_exit};
use crate::catalogue::Derived;
use crate::judge::context::CheckContext;
use crate::judge::run_view::RunView;
use crate::judge::verdict::{Assertion, Judgement, inconclusive};
use crate::model::{CheckId, OutputFormat, Stream};
use crate::probe::Probe;

/// `p2-json-alias`
pub fn alias(context: &CheckContext) -> Judgement {
    // A format that no probe runs in may well be one that the target lacks.
    let runs_in = |format: &OutputFormat| {
        context.data_probes().next().is_none()
            || context.data_probes().any(|probe| probe.formats.contains(format))
    };
    let mut formats = [OutputFormat::Json, OutputFormat::Jsonl].into_iter().filter(runs_in);
    if !formats.any(|format| context.promises.default_flag(format)) {
        return Judgement::NotApplicable("the target's formats are not asked for with `--output`".into());
    }
    let assertions = context.derived(Derived::Alias).filter_map(|probe| {
        let format = *probe.formats.first()?;
        Some(same(&context.plain(probe, format)?, &context.plain(context.source_of(probe)?, format)?))
    });
    Judgement::of(assertions, declare_success("json or jsonl"))
}

fn same(short: &RunView, long: &RunView) -> Assertion {
    let scan = long.parsed()?;
    if short.exit() != long.exit() {
        let detail = format!(
            "exit code {}, and {} with `--output {}`",
            display_exit(short.exit()),
            display_exit(long.exit()),
            short.format().name()
        );
        return short.failed_at_reason("refused", Stream::Stderr, detail);
    }
    let other = short.scan();
    if other.structural().is_some_and(|problem| ends_early(problem.kind)) {
        return Err(short.cut().into());
    }
    if let Some(problem) = other.structural() {
        return short.failed_at(
            "differs",
            Stream::Stdout,
            problem.at,
            format!("not what `--output` gives: {}", problem.message),
        );
    }
    let repeats = long.context.repeats(long.probe, long.format());
    if repeats.iter().any(|again| difference(&scan.shape, &again.scan().shape).is_some()) {
        let what = format!("{} changes from run to run", long.label());
        return Err(long.blocked_by(CheckId::P2OutputStable, what).into());
    }
    match difference(&scan.shape, &other.shape) {
        Some(difference) => {
            let detail = format!("not what `--output` gives: {difference}");
            short.failed_at_pointer("differs", &difference.pointer, detail)
        }
        None => Ok(()),
    }
}

/// `p2-more-formats` and `p2-raw`: a derived probe of this kind is answered.
pub fn offered(context: &CheckContext, kind: Derived) -> Judgement {
    let works = |probe: &&Probe| {
        let expected = context.source_of(probe).and_then(|source| source.exit);
        let run = context
            .plain(probe, OutputFormat::Text)
            .filter(|run| expected.is_some() && run.exit() == expected);
        run.is_some_and(|run| !run.observation.stdout.bytes.is_empty())
    };
    match context.derived(kind).find(works) {
        Some(probe) => Judgement::Pass(format!("offered: {}", probe.name)),
        None if kind == Derived::Raw => Judgement::NotApplicable("no `--raw` was found".into()),
        None => Judgement::NotApplicable("no format beyond text, json and jsonl was found".into()),
    }
}

/// `p2-schema-print`
pub fn schema(context: &CheckContext) -> Judgement {
    let printed = context.derived(Derived::Schema).find_map(|probe| context.plain(probe, OutputFormat::Json));
    let Some(printed) = printed else {
        return Judgement::unverified(
            "how the target prints its schema is not known: declare `schema` under [target]",
        );
    };
    let broken = |assertion| Judgement::of([assertion], "");
    if printed.exit() != Some(0) {
        let detail = format!("the schema command ends with exit code {}", display_exit(printed.exit()));
        return broken(printed.failed_at_reason("fails", Stream::Stderr, detail));
    }
    if let Some(problem) = printed.scan().structural() {
        let detail = format!("the schema command does not print JSON: {}", problem.message);
        return broken(printed.failed_at("not-json", Stream::Stdout, problem.at, detail));
    }
    let Some(document) = printed.value(Stream::Stdout) else {
        return Judgement::unverified("the printed schema is too large to be read");
    };
    let schema = match schemas::compile(&document) {
        Ok(schema) => schema,
        Err(Refused::Elsewhere(other)) => {
            return Judgement::unverified(format!(
                "the printed schema refers to {other}, which is not read: print one that stands alone"
            ));
        }
        Err(Refused::Invalid(error)) => {
            let detail = format!("what the schema command prints is no valid JSON Schema: {error}");
            return broken(printed.failed_at_start("invalid-schema", Stream::Stdout, detail));
        }
    };
    let assertions = context.data_probes().filter_map(|probe| context.plain(probe, OutputFormat::Json)).map(
        |run| -> Assertion {
            run.parsed()?;
            let Some(value) = run.value(Stream::Stdout) else {
                return inconclusive(format!("{} is too large to be validated here", run.label()));
            };
            match schema.violations(&value).into_iter().next() {
                Some(violation) => run.failed_at_pointer(
                    "output-invalid",
                    &violation.pointer,
                    format!("does not validate against the printed schema: {violation}"),
                ),
                None => Ok(()),
            }
        },
    );
    Judgement::of(assertions, declare_success("json"))
}
