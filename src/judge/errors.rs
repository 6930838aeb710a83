//! How a failing run says why.

use super::case::{Accepted, Case, Seen};
use super::verdict::{Judgement, Look};
use super::{DECLARE_FAILING, DECLARE_FAILING_DATA};
use crate::report::{OutputFormat, Stream, Variant};
use serde_json::Value;

/// `p2-stderr-diagnostics`
pub fn diagnostics(case: &Case) -> Judgement {
    Judgement::of(failing(case).filter_map(|seen| placed(&seen, diagnosed)), DECLARE_FAILING)
}

/// `p2-error-json`
pub fn error_json(case: &Case) -> Judgement {
    let looks =
        failing(case).filter(|seen| seen.format().is_json()).filter_map(|seen| placed(&seen, error_object));
    Judgement::of(looks, DECLARE_FAILING_DATA)
}

/// The look at a run, unless it stumbled over the format itself: then it is no look where a declared
/// probe gives one.
fn placed(seen: &Seen, look: fn(&Seen) -> Look) -> Option<Look> {
    if !seen.stumbles_over_format() {
        return Some(look(seen));
    }
    let declared = seen
        .case
        .failures()
        .any(|probe| probe.is_declared() && seen.case.plain(probe, seen.format()).is_some());
    let asking = seen.case.promises.asking(seen.format()).join(" ");
    (!declared).then(|| {
        Look::Unknown(format!("the target takes `{asking}` only after a command: {DECLARE_FAILING_DATA}"))
    })
}

impl Seen<'_> {
    /// Whether a derived call that is wrong was refused for its format and not for what is wrong with
    /// it: programs with commands may take the format only after one. In text, the words name what is
    /// wrong; here there are only words, and they do not.
    pub fn stumbles_over_format(&self) -> bool {
        if self.probe.is_declared() || !self.format().is_json() {
            return false;
        }
        let Some(wrong) = self.probe.args.last() else { return false };
        let names = |seen: &Seen| {
            let lines = |stream| seen.lines(stream).unwrap_or_default();
            [Stream::Stderr, Stream::Stdout]
                .into_iter()
                .any(|stream| lines(stream).iter().any(|line| line.contains(wrong)))
        };
        let text = self.case.plain(self.probe, OutputFormat::Text);
        self.document(self.case.promises.errors).structural().is_some()
            && text.is_some_and(|text| names(&text))
            && !names(self)
    }
}

/// Plain runs of the probes that are expected to fail.
fn failing<'a>(case: &'a Case<'a>) -> impl Iterator<Item = Seen<'a>> {
    case.failures()
        .flat_map(|probe| OutputFormat::ALL.into_iter().map(move |format| (probe, format)))
        .filter_map(|(probe, format)| case.seen(probe, format, Variant::Plain, 0))
}

/// Why a run says nothing about how failures are told.
fn unusable(seen: &Seen) -> Option<String> {
    match seen.exit() {
        None => seen.unusable(),
        Some(0) => Some(format!(
            "{} did not fail: see {}",
            seen.label(),
            super::case::exit_check(seen.probe.exit.unwrap_or(1))
        )),
        Some(_)
            if !seen.probe.is_declared() && !matches!(seen.case.accepted(seen.format()), Accepted::Yes) =>
        {
            Some(format!("no declared probe shows that the target has formats: {}", super::DECLARE))
        }
        Some(_) => match seen.case.accepted(seen.format()) {
            Accepted::No(_) => Some(format!(
                "the target does not take the format {}: see p2-output-format",
                seen.format().name()
            )),
            Accepted::Yes | Accepted::Unknown => None,
        },
    }
}

