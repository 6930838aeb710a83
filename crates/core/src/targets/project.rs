//! The project in a folder: its manifests, and the one program in them that is the target.

use super::binaries::binaries;
use super::binary::Binary;
use super::env::Env;
use super::{display_path, script};
use crate::config::{check_owner, searched_folders};
use crate::files::is_any;
use crate::manifest::Manifest;
use agentnative_contract::error::{Error, ErrorKind, Issue, Result};
use std::path::{Path, PathBuf};

/// What to do about a manifest that is not used.
const OWN_COPY: &str =
    "copy the project to a folder of your own, or pass the program itself, such as `./tool`";

/// The project around a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its absolute folder.
    pub folder: PathBuf,
    /// The manifests in it; none where the configuration alone makes it a project.
    pub manifests: Vec<Manifest>,
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

    /// The nearest folder with manifests, as far as [`searched_folders`] goes. Where `named`, the user vouches for
    /// the files of `folder` itself.
    ///
    /// # Errors
    /// Those of [`check_owner`] for its manifests; permission, where a folder may not be entered.
    pub(super) fn nearest(folder: &Path, named: bool) -> Result<Option<Self>> {
        for (nth, above) in searched_folders(folder).into_iter().enumerate() {
            let mut manifests = Vec::new();
            for manifest in Manifest::ALL {
                let file = above.join(manifest.file_name());
                let unreadable = |error| Error::io(ErrorKind::Config, "read", &file, &error);
                if is_any(&file).map_err(unreadable)? {
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

/// The project of `folder`, and the program in it: the one that is called `bin`, else the one that
/// is called `hint`, else the default one, else the only one that is built.
///
/// # Errors
/// Those of [`Project::nearest`]; of kind `Config`: no manifest up to the root of the repository, none that declares a program,
/// several programs, or none that is built; it says how to go on.
pub(super) fn choose(
    folder: &Path,
    bin: Option<&str>,
    hint: Option<&str>,
    named: bool,
    env: Env<'_>,
) -> Result<(Project, Binary)> {
    let Some(project) = Project::nearest(folder, named)? else {
        let names = Manifest::ALL.map(Manifest::file_name).join(", ");
        let message =
            format!("no project found: {} and its parent folders contain none of {names}", folder.display());
        let hint =
            format!("{}, or run `agentnative init` to write an agentnative.toml", named_instead(folder));
        return Err(Error::config(message).hint(hint));
    };
    let folder = project.folder.clone();
    let all = project.declared(env)?;
    if all.is_empty() {
        let files: Vec<&str> = project.manifests.iter().map(|manifest| manifest.file_name()).collect();
        let message = format!("{} in {} declares no program", files.join(" and "), folder.display());
        return Err(Error::config(message).hint(
            "pass it as agentnative check -- COMMAND, or set `command` under [target] in agentnative.toml",
        ));
    }
    let binary = single(&candidates(&all, bin, hint, &folder)?, &folder)?;
    Ok((project, binary))
}

/// What to pass in the place of a folder without a project.
fn named_instead(folder: &Path) -> String {
    const MOST: usize = 3;
    let mut files = script::programs(folder);
    let more = if files.len() > MOST { " …" } else { "" };
    files.truncate(MOST);
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

/// The package of `project` that the program is built from, be it built or not; the program is chosen as
/// in [`choose`]. Where no manifest declares a program, it is the project's own folder.
///
/// # Errors
/// As [`choose`], but for what is not built.
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
        // Code can be read where its own tools do not work.
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
        several => Err(problem("the project has several programs".to_owned(), several, folder)
            .hint("choose one with --bin NAME, or pass the folder of its package")),
    }
}

pub(super) type Declared = (Manifest, Binary);

/// The programs that may be meant: those called `bin`, else those called `hint`, else the folder's own; the
/// default of a package stands for the package.
fn candidates(
    all: &[Declared],
    bin: Option<&str>,
    hint: Option<&str>,
    folder: &Path,
) -> Result<Vec<Declared>> {
    let called =
        |name: &str| -> Vec<_> { all.iter().filter(|(_, binary)| binary.name == name).cloned().collect() };
    let own = || -> Vec<_> { all.iter().filter(|(_, binary)| binary.own).cloned().collect() };
    let pool = match (bin, hint.map(called)) {
        (Some(bin), _) => called(bin),
        (None, Some(hinted)) if !hinted.is_empty() => hinted,
        (None, _) => own(),
    };
    if pool.is_empty() {
        let what = match bin {
            Some(bin) => format!("no program `{bin}`"),
            None => format!("the package in {} declares no program, but other packages do", folder.display()),
        };
        return Err(problem(what, all, folder).hint("choose a declared program with --bin NAME"));
    }
    let stands = |package: &Option<String>| pool.iter().any(|(_, b)| b.default && b.package == *package);
    let keep = |(_, binary): &&Declared| binary.default || !stands(&binary.package);
    Ok(pool.iter().filter(keep).cloned().collect())
}

fn built(pool: &[Declared]) -> Vec<Declared> {
    pool.iter().filter(|(_, binary)| binary.built.is_some()).cloned().collect()
}

/// The one of `pool` to take; it is built.
fn single(pool: &[Declared], folder: &Path) -> Result<Binary> {
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
            Err(problem("none of the programs is built".to_owned(), several, folder).hint(format!(
                "run {} in {}",
                builds.join(" or "),
                folder.display()
            )))
        }
        (several, _) => Err(problem("the project has several programs".to_owned(), several, folder)
            .hint("choose one with --bin NAME, or set `command` under [target] in agentnative.toml")),
    }
}

/// An error that names the candidates, in its line and one by one.
fn problem(what: String, candidates: &[Declared], folder: &Path) -> Error {
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
