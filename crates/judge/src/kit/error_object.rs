//! How a failing run reports the reason: the error object of a JSON mode, and the text around it.

use super::exits::{declare_success, exit_check};
use crate::context::{FormatSupport, RunView};
use crate::lines::has_words;
use crate::verdict::{Assertion, Reason, inconclusive};
use agentnative_core::model::{CheckId, OutputFormat, Stream};
use agentnative_core::run::Bytes;
use serde_json::{Map, Value};
use strict_json::{Problem, ProblemKind};

/// Judges how a failing run in a JSON format reports its error: stdout, the text around the error object, and the keys
/// of the object. Returns one assertion for each fault, or a single `Ok`.
pub fn error_object(run: &RunView) -> Vec<Assertion> {
    if let Some(reason) = not_a_failure(run) {
        return vec![Err(reason.into())];
    }
    // A contract that declares the channel of errors also declares their form.
    if run.context.contract_of(run).is_some_and(|contract| contract.error_stream().is_some()) {
        return vec![Ok(())];
    }
    let channel = run.context.profile.conventions.errors;
    let mut found = Vec::new();
    match find_invalid_stdout(run).filter(|_| channel == Stream::Stderr) {
        Some(Misplaced { is_prose: true, .. }) => {
            let what = format!("{} prints text to stdout", run.label());
            found.push(inconclusive(run.blocked_by(CheckId::P2StderrDiagnostics, what)));
            // An error on the wrong stream, or on both, is one fault.
            if run.bytes(channel).is_empty() || stderr_repeats_stdout(run) {
                return found;
            }
        }
        Some(Misplaced { problem, .. }) => {
            let detail = format!("a failing run printed an invalid document to stdout: {}", problem.message);
            found.push(run.failed_at("half-document", Stream::Stdout, problem.position, detail));
        }
        None => {}
    }
    if run.bytes(channel).is_empty() {
        found.push(empty_channel(run, channel));
        return found;
    }
    let scan = run.scan_as_document(channel);
    let object = match (scan.first_structural_problem(), run.value(channel)) {
        (Some(problem), _) => {
            let found_object = find_error_object(run, channel);
            let words = &problem.message;
            let detail = match &found_object {
                None => format!("{} is not one JSON object with {KEYS}: {words}", channel.name()),
                Some(object) if object.is_alone => {
                    format!("{} is not one JSON object: {words}", channel.name())
                }
                Some(_) => {
                    format!(
                        "{} contains text in addition to the error object: {words}; {SILENCE_HINT}",
                        channel.name()
                    )
                }
            };
            found.push(run.failed_at("not-json", channel, problem.position, detail));
            found_object
        }
        (None, Some(Value::Object(object))) => Some(ErrorObject { line: None, object, is_alone: true }),
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
    found.extend(object.and_then(|object| keys_missing(run, channel, &object)));
    if found.is_empty() { vec![Ok(())] } else { found }
}

/// Keys of an error object, in words.
const KEYS: &str = "`error`, `kind` and `message`";
/// Maximum length of text that is searched for an error object, in bytes.
const MAX_SEARCHED: u64 = 16 << 10;

struct ErrorObject {
    /// Line at which the object begins, from 0; `None` if the object is the entire stream.
    line: Option<usize>,
    object: Map<String, Value>,
    /// True if the stream contains only JSON objects.
    is_alone: bool,
}

/// Searches a stream with other text for the error object. Each JSON object at the start of a line may be one. Returns
/// the first with a key such as `error`, else the last; `None` if there is no JSON object.
fn find_error_object(run: &RunView, channel: Stream) -> Option<ErrorObject> {
    let lines = run.lines(channel).filter(|_| run.bytes(channel).len() <= MAX_SEARCHED)?;
    let (mut objects, mut is_alone, mut index) = (Vec::new(), true, 0);
    while index < lines.len() {
        let opens = lines[index].trim_start().starts_with('{');
        let rest = if opens { lines[index..].join("\n") } else { String::new() };
        let mut values = serde_json::Deserializer::from_str(&rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(object))) => {
                let (document, tail) = rest.split_at(values.byte_offset());
                is_alone &= tail.lines().next().is_none_or(|rest| rest.trim().is_empty());
                objects.push((index, object));
                index += document.trim_end().lines().count().max(1);
            }
            _ => {
                is_alone &= lines[index].trim().is_empty();
                index += 1;
            }
        }
    }
    let is_error = |(_, object): &(usize, Map<String, Value>)| {
        ["error", "kind", "message"].iter().any(|key| object.contains_key(*key))
    };
    let which = objects.iter().position(is_error).or(objects.len().checked_sub(1))?;
    let (line, object) = objects.swap_remove(which);
    Some(ErrorObject { line: Some(line), object, is_alone })
}

