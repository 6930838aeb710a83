//! How a failing run says why.

use super::determinism::ends_early;
use super::{declare_failure, declare_success, display_exit, exit_check};
use crate::judge::context::{Accepted, CheckContext};
use crate::judge::run_view::RunView;
use crate::judge::verdict::{Assertion, Judgement, Reason, inconclusive};
use crate::model::{CheckId, OutputFormat, Stream, Variant};
use serde_json::Value;

/// `p2-stderr-diagnostics`
pub fn diagnostics(context: &CheckContext) -> Judgement {
    Judgement::of(failing(context).filter_map(|run| unless_stumbled(&run, diagnosed)), declare_failure(""))
}

/// `p2-error-json`
pub fn error_json(context: &CheckContext) -> Judgement {
    let assertions = failing(context)
        .filter(|run| run.format().is_json())
        .filter_map(|run| unless_stumbled(&run, error_object));
    Judgement::of(assertions, declare_failure("json or jsonl"))
}

/// What a run says, unless it stumbled over the format itself: then it says nothing where a declared probe
/// does.
fn unless_stumbled(run: &RunView, judge: fn(&RunView) -> Assertion) -> Option<Assertion> {
    if !run.stumbles_over_format() {
        return Some(judge(run));
    }
    let declared = run
        .context
        .failures()
        .any(|probe| probe.is_declared() && run.context.plain(probe, run.format()).is_some());
    let asking = run.context.promises.asking(run.format()).join(" ");
    (!declared).then(|| {
        let missing = declare_failure("json or jsonl");
        inconclusive(format!("the target takes `{asking}` only after a command: {missing}"))
    })
}

impl RunView<'_> {
    /// Whether a derived call that is wrong was refused for its format and not for what is wrong with
    /// it: programs with commands may take the format only after one. In text, the words name what is
    /// wrong; here there are only words, and they do not.
    pub fn stumbles_over_format(&self) -> bool {
        if self.probe.is_declared() || !self.format().is_json() {
            return false;
        }
        let Some(wrong) = self.probe.args.last() else { return false };
        let names = |run: &RunView| {
            let lines = |stream| run.lines(stream).unwrap_or_default();
            [Stream::Stderr, Stream::Stdout]
                .into_iter()
                .any(|stream| lines(stream).iter().any(|line| line.contains(wrong)))
        };
        let text = self.context.plain(self.probe, OutputFormat::Text);
        self.document(self.context.promises.errors).structural().is_some()
            && text.is_some_and(|text| names(&text))
            && !names(self)
    }
}

/// Plain runs of the probes that are expected to fail.
fn failing<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = RunView<'a>> {
    context
        .failures()
        .flat_map(|probe| OutputFormat::ALL.into_iter().map(move |format| (probe, format)))
        .filter_map(|(probe, format)| context.run(probe, format, Variant::Plain, 0))
}

/// Why a run says nothing about how failures are told.
fn unusable(run: &RunView) -> Option<Reason> {
    match run.exit() {
        None => run.unusable(),
        Some(0) => {
            let check = exit_check(run.probe.exit.unwrap_or(1));
            Some(run.blocked_by(check, format!("{} did not fail", run.label())))
        }
        Some(_) => match (run.context.accepted(run.format()), run.probe.is_declared()) {
            (Accepted::Yes, _) | (Accepted::Unknown, true) => None,
            (Accepted::No(_), true) => Some(run.refused_format()),
            (accepted, false) => Some(Reason {
                message: format!(
                    "no declared probe shows that the target has formats: {}",
                    declare_success("")
                ),
                blocked_by: matches!(accepted, Accepted::No(_)).then(|| run.cause(CheckId::P2OutputFormat)),
            }),
        },
    }
}

