//! The environment of one run.

use super::all_runs::Common;
use super::environment::Environment;
use super::folder::Folder;
use super::locale;
use super::process_tag::ProcessTag;
use crate::added_variables::LOCALE_NAME;
use crate::environment::clean_path;
use crate::{Isolation, Job, Variant};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The variables of one run: those of all runs, what leads into its folder, what its variant adds with the locale that was
/// provided for it, its tag, and its own. A trusted one has the caller's instead of the first two; where it is confined, it
/// has a folder for temporary files that it may write to.
pub(super) fn of_run(job: &Job, common: &Common, folder: &Folder, tag: &ProcessTag) -> Environment {
    let mut env = if job.trusted { common.caller.clone() } else { common.base.clone() };
    if !job.trusted {
        // What the target calls by its name is found there first.
        let path = env.get(OsStr::new("PATH")).map(|path| clean_path(Some(path))).unwrap_or_default();
        let mut in_front = folder.tripwires().into_os_string();
        in_front.push(":");
        in_front.push(path);
        env.insert("PATH".into(), in_front);
        let folders = of_folder(folder, job.variant);
        let lacks_home = job.variant.lacks_home(job.nth);
        env.extend(folders.filter(|(name, _)| !lacks_home || name == "TMPDIR"));
    } else if job.isolation > Isolation::None {
        env.insert("TMPDIR".into(), folder.temporary().into_os_string());
    }
    env.extend(job.variant.added(job.nth).map(|(name, value)| (name.into(), value.into())));
    env.extend(locales_of(job, common).map(|folder| ("LOCPATH".into(), folder.into())));
    env.insert(ProcessTag::VARIABLE.into(), tag.value().into());
    env.extend(job.env.iter().cloned());
    env
}

/// The folder of the locale that a run uses and the system lacks.
pub(super) fn locales_of<'c>(job: &Job, common: &'c Common) -> Option<&'c PathBuf> {
    let is_used = job.variant.added(job.nth).any(|variable| variable == ("LC_ALL", LOCALE_NAME));
    let provide = || common.locales.get_or_init(|| locale::provide(common.root.path())).as_ref();
    is_used.then(provide).flatten()
}

/// The variables that lead into the fresh folder of one run.
fn of_folder(folder: &Folder, variant: Variant) -> impl Iterator<Item = (OsString, OsString)> {
    let own =
        [("HOME", folder.home()), ("XDG_RUNTIME_DIR", folder.runtime()), ("TMPDIR", folder.temporary())];
    let all = own.into_iter().chain(folder.xdg(variant));
    all.map(|(name, path)| (name.into(), path.into_os_string()))
}
