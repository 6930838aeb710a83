//! The folder that a confined run starts in, and what the run may do with it.

use super::common::Common;
use super::folder::RunFolder;
use super::git::git_folder;
use crate::{Job, Variant};
use rustix::fs::{Access, access};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How a run sees the folder that it starts in, or the project around this folder.
pub(super) enum StartFolder {
    /// A fresh folder: the workspace, or a replacement for a home.
    Own,
    /// This folder, copy on write: the run sees its own changes, but the original stays as it is.
    View(PathBuf),
    /// This folder itself, to which the run writes.
    Real(PathBuf),
    /// This folder, but read-only: it is `/`, contains a home, or belongs to another user.
    Fixed(PathBuf),
}

impl StartFolder {
    /// Returns how the run of a job sees its start folder. A view covers the project around the folder: programs such
    /// as git search the folders above, but not across file systems.
    pub fn for_job(job: &Job, homes: &[PathBuf]) -> Self {
        if job.workspace.is_some() {
            return Self::Own;
        }
        let Ok(folder) = Path::new(&job.cwd).canonicalize() else { return Self::Own };
        if homes.contains(&folder) {
            return Self::Own;
        }
        if folder.parent().is_none() {
            return Self::Fixed(folder);
        }
        if job.writes_to_start_folder {
            // The run could also write to a home below the folder.
            return if homes.iter().any(|home| home.starts_with(&folder)) {
                Self::Fixed(folder)
            } else {
                Self::Real(folder)
            };
        }
        let project = project_of(job, &folder, homes);
        let is_writable = |path: &Path| access(path, Access::WRITE_OK).is_ok();
        if is_writable(&project) {
            Self::View(project)
        } else if is_writable(&folder) {
            Self::View(folder)
        } else {
            Self::Fixed(project)
        }
    }
}

/// Returns the project around a folder: the git repository, else the project that the job names, else the folder
/// itself. Never returns a home or a folder that contains one.
pub(super) fn project_of(job: &Job, folder: &Path, homes: &[PathBuf]) -> PathBuf {
    let is_allowed =
        |path: &&Path| path.parent().is_some() && !homes.iter().any(|home| home.starts_with(path));
    let mut above = folder.ancestors().take_while(is_allowed);
    let repository = above.find(|path| path.join(GIT).symlink_metadata().is_ok());
    // The data of a submodule lies in the repository that contains it.
    let around = repository.and_then(|path| {
        let data = git_folder(&path.join(GIT))?;
        above.find(|path| data.starts_with(path.join(GIT)))
    });
    let repository = around.or(repository);
    let project = job.project.as_ref().and_then(|path| Path::new(path).canonicalize().ok());
    let project = project.filter(|path| folder.starts_with(path) && is_allowed(&path.as_path()));
    repository.map(Path::to_owned).or(project).unwrap_or_else(|| folder.to_owned())
}

/// Returns the paths in a writable start folder that a run cannot change, such as `.git`, since other programs execute
/// them later.
pub(super) fn protected_paths(job: &Job, folder: &Path) -> Vec<OsString> {
    let named = job.protected.iter().filter_map(|path| Path::new(path).canonicalize().ok());
    let all = named.chain([folder.join(GIT)]);
    all.filter(|path| path != folder && path.starts_with(folder)).map(PathBuf::into_os_string).collect()
}

/// Returns the folders that a run confined by Landlock may write to: its own folder, or those in it that are not its home
/// if that is read-only, and its start folder if the job writes to that.
pub(super) fn writable_folders(common: &Common, job: &Job, folder: &RunFolder) -> Vec<OsString> {
    let real = match StartFolder::for_job(job, &common.homes) {
        StartFolder::Real(path) => Some(path.into_os_string()),
        _ => None,
    };
    let own = match job.variant {
        Variant::ReadOnlyHome => vec![folder.runtime(), folder.temporary(), folder.workspace()],
        _ => vec![folder.path().to_owned()],
    };
    own.into_iter().filter(|path| path.exists()).map(PathBuf::into_os_string).chain(real).collect()
}

const GIT: &str = ".git";
