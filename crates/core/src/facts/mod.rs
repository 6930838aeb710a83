//! What was read of the code behind a target and of the files around it, as a recording contains it.

mod ranges;

pub use ranges::Ranges;

use crate::manifest::Dependency;
use crate::model::Language;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Files larger than this are not read, in bytes.
pub const MAX_FILE: u64 = 4 << 20;

/// What was found in the code of a package, and of the packages of its workspace that it is built with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Where the package is, for people: what stands before the path of a file of it, such as
    /// `crates/cli/`; empty for the folder that was named itself.
    pub folder: String,
    /// Name of the manifest that evidence about the package as a whole names, when there is one.
    pub manifest: Option<String>,
    /// What the package depends on, where a manifest is needed to tell.
    pub dependencies: Vec<Dependency>,
    /// Why nothing was read, if reading was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Code that the program starts in or goes on in, and that was not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// The checks whose rules the code was held to, each with the
    /// [`fingerprint`](crate::catalogue::SourceCheck::fingerprint) of its rules.
    pub rules: BTreeMap<String, u64>,
    /// How many files of the program there are, by language; those that were skipped too.
    pub files: BTreeMap<Language, usize>,
    /// How many of them held a word that a rule needs, and were parsed.
    pub parsed: usize,
    /// How much was read, in bytes.
    pub bytes: u64,
    /// Where rules matched, by file and place.
    pub matches: Vec<Match>,
    /// Files of the program that could not be looked at.
    pub skipped: Vec<Skipped>,
    /// Waiver comments.
    pub waivers: Vec<SourceWaiver>,
    /// What was left out because it is not the program's code.
    #[serde(rename = "left")]
    pub excluded: Excluded,
}

/// A text of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Path relative to the project's folder, with `/`; `../` where it is above.
    pub file: String,
    /// What it says; bytes that are not UTF-8 are spelt `\xNN`.
    pub text: String,
}

/// What is around the code of a package.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The README files: of the package, and of the repository when there is none.
    pub readmes: Vec<Document>,
    /// Files that look like JSON Schemas: `*.schema.json`, and JSON with a `$schema` that is one of
    /// JSON Schema's own.
    pub schemas: Vec<Document>,
    /// Instructions for agents: `AGENTS.md` and `SKILL.md` of the package, of the folders above it up to the
    /// repository's, and of the skills in them.
    #[serde(default)]
    pub bundles: Vec<Bundle>,
}

/// A file of instructions for agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// As in [`Span::file`].
    pub file: String,
    /// What its YAML frontmatter says.
    pub frontmatter: Frontmatter,
    /// What is set as code in it: each line of a block, and each span in a line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<CodeLine>,
}

/// A line of code in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeLine {
    /// The line of the file that it begins in, from 1.
    pub line: u64,
    /// What it says; lines that end with a backslash are joined.
    pub text: String,
}

/// The YAML between two lines `---` that a Markdown file begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frontmatter {
    /// The file does not begin with one.
    Missing,
    /// It is no mapping in YAML: the parser's words.
    Invalid(String),
    /// A mapping, with its strings `name` and `description`, trimmed; empty if there is none.
    Read {
        /// What the tool is called.
        name: String,
        /// What it does.
        description: String,
    },
}

/// When the program that was run was built, and when its code was last changed. Times are in milliseconds
/// since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    /// The program, as in [`Span::file`].
    pub program: String,
    /// When it was built.
    pub at: u64,
    /// The file of its code that changed last, as in [`Span::file`].
    pub newest: String,
    /// When that changed.
    pub changed: u64,
}

/// Number of files that were left out, by what they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    /// Tests, examples, build scripts, documentation.
    #[serde(rename = "aside")]
    pub non_product: usize,
    /// Generated and minified files.
    pub generated: usize,
    /// Symbolic links, which are not followed.
    pub links: usize,
    /// Folders that could not be entered.
    pub folders: usize,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Path relative to the package's folder, with `/`, and `../` where it is not in it; bytes that are not
    /// UTF-8 are spelt `\xNN`.
    pub file: String,
    /// Bytes.
    pub range: Range<usize>,
    /// 1-based line and column in characters of the start.
    pub start: (u64, u64),
    /// 1-based line and column in characters of the end.
    pub end: (u64, u64),
    /// The line of the start, fit to be shown.
    pub excerpt: String,
    /// 0-based character of `excerpt` at the start.
    pub caret: usize,
}

/// A match of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// ID of the check.
    pub check: String,
    /// Language of the file.
    pub language: Language,
    /// Name of the rule.
    pub rule: String,
    /// Where.
    pub span: Span,
    /// What the rule captured as `$NAME`.
    pub name: Option<String>,
    /// Whether it is in the entry point.
    pub entry: Entry,
}

/// Whether a place is in the entry point of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entry {
    /// It is not.
    No,
    /// In code that is, such as the function `main`.
    Code,
    /// In a file that is, such as `src/main.rs`.
    File,
}

/// A file of the program that could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// As in [`Span::file`].
    pub file: String,
    /// Its language.
    pub language: Language,
    /// Why.
    pub why: Why,
}

/// Why a file was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// It could not be read, and what the system said.
    Unreadable(String),
    /// It holds NUL bytes.
    Binary,
    /// It is not UTF-8; the line of the first wrong byte, from 1.
    NotUtf8(u64),
    /// It is larger than [`MAX_FILE`]; its size in bytes.
    TooLarge(u64),
    /// It does not parse; the line of the first error, from 1.
    Broken(u64),
    /// Its code is nested too deeply; the line of the first place that is, from 1.
    TooDeep(u64),
    /// The rules take more steps in it than its size allows.
    TooExpensive,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "unreadable: {error}"),
            Self::Binary => f.write_str("binary"),
            Self::NotUtf8(line) => write!(f, "not UTF-8 in line {line}"),
            Self::TooLarge(bytes) => write!(f, "larger than {} MiB ({} MiB)", MAX_FILE >> 20, bytes >> 20),
            Self::Broken(line) => write!(f, "does not parse at line {line}"),
            Self::TooDeep(line) => write!(f, "nested too deeply in line {line}"),
            Self::TooExpensive => f.write_str("too expensive to search for its size"),
        }
    }
}

/// Code of the program that was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// As the manifest or the import names it.
    pub name: String,
    /// The file that imports it, as in [`Span::file`]; none where the manifest says that the program starts
    /// there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importer: Option<String>,
    /// Why.
    pub why: WhyUnread,
}

/// Why code of the program was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyUnread {
    /// It is in a folder that programs are built into, and the code that it is built from is not there.
    Built,
    /// A program wrote it.
    Generated,
    /// It is not there, or where no code of the program is looked for.
    NotFound,
}

impl std::fmt::Display for WhyUnread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Built => "is a build product whose source code is missing",
            Self::Generated => "is generated",
            Self::NotFound => "is not a file of the program",
        })
    }
}

/// A comment `agentnative-ignore ID: reason`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceWaiver {
    /// As in [`Span::file`].
    pub file: String,
    /// Line of the comment, from 1.
    pub line: u64,
    /// The line that it waives: its own when code stands before it, else the next; from 1.
    pub waives: u64,
    /// ID of the check, as written.
    pub check: String,
    /// The reason; without one it does not count.
    pub reason: Option<String>,
}
