//! How a failing run says why.

use super::determinism::difference;
use super::error_object::error_object;
use super::{NO_FAILURE, declare_failure, declare_success, display_exit, exit_check};
use crate::catalogue::Derived;
use crate::judge::context::{Accepted, CheckContext};
use crate::judge::lines::has_words;
use crate::judge::run_view::RunView;
use crate::judge::shape::Shape;
use crate::judge::verdict::{Assertion, Judgement, Reason, Unmet, inconclusive};
use crate::model::{CheckId, OutputFormat, Stream, Variant};
use crate::probe::Probe;
use crate::run::Bytes;
use strict_json::{Problem, ProblemKind};

/// `p2-stderr-diagnostics`
pub fn diagnostics(context: &CheckContext) -> Judgement {
    let assertions = failing(context).flat_map(|run| unless_stumbled(&run, |run| vec![diagnosed(run)]));
    Judgement::of(assertions.chain(not_shown(context, &OutputFormat::ALL)), declare_failure(""))
}

/// `p2-error-json`
pub fn error_json(context: &CheckContext) -> Judgement {
    let assertions = failing(context)
        .filter(|run| run.format().is_json())
        .flat_map(|run| unless_stumbled(&run, error_object));
    let not_shown = not_shown(context, &[OutputFormat::Json, OutputFormat::Jsonl]);
    Judgement::of(assertions.chain(not_shown), declare_failure("json or jsonl"))
}

/// A wrong call shows how the arguments are read, and nothing of how the target's own work fails: that takes a
/// declared probe, in each of these formats that the target gives data in.
fn not_shown(context: &CheckContext, formats: &[OutputFormat]) -> Option<Assertion> {
    let fails_in = |format| {
        let mut declared = context.failures().filter(|probe| probe.is_declared());
        declared.any(|probe| context.plain(probe, format).is_some())
    };
    let gives_data_in = |format: &OutputFormat| {
        !matches!(context.accepted(*format), Accepted::No(_))
            && context.data_probes().any(|probe| probe.formats.contains(format))
    };
    let given: Vec<OutputFormat> = formats.iter().copied().filter(gives_data_in).collect();
    let open: Vec<&str> = match given.is_empty() {
        true if formats.iter().any(|format| fails_in(*format)) => Vec::new(),
        true => formats.iter().map(|format| format.name()).collect(),
        false => given.into_iter().filter(|format| !fails_in(*format)).map(OutputFormat::name).collect(),
    };
    let fails = context.declared().any(|probe| !probe.gives_data());
    (!open.is_empty()).then(|| match fails {
        true => inconclusive(format!(
            "no probe fails in {}: {}",
            open.join(", "),
            declare_failure("these formats")
        )),
        false => inconclusive(NO_FAILURE),
    })
}

/// What a run says, unless it stumbled over the format itself: then it says nothing where a declared probe
/// does.
fn unless_stumbled(run: &RunView, judge: fn(&RunView) -> Vec<Assertion>) -> Vec<Assertion> {
    if !run.stumbles_over_format() {
        let told = |assertion: Assertion| assertion.map_err(|unmet| may_be_an_outcome(run, unmet));
        return judge(run).into_iter().map(told).collect();
    }
    let declared = run
        .context
        .failures()
        .any(|probe| probe.is_declared() && run.context.plain(probe, run.format()).is_some());
    let asking = run.probe.asking(run.format(), run.context.promises).join(" ");
    if declared {
        return Vec::new();
    }
    let missing = declare_failure("json or jsonl");
    vec![inconclusive(format!("the target accepts `{asking}` only after a command: {missing}"))]
}

