//! The pages about the checks.

use super::markdown::{capitalize, facts, fence, inline, link, prose, table};
use agentnative::catalogue::{Check, DerivedKind, Example, LanguageRules, Snippet};
use agentnative::model::{Layer, Level, Status, Topic};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns the list of all checks by principle and layer.
pub(super) fn index(checks: &[Check]) -> String {
    let mut out = "# Checks\n\nA check **fails** when a MUST is unmet and **warns** when a SHOULD is unmet. \
                   `agentnative explain ID` prints the page of a check.\n"
        .to_owned();
    let principles: BTreeSet<u8> = checks.iter().map(|check| check.principle).collect();
    for principle in principles {
        _ = write!(out, "\n## Principle {principle}\n");
        for layer in [Layer::Behavioral, Layer::Source, Layer::Project] {
            let selected = checks.iter().filter(|check| check.principle == principle && check.layer == layer);
            let rows: Vec<_> = selected.map(row).collect();
            if !rows.is_empty() {
                _ = write!(out, "\n### {}\n", layer_title(layer));
                out.push_str(&table(["Check", "Level", "Requirement"], rows));
            }
        }
    }
    out
}

fn row(check: &Check) -> [String; 3] {
    let id = check.id.as_str();
    [link(Topic::Check, id), check.level.name().to_uppercase(), inline(&capitalize(&check.title), id)]
}

const fn layer_title(layer: Layer) -> &'static str {
    match layer {
        Layer::Behavioral => "Behavior: runs of the target",
        Layer::Source => "Source code of the target",
        Layer::Project => "Files of the project",
    }
}

/// Returns the page about a check.
pub(super) fn page(check: &Check) -> String {
    let id = check.id.as_str();
    let unmet = match check.level {
        Level::Must => "MUST: the check fails if it is not met",
        Level::Should => "SHOULD: the check warns if it is not met",
        Level::May => "MAY: the check passes or is not applicable",
    };
    let mut out = format!("# {id}\n\n**{}**\n", inline(&capitalize(&check.title), id));
    let facts = [
        ("level", unmet.to_owned()),
        ("layer", check.layer.name().to_owned()),
        ("principle", check.principle.to_string()),
        ("requirements of the standard", check.requirements_text()),
        ("in the terminal", format!("`agentnative explain {id}`")),
    ];
    out.push_str(&self::facts(facts));
    for (heading, text) in [("What", &check.what), ("Why", &check.why), ("Fix", &check.fix)] {
        _ = write!(out, "\n## {heading}\n{}", prose(text, id));
    }
    let targets = check.help.targets.iter().map(|(target, text)| (target.name(), text));
    let help = std::iter::once(("Any language", &check.help.any)).chain(targets);
    out.push_str("\n### In one line\n");
    out.push_str(&table(
        ["Target", "Hint"],
        help.map(|(target, text)| [target.to_owned(), inline(text, id)]),
    ));
    if !check.kinds.is_empty() {
        out.push_str("\n## Problems\n");
        let kinds =
            check.kinds.iter().map(|(kind, what)| [inline(&format!("`{kind}`"), id), inline(what, id)]);
        out.push_str(&table(["Kind", "Meaning"], kinds));
    }
    out.push_str(&runs(check));
    if let Some(sentence) = check.explored.sentence() {
        _ = write!(out, "\n## Exploration\n\n{sentence}\n");
    }
    if !check.examples.is_empty() {
        out.push_str("\n## Examples\n");
        check.examples.iter().for_each(|each| out.push_str(&example(each, id)));
    }
    for (language, rules) in check.source.iter().flat_map(|source| &source.languages) {
        _ = write!(out, "\n## {}\n{}", language.name(), snippets(rules, id));
    }
    out
}

/// Returns the section about the runs that a check needs.
fn runs(check: &Check) -> String {
    let mut items = Vec::new();
    if !check.runs.formats.is_empty() {
        let formats: Vec<_> =
            check.runs.formats.iter().map(|format| format!("`{}`", format.name())).collect();
        let variants: Vec<_> = check.runs.variants.iter().map(|one| format!("`{}`", one.name())).collect();
        let variants = variants.join(", ");
        items.push(format!("each declared probe in {}, under the variants {variants}", formats.join(", ")));
    }
    items.extend(check.derived.iter().map(|derived| derived_call(*derived).to_owned()));
    if items.is_empty() {
        return String::new();
    }
    format!("\n## Runs\n\nThe check needs these [runs](../probes.md):\n\n- {}\n", items.join("\n- "))
}

