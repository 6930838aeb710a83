//! Checks of `--version` and of its short form.

use crate::context::{CheckContext, RunView};
use crate::kit::{Pages, runs_of_kind};
use crate::lines::has_words;
use crate::verdict::{Assertion, Judgement, Unmet, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::Stream;

/// Judges `p3-version`: `--version` prints the version and exits with 0.
pub fn version(context: &CheckContext) -> Judgement {
    Judgement::from_assertions(
        runs_of_kind(context, DerivedKind::Version).map(|run| prints_version(&run)),
        "`--version` was not run",
    )
}

/// Judges `p3-version-short`: the help lists a short form of `--version`.
pub fn version_short(context: &CheckContext) -> Judgement {
    let root = match Pages::read(context) {
        Ok(pages) => pages.root,
        Err(reason) => return Judgement::unverified(reason),
    };
    let entries = root.page.interface.options.iter().filter(|option| option.is_called(LONG_NAME));
    let names: Vec<&String> = entries.flat_map(|option| &option.names).collect();
    let assertion = match names.as_slice() {
        [] => inconclusive(format!("the help does not list `{LONG_NAME}`: list it with its short form")),
        names if names.iter().any(|name| name.len() == 2) => Ok(()),
        _ => {
            let detail = format!("the help lists `{LONG_NAME}` without a short form such as `-V`");
            root.failed_at_mention("missing", LONG_NAME, detail)
        }
    };
    Judgement::from_assertions([assertion], "")
}

const LONG_NAME: &str = "--version";

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
