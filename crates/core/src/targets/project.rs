//! Finds the project of a folder, and the program in it that is the target.

use super::binaries::binaries;
use super::binary::Binary;
use super::env::Env;
use super::{display_path, script};
use crate::config::{check_owner, searched_folders};
use crate::files::exists_as_file;
use crate::manifest::ManifestKind;
use agentnative_contract::error::{Error, ErrorKind, Issue, Result};
use std::path::{Path, PathBuf};

/// Hint for a manifest that belongs to another user.
const OWN_COPY: &str =
    "copy the project to a folder that you own, or pass the program itself, such as `./tool`";

/// A project: a folder with manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Absolute path of the project's folder.
    pub folder: PathBuf,
    /// Kinds of the manifests in the folder; empty for a folder that contains only a configuration.
    pub manifests: Vec<ManifestKind>,
}

impl Project {
    pub(super) fn declared(&self, env: Env<'_>) -> Result<Vec<Declared>> {
        let mut all = Vec::new();
        for manifest in &self.manifests {
            let binaries = binaries(*manifest, &self.folder, env)?;
            all.extend(binaries.into_iter().map(|binary| (*manifest, binary)));
        }
        Ok(all)
    }

    pub(super) fn without_manifests(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), manifests: Vec::new() }
    }

    /// Returns the project in the nearest of the [`searched_folders`] that contains manifests; `None` if no folder
    /// does. If `named` is true, the user trusts the files in `folder` itself, and their owner is not checked.
    ///
    /// # Errors
    /// Those of [`check_owner`] for its manifests; of kind `Auth`, if a folder may not be searched.
    pub(super) fn nearest(folder: &Path, named: bool) -> Result<Option<Self>> {
        for (nth, above) in searched_folders(folder).into_iter().enumerate() {
            let mut manifests = Vec::new();
            for manifest in ManifestKind::ALL {
                let file = above.join(manifest.file_name());
                let unreadable = |error| Error::io(ErrorKind::Config, "read", &file, &error);
                if exists_as_file(&file).map_err(unreadable)? {
                    if nth > 0 || !named {
                        check_owner(&file, folder).map_err(|error| error.hint(OWN_COPY))?;
                    }
                    manifests.push(manifest);
                }
            }
            if !manifests.is_empty() {
                return Ok(Some(Self { folder: above, manifests }));
            }
        }
        Ok(None)
    }
}

/// Returns the project of `folder` and the program in it that is the target: the one called `bin`, else the one called
/// `hint`, else the default one, else the only built one.
///
/// # Errors
/// Those of [`Project::nearest`]; of kind `Config`, with a hint, if there is no manifest up to the root of the
/// repository, no declared program, no built program, or more than one.
pub(super) fn choose(
    folder: &Path,
    bin: Option<&str>,
    hint: Option<&str>,
    named: bool,
    env: Env<'_>,
) -> Result<(Project, Binary)> {
    let Some(project) = Project::nearest(folder, named)? else {
        let names = ManifestKind::ALL.map(ManifestKind::file_name).join(", ");
        let message =
            format!("no project found: {} and its parent folders contain none of {names}", folder.display());
        let hint =
            format!("{}, or run `agentnative init` to write an agentnative.toml", program_hint(folder));
        return Err(Error::config(message).hint(hint));
    };
    let folder = project.folder.clone();
    let all = project.declared(env)?;
    if all.is_empty() {
        let files: Vec<&str> = project.manifests.iter().map(|manifest| manifest.file_name()).collect();
        let message = format!("{} in {} declares no program", files.join(" and "), folder.display());
        return Err(Error::config(message).hint(
            "pass it with `agentnative check -- COMMAND`, or set `command` under [target] in agentnative.toml",
        ));
    }
    let binary = only_built(&candidates(&all, bin, hint, &folder)?, &folder)?;
    Ok((project, binary))
}

/// Returns a hint for a folder without a project: the user can pass a program instead.
fn program_hint(folder: &Path) -> String {
    const MAX_NAMES: usize = 3;
    let mut files = script::programs(folder);
    let more = if files.len() > MAX_NAMES { " …" } else { "" };
    files.truncate(MAX_NAMES);
    let names: Vec<String> =
        files.iter().filter_map(|file| Some(format!("`{}`", file.file_name()?.display()))).collect();
    let found = match &names[..] {
        [] => String::new(),
        names => format!(" (this folder has {}{more})", names.join(", ")),
    };
    format!(
        "pass the program: a file such as `./tool.py`{found}, `--command NAME` for one on PATH, or `-- COMMAND`"
    )
}