impl RunView<'_> {
    /// Whether a derived call that is wrong was refused for its format option and not for what is wrong with
    /// it: programs with commands may accept the option only after one. In text, the message names what is
    /// wrong. Here it does not, and is no JSON, or names the option, which the help of the target does not list.
    pub fn stumbles_over_format(&self) -> bool {
        if self.probe.is_declared() || !self.format().is_json() {
            return false;
        }
        let Some(wrong) = self.probe.args.last() else { return false };
        let promises = self.context.promises;
        let text = self.context.plain(self.probe, OutputFormat::Text);
        let option = self.probe.asking(self.format(), promises).first();
        let names_option = || !promises.global_format && option.is_some_and(|option| self.names(option));
        text.is_some_and(|text| text.names(wrong))
            && !self.names(wrong)
            && (self.document(promises.errors).structural().is_some() || names_option())
    }
}

/// Plain runs of the probes that are expected to fail. A wrong call of ours that does not says nothing about
/// how failures are told: an unknown command may be data, and of a flag that is ignored it is enough where
/// nothing else is seen.
fn failing<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = RunView<'a>> {
    let declared = context.failures().any(Probe::is_declared);
    let counts = move |run: &RunView| {
        let failed = run.exit().is_some_and(|exit| exit != 0);
        failed || run.probe.is_declared() || !declared && !run.probe.is(Derived::UnknownCommand)
    };
    context
        .failures()
        .flat_map(|probe| OutputFormat::ALL.into_iter().map(move |format| (probe, format)))
        .filter_map(|(probe, format)| context.run(probe, format, Variant::Plain, 0))
        .filter(counts)
        // Without a flag, which is what a derived probe has for text, another format may come.
        .filter(|run| {
            let text = context.promises.default_format == OutputFormat::Text;
            text || run.format().is_json() || run.probe.is_declared()
        })
}

/// What is wrong with a failing run, with what to declare if it is no failure: when it printed a whole document,
/// or whole records, in the shape that a successful run has.
fn may_be_an_outcome(run: &RunView, unmet: Unmet) -> Unmet {
    let Unmet::Failed(mut finding) = unmet else { return unmet };
    let context = run.context;
    let like_data = [OutputFormat::Json, OutputFormat::Jsonl].into_iter().any(|format| {
        let Some(failed) = context.plain(run.probe, format).filter(RunView::has_values) else { return false };
        let data = context.data_probes().filter_map(|probe| context.plain(probe, format));
        let mut data = data.filter(|data| data.gave_data() && data.has_values());
        data.any(|data| is_like(&data.scan().shape, &failed.scan().shape))
    });
    if let Some(exit) = run.exit().filter(|_| like_data && run.probe.is_declared()) {
        let hint = format!(
            "; its JSON output has the shape of a success: if exit code {exit} is an outcome and not an error, declare `result = true` for `{}`",
            run.probe.name
        );
        finding.message.push_str(&hint);
        finding.evidence.detail.push_str(&hint);
    }
    Unmet::Failed(finding)
}

/// Whether a value has the shape of data, with all keys that are always there in it.
fn is_like(data: &Shape, value: &Shape) -> bool {
    let mut always = data.keys.iter().filter(|(_, member)| member.count() == data.objects());
    difference(data, value).is_none() && always.all(|(key, _)| value.keys.contains_key(key))
}

