//! What comes on standard output: the formats, and that it is data and nothing else.

use super::case::{Accepted, Case, Seen};
use super::verdict::{Finding, Judgement, Look};
use super::{DECLARE, DECLARE_DATA, DECLARE_JSON, DECLARE_JSONL, shown};
use crate::report::catalogue::Derived;
use crate::report::{OutputFormat, Stream, Variant};
use strict_json::ProblemKind;

/// `p2-output-format`
pub fn format(case: &Case) -> Judgement {
    let (mut taken, mut open) = (Vec::new(), Vec::new());
    for format in OutputFormat::ALL {
        match case.accepted(format) {
            Accepted::Yes => taken.push(Look::Held),
            Accepted::No(seen) => taken.push(refused(&seen)),
            Accepted::Unknown => open.push(format.name()),
        }
    }
    if !open.is_empty() {
        taken.push(Look::Unknown(format!("no declared probe succeeded in {}: {DECLARE}", open.join(", "))));
    }
    let default = case.successes().filter_map(|probe| {
        let bare = case.made_from(Derived::NoFormat, probe).next()?;
        Some(default(case.plain(bare, OutputFormat::Text)?, case.plain(probe, OutputFormat::Text)?))
    });
    let invalid = case
        .derived(Derived::InvalidFormat)
        .filter_map(|probe| case.plain(probe, OutputFormat::Text))
        .map(|seen| invalid(&seen));
    Judgement::of(taken.into_iter().chain(default).chain(invalid), DECLARE)
}

fn refused(seen: &Seen) -> Look {
    let asked = seen.case.promises.asking(seen.format()).join(" ");
    let detail = format!("`{asked}` is not accepted: exit code {}, and 0 without it", shown(seen.exit()));
    Look::Broken(Finding::new(seen.start_of(Stream::Stderr, detail)))
}

/// Without a flag the output is that of `text`.
fn default(bare: Seen, text: Seen) -> Look {
    if let Some(reason) = bare.unusable().or_else(|| text.unusable()) {
        return Look::Unknown(reason);
    }
    let (Some(without), Some(with)) = (bare.words(Stream::Stdout), text.words(Stream::Stdout)) else {
        return Look::Unknown(format!("{} prints too much to compare", text.label()));
    };
    let Some(line) = first_difference(&without, &with) else { return Look::Held };
    let again = bare.case.seen(text.probe, OutputFormat::Text, Variant::Repeat, 0);
    if again.and_then(|again| again.words(Stream::Stdout)).is_none_or(|again| again != with) {
        return Look::Unknown(format!("the text of {} changes from run to run", text.label()));
    }
    let detail = "without a flag the output is not that of `text`: this line differs";
    Look::Broken(Finding::new(bare.at_line(Stream::Stdout, line, detail)))
}

fn first_difference(a: &[String], b: &[String]) -> Option<usize> {
    if a == b {
        return None;
    }
    Some(a.iter().zip(b).take_while(|(a, b)| a == b).count())
}

fn invalid(seen: &Seen) -> Look {
    match seen.exit() {
        None => Look::Unknown(seen.unusable().unwrap_or_default()),
        Some(0) => seen.broken_at_start(Stream::Stdout, "an output format that does not exist is accepted: expected a usage error"),
        Some(_) if !seen.run.stdout.bytes.is_empty() => Look::Broken(Finding::new(seen.start_of(
            Stream::Stdout,
            "an output format that does not exist is refused, but with text on stdout: expected nothing there",
        ))),
        // A target without the code 2 at all is p2-exit-usage's.
        Some(exit) if exit != 2 && super::exits::has_usage_code(seen.case) => {
            let detail = format!("an output format that does not exist ends with exit code {exit}: expected 2, a usage error");
            seen.broken_at_start(Stream::Stderr, detail)
        }
        Some(_) => Look::Held,
    }
}

/// `p2-output-json`
pub fn json(case: &Case) -> Judgement {
    parsed(case, OutputFormat::Json, "stdout is not one JSON document", DECLARE_JSON)
}

/// `p2-output-jsonl`
pub fn jsonl(case: &Case) -> Judgement {
    parsed(case, OutputFormat::Jsonl, "stdout is not JSON lines", DECLARE_JSONL)
}

/// Plain runs, and their repetitions: what comes only now and then is found by running again.
fn parsed(case: &Case, format: OutputFormat, what: &str, missing: &str) -> Judgement {
    let runs = case
        .data()
        .filter(|seen| seen.format() == format && matches!(seen.variant(), Variant::Plain | Variant::Repeat));
    let looks = runs.map(|seen| {
        if let Some(reason) = seen.unusable() {
            return Look::Unknown(reason);
        }
        if seen.is_cut() {
            return Look::Unknown(format!("{} is cut: see p2-output-complete", seen.label()));
        }
        let scan = seen.scan();
        if scan.control().is_some() {
            return Look::Unknown(format!("{} holds control bytes: see p2-output-pure", seen.label()));
        }
        match scan.structural() {
            None => Look::Held,
            Some(problem) => Look::Broken(Finding {
                message: format!("{what}: {}", problem.message),
                evidence: seen.at(Stream::Stdout, problem.at, problem.message.clone()),
            }),
        }
    });
    Judgement::of(looks, missing)
}

/// `p2-output-pure`
pub fn pure(case: &Case) -> Judgement {
    let looks = case.data().filter_map(|seen| match seen.variant() {
        Variant::Plain => Some(plainly_pure(&seen)),
        Variant::Tty | Variant::HostileEnv => Some(pure_under(&seen)),
        _ => None,
    });
    Judgement::of(looks, DECLARE_DATA)
}

fn plainly_pure(seen: &Seen) -> Look {
    if let Some(reason) = seen.unusable() {
        return Look::Unknown(reason);
    }
    let scan = seen.scan();
    if let Some(problem) = scan.control() {
        return Look::Broken(Finding {
            message: format!("stdout holds control bytes beside the data: {}", problem.message),
            evidence: seen.at(Stream::Stdout, problem.at, problem.message.clone()),
        });
    }
    match scan.structural() {
        None => Look::Held,
        Some(_) => Look::Unknown(seen.not_data()),
    }
}

/// A run that is data in the plain variant has to be data here as well.
fn pure_under(seen: &Seen) -> Look {
    let Some(plain) = seen.case.plain(seen.probe, seen.format()) else {
        return Look::Unknown(format!("{} has no plain run to be compared with", seen.label()));
    };
    if let Some(reason) = plain.unusable().or_else(|| seen.unusable()) {
        return Look::Unknown(reason);
    }
    let before = plain.scan();
    if before.control().is_some() {
        return Look::Held; // The plain run already says it.
    }
    if before.structural().is_some() {
        return Look::Unknown(plain.not_data());
    }
    let scan = seen.scan();
    let impure = scan.control().or_else(|| scan.structural());
    match impure {
        None => Look::Held,
        Some(problem) if problem.kind == ProblemKind::Truncated && seen.is_cut() => {
            Look::Unknown(format!("{} is cut: see p2-output-complete", seen.label()))
        }
        Some(problem) => Look::Broken(Finding {
            message: format!("under {}, stdout holds more than data: {}", seen.condition(), problem.message),
            evidence: seen.at(Stream::Stdout, problem.at, problem.message.clone()),
        }),
    }
}
