//! The source checks: what the matches of their rules mean. The rules and the words are data in
//! `checks/`; the logic is one for all.

mod output_module;
mod view;

use super::context::{NO_PROJECT, NoCode};
use super::verdict::Judgement;
use crate::catalogue::{Check, checks};
use crate::model::CheckId;
use crate::source::{Built, Facts, Skipped, SourceWaiver};
use std::collections::BTreeMap;
use view::View;

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

/// The verdict on `check`, which is a source check.
pub fn judge(code: &Result<Code<'_>, NoCode>, check: &Check) -> Judgement {
    let view = match code {
        Ok(code) => code.view(check.id),
        Err(NoCode::NoProject) => {
            return Judgement::NotApplicable(NO_PROJECT.to_owned());
        }
        Err(NoCode::NotRecorded) => {
            return Judgement::unverified(
                "the recording contains no code: it was made without source checks",
            );
        }
        Err(NoCode::NoReader) => {
            return Judgement::unverified(
                "this build cannot read code: it was made without the feature `source`",
            );
        }
    };
    view.map_or_else(|| Judgement::unverified("the check has no rules"), |view| view.judgement())
}

/// That the program is older than its code, if it is.
pub fn stale(built: &Built) -> Option<String> {
    let Built { program, newest, .. } = built;
    (built.changed > built.at).then(|| {
        format!(
            "{newest} is newer than the checked program {program}, which may be outdated; \
             build it, or declare `build` under [target]"
        )
    })
}

/// What else the reader must know of the code: waivers, and what was skipped.
pub fn notes(code: &Code<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let mut found: BTreeMap<&str, Option<_>> = BTreeMap::new();
    for waiver in &code.facts.waivers {
        let SourceWaiver { file, line, waives, check, reason } = waiver;
        let lines = found
            .entry(check)
            .or_insert_with(|| check.parse().ok().and_then(|id| code.view(id)).map(|view| view.lines()));
        let what = match (lines, reason) {
            (None, _) => format!("the waiver does not name a source check: {check}"),
            (Some(_), None) => {
                format!(
                    "the waiver of {check} is ignored because it has no reason (agentnative-ignore {check}: reason)"
                )
            }
            (Some(lines), Some(reason)) if lines.contains(&(Some(code.path(file)), Some(*waives))) => {
                format!("{check} is waived: {reason}")
            }
            (Some(_), Some(_)) => format!("the waiver of {check} is not needed"),
        };
        notes.push(format!("{}:{line}: {what}", code.path(file)));
    }
    if !code.facts.skipped.is_empty() {
        notes.push(format!("source files skipped: {}", code.list(&code.facts.skipped)));
    }
    if code.facts.excluded.folders > 0 {
        notes.push(format!("source folders that could not be entered: {}", code.facts.excluded.folders));
    }
    notes
}

impl<'a> Code<'a> {
    /// The code in the eyes of the source check of this ID.
    fn view(&'a self, id: CheckId) -> Option<View<'a>> {
        let check = id.check();
        Some(View { code: self, check, source: check.source.as_ref()? })
    }

    /// Whether what was found is what the rules find now: a recording may be older. One check uses what
    /// others find, so it is all or none.
    fn is_of_these_rules(&self) -> bool {
        let now = checks()
            .iter()
            .filter_map(|check| Some((check.id.to_string(), check.source.as_ref()?.fingerprint())));
        self.facts.rules == now.collect()
    }

    /// Whether all files of the program were looked at.
    pub(super) fn is_complete(&self) -> bool {
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
