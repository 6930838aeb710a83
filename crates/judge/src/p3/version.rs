//! `p3-version`: `--version` prints the version and exits with 0.

use crate::context::{CheckContext, RunView};
use crate::kit::runs_of_kind;
use crate::lines::has_words;
use crate::verdict::{Assertion, Judgement, Unmet};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::Stream;

/// Judges `p3-version`: `--version` prints the version and exits with 0.
pub fn version(context: &CheckContext) -> Judgement {
    Judgement::from_assertions(
        runs_of_kind(context, DerivedKind::Version).map(|run| prints_version(&run)),
        "`--version` was not run",
    )
}

fn prints_version(run: &RunView) -> Assertion {
    let exit = run.exited()?;
    if exit != 0 {
        let detail = format!("`--version` exits with {exit}; expected 0");
        return run.failed_at_reason("exit", Stream::Stderr, detail);
    }
    let lines = run.lines(Stream::Stdout).ok_or_else(|| Unmet::from(run.too_long()))?;
    match lines.iter().position(|line| has_words(line)) {
        None => {
            let detail = "`--version` prints no version on stdout";
            run.failed_at_reason("nothing", Stream::Stdout, detail)
        }
        Some(first) if !lines[first].contains(|char: char| char.is_ascii_digit()) => {
            let detail = "the first line of `--version` contains no number";
            run.failed_at_line("no-number", Stream::Stdout, first, detail)
        }
        Some(_) => Ok(()),
    }
}
