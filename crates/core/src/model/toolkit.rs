//! What a target is written with: its language and its argument parser.

use super::HelpLanguage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An argument parser that manifests name. That of a standard library (argparse, `util.parseArgs`, `flag`, getopts) is
/// named by none: hints for it are those of its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentParser {
    /// clap.
    Clap,
    /// click.
    Click,
    /// typer.
    Typer,
    /// docopt.
    Docopt,
    /// fire.
    Fire,
    /// cobra.
    Cobra,
    /// commander.
    Commander,
    /// yargs.
    Yargs,
    /// oclif.
    Oclif,
}

type Row = (ArgumentParser, &'static str, HelpLanguage, &'static [&'static str]);

/// Each parser with its name, its language, and the packages by which a manifest names it.
const PARSERS: [Row; 9] = [
    (ArgumentParser::Clap, "clap", HelpLanguage::Rust, &["clap"]),
    (ArgumentParser::Click, "click", HelpLanguage::Python, &["click", "rich-click"]),
    (ArgumentParser::Typer, "typer", HelpLanguage::Python, &["typer", "typer-slim"]),
    (ArgumentParser::Docopt, "docopt", HelpLanguage::Python, &["docopt", "docopt-ng"]),
    (ArgumentParser::Fire, "fire", HelpLanguage::Python, &["fire"]),
    (ArgumentParser::Cobra, "cobra", HelpLanguage::Go, &["github.com/spf13/cobra"]),
    (ArgumentParser::Commander, "commander", HelpLanguage::Node, &["commander"]),
    (ArgumentParser::Yargs, "yargs", HelpLanguage::Node, &["yargs"]),
    (ArgumentParser::Oclif, "oclif", HelpLanguage::Node, &["@oclif/core", "@oclif/command"]),
];

impl ArgumentParser {
    /// All parsers.
    pub fn all() -> impl Iterator<Item = Self> {
        PARSERS.iter().map(|(parser, ..)| *parser)
    }

    fn row(self) -> Option<&'static Row> {
        PARSERS.iter().find(|(parser, ..)| *parser == self)
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |(_, name, ..)| name)
    }

    /// The language that it is for.
    pub fn language(self) -> Option<HelpLanguage> {
        self.row().map(|(_, _, language, _)| *language)
    }

    /// The parser of a program in this language that requires these packages; none where they name none, or several
    /// that do not belong together.
    pub fn of(language: HelpLanguage, packages: &[String]) -> Option<Self> {
        let named = PARSERS.iter().filter(|(_, _, of, names)| {
            *of == language && names.iter().any(|name| packages.iter().any(|package| package == name))
        });
        let mut named: Vec<Self> = named.map(|(parser, ..)| *parser).collect();
        // typer is built on click.
        if named.contains(&Self::Typer) {
            named.retain(|parser| *parser != Self::Click);
        }
        <[Self; 1]>::try_from(named).ok().map(|[only]| only)
    }
}

/// What a target is written with, as far as its files tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Toolkit {
    /// Its language.
    pub language: Option<HelpLanguage>,
    /// Its argument parser, if a manifest names it.
    pub parser: Option<ArgumentParser>,
}

/// Which targets a line of help is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HelpFor {
    /// Those of a language, whatever parses their arguments.
    Language(HelpLanguage),
    /// Those whose arguments this parser reads.
    Parser(ArgumentParser),
}

impl HelpFor {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Language(language) => language.name(),
            Self::Parser(parser) => parser.name(),
        }
    }
}
