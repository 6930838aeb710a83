//! The command `agentnative explain ID`.

use super::complete;
use super::explain_config;
use super::selection_args::{self, Ids};
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::{Check, Example, check, checks};
use agentnative_core::config::find_keys;
use agentnative_core::model::{Status, unknown_id_error};
use agentnative_diff::{ChangeRule, ChangeSeverity, change_rule, change_rules};
use agentnative_output::{Output, Page, StyledText, Tone};
use clap::builder::PossibleValue;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative explain p2-output-json
  agentnative explain diff-key-removed
  agentnative explain config timeout")]
pub(super) struct ExplainArgs {
    /// Check, such as p2-output-json, or kind of change, such as diff-key-removed; or `config`.
    #[arg(value_parser = Ids(ids), hide_possible_values = true)]
    id: String,
    /// After `config`: a key of agentnative.toml, such as target.timeout.
    #[arg(add = complete::keys())]
    key: Option<String>,
}

/// Returns all IDs that `agentnative explain` accepts: checks, kinds of change, and `config`.
fn ids() -> Vec<PossibleValue> {
    let rule = |rule: &'static ChangeRule| PossibleValue::new(rule.id.as_str()).help(rule.title.clone());
    let config = PossibleValue::new("config").help("the keys of agentnative.toml");
    selection_args::checks().into_iter().chain(change_rules().iter().map(rule)).chain([config]).collect()
}

/// What an ID stands for.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Explained {
    /// A check.
    Check(&'static Check),
    /// A rule of `contract diff`.
    Rule(&'static ChangeRule),
}

impl Explained {
    fn find(id: &str) -> Result<Self> {
        let check = check(id).map(Self::Check);
        let found = check.or_else(|| change_rule(id).map(Self::Rule));
        found.ok_or_else(|| {
            let ids = checks()
                .iter()
                .map(|check| check.id.as_str())
                .chain(change_rules().iter().map(|rule| rule.id.as_str()));
            let error =
                unknown_id_error(if id.starts_with("diff-") { "kind of change" } else { "check" }, id, ids);
            match find_keys(id) {
                Ok(_) => error.hint(format!("a key is explained by `agentnative explain config {id}`")),
                Err(_) => error,
            }
        })
    }
}

pub(super) fn run(args: &ExplainArgs, output: &mut Output) -> Result<()> {
    match (args.id.as_str(), &args.key) {
        ("config", key) => return explain_config::run(key.as_deref(), output),
        (id, Some(key)) => {
            let error = Error::usage(format!("unexpected argument `{key}` after `{id}`"));
            return Err(error.hint("only `agentnative explain config` takes a second argument"));
        }
        (_, None) => {}
    }
    let found = Explained::find(&args.id)?;
    output.emit("explain", true, &found, |page| match found {
        Explained::Check(check) => show_check(check, page),
        Explained::Rule(rule) => show_rule(rule, page),
    })
}

fn show_rule(rule: &ChangeRule, page: &mut Page) {
    page.heading(&format!("{}: {}", rule.id, rule.title));
    let classes: Vec<&str> = rule.classes.iter().map(|class| class.name()).collect();
    page.line(0, &[StyledText::dim(classes.join(" or "))]);
    for (label, text) in [("What changes", &rule.what), ("Who breaks", &rule.why)] {
        page.heading(label);
        page.paragraph(2, text);
    }
    for example in &rule.examples {
        page.blank();
        let tone = match example.class {
            ChangeSeverity::Breaking => Tone::Error,
            ChangeSeverity::Compatible => Tone::Success,
            ChangeSeverity::Risky | ChangeSeverity::Undecided => Tone::Warn,
        };
        page.line(0, &[StyledText::new(tone, format!("Example: {}", example.class.name()))]);
        for (label, side) in [("old: ", &example.old), ("new: ", &example.new)] {
            page.labelled(2, &StyledText::dim(label), side);
        }
        if !example.note.is_empty() {
            page.paragraph(2, &example.note);
        }
    }
    for sound in &rule.sound {
        page.blank();
        page.line(0, &[StyledText::new(Tone::Success, "Not reported")]);
        for (label, side) in [("old: ", &sound.old), ("new: ", &sound.new)] {
            page.labelled(2, &StyledText::dim(label), side);
        }
        page.paragraph(2, &sound.note);
    }
}

fn show_check(check: &Check, page: &mut Page) {
    page.heading(&format!("{}: {}", check.id, check.title));
    page.labelled(0, &StyledText::dim("standard: "), check.requirements_text());
    for (label, text) in [("What", &check.what), ("Why", &check.why), ("Fix", &check.fix)] {
        page.heading(label);
        page.paragraph(2, text);
    }
    if let Some(sentence) = check.explored.sentence() {
        page.heading("Exploration");
        page.paragraph(2, sentence);
    }
    if !check.kinds.is_empty() {
        page.heading("Problems");
        page.table(
            2,
            check.kinds.iter().map(|(kind, what)| vec![StyledText::plain(kind), StyledText::plain(what)]),
        );
    }
    for example in &check.examples {
        page.blank();
        show_example(example, page);
    }
    for (language, rules) in check.source.iter().flat_map(|source| &source.languages) {
        page.heading(language.name());
        for (snippets, verdict, tone) in
            [(&rules.good, "Conforms", Tone::Success), (&rules.bad, "Warns", Tone::Hint)]
        {
            for snippet in snippets {
                page.line(
                    2,
                    &[StyledText::new(tone, verdict), StyledText::dim(format!("  {}", snippet.file))],
                );
                page.block(4, snippet.code.trim_matches('\n'));
            }
        }
        page.labelled(2, &StyledText::strong("Not covered: "), &rules.not_covered);
    }
}

fn show_example(example: &Example, page: &mut Page) {
    let (verdict, tone) = match example.verdict {
        Status::Pass => ("Conforms", Tone::Success),
        Status::Fail => ("Fails", Tone::Error),
        _ => ("Warns", Tone::Hint),
    };
    page.line(0, &[StyledText::new(tone, verdict), StyledText::dim(format!("  exit code {}", example.exit))]);
    page.block(2, format!("$ {}", example.command));
    for (stream, text) in [("stdout", &example.stdout), ("stderr", &example.stderr)] {
        if !text.is_empty() {
            page.line(2, &[StyledText::dim(format!("{stream}:"))]);
            page.block(4, text.trim_end_matches('\n'));
        }
    }
    if !example.note.is_empty() {
        page.paragraph(2, example.note.trim());
    }
}
