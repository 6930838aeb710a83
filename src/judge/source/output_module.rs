//! Which places in the code are in the output module: where the output configuration lives.

use super::Code;
use crate::source::{Entry, Match, Span};

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

impl Code<'_> {
    /// Whether a place is in the output module.
    pub(super) fn is_output(&self, found: &Match) -> bool {
        let file = &found.span.file;
        if !self.output.is_empty() {
            return self.output.iter().any(|path| {
                let path = path.trim_start_matches("./").trim_end_matches('/');
                file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
        }
        let here = self.facts.matches.iter().filter(|home| home.span.file == *file);
        let is_home = |home: &&Match| {
            let rule = home.check.parse().ok().and_then(|id| self.view(id)?.rule(home));
            rule.is_some_and(|rule| rule.home)
                && (home.entry != Entry::File || contains(&home.span, &found.span))
        };
        here.into_iter().any(|home| is_home(&home)) || has_output_name(file)
    }
}

fn contains(outer: &Span, inner: &Span) -> bool {
    outer.range.start <= inner.range.start && inner.range.end <= outer.range.end
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
