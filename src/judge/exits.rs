//! Exit codes.

use super::case::{Accepted, Case, Seen, exit_check};
use super::verdict::{Finding, Judgement, Look};
use super::{DECLARE, shown};
use crate::probe::Probe;
use crate::report::catalogue::Derived;
use crate::report::{OutputFormat, Stream, Variant};
use crate::run::End;
use serde_json::Value;

/// `p2-exit-success`
pub fn success(case: &Case) -> Judgement {
    code(case, 0, "declare a probe that is expected to succeed")
}

/// `p2-exit-error`: also the codes that are a target's own, which no other check judges.
pub fn error(case: &Case) -> Judgement {
    let declared = || case.probes.iter().filter(|probe| probe.is_declared());
    let ends = declared().filter_map(|probe| {
        let code = probe.exit.filter(|code| exit_check(*code) == "p2-exit-error")?;
        Some(ends_with(case, probe, code))
    });
    let mut looks: Vec<Look> = ends.collect();
    let has_one = case.promises.exit_codes.contains(&1);
    if !has_one && looks.is_empty() {
        return Judgement::NotApplicable("the target says that it has no exit code 1".into());
    }
    if has_one && !declared().any(|probe| probe.exit == Some(1)) {
        looks.push(Look::Unknown("declare a probe with `exit = 1`".into()));
    }
    Judgement::of(looks, DECLARE)
}

/// `p2-exit-usage`
pub fn usage(case: &Case) -> Judgement {
    code(case, 2, "declare a probe with `exit = 2`")
}

/// `p2-exit-auth`
pub fn auth(case: &Case) -> Judgement {
    code(case, 77, "declare a probe with `exit = 77`")
}

/// `p2-exit-config`
pub fn config(case: &Case) -> Judgement {
    code(case, 78, "declare a probe with `exit = 78`")
}

/// Each probe that is expected to end with `code` does so.
fn code(case: &Case, code: i32, missing: &str) -> Judgement {
    if !case.promises.exit_codes.contains(&code) {
        return Judgement::NotApplicable(format!("the target says that it has no exit code {code}"));
    }
    let expected = |probe: &&Probe| probe.exit == Some(code);
    let own = case.probes.iter().filter(expected).filter(|probe| probe.is_declared());
    let derived = case.probes.iter().filter(expected).filter(|probe| is_plain_call(probe));
    let mut looks: Vec<Look> = own.map(|probe| ends_with(case, probe, code)).collect();
    let declared = looks.len();
    looks.extend(derived.map(|probe| ends_with(case, probe, code)));
    if code == 0 {
        let help = case.derived(Derived::Help).filter_map(|probe| case.plain(probe, OutputFormat::Text));
        looks.extend(help.filter_map(|seen| help_given(&seen)));
    }
    // Help and version say nothing about the target's real work.
    if code == 0 && declared == 0 {
        looks.push(Look::Unknown(format!("only help and version were run: {DECLARE}")));
    }
    Judgement::of(looks, missing)
}

/// Whether some call that is wrong did end with the code of a usage error.
pub fn has_usage_code(case: &Case) -> bool {
    let wrong = case.probes.iter().filter(|probe| probe.exit == Some(2));
    wrong.filter_map(|probe| case.plain(probe, OutputFormat::Text)).any(|seen| seen.exit() == Some(2))
}

/// Help that was given is a success. Where there is none on stdout, the target may not know the flag.
fn help_given(seen: &Seen) -> Option<Look> {
    let given = !seen.run.stdout.bytes.is_empty() && seen.run.stderr.bytes.is_empty();
    match seen.exit() {
        Some(exit) if exit != 0 && given => {
            let detail = format!("`--help` is answered, with exit code {exit}: expected 0");
            Some(seen.broken_at_start(Stream::Stdout, detail))
        }
        _ => None,
    }
}

/// A derived probe of the target itself, not a declared one asked in another way.
fn is_plain_call(probe: &Probe) -> bool {
    [Derived::UnknownFlag, Derived::UnknownCommand].into_iter().any(|kind| probe.is(kind))
}

