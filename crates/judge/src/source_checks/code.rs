//! The code of a target as the input of the source checks.

use agentnative_core::catalogue::checks;
use agentnative_core::facts::{CodeFacts, SkippedFile};

/// Maximum number of skipped files that are named.
const MAX_NAMED: usize = 3;

/// The facts about the code of a target, with the output modules that the user declares.
#[derive(Clone, Copy)]
pub struct Code<'a> {
    /// Facts of the code.
    pub facts: &'a CodeFacts,
    /// Paths of the output modules, relative to the package; if empty, they are detected.
    pub output: &'a [String],
}

impl Code<'_> {
    /// True if the facts were recorded with the current rules of all checks; a recording may be older. All rules have
    /// to be current, because one check uses the matches of others.
    pub(super) fn has_current_rules(&self) -> bool {
        let now = checks()
            .iter()
            .filter_map(|check| Some((check.id.to_string(), check.source.as_ref()?.fingerprint())));
        self.facts.rules == now.collect()
    }

    /// True if all files of the program were read.
    pub fn is_complete(&self) -> bool {
        let CodeFacts { stopped, skipped, unread, excluded, .. } = self.facts;
        stopped.is_none() && skipped.is_empty() && unread.is_empty() && excluded.folders == 0
    }

    /// Converts a path relative to the package to the path that messages show.
    pub(super) fn path(&self, file: &str) -> String {
        let (mut folder, mut file) = (self.facts.folder.as_str(), file);
        while let (Some(inner), Some(rest)) = (folder.strip_suffix('/'), file.strip_prefix("../")) {
            (folder, file) = (&inner[..inner.rfind('/').map_or(0, |slash| slash + 1)], rest);
        }
        format!("{folder}{file}")
    }

    /// Returns a text about code of the program that was not read: the first file, and the number of the others. Empty
    /// if all code was read.
    pub(super) fn unread(&self) -> String {
        let [first, rest @ ..] = &self.facts.unread[..] else { return String::new() };
        let subject = match &first.importer {
            Some(file) => format!("{} imports", self.path(file)),
            None => "the program starts in".to_owned(),
        };
        let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
        format!("; {subject} {}, which {}{more}", first.name, first.why)
    }

    /// Returns a text with the first skipped files, each with the reason, and the number of the others.
    pub(super) fn skipped_files_text(&self, skipped: &[SkippedFile]) -> String {
        let name = |file: &SkippedFile| format!("{} ({})", self.path(&file.file), file.why);
        let mut parts: Vec<String> = skipped.iter().take(MAX_NAMED).map(name).collect();
        if skipped.len() > MAX_NAMED {
            parts.push(format!("and {} more", skipped.len() - MAX_NAMED));
        }
        parts.join(", ")
    }
}
