//! Facts about the source code of a target and the files around it, as a recording stores them.

mod ranges;

pub use ranges::RangeSet;

use crate::manifest::Dependency;
use crate::model::Language;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum size of a source file that is read, in bytes.
pub const MAX_SOURCE_BYTES: u64 = 4 << 20;

/// Facts about the source code of a package, and of the other workspace packages that are built into its program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFacts {
    /// Prefix of the package's file paths in messages, such as `crates/cli/`; empty if the user selected the folder of
    /// the package itself.
    pub folder: String,
    /// File name of the manifest. Evidence about the package in general refers to this file.
    pub manifest: Option<String>,
    /// Dependencies that the manifest of the package declares.
    pub dependencies: Vec<Dependency>,
    /// Reason why reading the code was stopped, so that there are no facts; `None` if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Entry points and imports whose code was not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadCode>,
    /// The checks that searched the code: the ID of each, and the
    /// [`fingerprint`](crate::catalogue::SourceCheck::fingerprint) of its rules.
    pub rules: BTreeMap<String, u64>,
    /// Number of source files by language, including the skipped ones.
    pub files: BTreeMap<Language, usize>,
    /// Number of files that were parsed because they contain a word of a rule.
    pub parsed: usize,
    /// Number of bytes of source code that were read.
    pub bytes: u64,
    /// Places that the rules match, ordered by file and position.
    pub matches: Vec<Match>,
    /// Source files that could not be searched.
    pub skipped: Vec<SkippedFile>,
    /// Waiver comments in the code, such as `agentnative-ignore ID: reason`.
    pub waivers: Vec<SourceWaiver>,
    /// Numbers of files that were left out because they are not code of the program.
    #[serde(rename = "left")]
    pub excluded: Excluded,
}

/// A text file of the project, such as its README.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectDocument {
    /// Path relative to the project's folder, with `/` as separator, and `../` for files above it.
    pub file: String,
    /// Contents; bytes that are not UTF-8 are written as `\xNN`.
    pub text: String,
}

/// Documents in a project that are not code of its program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectDocuments {
    /// README files of the package, or of the repository if the package has none.
    pub readmes: Vec<ProjectDocument>,
    /// Probable JSON Schemas: `*.schema.json`, and JSON files whose `$schema` is a JSON Schema dialect.
    pub schemas: Vec<ProjectDocument>,
    /// Instructions for agents: `AGENTS.md` and `SKILL.md` in the package, in its parent folders up to the root of
    /// the repository, and in the skill folders of these.
    #[serde(default)]
    pub bundles: Vec<AgentInstructions>,
}

/// A Markdown file with instructions for agents, such as `AGENTS.md`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInstructions {
    /// Path of the file, in the form of [`CodeSpan::file`].
    pub file: String,
    /// YAML frontmatter of the file.
    pub frontmatter: Frontmatter,
    /// Code in the text: each line of a code block, and each inline code span.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<CodeLine>,
}

/// A line of code in a Markdown file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeLine {
    /// 1-based number of the line that the code starts in.
    pub line: u64,
    /// The code; lines that end with a backslash are joined with the next one.
    pub text: String,
}

/// The YAML frontmatter of a Markdown file, between two `---` lines at its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frontmatter {
    /// The file has no frontmatter.
    Missing,
    /// The frontmatter is not a YAML mapping; contains the parser's message.
    Invalid(String),
    /// The frontmatter is a mapping. A missing `name` or `description` is an empty string.
    Read {
        /// Value of `name`, trimmed.
        name: String,
        /// Value of `description`, trimmed.
        description: String,
    },
}

/// When the program was built and when its code last changed, in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildTimes {
    /// Path of the program, in the form of [`CodeSpan::file`].
    pub program: String,
    /// Time of the build, in milliseconds since 1970.
    pub at: u64,
    /// Path of the source file that changed last, in the form of [`CodeSpan::file`].
    pub newest: String,
    /// Time of the last change of the file in `newest`, in milliseconds since 1970.
    pub changed: u64,
}

/// Numbers of files that were not searched for matches, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    /// Number of tests, examples, build scripts and documentation files.
    #[serde(rename = "aside")]
    pub non_product: usize,
    /// Number of generated and minified files.
    pub generated: usize,
    /// Number of symbolic links, which are not followed.
    pub links: usize,
    /// Number of folders that could not be read.
    pub folders: usize,
}

