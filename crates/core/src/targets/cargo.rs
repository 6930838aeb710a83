//! The programs of a workspace of Cargo, and where they are built.

use super::binary::{Binary, newest};
use super::env::Env;
use crate::manifest::{Bin, CargoMember, CargoWorkspace};
use agentnative_contract::error::Result;
use std::path::{Path, PathBuf};

pub(super) fn binaries(folder: &Path, env: Env<'_>) -> Result<Vec<Binary>> {
    let workspace = CargoWorkspace::read(folder)?;
    let target_folder = workspace.target_folder(folder, env)?;
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let at_root = workspace.root == real;
    let here = workspace.members.iter().find(|member| member.folder == real);
    let own = |member: &CargoMember| match here {
        Some(here) if !here.bins.is_empty() || !at_root => here.folder == member.folder,
        _ => member.is_default,
    };
    let several = workspace.members.len() > 1;
    let binary = |member: &CargoMember, bin: &Bin| Binary {
        name: bin.name.clone(),
        package: several.then(|| member.name.clone()),
        folder: spelt_from(folder, &real, &member.folder),
        built: newest(["debug", "release"].map(|profile| target_folder.join(profile).join(&bin.name))),
        interpreter: None,
        default: member.default_run.as_deref() == Some(&*bin.name),
        own: own(member),
        build: if several { format!("cargo build -p {}", member.name) } else { "cargo build".to_owned() },
    };
    let bins =
        |member: &CargoMember| -> Vec<Binary> { member.bins.iter().map(|bin| binary(member, bin)).collect() };
    Ok(workspace.members.iter().flat_map(bins).collect())
}

/// The folder of a member, spelt from `folder` on when it is in it, whatever links lead there.
fn spelt_from(folder: &Path, real: &Path, member: &Path) -> PathBuf {
    let below = member.strip_prefix(real);
    below.map_or_else(|_| member.to_owned(), |below| folder.join(below).components().collect())
}
