//! Chooses values for the required arguments of a command, by their names and descriptions.

use super::samples::{SAMPLES, Sample};
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

/// Maximum number of files to try for an argument.
const MAX_FILES: usize = 4;
/// Maximum number of values to try for an argument: with the folder, or with a name.
pub(super) const MAX_VALUES: usize = MAX_FILES + 1;

/// Returns what a name such as `FILE`, or a description, stands for. Of alternatives such as `file|dir` or
/// `file-or-folder`, the first counts.
pub(super) fn kind_of(text: &str) -> Option<ValueKind> {
    let lower = text.split(['|', '/']).next().unwrap_or(text).to_lowercase();
    let words: Vec<&str> = lower.split(|char: char| !char.is_alphanumeric()).collect();
    let kind_of_any = |words: &[&str]| {
        let fits = |(known, _): &(&[&str], ValueKind)| known.iter().any(|word| words.contains(word));
        KINDS.into_iter().find(fits).map(|(_, kind)| kind)
    };
    match words.contains(&"or") {
        true => words.iter().find_map(|word| kind_of_any(&[word])),
        false => kind_of_any(&words),
    }
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
            ValueKind::File => {
                let folder = [".".to_owned()];
                self.file_values(command).into_iter().chain(folder).collect()
            }
            ValueKind::Folder => vec![".".to_owned()],
            ValueKind::Number => vec!["1".to_owned()],
            ValueKind::Date => vec!["2026-01-01".to_owned()],
            ValueKind::Url => vec![format!("http://{STALLED_PLACEHOLDER}/")],
            ValueKind::Name => vec![NAME.to_owned()],
        }
    }

    /// Like [`values`](Self::values), but also tries a file where the kind is unclear.
    pub(super) fn more_values(&self, kind: ValueKind, command: &ExploredCommand) -> Vec<String> {
        let files = if kind == ValueKind::Name { self.file_values(command) } else { Vec::new() };
        self.values(kind, command).into_iter().chain(files).collect()
    }

    /// Returns the value of an argument that seems to fit best.
    pub(super) fn value(&self, argument: &Argument, command: &ExploredCommand) -> String {
        let values = self.values(argument_kind(argument, &command.text), command);
        values.into_iter().next().unwrap_or_default()
    }

    /// Replaces the names of files that do not exist by a file with the same extension, if there is one, and folders
    /// that do not exist, such as `src/`, by the current one.
    pub(super) fn with_existing_files(&self, args: &[String]) -> Vec<String> {
        let replace = |arg: &String| {
            if arg.starts_with('-') {
                return None;
            }
            if arg.ends_with('/') {
                let exists = self.files.iter().any(|file| file.starts_with(arg.trim_start_matches("./")));
                return (!exists).then(|| ".".to_owned());
            }
            let (stem, extension) = arg.rsplit_once('.')?;
            let is_file = !stem.is_empty() && !self.files.contains(arg);
            self.file_with(extension).filter(|_| is_file)
        };
        args.iter().map(|arg| replace(arg).unwrap_or_else(|| arg.clone())).collect()
    }

    /// Returns the name of a file with this extension: one of the workspace, else a sample.
    fn file_with(&self, extension: &str) -> Option<String> {
        let own = self.files.iter().filter(|name| !name.starts_with(NAME));
        let own = own.clone().find(|name| has_extension(name, extension)).cloned();
        own.or_else(|| sample(extension).map(|sample| sample.name.to_owned()))
    }

    /// Returns the names of files, one for each extension.
    fn file_values(&self, command: &ExploredCommand) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for extension in &command.extensions {
            files.extend(self.file_with(extension).filter(|file| !files.contains(file)));
        }
        files.truncate(MAX_FILES);
        files
    }
}

impl ExploredCommand {
    /// Returns the samples that a command that reads stdin may understand, the most probable first.
    pub(super) fn samples(&self) -> Vec<&'static Sample> {
        let mut samples: Vec<&Sample> = Vec::new();
        for sample in self.extensions.iter().filter_map(|extension| sample(extension)) {
            if !samples.contains(&sample) {
                samples.push(sample);
            }
        }
        samples
    }
}

fn sample(extension: &str) -> Option<&'static Sample> {
    SAMPLES.iter().find(|sample| has_extension(sample.name, extension))
}

fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end == extension)
}
