//! What a target offers beside the three formats.

use super::case::{Case, Seen};
use super::scan::Scan;
use super::verdict::{Finding, Judgement, Look};
use super::{DECLARE_DATA, DECLARE_JSON, shown};
use crate::probe::Probe;
use crate::report::catalogue::Derived;
use crate::report::{OutputFormat, Stream};
use agentnative_contract::Schema;

/// `p2-json-alias`
pub fn alias(case: &Case) -> Judgement {
    // A format that no probe runs in may well be one that the target lacks.
    let runs_in = |format: &OutputFormat| {
        case.successes().next().is_none() || case.successes().any(|probe| probe.formats.contains(format))
    };
    let mut formats = [OutputFormat::Json, OutputFormat::Jsonl].into_iter().filter(runs_in);
    if !formats.any(|format| case.promises.default_flag(format)) {
        return Judgement::NotApplicable("the target's formats are not asked for with `--output`".into());
    }
    let looks = case.derived(Derived::Alias).filter_map(|probe| {
        let format = *probe.formats.first()?;
        let declared = case.probes.iter().find(|declared| Some(declared.name.as_str()) == probe.of())?;
        Some(same(&case.plain(probe, format)?, &case.plain(declared, format)?))
    });
    Judgement::of(looks, DECLARE_DATA)
}

fn same(short: &Seen, long: &Seen) -> Look {
    if let Some(reason) = long.unusable() {
        return Look::Unknown(reason);
    }
    let scan: &Scan = &long.scan();
    if scan.structural().is_some() {
        return Look::Unknown(long.not_data());
    }
    if short.exit() != Some(0) {
        let detail =
            format!("exit code {}, and 0 with `--output {}`", shown(short.exit()), short.format().name());
        return Look::Broken(Finding::new(short.start_of(Stream::Stderr, detail)));
    }
    let other = short.scan();
    if other.structural().is_some_and(|problem| super::sameness::ends_early(problem.kind)) {
        return Look::Unknown(format!("{} is cut: see p2-output-complete", short.label()));
    }
    if let Some(problem) = other.structural() {
        return short.broken_at(
            Stream::Stdout,
            problem.at,
            format!("not what `--output` gives: {}", problem.message),
        );
    }
    let repeats = long.case.repeats(long.probe, long.format());
    if repeats.iter().any(|again| super::sameness::difference(&scan.shape, &again.scan().shape).is_some()) {
        return Look::Unknown(format!("{} changes from run to run: see p2-output-stable", long.label()));
    }
    match super::sameness::difference(&scan.shape, &other.shape) {
        Some(difference) => {
            short.broken_at_pointer(&difference.pointer, format!("not what `--output` gives: {difference}"))
        }
        None => Look::Held,
    }
}

/// `p2-more-formats`
pub fn more_formats(case: &Case) -> Judgement {
    offered(case, Derived::MoreFormats, "no format beyond text, json and jsonl was found")
}

/// `p2-raw`
pub fn raw(case: &Case) -> Judgement {
    offered(case, Derived::Raw, "no `--raw` was found")
}

fn offered(case: &Case, kind: Derived, absent: &str) -> Judgement {
    let works = |probe: &&Probe| {
        let seen = case.plain(probe, OutputFormat::Text);
        seen.is_some_and(|seen| seen.exit() == Some(0) && !seen.run.stdout.bytes.is_empty())
    };
    match case.derived(kind).find(works) {
        Some(probe) => Judgement::Pass(format!("offered: {}", probe.name)),
        None => Judgement::NotApplicable(absent.into()),
    }
}

/// `p2-schema-print`
pub fn schema(case: &Case) -> Judgement {
    let printed = case.derived(Derived::Schema).find_map(|probe| case.plain(probe, OutputFormat::Json));
    let Some(printed) = printed else {
        return Judgement::Unverified(
            "how the target prints its schema is not known: declare `schema` under [target]".into(),
        );
    };
    if printed.exit() != Some(0) {
        let detail = format!("the schema command ends with exit code {}", shown(printed.exit()));
        return Judgement::Broken(vec![Finding::new(printed.start_of(Stream::Stderr, detail))]);
    }
    if let Some(problem) = printed.scan().structural() {
        let detail = format!("the schema command does not print JSON: {}", problem.message);
        return Judgement::Broken(vec![Finding::new(printed.at(Stream::Stdout, problem.at, detail))]);
    }
    let Some(document) = printed.value(Stream::Stdout) else {
        return Judgement::Unverified("the printed schema is too large to be read".into());
    };
    let schema = match Schema::compile(&document) {
        Ok(schema) => schema,
        Err(error) => {
            let detail = format!("what the schema command prints is no valid JSON Schema: {}", error.message);
            return Judgement::Broken(vec![Finding::new(printed.start_of(Stream::Stdout, detail))]);
        }
    };
    let looks = case.successes().filter_map(|probe| case.plain(probe, OutputFormat::Json)).map(|seen| {
        if let Some(reason) = seen.unusable() {
            return Look::Unknown(reason);
        }
        if seen.scan().structural().is_some() {
            return Look::Unknown(seen.not_data());
        }
        let Some(value) = seen.value(Stream::Stdout) else {
            return Look::Unknown(format!("{} is too large to be validated here", seen.label()));
        };
        match schema.violations(&value).into_iter().next() {
            Some(violation) => seen.broken_at_pointer(
                &violation.pointer,
                format!("does not validate against the printed schema: {violation}"),
            ),
            None => Look::Held,
        }
    });
    Judgement::of(looks, DECLARE_JSON)
}
