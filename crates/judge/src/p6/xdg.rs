//! `p6-xdg`: calls store files in the folders of the XDG variables.

use crate::context::{CheckContext, RunView};
use crate::kit::{RunChanges, recorded_changes};
use crate::verdict::{Assertion, Judgement};
use agentnative_core::model::Variant;
use agentnative_core::run::{Area, FileChange};
use std::path::Path;

/// Judges `p6-xdg`: files are stored in the folders of the XDG variables.
pub fn xdg(context: &CheckContext) -> Judgement {
    let runs: Vec<RunView> =
        context.probes.iter().copied().flat_map(|probe| context.runs_under(probe, Variant::Xdg)).collect();
    let stores = |run: &RunView| match recorded_changes(run) {
        Ok(changes) => changes.list.iter().any(|change| change.area != Area::Workspace),
        Err(_) => true,
    };
    if !runs.is_empty() && !runs.iter().any(stores) {
        return Judgement::NotApplicable("no call stores anything outside its workspace".to_owned());
    }
    Judgement::from_assertions(runs.iter().map(judge_run), "no successful probe is declared: declare one")
}

/// True if a change concerns the declared configuration file or a folder that contains it, and the file is not below
/// `.config/`.
fn is_declared(run: &RunView, change: &FileChange) -> bool {
    let file =
        run.context.profile.conventions.config_file.as_deref().filter(|file| !file.starts_with(".config/"));
    file.is_some_and(|file| Path::new(file).starts_with(&change.path))
}

fn judge_run(run: &RunView) -> Assertion {
    let mut made = RunChanges::created_in_home(run)?;
    made.all.retain(|change| !is_declared(run, change));
    if made.is_empty() {
        run.ended()?;
        return Ok(());
    }
    let detail = format!("with the XDG variables outside the home, the call {}", made.in_words());
    run.failed("home", detail)
}
