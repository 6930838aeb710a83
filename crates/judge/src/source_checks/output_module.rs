//! Which places in the code are in the output module: where the output configuration lives.

use super::code::Code;
use agentnative_core::facts::{Entry, Match, Ranges, Span};
use std::collections::BTreeMap;

/// Names, without extension, of files and folders that are by custom the output module.
const NAMES: &[&str] = &[
    "output",
    "outputs",
    "out",
    "print",
    "printer",
    "printers",
    "printing",
    "render",
    "renderer",
    "renderers",
    "rendering",
    "ui",
    "tui",
    "ux",
    "console",
    "terminal",
    "display",
    "view",
    "views",
    "writer",
    "writers",
    "report",
    "reporter",
    "reporters",
    "reporting",
    "format",
    "formats",
    "formatter",
    "formatters",
    "formatting",
    "presenter",
    "presenters",
    "stdout",
    "log",
    "logger",
    "logging",
];

/// The output module of the code.
pub(super) struct OutputModule<'a> {
    code: &'a Code<'a>,
    /// Files that an output configuration was found in, if the configuration names no output module.
    homes: BTreeMap<&'a str, Home>,
}

/// What of a file belongs to the output module.
enum Home {
    All,
    /// Of a file that the program starts in, what has the output configuration in it.
    Parts(Ranges),
}

impl<'a> OutputModule<'a> {
    pub fn of(code: &'a Code<'a>) -> Self {
        let mut parts: BTreeMap<&str, Vec<&Match>> = BTreeMap::new();
        for found in code.facts.matches.iter().filter(|_| code.output.is_empty()) {
            let rule = found.check.parse().ok().and_then(|id| code.view(id)?.rule(found));
            if rule.is_some_and(|rule| rule.home) {
                parts.entry(&found.span.file).or_default().push(found);
            }
        }
        let home = |parts: Vec<&Match>| match parts.iter().all(|home| home.entry == Entry::File) {
            true => Home::Parts(Ranges::of(parts.iter().map(|home| home.span.range.clone()).collect())),
            false => Home::All,
        };
        Self { code, homes: parts.into_iter().map(|(file, parts)| (file, home(parts))).collect() }
    }

    /// Whether a place is in it.
    pub fn contains(&self, place: &Span) -> bool {
        let file = &place.file;
        if !self.code.output.is_empty() {
            return self.code.output.iter().any(|path| {
                let path = path.trim_start_matches("./").trim_end_matches('/');
                file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
        }
        let is_home = self.homes.get(file.as_str()).is_some_and(|home| match home {
            Home::All => true,
            Home::Parts(parts) => parts.contain(&place.range),
        });
        is_home || has_output_name(file)
    }
}

/// Whether a component of the path is by custom the name of the output module.
fn has_output_name(file: &str) -> bool {
    let mut parts = file.split('/');
    parts.any(|part| {
        let stem = part.split('.').next().unwrap_or(part).to_lowercase();
        let last = stem.rsplit(['_', '-']).next().unwrap_or(&stem);
        NAMES.contains(&stem.as_str()) || NAMES.contains(&last) && last != "out"
    })
}
