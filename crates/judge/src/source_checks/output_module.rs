//! Detects the output module of a program: the code that configures its output.

use super::code::Code;
use agentnative_core::facts::{CodeSpan, EntryPoint, Match, RangeSet};
use std::collections::BTreeMap;

/// Names of files and folders, without extension, that usually contain the output module of a program.
const MODULE_NAMES: &[&str] = &[
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

pub(super) struct OutputModule<'a> {
    code: &'a Code<'a>,
    /// Files of the target that configure its output, such as a logger. Empty if the user declares the output modules.
    homes: BTreeMap<&'a str, ModulePart>,
}

/// The part of a file that belongs to the output module.
enum ModulePart {
    All,
    /// Only the parts of an entry file that configure the output.
    Parts(RangeSet),
}

impl<'a> OutputModule<'a> {
    pub fn detect(code: &'a Code<'a>) -> Self {
        let mut parts: BTreeMap<&str, Vec<&Match>> = BTreeMap::new();
        for found in code.facts.matches.iter().filter(|_| code.output.is_empty()) {
            let rule = found.check.parse().ok().and_then(|id| code.view(id)?.rule(found));
            if rule.is_some_and(|rule| rule.home) {
                parts.entry(&found.span.file).or_default().push(found);
            }
        }
        let home = |parts: Vec<&Match>| match parts.iter().all(|home| home.entry == EntryPoint::File) {
            true => {
                ModulePart::Parts(RangeSet::new(parts.iter().map(|home| home.span.range.clone()).collect()))
            }
            false => ModulePart::All,
        };
        Self { code, homes: parts.into_iter().map(|(file, parts)| (file, home(parts))).collect() }
    }

    /// True if a place in the code belongs to the output module.
    pub fn contains(&self, place: &CodeSpan) -> bool {
        let file = &place.file;
        if !self.code.output.is_empty() {
            return self.code.output.iter().any(|path| {
                let path = path.trim_start_matches("./").trim_end_matches('/');
                file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
        }
        let is_home = self.homes.get(file.as_str()).is_some_and(|home| match home {
            ModulePart::All => true,
            ModulePart::Parts(parts) => parts.contains(&place.range),
        });
        is_home || has_output_name(file)
    }
}

/// True if a component of the path has a conventional name of an output module.
fn has_output_name(file: &str) -> bool {
    let mut parts = file.split('/');
    parts.any(|part| {
        let stem = part.split('.').next().unwrap_or(part).to_lowercase();
        let last = stem.rsplit(['_', '-']).next().unwrap_or(&stem);
        MODULE_NAMES.contains(&stem.as_str()) || MODULE_NAMES.contains(&last) && last != "out"
    })
}
