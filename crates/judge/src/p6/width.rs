//! `p6-width`: a pipe shows what a wide terminal shows.

use crate::context::{CheckContext, RunView};
use crate::kit::declare_success;
use crate::verdict::{Assertion, Judgement, Unmet, inconclusive};
use agentnative_core::model::{OutputFormat, Stream, Variant};
use std::collections::BTreeSet;
use strict_json::sanitize::strip_terminal_formatting;

/// Number of columns that programs assume if they do not know the width.
const USUAL_COLUMNS: usize = 80;
/// Ends of a word that was shortened.
const ELLIPSES: [&str; 2] = ["…", "..."];

/// Judges `p6-width`: text in a pipe is neither shortened nor wrapped to a width.
pub fn width(context: &CheckContext) -> Judgement {
    let pairs: Vec<(RunView, RunView)> = context
        .data_probes()
        .filter_map(|probe| {
            let wide = context.find_run_under(probe, OutputFormat::Text, Variant::Tty)?;
            Some((context.plain_run(probe, OutputFormat::Text)?, wide))
        })
        .collect();
    let judged: Vec<Assertion> =
        pairs.iter().filter_map(|(pipe, wide)| judge(pipe, wide).transpose()).collect();
    if !pairs.is_empty() && judged.is_empty() {
        return Judgement::NotApplicable(format!("no text is wider than {USUAL_COLUMNS} columns"));
    }
    Judgement::from_assertions(judged, declare_success("text"))
}

/// Compares the text in a pipe with that on a wide terminal. `None` if the latter is not wide.
fn judge(pipe: &RunView, wide: &RunView) -> Result<Option<()>, Unmet> {
    pipe.usable()?;
    wide.ended()?;
    if wide.exit() != pipe.exit() {
        return inconclusive(format!("{} ends with another exit code", wide.label())).map(Some);
    }
    let (Some(short), Some(long)) = (text(pipe), text(wide)) else {
        return inconclusive(pipe.too_long()).map(Some);
    };
    if long.iter().all(|line| line.chars().count() <= USUAL_COLUMNS) {
        return Ok(None);
    }
    if let Some((line, detail)) = shortened(&short, &long) {
        return pipe.failed_at_line("shortened", Stream::Stdout, line, detail).map(Some);
    }
    let (in_pipe, on_terminal) = (words(&short), words(&long));
    // Wrapped prose has the same words in the same order.
    if in_pipe == on_terminal {
        return Ok(Some(()));
    }
    let is_wrapped = sorted(&in_pipe) == sorted(&on_terminal) || in_pipe.concat() == on_terminal.concat();
    if is_wrapped && short.len() > long.len() {
        let line = short.iter().zip(&long).take_while(|(short, long)| short == long).count();
        let detail = format!(
            "words or cells of a table are wrapped: {} lines in a pipe, {} on a wide terminal",
            short.len(),
            long.len()
        );
        return pipe.failed_at_line("wrapped", Stream::Stdout, line, detail).map(Some);
    }
    inconclusive(format!("{} prints other text to a terminal", pipe.label())).map(Some)
}

/// Returns the index of the first line that is shorter than on the wide terminal, and a sentence about it.
fn shortened(short: &[String], long: &[String]) -> Option<(usize, String)> {
    let known: BTreeSet<&str> = long.iter().flat_map(|line| line.split_whitespace()).collect();
    // The next line continues a line that is only wrapped.
    let is_cut = |line: &str, next: &str| {
        let rest = long.iter().find_map(|other| other.strip_prefix(line).filter(|rest| !rest.is_empty()));
        let first = rest.and_then(|rest| rest.split_whitespace().next());
        (USUAL_COLUMNS - 2..=USUAL_COLUMNS).contains(&line.chars().count())
            && !long.iter().any(|other| other == line)
            && first.is_some_and(|first| !next.trim_start().starts_with(first))
    };
    short.iter().enumerate().find_map(|(index, line)| {
        let complete = line.split_whitespace().filter(|word| !known.contains(word)).find_map(|word| {
            let start = ELLIPSES.iter().find_map(|end| word.strip_suffix(end))?;
            let is_longer = |other: &&&str| other.len() > start.len() && other.starts_with(start);
            known.iter().find(is_longer).filter(|_| !start.is_empty()).map(|other| (word, *other))
        });
        match complete {
            Some((word, other)) => {
                let [word, other] =
                    [word, other].map(|word| strict_json::sanitize::sanitize_capped(word, MAX_QUOTED));
                Some((index, format!("a wide terminal shows `{other}`, a pipe only `{word}`")))
            }
            None => is_cut(line, short.get(index + 1).map_or("", |next| next)).then(|| {
                (
                    index,
                    format!("the line ends at {} characters, on a wide terminal later", line.chars().count()),
                )
            }),
        }
    })
}

/// Maximum length of a word that a message quotes, in characters.
const MAX_QUOTED: usize = 60;

fn sorted<'t>(words: &[&'t str]) -> Vec<&'t str> {
    let mut words = words.to_vec();
    words.sort_unstable();
    words
}

fn words(lines: &[String]) -> Vec<&str> {
    lines.iter().flat_map(|line| line.split_whitespace()).collect()
}

/// Returns the lines of stdout without escape sequences and without spaces at their ends.
fn text(run: &RunView) -> Option<Vec<String>> {
    let lines = run.lines(Stream::Stdout)?;
    Some(lines.iter().map(|line| strip_terminal_formatting(line).trim_end().to_owned()).collect())
}