/// Returns the required keys (`error`, `kind`, `message`) whose values are missing, empty or not strings.
pub fn lacking_keys(object: &Map<String, Value>) -> impl Iterator<Item = &'static str> {
    let is_missing =
        |key: &&str| object.get(*key).and_then(Value::as_str).is_none_or(|text| text.trim().is_empty());
    ["error", "kind", "message"].into_iter().filter(is_missing)
}

/// Returns a failed assertion if an error object lacks required keys; otherwise `None`.
fn keys_missing(run: &RunView, channel: Stream, object: &ErrorObject) -> Option<Assertion> {
    let missing: Vec<String> = lacking_keys(&object.object).map(|key| format!("`{key}`")).collect();
    let strings = match &missing[..] {
        [] => return None,
        [one] => format!("string {one}"),
        [first @ .., last] => format!("strings {} and {last}", first.join(", ")),
    };
    let detail = format!("the error object has no non-empty {strings}; expected {KEYS}");
    Some(match object.line {
        Some(line) => run.failed_at_line("key-missing", channel, line, detail),
        None => run.failed_at_start("key-missing", channel, detail),
    })
}

/// Returns a failed assertion for an empty error stream. If the run in the text format also prints nothing to stderr,
/// the assertion is inconclusive and refers to the check that reports this.
fn empty_channel(run: &RunView, channel: Stream) -> Assertion {
    let text = run.context.plain_run(run.probe, OutputFormat::Text);
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

/// Returns why a run does not show how the target reports failures, such as a run that succeeded. `None` if the run
/// shows it.
pub fn not_a_failure(run: &RunView) -> Option<Reason> {
    match run.exit() {
        None => run.why_unusable(),
        Some(0) => {
            let check = exit_check(run.context.profile, run.probe);
            Some(run.blocked_by(check, format!("{} did not fail", run.label())))
        }
        Some(_) => match (run.context.format_support(run.format()), run.probe.is_source()) {
            (FormatSupport::Yes, _) | (FormatSupport::Unknown, true) => None,
            (FormatSupport::No(_), true) => Some(run.format_rejected()),
            (accepted, false) => Some(Reason {
                message: format!(
                    "no declared probe shows that the target supports formats: {}",
                    declare_success("")
                ),
                blocked_by: matches!(accepted, FormatSupport::No(_))
                    .then(|| run.reference_to(CheckId::P2OutputFormat)),
                ..Reason::default()
            }),
        },
    }
}

/// True if `line` contains words and is also one of `stderr_lines`. Lines of up to three bytes do not count.
pub fn is_repeated(line: &str, stderr_lines: &[String]) -> bool {
    line.trim().len() > 3 && has_words(line) && stderr_lines.iter().any(|stderr_lines| stderr_lines == line)
}

/// True if stderr contains all lines of stdout that have words.
pub fn stderr_repeats_stdout(run: &RunView) -> bool {
    let (Some(out), Some(stderr_lines)) = (run.lines(Stream::Stdout), run.lines(Stream::Stderr)) else {
        return false;
    };
    out.iter().filter(|line| has_words(line)).all(|line| is_repeated(line, &stderr_lines))
}

/// What to do about text around an error object.
pub const SILENCE_HINT: &str = "in JSON modes, print no progress and no log lines";

/// Invalid data on the stdout of a failing run in a JSON format.
pub struct Misplaced {
    pub problem: Problem,
    /// True if the data is plain text, and not truncated or malformed JSON.
    pub is_prose: bool,
}

/// Returns why the stdout of a failing run is invalid. `None` if stdout is valid JSON, or has only white space.
pub fn find_invalid_stdout(run: &RunView) -> Option<Misplaced> {
    let scan = run.scan();
    let problem = scan.first_structural_problem()?.clone();
    // Each record is judged by itself, and so is the text after a document.
    let from = match problem.kind {
        ProblemKind::Trailing => problem.position.offset,
        _ if run.format() == OutputFormat::Jsonl => run.line_start(Stream::Stdout, problem.position.line - 1),
        _ => 0,
    };
    let is_prose = !opens_json(run.bytes(Stream::Stdout), from)?;
    Some(Misplaced { problem, is_prose })
}

/// Returns true if the bytes from `offset` on begin a JSON object or array; a word in brackets, such as `[error]`, is
/// no array. `None` if there is only white space.
fn opens_json(bytes: &Bytes, offset: u64) -> Option<bool> {
    let mut window = [0; 512];
    let length = bytes.read_at(offset, &mut window).ok()?;
    let text = window[..length].trim_ascii_start();
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let inside = text.get(1..)?;
    let first = inside.trim_ascii_start().first();
    let is_multiline = inside.iter().take_while(|byte| byte.is_ascii_whitespace()).any(|byte| *byte == b'\n');
    Some(match text[0] {
        b'{' => first.is_none_or(|byte| b"\"'}".contains(byte)),
        b'[' => first.is_none_or(|byte| b"\"'{[],".contains(byte)) || is_multiline,
        _ => false,
    })
}
