//! The environment of one run.

use super::common::Common;
use super::environment::Environment;
use super::folder::RunFolder;
use super::locale;
use super::process_tag::ProcessTag;
use crate::added_variables::LOCALE_NAME;
use crate::environment::{VERSION_VARIABLES, absolute_path_entries};
use crate::{Job, RequestedConfinement, Variant};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Returns the environment variables of one run. Later groups of this list override earlier ones:
///
/// 1. the common variables and the folders of the run,
/// 2. the variables of its variant, and the folder of its locale,
/// 3. the variable that marks the processes of the run,
/// 4. the variables of the job.
///
/// An undeclared job does not receive the variables that select versions. For a trusted job, the caller's environment replaces the first group. If such a job is confined, it also receives a
/// writable `TMPDIR`.
pub(super) fn run_environment(
    job: &Job,
    common: &Common,
    folder: &RunFolder,
    tag: &ProcessTag,
) -> Environment {
    let mut env = if job.trusted { common.caller.clone() } else { common.base.clone() };
    if !job.trusted {
        // The target finds the tripwire programs first.
        let path =
            env.get(OsStr::new("PATH")).map(|path| absolute_path_entries(Some(path))).unwrap_or_default();
        let mut in_front = folder.tripwires().into_os_string();
        in_front.push(":");
        in_front.push(path);
        env.insert("PATH".into(), in_front);
        let folders = folder_variables(folder, job.variant);
        let lacks_home = job.variant.lacks_home(job.environment);
        env.extend(folders.filter(|(name, _)| !lacks_home || name == "TMPDIR"));
    } else if job.isolation > RequestedConfinement::None {
        env.insert("TMPDIR".into(), folder.temporary().into_os_string());
    }
    if job.undeclared {
        env.retain(|name, _| !VERSION_VARIABLES.iter().any(|version| name == version));
    }
    env.extend(job.variant.added_variables(job.environment).map(|(name, value)| (name.into(), value.into())));
    env.extend(locale_folder(job, common).map(|folder| ("LOCPATH".into(), folder.into())));
    env.insert(ProcessTag::VARIABLE.into(), tag.value().into());
    env.extend(job.env.iter().cloned());
    env
}

/// Returns the folder of the locale that a run uses, if the system lacks this locale. Otherwise `None`.
pub(super) fn locale_folder<'c>(job: &Job, common: &'c Common) -> Option<&'c PathBuf> {
    let is_used =
        job.variant.added_variables(job.environment).any(|variable| variable == ("LC_ALL", LOCALE_NAME));
    let provide = || common.locales.get_or_init(|| locale::provide_locale(common.root.path())).as_ref();
    is_used.then(provide).flatten()
}

/// Returns the variables that name the folders of one run, such as `HOME` and `TMPDIR`.
fn folder_variables(folder: &RunFolder, variant: Variant) -> impl Iterator<Item = (OsString, OsString)> {
    let own =
        [("HOME", folder.home()), ("XDG_RUNTIME_DIR", folder.runtime()), ("TMPDIR", folder.temporary())];
    let all = own.into_iter().chain(folder.xdg_folders(variant));
    all.map(|(name, path)| (name.into(), path.into_os_string()))
}
