//! Checks of the examples in help pages: they exist, and use commands and options that exist.

use crate::context::CheckContext;
use crate::kit::{ExampleValidator, Pages, PrintedPage};
use crate::verdict::{Assertion, Judgement};
use agentnative_core::model::{CheckId, Stream};
use std::collections::BTreeSet;

/// Judges `p3-examples`: the help contains examples.
pub(super) fn examples(context: &CheckContext) -> Judgement {
    let root = match Pages::read(context) {
        Ok(pages) => pages.root,
        Err(reason) => return Judgement::unverified(reason),
    };
    let different: BTreeSet<&[String]> = root.page.examples.iter().map(|example| &*example.args).collect();
    let expected = if root.page.interface.commands.is_empty() { 1 } else { 2 };
    let assertion = match different.len() {
        count if count >= expected => Ok(()),
        0 => root.run.failed_at_start("missing", Stream::Stdout, "the help contains no example"),
        _ => {
            let detail = "the help contains 1 example; expected at least 2";
            root.run.failed_at_line("one", Stream::Stdout, root.page.examples[0].line, detail)
        }
    };
    Judgement::from_assertions([assertion], "")
}

/// Judges `p3-command-examples`: the help of each subcommand contains an example.
pub(super) fn command_examples(context: &CheckContext) -> Judgement {
    let pages = match Pages::read(context) {
        Ok(pages) => pages,
        Err(reason) => return Judgement::unverified(reason),
    };
    if let Some(judgement) = pages.without_commands() {
        return judgement;
    }
    let shown = pages.commands.into_iter().map(|printed| {
        let PrintedPage { run, page, .. } = printed?;
        if page.examples.is_empty() {
            let detail = format!("the output of `{}` contains no example", run.probe.name);
            return run.failed_at_start("missing", Stream::Stdout, detail);
        }
        Ok(())
    });
    Judgement::from_assertions(shown, "")
}

/// Judges `p3-examples-valid`: examples in the help use subcommands and options that exist.
pub(super) fn valid(context: &CheckContext) -> Judgement {
    let pages = match Pages::read(context) {
        Ok(pages) => pages,
        Err(reason) => return Judgement::unverified(reason),
    };
    let validator = ExampleValidator::new(&pages);
    let shown = pages.judged().flat_map(|page| page.page.examples.iter().map(move |example| (page, example)));
    let mut assertions: Vec<Assertion> =
        shown.map(|(page, example)| validator.validate(page, example)).collect();
    let none = pages.root.run.blocked_by(CheckId::P3Examples, "the help contains no example".to_owned());
    if assertions.is_empty() {
        return Judgement::unverified(none);
    }
    assertions.extend(pages.commands.into_iter().filter_map(|page| Some(Err(page.err()?.into()))));
    Judgement::from_assertions(assertions, none)
}
