//! Finds the programs of a Cargo workspace and their built files.

use super::binary::{Binary, newest};
use super::env::Env;
use crate::manifest::{Bin, CargoMember, CargoWorkspace};
use agentnative_contract::error::Result;
use std::path::{Path, PathBuf};

pub(super) fn binaries(folder: &Path, env: Env<'_>) -> Result<Vec<Binary>> {
    let workspace = CargoWorkspace::read(folder)?;
    let target_folder = workspace.target_folder(folder, env)?;
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let is_root = workspace.root == real;
    let member_here = workspace.members.iter().find(|member| member.folder == real);
    let is_own = |member: &CargoMember| match member_here {
        Some(member_here) if !member_here.bins.is_empty() || !is_root => member_here.folder == member.folder,
        _ => member.is_default,
    };
    let has_several = workspace.members.len() > 1;
    let binary = |member: &CargoMember, bin: &Bin| Binary {
        name: bin.name.clone(),
        package: has_several.then(|| member.name.clone()),
        folder: path_below(folder, &real, &member.folder),
        built: newest(["debug", "release"].map(|profile| target_folder.join(profile).join(&bin.name))),
        interpreter: None,
        default: member.default_run.as_deref() == Some(&*bin.name),
        own: is_own(member),
        build: if has_several { format!("cargo build -p {}", member.name) } else { "cargo build".to_owned() },
    };
    let bins =
        |member: &CargoMember| -> Vec<Binary> { member.bins.iter().map(|bin| binary(member, bin)).collect() };
    Ok(workspace.members.iter().flat_map(bins).collect())
}

/// Returns the folder `member` as a path below `folder` if it is in there, else unchanged. `folder` may contain
/// symbolic links; `real` is its canonical path.
fn path_below(folder: &Path, real: &Path, member: &Path) -> PathBuf {
    let below = member.strip_prefix(real);
    below.map_or_else(|_| member.to_owned(), |below| folder.join(below).components().collect())
}
