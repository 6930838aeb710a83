//! `p6-stdin`: a command that reads a file can read stdin instead.

use crate::context::CheckContext;
use crate::kit::{Pages, PrintedPage};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::model::Stream;
use agentnative_core::probe::Probe;
use agentnative_core::targets::Argument;

/// Names of positional arguments that are files to read, in lower case, without separators and numbers.
const FILE_NAMES: [&str; 10] = [
    "file",
    "files",
    "filename",
    "filepath",
    "infile",
    "input",
    "inputs",
    "inputfile",
    "inputfiles",
    "inputpath",
];
/// Words that name stdin, in lower case.
const STDIN_WORDS: [&str; 3] = ["stdin", "standard input", "piped"];
/// Words in the description of a command that reads the contents of a file, in lower case.
const READING_WORDS: [&str; 10] =
    ["converts", "convert", "lint", "lints", "parse", "parses", "read", "reads", "validate", "validates"];

/// Judges `p6-stdin`: a command that reads a file can read stdin instead.
pub fn stdin(context: &CheckContext) -> Judgement {
    let pages = match Pages::read(context) {
        Ok(pages) => pages,
        Err(reason) => return Judgement::unverified(reason),
    };
    let assertions: Vec<Assertion> =
        pages.judged().filter_map(|page| reads_stdin(context, page, file_argument(page)?)).collect();
    if assertions.is_empty() {
        return Judgement::NotApplicable(
            "no help page of a called command has an argument `FILE`".to_owned(),
        );
    }
    Judgement::from_assertions(assertions, "")
}

/// Returns the first positional argument whose name is that of a file to read.
fn file_argument<'p>(page: &'p PrintedPage) -> Option<&'p Argument> {
    let is_file = |argument: &&Argument| {
        let name: String = argument.name.to_lowercase().chars().filter(|char| char.is_alphabetic()).collect();
        argument.option.is_none() && FILE_NAMES.contains(&name.as_str())
    };
    page.page.interface.arguments.iter().find(is_file)
}

/// Judges the page of a command with the argument `file`. `None` if no probe calls the command to print data.
fn reads_stdin(context: &CheckContext, page: &PrintedPage, file: &Argument) -> Option<Assertion> {
    let calls: Vec<&Probe> =
        context.data_probes().filter(|probe| probe.calls(page.path) && probe.effect.is_none()).collect();
    if calls.is_empty() {
        return None;
    }
    let reads_declared_stdin = |probe: &&Probe| {
        let has_no_file = probe.command_words().count() == page.path.len();
        probe.call.stdin.is_some() && has_no_file && context.runs_of(probe).any(|run| run.gave_data())
    };
    // An option may read something else from stdin.
    let is_option = |line: &str| line.trim_start().starts_with('-') && !line.contains("--stdin");
    let lines = page.run.lines(Stream::Stdout).unwrap_or_default();
    let lines: Vec<String> =
        lines.iter().map(|line| line.to_lowercase()).filter(|line| !is_option(line)).collect();
    if calls.iter().any(reads_declared_stdin) || lines.iter().any(|line| names_stdin(line)) {
        return Some(Ok(()));
    }
    let (call, name) = (&page.run.probe.name, &file.name);
    let reads = |line: &String| words(line).any(|word| READING_WORDS.contains(&word));
    Some(if file.required && lines.iter().any(reads) {
        let detail = format!("`{call}` requires `{name}` and does not name stdin");
        page.failed_at_mention("required", name, detail)
    } else {
        inconclusive(format!(
            "`{call}` does not state whether the contents of `{name}` can come from stdin: declare a probe with `stdin` and without `{name}`"
        ))
    })
}

fn names_stdin(line: &str) -> bool {
    // A dash at the start of a line is an item of a list.
    let has_dash = || {
        let mut words = line.split_whitespace().skip(1);
        words.any(|word| word.trim_matches(|char: char| !char.is_alphanumeric() && char != '-') == "-")
    };
    let is_quoted = || ["`-`", "'-'", "\"-\""].iter().any(|dash| line.contains(dash));
    STDIN_WORDS.iter().any(|word| line.contains(word)) || is_quoted() || has_dash() && line.contains("file")
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|char: char| !char.is_alphanumeric())
}
