//! Chooses values for the required arguments of a command, by their names and descriptions.

use super::samples::SAMPLES;
use super::settings::ExploreSettings;
use super::tree::ExploredCommand;
use crate::config::STALLED_PLACEHOLDER;
use crate::targets::Argument;

/// The value of an argument for which nothing else is known.
pub(super) const NAME: &str = "agentnative-example";

/// What an argument stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    File,
    Folder,
    Number,
    Date,
    Url,
    Name,
}

/// Words in the name or the description of an argument, with the kind of its value. The first row that fits counts.
const KINDS: [(&[&str], ValueKind); 5] = [
    (&["url", "uri", "endpoint", "website", "address"], ValueKind::Url),
    (&["dir", "directory", "directories", "folder", "folders", "dirs"], ValueKind::Folder),
    (
        &[
            "file",
            "files",
            "filename",
            "filenames",
            "path",
            "paths",
            "pathname",
            "src",
            "source",
            "input",
            "infile",
            "document",
            "archive",
            "script",
        ],
        ValueKind::File,
    ),
    (
        &[
            "n", "num", "number", "count", "int", "integer", "port", "limit", "size", "seconds", "ms",
            "minutes", "depth", "width", "height", "lines", "pid",
        ],
        ValueKind::Number,
    ),
    (&["date", "day", "timestamp"], ValueKind::Date),
];

/// Extensions of files, each with the words in a help page that name their kind.
const EXTENSIONS: [(&str, &[&str]); 8] = [
    ("json", &["json"]),
    ("jsonl", &["jsonl", "ndjson"]),
    ("yaml", &["yaml", "yml"]),
    ("toml", &["toml"]),
    ("csv", &["csv", "tsv"]),
    ("md", &["markdown", "md"]),
    ("txt", &["text", "txt"]),
    ("py", &["python", "py"]),
];

/// Returns what a name such as `FILE`, or a description, stands for.
pub(super) fn kind_of(text: &str) -> Option<ValueKind> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|char: char| !char.is_alphanumeric()).collect();
    let fits = |(known, _): &(&[&str], ValueKind)| known.iter().any(|word| words.contains(word));
    KINDS.into_iter().find(fits).map(|(_, kind)| kind)
}

/// Returns what an argument stands for: by its name, else by its line in the help page `page`.
pub(super) fn argument_kind(argument: &Argument, page: &str) -> ValueKind {
    let described = || {
        let is_own = |line: &&str| {
            let line = line.trim_start().trim_start_matches(['<', '[', '{']);
            let rest = line.strip_prefix(argument.name.as_str());
            rest.is_some_and(|rest| rest.trim_start_matches(['>', ']', '}', '.']).starts_with("  "))
        };
        page.lines().find(is_own).and_then(|line| kind_of(line.trim_start().split_once("  ")?.1))
    };
    kind_of(&argument.name).or_else(described).unwrap_or(ValueKind::Name)
}

impl ExploreSettings<'_> {
    /// Returns the values to try for an argument of this kind; several for a file, of which the first seems to fit
    /// best.
    pub(super) fn values(&self, kind: ValueKind, command: &ExploredCommand) -> Vec<String> {
        match kind {
            ValueKind::File => self.file_values(command),
            ValueKind::Folder => vec![".".to_owned()],
            ValueKind::Number => vec!["1".to_owned()],
            ValueKind::Date => vec!["2026-01-01".to_owned()],
            ValueKind::Url => vec![format!("http://{STALLED_PLACEHOLDER}/")],
            ValueKind::Name => vec![NAME.to_owned()],
        }
    }

    /// Returns the value of an argument that seems to fit best.
    pub(super) fn value(&self, argument: &Argument, command: &ExploredCommand) -> String {
        let values = self.values(argument_kind(argument, &command.text), command);
        values.into_iter().next().unwrap_or_default()
    }

    /// Returns up to three names of files: first those whose kind the page of the command names, then JSON, source code
    /// and text. A file of the workspace comes before a sample.
    fn file_values(&self, command: &ExploredCommand) -> Vec<String> {
        let page = format!("{} {}", command.leaf.name(), command.text).to_lowercase();
        let words: Vec<&str> = page.split(|char: char| !char.is_alphanumeric()).collect();
        let named = EXTENSIONS.iter().filter(|(_, known)| known.iter().any(|word| words.contains(word)));
        let extensions = named.map(|(extension, _)| *extension).chain(["json", "py", "txt"]);
        let mut files: Vec<String> = Vec::new();
        for extension in extensions {
            let fits = |name: &&String| name.rsplit_once('.').is_some_and(|(_, end)| end == extension);
            let sample = || SAMPLES.iter().map(|sample| sample.name.to_owned());
            let own = self.files.iter().filter(|name| !name.starts_with(NAME)).find(fits).cloned();
            let file = own.or_else(|| sample().find(|name| fits(&name)));
            files.extend(file.filter(|file| !files.contains(file)));
        }
        files.truncate(3);
        files
    }
}
