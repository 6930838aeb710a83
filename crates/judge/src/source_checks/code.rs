//! The code of a target as the source checks see it.

use agentnative_core::catalogue::checks;
use agentnative_core::facts::{Facts, Skipped};

/// As many skipped files are named, and no more.
const NAMED: usize = 3;

/// The code of the target, and what is said of it.
#[derive(Clone, Copy)]
pub struct Code<'a> {
    /// What was found in it.
    pub facts: &'a Facts,
    /// Paths of the output modules, relative to the package; empty when the configuration names none:
    /// then they are found.
    pub output: &'a [String],
}

impl Code<'_> {
    /// Whether what was found is what the rules find now: a recording may be older. One check uses what
    /// others find, so it is all or none.
    pub(super) fn is_of_these_rules(&self) -> bool {
        let now = checks()
            .iter()
            .filter_map(|check| Some((check.id.to_string(), check.source.as_ref()?.fingerprint())));
        self.facts.rules == now.collect()
    }

    /// Whether all files of the program were looked at.
    pub fn is_complete(&self) -> bool {
        let Facts { stopped, skipped, unread, excluded, .. } = self.facts;
        stopped.is_none() && skipped.is_empty() && unread.is_empty() && excluded.folders == 0
    }

    /// The path of a file of the package, for people.
    pub(super) fn path(&self, file: &str) -> String {
        let (mut folder, mut file) = (self.facts.folder.as_str(), file);
        while let (Some(inner), Some(rest)) = (folder.strip_suffix('/'), file.strip_prefix("../")) {
            (folder, file) = (&inner[..inner.rfind('/').map_or(0, |slash| slash + 1)], rest);
        }
        format!("{folder}{file}")
    }

    /// What of the program was not read: the first, and the number of the others.
    pub(super) fn unread(&self) -> String {
        let [first, rest @ ..] = &self.facts.unread[..] else { return String::new() };
        let who = match &first.importer {
            Some(file) => format!("{} imports", self.path(file)),
            None => "the program starts in".to_owned(),
        };
        let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
        format!("; {who} {}, which {}{more}", first.name, first.why)
    }

    /// The first of the skipped files, each with the reason, and the number of the others.
    pub(super) fn list(&self, skipped: &[Skipped]) -> String {
        let name = |file: &Skipped| format!("{} ({})", self.path(&file.file), file.why);
        let mut parts: Vec<String> = skipped.iter().take(NAMED).map(name).collect();
        if skipped.len() > NAMED {
            parts.push(format!("and {} more", skipped.len() - NAMED));
        }
        parts.join(", ")
    }
}
