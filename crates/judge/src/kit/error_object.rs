//! How a failing run says why: the error object of a JSON mode, and what stands beside it.

use super::exits::{declare_success, exit_check};
use crate::context::{Accepted, RunView};
use crate::lines::has_words;
use crate::verdict::{Assertion, Reason, inconclusive};
use agentnative_core::model::{CheckId, OutputFormat, Stream};
use agentnative_core::run::Bytes;
use serde_json::{Map, Value};
use strict_json::{Problem, ProblemKind};

/// All faults of an error in a JSON mode: what is on stdout, what is around the error object, and what is in it.
pub fn error_object(run: &RunView) -> Vec<Assertion> {
    if let Some(reason) = unusable(run) {
        return vec![Err(reason.into())];
    }
    // A contract that says where errors go says what they look like as well.
    if run.context.contract_of(run).is_some_and(|contract| contract.errors().is_some()) {
        return vec![Ok(())];
    }
    let channel = run.context.profile.conventions.errors;
    let mut found = Vec::new();
    match misplaced(run).filter(|_| channel == Stream::Stderr) {
        Some(Misplaced { is_prose: true, .. }) => {
            let what = format!("{} prints text to stdout", run.label());
            found.push(inconclusive(run.blocked_by(CheckId::P2StderrDiagnostics, what)));
            // An error that is on the wrong stream, or on both, is one fault.
            if run.bytes(channel).is_empty() || repeats(run) {
                return found;
            }
        }
        Some(Misplaced { problem, .. }) => {
            let detail = format!("a failing run printed an invalid document to stdout: {}", problem.message);
            found.push(run.failed_at("half-document", Stream::Stdout, problem.at, detail));
        }
        None => {}
    }
    if run.bytes(channel).is_empty() {
        found.push(silent(run, channel));
        return found;
    }
    let scan = run.document(channel);
    let object = match (scan.structural(), run.value(channel)) {
        (Some(problem), _) => {
            let told = told(run, channel);
            let words = &problem.message;
            let detail = match &told {
                None => format!("{} is not one JSON object with {KEYS}: {words}", channel.name()),
                Some(told) if told.alone => format!("{} is not one JSON object: {words}", channel.name()),
                Some(_) => {
                    format!("{} contains text besides the error object: {words}; {SILENT}", channel.name())
                }
            };
            found.push(run.failed_at("not-json", channel, problem.at, detail));
            told
        }
        (None, Some(Value::Object(object))) => Some(Told { line: None, object, alone: true }),
        (None, Some(_)) => {
            let detail = format!("the error is not a JSON object; expected {KEYS}");
            found.push(run.failed_at_start("not-object", channel, detail));
            None
        }
        (None, None) => {
            found.push(inconclusive(format!("the error of {} is too large to read", run.label())));
            None
        }
    };
    found.extend(object.and_then(|told| keys_missing(run, channel, &told)));
    if found.is_empty() { vec![Ok(())] } else { found }
}

/// What an error object holds.
const KEYS: &str = "`error`, `kind` and `message`";
/// In more text than this no error object is looked for, in bytes.
const MANY_WORDS: u64 = 16 << 10;

/// An error object in a stream.
struct Told {
    /// The line that it begins, from 0; none where it is the stream.
    line: Option<usize>,
    object: Map<String, Value>,
    /// Nothing but JSON objects is in the stream.
    alone: bool,
}

/// The error object among other text: of those that begin a line the first that has a key of an error, else the
/// last.
fn told(run: &RunView, channel: Stream) -> Option<Told> {
    let lines = run.lines(channel).filter(|_| run.bytes(channel).len() <= MANY_WORDS)?;
    let (mut objects, mut alone, mut at) = (Vec::new(), true, 0);
    while at < lines.len() {
        let opens = lines[at].trim_start().starts_with('{');
        let rest = if opens { lines[at..].join("\n") } else { String::new() };
        let mut values = serde_json::Deserializer::from_str(&rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(object))) => {
                let (whole, behind) = rest.split_at(values.byte_offset());
                alone &= behind.lines().next().is_none_or(|rest| rest.trim().is_empty());
                objects.push((at, object));
                at += whole.trim_end().lines().count().max(1);
            }
            _ => {
                alone &= lines[at].trim().is_empty();
                at += 1;
            }
        }
    }
    let is_error = |(_, object): &(usize, Map<String, Value>)| {
        ["error", "kind", "message"].iter().any(|key| object.contains_key(*key))
    };
    let which = objects.iter().position(is_error).or(objects.len().checked_sub(1))?;
    let (line, object) = objects.swap_remove(which);
    Some(Told { line: Some(line), object, alone })
}

/// Returns the keys of an error object that are no non-empty strings in this one.
pub fn lacking_keys(object: &Map<String, Value>) -> impl Iterator<Item = &'static str> {
    let lacks =
        |key: &&str| object.get(*key).and_then(Value::as_str).is_none_or(|text| text.trim().is_empty());
    ["error", "kind", "message"].into_iter().filter(lacks)
}

/// The keys of an error that an object lacks.
fn keys_missing(run: &RunView, channel: Stream, told: &Told) -> Option<Assertion> {
    let missing: Vec<String> = lacking_keys(&told.object).map(|key| format!("`{key}`")).collect();
    let strings = match &missing[..] {
        [] => return None,
        [one] => format!("string {one}"),
        [first @ .., last] => format!("strings {} and {last}", first.join(", ")),
    };
    let detail = format!("the error object has no non-empty {strings}; expected {KEYS}");
    Some(match told.line {
        Some(line) => run.failed_at_line("key-missing", channel, line, detail),
        None => run.failed_at_start("key-missing", channel, detail),
    })
}

/// Nothing on the error channel. When there is no word in text either, that is the root cause.
fn silent(run: &RunView, channel: Stream) -> Assertion {
    let text = run.context.plain(run.probe, OutputFormat::Text);
    if text.is_some_and(|text| {
        text.exit().is_some_and(|exit| exit != 0) && text.bytes(Stream::Stderr).is_empty()
    }) {
        let what = format!("{} prints nothing to stderr in any format", run.label());
        return inconclusive(run.blocked_by(CheckId::P2StderrDiagnostics, what));
    }
    run.failed_at_start(
        "silent",
        channel,
        format!("{} is empty; expected one JSON object with {KEYS}", channel.name()),
    )
}

/// Why a run says nothing about how failures are told.
pub fn unusable(run: &RunView) -> Option<Reason> {
    match run.exit() {
        None => run.unusable(),
        Some(0) => {
            let check = exit_check(run.context.profile, run.probe);
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

/// Whether a line of words is on the other stream as well.
pub fn is_repeated(line: &str, said: &[String]) -> bool {
    line.trim().len() > 3 && has_words(line) && said.iter().any(|said| said == line)
}

/// Whether all words on stdout are on stderr as well.
pub fn repeats(run: &RunView) -> bool {
    let (Some(out), Some(said)) = (run.lines(Stream::Stdout), run.lines(Stream::Stderr)) else {
        return false;
    };
    out.iter().filter(|line| has_words(line)).all(|line| is_repeated(line, &said))
}

/// What to do about text beside an error object.
pub const SILENT: &str = "in JSON modes, progress and log lines have to be silent";

/// What a failing run has on standard output and should not have, in a JSON mode.
pub struct Misplaced {
    pub problem: Problem,
    /// It is no JSON that is cut or malformed.
    pub is_prose: bool,
}

/// Anything but whole data; white space is nothing.
pub fn misplaced(run: &RunView) -> Option<Misplaced> {
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