/// A range of text in a source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeSpan {
    /// Path relative to the package's folder, with `/` as separator, and `../` for files outside it; bytes that
    /// are not UTF-8 are written as `\xNN`.
    pub file: String,
    /// Byte offsets in the file.
    pub range: Range<usize>,
    /// 1-based line and column of the start; columns count characters.
    pub start: (u64, u64),
    /// 1-based line and column of the end; columns count characters.
    pub end: (u64, u64),
    /// The first line of the range, sanitized for display.
    pub excerpt: String,
    /// 0-based index of the start in `excerpt`, in characters.
    pub caret: usize,
}

/// A place in a source file that a rule of a source check matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// ID of the check that the rule belongs to.
    pub check: String,
    /// Language of the file.
    pub language: Language,
    /// Name of the rule.
    pub rule: String,
    /// The range of code that the rule matches.
    pub span: CodeSpan,
    /// Text that the rule captured as `$NAME`.
    pub name: Option<String>,
    /// Whether the match is in the entry point of the program.
    pub entry: EntryPoint,
}

/// Whether a range is in the entry point of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryPoint {
    /// Outside the entry point.
    No,
    /// In entry-point code, such as the function `main`.
    Code,
    /// In an entry-point file, such as `src/main.rs`.
    File,
}

/// A source file that could not be searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedFile {
    /// Path of the file, in the form of [`CodeSpan::file`].
    pub file: String,
    /// Language of the file.
    pub language: Language,
    /// Reason why the file could not be searched.
    pub why: SkipReason,
}

/// Reason why a source file was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// Reading the file failed; contains the error.
    Unreadable(String),
    /// The file contains NUL bytes.
    Binary,
    /// The file is not UTF-8; contains the 1-based line of the first invalid byte.
    NotUtf8(u64),
    /// The file is larger than [`MAX_SOURCE_BYTES`]; contains its size in bytes.
    TooLarge(u64),
    /// The file has a syntax error; contains the 1-based line of the first one.
    Broken(u64),
    /// The code is nested too deeply; contains the 1-based line of the first such place.
    TooDeep(u64),
    /// Matching the rules takes more steps than are allowed for the file's size.
    TooExpensive,
}

impl std::fmt::Display for SkipReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "unreadable: {error}"),
            Self::Binary => f.write_str("binary"),
            Self::NotUtf8(line) => write!(f, "not UTF-8 in line {line}"),
            Self::TooLarge(bytes) => {
                write!(f, "larger than {} MiB ({} MiB)", MAX_SOURCE_BYTES >> 20, bytes >> 20)
            }
            Self::Broken(line) => write!(f, "does not parse at line {line}"),
            Self::TooDeep(line) => write!(f, "nested too deeply in line {line}"),
            Self::TooExpensive => f.write_str("exceeds the search limit for its size"),
        }
    }
}

/// An entry point or import whose code was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadCode {
    /// Name of the entry point in the manifest, or of the imported module.
    pub name: String,
    /// Path of the file that imports the code, in the form of [`CodeSpan::file`]; `None` for an entry point that the
    /// manifest declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importer: Option<String>,
    /// Reason why the code was not read.
    pub why: UnreadReason,
}

/// Reason why code of the program was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnreadReason {
    /// The file is a build product and its source code is missing.
    Built,
    /// The file is generated.
    Generated,
    /// The file does not exist, or it is outside the folders that are searched for code.
    NotFound,
}

impl std::fmt::Display for UnreadReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Built => "is a build product without source code",
            Self::Generated => "is generated",
            Self::NotFound => "is not a file of the program",
        })
    }
}

/// A comment in the code that accepts a problem: `agentnative-ignore ID: reason`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceWaiver {
    /// Path of the file, in the form of [`CodeSpan::file`].
    pub file: String,
    /// 1-based line of the comment.
    pub line: u64,
    /// 1-based line that the waiver applies to: the line of the comment if code precedes the comment, else the next
    /// line.
    pub waives: u64,
    /// ID of the check whose problem is accepted, as written in the comment.
    pub check: String,
    /// Reason for accepting the problem; a waiver without one has no effect.
    pub reason: Option<String>,
}
