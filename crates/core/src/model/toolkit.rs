//! The toolkit of a target: its programming language and its argument parser.

use super::HelpLanguage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An argument parser that a manifest can declare as a dependency. Parsers of standard libraries (argparse,
/// `util.parseArgs`, `flag`, getopts) are not included: hints for a language apply to them.
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

type ParserRow = (ArgumentParser, &'static str, HelpLanguage, &'static [&'static str]);

/// Each parser with its name, its language, and the names of its packages in a manifest.
const PARSERS: [ParserRow; 9] = [
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
    /// Returns all parsers.
    pub fn all() -> impl Iterator<Item = Self> {
        PARSERS.iter().map(|(parser, ..)| *parser)
    }

    fn row(self) -> Option<&'static ParserRow> {
        PARSERS.iter().find(|(parser, ..)| *parser == self)
    }

    /// Returns the name that reports use.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |(_, name, ..)| name)
    }

    /// Returns the programming language of the programs that use this parser.
    pub fn language(self) -> Option<HelpLanguage> {
        self.row().map(|(_, _, language, _)| *language)
    }

    /// Returns the argument parser of a program in `language` that depends on `packages`; `None` if the packages
    /// contain no parser, or several unrelated ones.
    pub fn detect(language: HelpLanguage, packages: &[String]) -> Option<Self> {
        let named = PARSERS.iter().filter(|(_, _, parser_language, names)| {
            *parser_language == language
                && names.iter().any(|name| packages.iter().any(|package| package == name))
        });
        let mut named: Vec<Self> = named.map(|(parser, ..)| *parser).collect();
        // typer is built on click.
        if named.contains(&Self::Typer) {
            named.retain(|parser| *parser != Self::Click);
        }
        <[Self; 1]>::try_from(named).ok().map(|[only]| only)
    }
}

/// The programming language and the argument parser of a target, if its files show them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Toolkit {
    /// The programming language.
    pub language: Option<HelpLanguage>,
    /// The argument parser, if a manifest names it.
    pub parser: Option<ArgumentParser>,
}

/// The targets for which a hint of a check is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HelpAudience {
    /// Targets in this language, with any argument parser.
    Language(HelpLanguage),
    /// Targets that use this argument parser.
    Parser(ArgumentParser),
}

impl HelpAudience {
    /// Returns the name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Language(language) => language.name(),
            Self::Parser(parser) => parser.name(),
        }
    }
}