/// Returns the name of the target's program and the folder of the package that declares it. The program is chosen as in
/// [`choose`], but need not be built. If no manifest declares a program, the name is `None` and the folder is that of
/// the project.
///
/// # Errors
/// Those of [`choose`], without those about unbuilt programs.
pub(super) fn package(
    project: &Project,
    bin: Option<&str>,
    hint: Option<&str>,
    env: Env<'_>,
) -> Result<(Option<String>, PathBuf)> {
    let folder = &project.folder;
    let all = match project.declared(env) {
        Ok(all) if !all.is_empty() || bin.is_some() => all,
        Err(error) if bin.is_some() => return Err(error),
        // Source code can be checked although its build tools would fail.
        Ok(_) | Err(_) => return Ok((None, folder.clone())),
    };
    let pool = candidates(&all, bin, hint, folder)?;
    let built = built(&pool);
    let one_package = |pool: &[Declared]| pool.windows(2).all(|pair| pair[0].1.folder == pair[1].1.folder);
    let pool = if built.is_empty() { pool } else { built };
    match &pool[..] {
        [] => Ok((None, folder.clone())),
        [(_, first), rest @ ..] if one_package(&pool) => {
            Ok((rest.is_empty().then(|| first.name.clone()), first.folder.clone()))
        }
        several => Err(candidates_error("the project has several programs".to_owned(), several, folder)
            .hint("choose one with --bin NAME, or pass the folder of its package")),
    }
}

pub(super) type Declared = (ManifestKind, Binary);

/// Returns the programs from which the target is chosen: those called `bin`, else those called `hint`, else those of
/// the package in the folder. If a package has a default program, its other programs are not candidates.
fn candidates(
    all: &[Declared],
    bin: Option<&str>,
    hint: Option<&str>,
    folder: &Path,
) -> Result<Vec<Declared>> {
    let with_name =
        |name: &str| -> Vec<_> { all.iter().filter(|(_, binary)| binary.name == name).cloned().collect() };
    let own = || -> Vec<_> { all.iter().filter(|(_, binary)| binary.own).cloned().collect() };
    let pool = match (bin, hint.map(with_name)) {
        (Some(bin), _) => with_name(bin),
        (None, Some(hinted)) if !hinted.is_empty() => hinted,
        (None, _) => own(),
    };
    if pool.is_empty() {
        let what = match bin {
            Some(bin) => format!("no program `{bin}`"),
            None => format!("the package in {} declares no program, but other packages do", folder.display()),
        };
        return Err(candidates_error(what, all, folder).hint("choose a declared program with --bin NAME"));
    }
    let has_default = |package: &Option<String>| pool.iter().any(|(_, b)| b.default && b.package == *package);
    let is_candidate = |(_, binary): &&Declared| binary.default || !has_default(&binary.package);
    Ok(pool.iter().filter(is_candidate).cloned().collect())
}

fn built(pool: &[Declared]) -> Vec<Declared> {
    pool.iter().filter(|(_, binary)| binary.built.is_some()).cloned().collect()
}

/// Returns the program of `pool` that is built, if it is the only one; else an error.
fn only_built(pool: &[Declared], folder: &Path) -> Result<Binary> {
    match (&built(pool)[..], pool) {
        ([(_, only)], _) => Ok(only.clone()),
        ([], [(_, only)]) => Err(Error::config(format!("`{}` is not built", only.name)).hint(format!(
            "run `{}` in {}",
            only.build,
            folder.display()
        ))),
        ([], several) => {
            let mut builds: Vec<String> =
                several.iter().map(|(_, binary)| format!("`{}`", binary.build)).collect();
            builds.dedup();
            Err(candidates_error("none of the programs is built".to_owned(), several, folder).hint(format!(
                "run {} in {}",
                builds.join(" or "),
                folder.display()
            )))
        }
        (several, _) => Err(candidates_error("the project has several programs".to_owned(), several, folder)
            .hint("choose one with --bin NAME, or set `command` under [target] in agentnative.toml")),
    }
}

/// Creates an error that lists the candidates, in the message and as one issue each.
fn candidates_error(what: String, candidates: &[Declared], folder: &Path) -> Error {
    let names: Vec<String> = candidates.iter().map(|(_, binary)| format!("`{}`", binary.name)).collect();
    let issue = |(manifest, binary): &Declared| {
        let package =
            binary.package.as_ref().map(|package| format!(" of package `{package}`")).unwrap_or_default();
        let state = match &binary.built {
            Some(path) => format!("built: {}", display_path(path, folder)),
            None => format!("not built: `{}`", binary.build),
        };
        let message = format!("`{}`{package} ({}), {state}", binary.name, manifest.file_name());
        Issue { place: None, message }
    };
    Error::config(format!("{what}: {}", names.join(", "))).issues(candidates.iter().map(issue).collect())
}
