//! The programming languages of source code and of the help of checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A language that source checks can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Rust.
    Rust,
    /// Python 3.
    Python,
    /// Go.
    Go,
    /// TypeScript and JavaScript.
    TypeScript,
}

impl Language {
    /// Every language, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Rust, Self::Python, Self::Go, Self::TypeScript];

    /// Returns the name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Python => "Python",
            Self::Go => "Go",
            Self::TypeScript => "TypeScript/JavaScript",
        }
    }
}

/// A programming language for which checks give specific hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HelpLanguage {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// Go.
    Go,
    /// TypeScript and JavaScript.
    Node,
    /// Shell.
    Shell,
}

impl HelpLanguage {
    /// Returns the name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rust => Language::Rust.name(),
            Self::Python => Language::Python.name(),
            Self::Go => Language::Go.name(),
            Self::Node => Language::TypeScript.name(),
            Self::Shell => "Shell",
        }
    }
}

impl From<Language> for HelpLanguage {
    fn from(language: Language) -> Self {
        match language {
            Language::Rust => Self::Rust,
            Language::Python => Self::Python,
            Language::Go => Self::Go,
            Language::TypeScript => Self::Node,
        }
    }
}