/// Every format: the reason is on stderr, and nothing of it on stdout. What an error object has to look
/// like is [`error_object`]'s.
fn diagnosed(run: &RunView) -> Assertion {
    let text = run.format() == OutputFormat::Text;
    // In text the words are enough to tell, whatever the formats are.
    if let Some(reason) = unusable(run).filter(|_| !text || run.exit().is_none_or(|exit| exit == 0)) {
        return Err(reason.into());
    }
    let (stdout, stderr) = (run.bytes(Stream::Stdout), run.bytes(Stream::Stderr));
    if !text {
        let prose = !stdout.is_empty() && is_prose(run);
        return if prose && run.context.promises.errors == Stream::Stderr {
            let detail = "a failing run has prose on stdout: expected its diagnostics on stderr";
            run.failed_at_start("prose-on-stdout", Stream::Stdout, detail)
        } else {
            Ok(())
        };
    }
    if stderr.is_empty() {
        return if stdout.is_empty() {
            run.failed_at_start(
                "silent",
                Stream::Stderr,
                format!("exit code {}, and no word why: expected a line on stderr", display_exit(run.exit())),
            )
        } else {
            let detail = "a failing run says why on stdout: expected it on stderr";
            run.failed_at_start("on-stdout", Stream::Stdout, detail)
        };
    }
    let (Some(said), Some(out)) = (run.lines(Stream::Stderr), run.lines(Stream::Stdout)) else {
        return inconclusive(format!("{} prints too much to compare", run.label()));
    };
    let repeated = out.iter().position(|line| line.trim().len() > 3 && said.contains(line));
    match repeated {
        Some(line) => {
            let detail = "a line of the diagnostics stands on stdout as well: expected it on stderr only";
            run.failed_at_line("repeated-on-stdout", Stream::Stdout, line, detail)
        }
        None => Ok(()),
    }
}

/// Whether stdout holds something that is no JSON at all (a cut document is some).
fn is_prose(run: &RunView) -> bool {
    let scan = run.scan();
    scan.structural().is_some_and(|problem| !ends_early(problem.kind))
}

fn error_object(run: &RunView) -> Assertion {
    if let Some(reason) = unusable(run) {
        return Err(reason.into());
    }
    // A contract that says where errors go says what they look like as well.
    if run.context.contract_of(run).is_some_and(|contract| contract.errors().is_some()) {
        return Ok(());
    }
    let channel = run.context.promises.errors;
    let stdout = run.bytes(Stream::Stdout);
    if channel == Stream::Stderr && !stdout.is_empty() {
        if is_prose(run) {
            let what = format!("{} has prose on stdout", run.label());
            return inconclusive(run.blocked_by(CheckId::P2StderrDiagnostics, what));
        }
        if let Some(problem) = run.scan().structural() {
            let detail = format!("a failing run left half a document on stdout: {}", problem.message);
            return run.failed_at("half-document", Stream::Stdout, problem.at, detail);
        }
    }
    if run.bytes(channel).is_empty() {
        return silent(run, channel);
    }
    let scan = run.document(channel);
    if let Some(problem) = scan.structural() {
        let detail = format!("{} is not one JSON object: {}", name(channel), problem.message);
        return run.failed_at("not-json", channel, problem.at, detail);
    }
    let Some(value) = run.value(channel) else {
        return inconclusive(format!("the error of {} is too large to be read", run.label()));
    };
    let Value::Object(object) = value else {
        return run.failed_at_start(
            "not-object",
            channel,
            "the error is not a JSON object: expected `error`, `kind` and `message`",
        );
    };
    let wrong = ["error", "kind", "message"]
        .into_iter()
        .find(|key| object.get(*key).and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()));
    match wrong {
        Some(key) => run.failed_at_start(
            "key-missing",
            channel,
            format!("the error object has no `{key}` that is a non-empty string: expected `error`, `kind` and `message`"),
        ),
        None => Ok(()),
    }
}

/// Nothing on the error channel. When there is no word in text either, that is the root cause.
fn silent(run: &RunView, channel: Stream) -> Assertion {
    let text = run.context.plain(run.probe, OutputFormat::Text);
    if text.is_some_and(|text| {
        text.exit().is_some_and(|exit| exit != 0) && text.bytes(Stream::Stderr).is_empty()
    }) {
        let what = format!("{} says nothing in any format", run.label());
        return inconclusive(run.blocked_by(CheckId::P2StderrDiagnostics, what));
    }
    run.failed_at_start(
        "silent",
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
