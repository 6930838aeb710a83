//! What a confined run may do with the folder that it starts in.

use super::all_runs::Common;
use super::folder::Folder;
use super::git::git_folder;
use crate::Job;
use rustix::fs::{Access, access};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder that a run starts in, or the project that this lies in, with its links resolved.
pub(super) enum StartFolder {
    /// It is the run's own, or a home, which is empty for the run and its own.
    Own,
    /// The run sees it copy on write.
    View(PathBuf),
    /// The run writes to it.
    Real(PathBuf),
    /// The run cannot write to it: it is the root of all, contains a home, or is somebody else's.
    Fixed(PathBuf),
}

impl StartFolder {
    /// Returns that of a job. A view is one of the whole project: programs such as git look for it across the folders above,
    /// but not across file systems.
    pub fn of(job: &Job, homes: &[PathBuf]) -> Self {
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
        if job.writes {
            // A home that lies in it would be written to as well.
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

/// Returns the project that a folder lies in: the repository, else the project of the target, else the folder itself; never
/// a home or a folder above one.
pub(super) fn project_of(job: &Job, folder: &Path, homes: &[PathBuf]) -> PathBuf {
    let is_allowed =
        |path: &&Path| path.parent().is_some() && !homes.iter().any(|home| home.starts_with(path));
    let mut above = folder.ancestors().take_while(is_allowed);
    let repository = above.find(|path| path.join(GIT).symlink_metadata().is_ok());
    // The data of a submodule lies in the repository around it.
    let around = repository.and_then(|path| {
        let data = git_folder(&path.join(GIT))?;
        above.find(|path| data.starts_with(path.join(GIT)))
    });
    let repository = around.or(repository);
    let project = job.project.as_ref().and_then(|path| Path::new(path).canonicalize().ok());
    let project = project.filter(|path| folder.starts_with(path) && is_allowed(&path.as_path()));
    repository.map(Path::to_owned).or(project).unwrap_or_else(|| folder.to_owned())
}

/// Returns what a run cannot write to in the folder that it may write to: what others would execute later.
pub(super) fn protected(job: &Job, folder: &Path) -> Vec<OsString> {
    let named = job.protected.iter().filter_map(|path| Path::new(path).canonicalize().ok());
    let all = named.chain([folder.join(GIT)]);
    all.filter(|path| path != folder && path.starts_with(folder)).map(PathBuf::into_os_string).collect()
}

/// Returns where a run may write that is confined by Landlock: to its own folder, and to the one that it starts in if it
/// changes that for good.
pub(super) fn writable(common: &Common, job: &Job, folder: &Folder) -> Vec<OsString> {
    let real = match StartFolder::of(job, &common.homes) {
        StartFolder::Real(path) => Some(path.into_os_string()),
        _ => None,
    };
    std::iter::once(folder.path().into()).chain(real).collect()
}

const GIT: &str = ".git";