/// Returns the description of a derived call.
const fn derived_call(derived: DerivedKind) -> &'static str {
    match derived {
        DerivedKind::Help => "the target with `--help`",
        DerivedKind::HelpShort => "`-h`, if the help does not describe it as something else",
        DerivedKind::CommandHelp => "`SUBCOMMAND --help`, for the subcommands of the declared probes",
        DerivedKind::Version => "the target with `--version`",
        DerivedKind::UnknownFlag => "the target with an unknown flag",
        DerivedKind::UnknownCommand => "the target with an unknown subcommand, if its help lists subcommands",
        DerivedKind::NoFormat => "a declared probe without a format option",
        DerivedKind::InvalidFormat => "a declared probe with an invalid format",
        DerivedKind::IgnoredFlag => "a declared probe with an unknown flag",
        DerivedKind::InvalidValue => {
            "a declared probe with an invalid value of an option whose values the help lists"
        }
        DerivedKind::Alias => "a declared probe with `--json` and `--jsonl`",
        DerivedKind::Raw => "a declared probe with `--raw`",
        DerivedKind::MoreFormats => "a declared probe in CSV, TSV and YAML",
        DerivedKind::DryRun => {
            "a declared probe that changes something, with the option that only shows what it would change"
        }
        DerivedKind::Unconfirmed => "a declared probe that destroys something, without its confirmation",
        DerivedKind::Confirmed => {
            "a declared probe that changes something, with its confirmation if it needs one"
        }
        DerivedKind::Again => "the same call a second time in the same folder",
        DerivedKind::Concurrent => "the same call twice at the same time in the same folder",
        DerivedKind::Interrupted => "a declared probe that works for a while, interrupted by SIGTERM",
        DerivedKind::After => "the same call after one that was interrupted, in the same folder",
        DerivedKind::Sigint => "a declared probe that works for a while, interrupted by SIGINT",
        DerivedKind::InvalidRequest => {
            "a declared probe that calls a server which never answers, with an unknown flag"
        }
        DerivedKind::AnonymousRequest => {
            "a declared probe that calls a server which never answers, without the secret that it needs"
        }
        DerivedKind::Example => {
            "the examples of the help that call subcommands of declared probes, with an unknown flag"
        }
        DerivedKind::BundleInstall => "the command that installs the instructions for agents",
        DerivedKind::Timeout => {
            "a declared probe that calls a server which never answers, with a time limit of one second"
        }
        DerivedKind::SecretFile => "a declared probe that needs the secret, which is in a file",
        DerivedKind::SecretStdin => "a declared probe that needs the secret, which is on stdin",
        DerivedKind::Verbose => {
            "a declared probe that needs the secret, with the option that prints more details"
        }
        DerivedKind::Interface => "the help pages of all subcommands",
        DerivedKind::VanishedOption => {
            "an option that vanished from a help page, alone and with an unknown flag"
        }
        DerivedKind::Schema => "the command that prints the schema",
        DerivedKind::Limit => "a declared probe that prints a list, with a limit",
        DerivedKind::Quiet => "a declared probe with the option that leaves only data and errors",
        DerivedKind::NoInput => "a declared probe with the option that disables prompts",
        DerivedKind::NoPager => "a declared probe with the option that disables the pager",
        DerivedKind::Completions => "the calls that print completion scripts",
        DerivedKind::EnvFlag => "a declared probe with an option, or with the variable that stands for it",
        DerivedKind::GlobalFlag => {
            "a declared probe with a common option on the other side of the subcommand"
        }
        DerivedKind::Refused => {
            "a declared probe with the format option in the position where it is rejected"
        }
    }
}

fn example(example: &Example, page_name: &str) -> String {
    let verdict = match example.verdict {
        Status::Pass => "Conforms",
        Status::Fail => "Fails",
        _ => "Warns",
    };
    let mut out = format!("\n### {verdict}");
    if !example.note.is_empty() {
        _ = write!(out, ": {}", inline(example.note.trim(), page_name));
    }
    out.push('\n');
    out.push_str(&fence("console", &format!("$ {}", example.command)));
    for (stream, text) in [("stdout", &example.stdout), ("stderr", &example.stderr)] {
        if !text.is_empty() {
            _ = write!(out, "\n{stream}:\n{}", fence("text", text));
        }
    }
    _ = write!(out, "\nExit code {}.\n", example.exit);
    out
}

/// Returns the conforming and the other snippets in a language.
fn snippets(rules: &LanguageRules, page_name: &str) -> String {
    let mut out = String::new();
    for (verdict, snippets) in [("Conforms", &rules.good), ("Warns", &rules.bad)] {
        for Snippet { file, code } in snippets {
            _ = write!(out, "\n**{verdict}**, in `{file}`:\n{}", fence(code_block_language(file), code));
        }
    }
    _ = write!(out, "\n**Not covered**: {}.\n", inline(&rules.not_covered, page_name));
    out
}

/// Returns the language of a code block. The flags of Rust disable the buttons of mdBook to run it.
fn code_block_language(file: &str) -> &str {
    match file.rsplit_once('.') {
        Some((_, "rs")) => "rust,ignore,noplayground",
        Some((_, "py")) => "python",
        Some((_, "ts" | "tsx")) => "typescript",
        Some((_, "js" | "jsx" | "mjs" | "cjs")) => "javascript",
        Some((_, extension)) => extension,
        None => "text",
    }
}
