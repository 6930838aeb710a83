//! `p8-bundle-install`: a command installs the instructions for agents, so that agents find them.

use crate::context::{CheckContext, RunView};
use crate::kit::recorded_changes;
use crate::verdict::{Assertion, Finding, Judgement};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::FormatFlag;
use agentnative_core::model::{OutputFormat, Stream};
use agentnative_core::run::{FileChange, FileEntry, FileKind};

/// Name of the file in which agents look for instructions.
const SKILL_FILE: &str = "SKILL.md";
/// Names of commands that may install a `SKILL.md`.
const INSTALL_COMMANDS: [&str; 2] = ["skill", "skills"];

/// Judges `p8-bundle-install`: a command installs the instructions for agents.
pub fn install(context: &CheckContext) -> Judgement {
    match &context.profile.conventions.bundle_install {
        FormatFlag::Given(_) => {
            let call = context.derived_probes(DerivedKind::BundleInstall);
            let runs = call.filter_map(|probe| context.plain_run(probe, OutputFormat::Text));
            Judgement::from_assertions(
                runs.map(|run| judge_run(&run)),
                "the command of `bundle_install` was not run",
            )
        }
        FormatFlag::Absent => {
            let remedy = "add a command that installs the instructions for agents, then declare it";
            Judgement::violated(vec![Finding::lacking("bundle_install", remedy)])
        }
        FormatFlag::Unspecified => undeclared(context),
    }
}

fn undeclared(context: &CheckContext) -> Judgement {
    let command = context.profile.commands.iter().find(|name| INSTALL_COMMANDS.contains(&name.as_str()));
    // A file above the project may belong to another tool in the repository.
    let is_skill = |file: &&str| file.rsplit('/').next() == Some(SKILL_FILE) && !file.starts_with("../");
    let bundles = context.project.ok().map_or(&[][..], |project| &project.bundles);
    let file = bundles.iter().map(|bundle| bundle.file.as_str()).find(is_skill);
    let what = match (command, file) {
        (Some(command), _) => format!("the help lists the command `{command}`"),
        (None, Some(file)) => format!("the project contains {file}"),
        (None, None) => {
            return Judgement::NotApplicable(format!(
                "the project contains no {SKILL_FILE}, and the help has no command `skill`"
            ));
        }
    };
    Judgement::unverified(format!(
        "{what}, but `bundle_install` is not declared: declare the arguments that install the instructions for agents, or `false` if there are none (this check then fails: the standard requires them for a SKILL.md)"
    ))
}

fn judge_run(run: &RunView) -> Assertion {
    let changes = recorded_changes(run)?;
    let exit = run.exited()?;
    if exit != 0 {
        let detail = format!("`{}` exits with {exit}; expected 0", run.probe.name);
        return run.failed_at_reason("exit", Stream::Stderr, detail);
    }
    let arrived: Vec<&FileChange> = changes.list.iter().filter(|change| is_skill_file(change)).collect();
    match arrived.as_slice() {
        [] => {
            let detail =
                format!("`{}` writes no {SKILL_FILE} to the home or the working directory", run.probe.name);
            run.failed_at_start("missing", Stream::Stdout, detail)
        }
        all if all.iter().all(|change| change.after.as_ref().is_none_or(is_empty)) => {
            let detail = format!("`{}` writes an empty {SKILL_FILE}", run.probe.name);
            run.failed_at_start("empty", Stream::Stdout, detail)
        }
        _ => Ok(()),
    }
}

/// True if a run created or changed a `SKILL.md`, which may be a file or a link.
fn is_skill_file(change: &FileChange) -> bool {
    let named = change.path.rsplit('/').next() == Some(SKILL_FILE);
    let kinds = [FileKind::File, FileKind::Link];
    named && change.after.as_ref().is_some_and(|entry| kinds.contains(&entry.kind))
}

fn is_empty(entry: &FileEntry) -> bool {
    entry.kind == FileKind::File && entry.size == 0
}
