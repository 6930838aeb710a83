//! `p3-examples-parse`: the examples in help pages are accepted by the parser.

use crate::context::{Accepted, CheckContext, RunView};
use crate::kit::{Examples, Pages, Wrong};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::catalogue::Derived;
use agentnative_core::model::{CheckId, OutputFormat, Stream};
use agentnative_core::probe::{Probe, UNKNOWN_FLAG};
use std::collections::BTreeSet;

/// `p3-examples-parse`
pub(super) fn parse(context: &CheckContext) -> Judgement {
    let pages = match Pages::read(context) {
        Ok(pages) => pages,
        Err(reason) => return Judgement::unverified(reason),
    };
    let examples = Examples::of(&pages.root, pages.commands.iter().flatten().collect());
    if !examples.pages().any(|page| !page.page.examples.is_empty()) {
        let none = pages.root.run.blocked_by(CheckId::P3Examples, "the help contains no example".to_owned());
        return Judgement::unverified(none);
    }
    let run = |probe| context.plain(probe, OutputFormat::Text);
    let (tried, withheld): (Vec<&Probe>, Vec<&Probe>) =
        context.derived(Derived::Example).partition(|probe| run(probe).is_some());
    // They are not made where another call shows that they would be carried out.
    let open = withheld.first().map(|probe| {
        let what = format!(
            "{} and its like would be carried out, not rejected: unknown flags are accepted",
            probe.name
        );
        inconclusive(pages.root.run.blocked_by(CheckId::P4UnknownFlag, what))
    });
    let judged = tried.into_iter().filter_map(run).map(|run| of_run(&run, &examples));
    Judgement::of(
        judged.chain(open),
        "no example can be tried: each one is incomplete, or calls a command that no probe calls",
    )
}

fn of_run(run: &RunView, examples: &Examples) -> Assertion {
    let context = run.context;
    let args: Vec<String> = run.probe.call.args.iter().filter(|arg| *arg != UNKNOWN_FLAG).cloned().collect();
    if let Some(Wrong::Command(_) | Wrong::Flag(_)) = examples.wrong(&args) {
        let what = format!("{} is outdated", run.probe.name);
        return inconclusive(run.blocked_by(CheckId::P3ExamplesValid, what));
    }
    if let Some(format) = lacking_format(context, &args) {
        let what = format!("{} asks for {}, which the target does not accept", run.probe.name, format.name());
        return inconclusive(run.blocked_by(CheckId::P2OutputFormat, what));
    }
    let code = run.exited()?;
    let reference = reference(run);
    let lines = message(run);
    let flag = UNKNOWN_FLAG.trim_start_matches('-');
    let line = lines.iter().find(|line| line.contains(flag));
    // What the target says of any unknown flag, and what it accepts in the declared call.
    let mut usual: BTreeSet<String> =
        reference.iter().flat_map(message).flat_map(|line| words(&line)).collect();
    usual.extend(context.source_of(run.probe).iter().flat_map(|source| source.call.args.iter().cloned()));
    let is_named = |arg: &&String, line: &str| {
        let name = arg.split('=').next().unwrap_or(arg);
        name.len() > 1 && !usual.contains(name) && words(line).iter().any(|word| word == name)
    };
    // With the flag, parsers may name whatever else they do not know; a line with the whole call names nothing.
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
        "{} fails before its options are parsed, or without a word about the unknown flag",
        run.probe.name
    ))
}

/// The format that an example asks for, if the target does not take it.
fn lacking_format(context: &CheckContext, args: &[String]) -> Option<OutputFormat> {
    let asks = |format: &OutputFormat| {
        let asking = context.profile.asking(*format);
        !asking.is_empty() && args.windows(asking.len()).any(|words| words == asking)
    };
    let refused = |format: &OutputFormat| matches!(context.accepted(*format), Accepted::No(_));
    OutputFormat::ALL.into_iter().find(|format| asks(format) && refused(format))
}

/// The declared call with the unknown flag that shows how the target refuses it.
fn reference<'a>(run: &RunView<'a>) -> Option<RunView<'a>> {
    let context = run.context;
    let tried = context.derived(Derived::IgnoredFlag);
    let own = context.source_of(run.probe).into_iter();
    let of_same = own.flat_map(|source| context.made_from(Derived::IgnoredFlag, source));
    of_same.chain(tried).find_map(|probe| context.plain(probe, OutputFormat::Text))
}

/// The lines that say what is wrong, those in strings of JSON among them; without the usage, which shows options.
fn message(run: &RunView) -> Vec<String> {
    let lines = Stream::ALL.into_iter().filter_map(|stream| run.lines(stream));
    let told = lines.flatten().flat_map(|line| match serde_json::from_str(&line) {
        Ok(document @ serde_json::Value::Object(_)) => strings(document),
        _ => vec![line],
    });
    told.map(|line| {
        let end = line.to_ascii_lowercase().find("usage:");
        line[..end.unwrap_or(line.len())].to_owned()
    })
    .collect()
}

/// The strings in a document.
fn strings(value: serde_json::Value) -> Vec<String> {
    use serde_json::Value;
    match value {
        Value::String(text) => text.lines().map(str::to_owned).collect(),
        Value::Array(values) => values.into_iter().flat_map(strings).collect(),
        Value::Object(members) => members.into_iter().flat_map(|(_, value)| strings(value)).collect(),
        _ => Vec::new(),
    }
}

/// The words of a line, without quotes and punctuation around them.
fn words(line: &str) -> Vec<String> {
    let is_around = |char: char| !char.is_alphanumeric() && char != '-';
    line.split_whitespace()
        .map(|word| word.trim_matches(is_around))
        .map(|word| word.split('=').next().unwrap_or(word).to_owned())
        .collect()
}