fn ends_with(case: &Case, probe: &Probe, code: i32) -> Look {
    let mut wrong = None;
    let mut right = 0;
    for format in &probe.formats {
        let Some(seen) = case.plain(probe, *format) else { continue };
        // A refused format is a usage error of its own, whatever the probe is expected to do. A derived
        // probe asks for none in text.
        let asks = probe.is_declared() || format.is_json();
        if asks && matches!(case.accepted(*format), Accepted::No(_)) || seen.stumbles_over_format() {
            continue;
        }
        match seen.exit() {
            Some(exit) if exit == code => right += 1,
            Some(_) => wrong = wrong.or(Some(seen)),
            None => return Look::Unknown(seen.unusable().unwrap_or_default()),
        }
    }
    match (wrong, right) {
        (None, 0) => Look::Unknown(format!("{} was run in no format that the target takes", probe.name)),
        (None, _) => Look::Held,
        // The codes of derived probes are compared nowhere else.
        (Some(seen), right) if right == 0 || !probe.is_declared() => {
            let detail = format!("exit code {}, expected {code}", shown(seen.exit()));
            Look::Broken(Finding::new(seen.start_of(Stream::Stderr, detail)))
        }
        (Some(_), _) => Look::Unknown(format!(
            "{} ends with {code} in some formats only: see p2-exit-consistent",
            probe.name
        )),
    }
}

/// `p2-exit-consistent`
pub fn consistent(case: &Case) -> Judgement {
    let declared = || case.probes.iter().filter(|probe| probe.is_declared());
    let signals = case.all().filter_map(|seen| died(&seen));
    let formats = declared().map(|probe| same_code(case, probe));
    let payloads = declared()
        .filter_map(|probe| case.plain(probe, OutputFormat::Json))
        .filter_map(|seen| payload(&seen));
    Judgement::of(signals.chain(formats).chain(payloads), DECLARE)
}

/// Death of a signal that nobody sent. A closed reader is [`super::ending::broken_pipe`]'s.
fn died(seen: &Seen) -> Option<Look> {
    match seen.run.end {
        End::Signaled(signal) if seen.variant() != Variant::ClosedPipe => {
            let detail = format!("died of signal {signal}: expected an exit code");
            Some(Look::Broken(Finding::new(seen.start_of(Stream::Stderr, detail))))
        }
        _ => None,
    }
}

/// The same code in every format and every time.
fn same_code<'a>(case: &'a Case<'a>, probe: &'a Probe) -> Look {
    let runs = case.of(probe).filter(|seen| {
        matches!(seen.variant(), Variant::Plain | Variant::Repeat | Variant::HostileEnv)
            && !matches!(case.accepted(seen.format()), Accepted::No(_))
    });
    let mut first: Option<(Seen, i32)> = None;
    for seen in runs {
        match (seen.exit(), &first) {
            (None, _) => return Look::Unknown(seen.unusable().unwrap_or_default()),
            (Some(exit), None) => first = Some((seen, exit)),
            (Some(exit), Some((other, code))) if exit != *code => {
                let detail = format!("exit code {exit}, but {code} in {}", other.label());
                return seen.broken_at_start(Stream::Stderr, detail);
            }
            _ => {}
        }
    }
    match first {
        Some(_) => Look::Held,
        None => Look::Unknown(format!("{} was run in no format that the target takes", probe.name)),
    }
}

/// The payload's own word on success agrees with the exit code.
fn payload(seen: &Seen) -> Option<Look> {
    // A contract that says which code goes with which payload is p2-contract-exit's.
    if seen.case.contract_of(seen).is_some_and(|contract| !contract.exit_codes().is_empty()) {
        return None;
    }
    let exit = seen.exit()?;
    let value = seen.value(Stream::Stdout)?;
    let (key, ok) = ["ok", "success"]
        .into_iter()
        .find_map(|key| Some((key, value.get(key).and_then(Value::as_bool)?)))?;
    if ok == (exit == 0) {
        return Some(Look::Held);
    }
    let detail = format!("the payload says `\"{key}\": {ok}`, and the exit code is {exit}");
    Some(seen.broken_at_start(Stream::Stdout, detail))
}