/// Why a run says nothing about how failures are told.
pub(super) fn unusable(run: &RunView) -> Option<Reason> {
    match run.exit() {
        None => run.unusable(),
        Some(0) => {
            let check = exit_check(run.context.promises, run.probe);
            Some(run.blocked_by(check, format!("{} did not fail", run.label())))
        }
        Some(_) => match (run.context.accepted(run.format()), run.probe.is_declared()) {
            (Accepted::Yes, _) | (Accepted::Unknown, true) => None,
            (Accepted::No(_), true) => Some(run.refused_format()),
            (accepted, false) => Some(Reason {
                message: format!(
                    "no declared probe shows that the target supports formats: {}",
                    declare_success("")
                ),
                blocked_by: matches!(accepted, Accepted::No(_)).then(|| run.cause(CheckId::P2OutputFormat)),
                ..Reason::default()
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
        return match misplaced(run) {
            Some(Misplaced { problem, is_prose: true }) if run.context.promises.errors == Stream::Stderr => {
                let detail = match stderr.is_empty() || repeats(run) {
                    true => {
                        "a failing run prints text to stdout; expected its diagnostics on stderr".to_owned()
                    }
                    false => format!(
                        "a failing run prints text to stdout in addition to its error on stderr; {SILENT}"
                    ),
                };
                let lines = run.lines(Stream::Stdout).unwrap_or_default();
                let at = problem.at.line as usize - 1;
                // A frame around the words says nothing.
                match (at..lines.len()).find(|line| has_words(&lines[*line])) {
                    Some(line) if line != at => {
                        run.failed_at_line("prose-on-stdout", Stream::Stdout, line, detail)
                    }
                    _ => run.failed_at("prose-on-stdout", Stream::Stdout, problem.at, detail),
                }
            }
            _ => Ok(()),
        };
    }
    if stderr.is_empty() {
        return if stdout.is_empty() {
            run.failed_at_reason(
                "silent",
                Stream::Stderr,
                format!(
                    "exit code {} without a reason; expected a message on stderr",
                    display_exit(run.exit())
                ),
            )
        } else {
            let detail = "a failing run reports its reason on stdout; expected it on stderr";
            run.failed_at_reason("on-stdout", Stream::Stdout, detail)
        };
    }
    let (Some(said), Some(out)) = (run.lines(Stream::Stderr), run.lines(Stream::Stdout)) else {
        return inconclusive(format!("the output of {} is too large to compare", run.label()));
    };
    match out.iter().position(|line| is_repeated(line, &said)) {
        Some(line) => {
            let detail = "a line of the diagnostics is on stdout as well; expected it only on stderr";
            run.failed_at_line("repeated-on-stdout", Stream::Stdout, line, detail)
        }
        None => Ok(()),
    }
}

/// Whether a line of words is on the other stream as well.
fn is_repeated(line: &str, said: &[String]) -> bool {
    line.trim().len() > 3 && has_words(line) && said.iter().any(|said| said == line)
}

/// Whether all words on stdout are on stderr as well.
pub(super) fn repeats(run: &RunView) -> bool {
    let (Some(out), Some(said)) = (run.lines(Stream::Stdout), run.lines(Stream::Stderr)) else {
        return false;
    };
    out.iter().filter(|line| has_words(line)).all(|line| is_repeated(line, &said))
}

/// What to do about text beside an error object.
pub(super) const SILENT: &str = "in JSON modes, progress and log lines have to be silent";

/// What a failing run has on standard output and should not have, in a JSON mode.
pub(super) struct Misplaced {
    pub(super) problem: Problem,
    /// It is no JSON that is cut or malformed.
    pub(super) is_prose: bool,
}

/// Anything but whole data; white space is nothing.
pub(super) fn misplaced(run: &RunView) -> Option<Misplaced> {
    let scan = run.scan();
    let problem = scan.structural()?.clone();
    // Each record stands for itself, and so does what follows a document.
    let from = match problem.kind {
        ProblemKind::Trailing => problem.at.offset,
        _ if run.format() == OutputFormat::Jsonl => run.line_start(Stream::Stdout, problem.at.line - 1),
        _ => 0,
    };
    let is_prose = !opens_json(run.bytes(Stream::Stdout), from)?;
    Some(Misplaced { problem, is_prose })
}

/// Whether the first word from `offset` on is the beginning of an object or a list, and no word in brackets such
/// as `[error]`; none where there is white space only.
fn opens_json(bytes: &Bytes, offset: u64) -> Option<bool> {
    let mut window = [0; 512];
    let length = bytes.read_at(offset, &mut window).ok()?;
    let text = window[..length].trim_ascii_start();
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let inside = text.get(1..)?;
    let first = inside.trim_ascii_start().first();
    let on_a_line_of_its_own =
        inside.iter().take_while(|byte| byte.is_ascii_whitespace()).any(|byte| *byte == b'\n');
    Some(match text[0] {
        b'{' => first.is_none_or(|byte| b"\"'}".contains(byte)),
        b'[' => first.is_none_or(|byte| b"\"'{[],".contains(byte)) || on_a_line_of_its_own,
        _ => false,
    })
}