/// Every format: the reason is on stderr, and nothing of it on stdout. What an error object has to look
/// like is [`error_object`]'s.
fn diagnosed(seen: &Seen) -> Look {
    let text = seen.format() == OutputFormat::Text;
    // In text the words are enough to tell, whatever the formats are.
    if let Some(reason) = unusable(seen).filter(|_| !text || seen.exit().is_none_or(|exit| exit == 0)) {
        return Look::Unknown(reason);
    }
    let (stdout, stderr) = (seen.bytes(Stream::Stdout), seen.bytes(Stream::Stderr));
    if !text {
        let prose = !stdout.is_empty() && is_prose(seen);
        return if prose && seen.case.promises.errors == Stream::Stderr {
            let detail = "a failing run has prose on stdout: expected its diagnostics on stderr";
            seen.broken_at_start(Stream::Stdout, detail)
        } else {
            Look::Held
        };
    }
    if stderr.is_empty() {
        return if stdout.is_empty() {
            seen.broken_at_start(
                Stream::Stderr,
                format!(
                    "exit code {}, and no word why: expected a line on stderr",
                    super::shown(seen.exit())
                ),
            )
        } else {
            seen.broken_at_start(Stream::Stdout, "a failing run says why on stdout: expected it on stderr")
        };
    }
    let (Some(said), Some(out)) = (seen.lines(Stream::Stderr), seen.lines(Stream::Stdout)) else {
        return Look::Unknown(format!("{} prints too much to compare", seen.label()));
    };
    let repeated = out.iter().position(|line| line.trim().len() > 3 && said.contains(line));
    match repeated {
        Some(line) => {
            let detail = "a line of the diagnostics stands on stdout as well: expected it on stderr only";
            Look::Broken(super::verdict::Finding::new(seen.at_line(Stream::Stdout, line, detail)))
        }
        None => Look::Held,
    }
}

/// Whether stdout holds something that is no JSON at all (a cut document is some).
fn is_prose(seen: &Seen) -> bool {
    let scan = seen.scan();
    scan.structural().is_some_and(|problem| !super::sameness::ends_early(problem.kind))
}

fn error_object(seen: &Seen) -> Look {
    if let Some(reason) = unusable(seen) {
        return Look::Unknown(reason);
    }
    // A contract that says where errors go says what they look like as well.
    if seen.case.contract_of(seen).is_some_and(|contract| contract.errors().is_some()) {
        return Look::Held;
    }
    let channel = seen.case.promises.errors;
    let stdout = seen.bytes(Stream::Stdout);
    if channel == Stream::Stderr && !stdout.is_empty() {
        if is_prose(seen) {
            return Look::Unknown(format!("{} has prose on stdout: see p2-stderr-diagnostics", seen.label()));
        }
        if let Some(problem) = seen.scan().structural() {
            let detail = format!("a failing run left half a document on stdout: {}", problem.message);
            return seen.broken_at(Stream::Stdout, problem.at, detail);
        }
    }
    if seen.bytes(channel).is_empty() {
        return silent(seen, channel);
    }
    let scan = seen.document(channel);
    if let Some(problem) = scan.structural() {
        let detail = format!("{} is not one JSON object: {}", name(channel), problem.message);
        return seen.broken_at(channel, problem.at, detail);
    }
    let Some(value) = seen.value(channel) else {
        return Look::Unknown(format!("the error of {} is too large to be read", seen.label()));
    };
    let Value::Object(object) = value else {
        return seen.broken_at_start(
            channel,
            "the error is not a JSON object: expected `error`, `kind` and `message`",
        );
    };
    let wrong = ["error", "kind", "message"]
        .into_iter()
        .find(|key| object.get(*key).and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()));
    match wrong {
        Some(key) => seen.broken_at_start(
            channel,
            format!("the error object has no `{key}` that is a non-empty string: expected `error`, `kind` and `message`"),
        ),
        None => Look::Held,
    }
}

/// Nothing on the error channel. When there is no word in text either, that is the root cause.
fn silent(seen: &Seen, channel: Stream) -> Look {
    let text = seen.case.plain(seen.probe, OutputFormat::Text);
    if text.is_some_and(|text| {
        text.exit().is_some_and(|exit| exit != 0) && text.bytes(Stream::Stderr).is_empty()
    }) {
        return Look::Unknown(format!(
            "{} says nothing in any format: see p2-stderr-diagnostics",
            seen.label()
        ));
    }
    seen.broken_at_start(
        channel,
        format!("{} is empty: expected one JSON object with `error`, `kind` and `message`", name(channel)),
    )
}

fn name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    }
}
