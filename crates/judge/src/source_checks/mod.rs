//! The source checks: verdicts from the matches of their rules. Rules and texts are data in `checks/`; all source
//! checks share this logic.

mod code;
mod output_module;
mod view;

pub use code::Code;

use super::context::{CodeUnavailable, NO_PROJECT};
use super::verdict::Judgement;
use agentnative_core::catalogue::Check;
use agentnative_core::facts::{BuildTimes, SourceWaiver};
use std::collections::BTreeMap;

/// Judges a source check from the facts about the code, or from the reason why there are none.
pub fn judge(code: &Result<Code<'_>, CodeUnavailable>, check: &Check) -> Judgement {
    let view = match code {
        Ok(code) => code.view(check.id),
        Err(CodeUnavailable::NoProject) => {
            return Judgement::NotApplicable(NO_PROJECT.to_owned());
        }
        Err(CodeUnavailable::NotRecorded) => {
            return Judgement::unverified(
                "the recording contains no code: it was made without source checks",
            );
        }
        Err(CodeUnavailable::NoReader) => {
            return Judgement::unverified(
                "this build cannot read code: it was made without the feature `source`",
            );
        }
    };
    view.map_or_else(|| Judgement::unverified("the check has no rules"), |view| view.judgement())
}

/// Returns a note if the program is older than its code.
pub fn outdated_program_note(built: &BuildTimes) -> Option<String> {
    let BuildTimes { program, newest, .. } = built;
    (built.changed > built.at).then(|| {
        format!(
            "{newest} is newer than the checked program {program}, which may be outdated; \
             build it, or declare `build` under [target]"
        )
    })
}

/// Returns notes for the user about the code: waivers in comments, skipped files and unreadable folders.
pub fn code_notes(code: &Code<'_>) -> Vec<String> {
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
            (Some(_), Some(_)) => format!("the waiver of {check} is unused: it matches no problem"),
        };
        notes.push(format!("{}:{line}: {what}", code.path(file)));
    }
    if !code.facts.skipped.is_empty() {
        notes.push(format!("source files skipped: {}", code.skipped_files_text(&code.facts.skipped)));
    }
    if code.facts.excluded.folders > 0 {
        notes.push(format!("source folders that could not be read: {}", code.facts.excluded.folders));
    }
    notes
}
