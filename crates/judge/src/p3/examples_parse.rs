//! `p3-examples-parse`: the parser of the target accepts the examples in the help pages.

use crate::context::{CheckContext, FormatSupport, RunView};
use crate::kit::{ExampleValidator, InvalidCall, Pages};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CheckId, OutputFormat, Stream};
use agentnative_core::probe::{Probe, UNKNOWN_FLAG};
use std::collections::BTreeSet;

/// Judges `p3-examples-parse`: the parser accepts the examples in the help.
pub(super) fn parse(context: &CheckContext) -> Judgement {
    let pages = match Pages::read(context) {
        Ok(pages) => pages,
        Err(reason) => return Judgement::unverified(reason),
    };
    let examples = ExampleValidator::new(&pages);
    if !pages.judged().any(|page| !page.page.examples.is_empty()) {
        let none = pages.root.run.blocked_by(CheckId::P3Examples, "the help contains no example".to_owned());
        return Judgement::unverified(none);
    }
    let run = |probe| context.plain_run(probe, OutputFormat::Text);
    let (tried, withheld): (Vec<&Probe>, Vec<&Probe>) =
        context.derived_probes(DerivedKind::Example).partition(|probe| run(probe).is_some());
    // Examples are not run if another call shows that the target would execute them.
    let undecided = withheld.first().map(|probe| {
        let what = format!(
            "{} and similar examples would be executed, not rejected: unknown flags are accepted",
            probe.name
        );
        inconclusive(pages.root.run.blocked_by(CheckId::P4UnknownFlag, what))
    });
    let judged = tried.into_iter().filter_map(run).map(|run| judge_run(&run, &examples));
    Judgement::from_assertions(
        judged.chain(undecided),
        "no example can be run: each one is incomplete, or calls a command that no probe calls",
    )
}

fn judge_run(run: &RunView, examples: &ExampleValidator) -> Assertion {
    let context = run.context;
    let args: Vec<String> = run.probe.call.args.iter().filter(|arg| *arg != UNKNOWN_FLAG).cloned().collect();
    if let Some(InvalidCall::Command(_) | InvalidCall::Flag(_)) = examples.find_error(&args) {
        let what = format!("{} is outdated", run.probe.name);
        return inconclusive(run.blocked_by(CheckId::P3ExamplesValid, what));
    }
    if let Some(format) = unsupported_format(context, &args) {
        let what = format!("{} requests {}, which the target does not accept", run.probe.name, format.name());
        return inconclusive(run.blocked_by(CheckId::P2OutputFormat, what));
    }
    let code = run.exited()?;
    let reference = unknown_flag_run(run);
    let lines = error_message_lines(run);
    let flag = UNKNOWN_FLAG.trim_start_matches('-');
    let line = lines.iter().find(|line| line.contains(flag));
    // Words in the target's message for any unknown flag, and arguments that it accepts in the declared call.
    let mut known_words: BTreeSet<String> =
        reference.iter().flat_map(error_message_lines).flat_map(|line| words(&line)).collect();
    known_words
        .extend(context.source_of(run.probe).iter().flat_map(|source| source.call.args.iter().cloned()));
    let is_named = |arg: &&String, line: &str| {
        let name = arg.split('=').next().unwrap_or(arg);
        name.len() > 1 && !known_words.contains(name) && words(line).iter().any(|word| word == name)
    };
    // Besides the flag, a parser may name other unknown words; a line with the whole call names none.
    let named = match line {
        Some(line) => {
            let named: Vec<&String> =
                args.iter().filter(|arg| arg.starts_with('-') && is_named(arg, line)).collect();
            if args.iter().all(|arg| line.contains(arg.as_str())) && args.len() > 1 {
                Vec::new()
            } else {
                named
            }
        }
        None => args.iter().filter(|arg| lines.iter().any(|line| is_named(arg, line))).collect(),
    };
    if let (Some(word), true) =
        (named.first(), line.is_some() || reference.as_ref().is_some_and(|run| run.exit() == Some(code)))
    {
        let detail = format!("the parser rejects `{word}` of {}", run.probe.name);
        return run.failed_at_reason("rejected", Stream::Stderr, detail);
    }
    if line.is_some() {
        return Ok(());
    }
    inconclusive(format!(
        "{} fails before its options are parsed, or its message does not name the unknown flag",
        run.probe.name
    ))
}

/// Returns the output format that the arguments of an example select, if the target does not support this format.
fn unsupported_format(context: &CheckContext, args: &[String]) -> Option<OutputFormat> {
    let is_selected = |format: &OutputFormat| {
        let flag_args = context.profile.format_args(*format);
        !flag_args.is_empty() && args.windows(flag_args.len()).any(|words| words == flag_args)
    };
    let is_rejected = |format: &OutputFormat| matches!(context.format_support(*format), FormatSupport::No(_));
    OutputFormat::ALL.into_iter().find(|format| is_selected(format) && is_rejected(format))
}

/// Returns the run of a declared call with an added unknown flag. It shows how the target rejects the flag in a valid
/// call.
fn unknown_flag_run<'a>(run: &RunView<'a>) -> Option<RunView<'a>> {
    let context = run.context;
    let tried = context.derived_probes(DerivedKind::IgnoredFlag);
    let own = context.source_of(run.probe).into_iter();
    let of_same_probe = own.flat_map(|source| context.derived_from(DerivedKind::IgnoredFlag, source));
    of_same_probe.chain(tried).find_map(|probe| context.plain_run(probe, OutputFormat::Text))
}

/// Returns the lines of an error message. A line that is a JSON object is replaced by the strings in it. The usage is
/// removed, since it lists options.
fn error_message_lines(run: &RunView) -> Vec<String> {
    let lines = Stream::ALL.into_iter().filter_map(|stream| run.lines(stream));
    let message_lines = lines.flatten().flat_map(|line| match serde_json::from_str(&line) {
        Ok(document @ serde_json::Value::Object(_)) => strings(document),
        _ => vec![line],
    });
    message_lines
        .map(|line| {
            let end = line.to_ascii_lowercase().find("usage:");
            line[..end.unwrap_or(line.len())].to_owned()
        })
        .collect()
}

fn strings(value: serde_json::Value) -> Vec<String> {
    use serde_json::Value;
    match value {
        Value::String(text) => text.lines().map(str::to_owned).collect(),
        Value::Array(values) => values.into_iter().flat_map(strings).collect(),
        Value::Object(members) => members.into_iter().flat_map(|(_, value)| strings(value)).collect(),
        _ => Vec::new(),
    }
}

/// Returns the words of a line without surrounding quotes and punctuation; of `--option=value`, only `--option`.
fn words(line: &str) -> Vec<String> {
    let is_around = |char: char| !char.is_alphanumeric() && char != '-';
    line.split_whitespace()
        .map(|word| word.trim_matches(is_around))
        .map(|word| word.split('=').next().unwrap_or(word).to_owned())
        .collect()
}
