//! From what the user named to a program that can be run.

use super::{Project, Target, project};
use crate::config::{Config, TargetConfig};
use crate::error::{Error, Result};
use rustix::fs::{Access, access};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Runs a trusted tool (its argv, its working directory) and gives its standard output.
pub(super) type Tool<'a> = &'a dyn Fn(&[OsString], &Path) -> Result<Vec<u8>>;

/// How the user named the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way<'a> {
    /// `check PATH`: a folder is a project, a file is the program.
    Path(&'a Path),
    /// `check -- COMMAND ARGS`.
    Argv(&'a [OsString]),
    /// `check --command NAME`: found on PATH.
    Name(&'a OsStr),
}

/// Finds targets.
#[derive(Clone, Copy)]
pub struct Finder<'a> {
    /// Our own working directory, absolute: what paths are relative to.
    pub cwd: &'a Path,
    /// `--bin NAME`.
    pub bin: Option<&'a str>,
    /// Finds a program: a bare name on PATH; an absolute path is given back, or what stands behind
    /// it if it is a shim.
    pub resolve: &'a dyn Fn(&OsStr) -> Result<PathBuf>,
    /// Runs a trusted tool (its argv, its working directory) and gives its standard output.
    pub tool: Tool<'a>,
}

impl Finder<'_> {
    /// Where the search for the configuration begins ([`Config::discover`]): the folder, or the
    /// program.
    ///
    /// # Errors
    /// As [`Finder::find`].
    pub fn start(&self, way: Way<'_>) -> Result<PathBuf> {
        match way {
            Way::Path(path) => Ok(self.cwd.join(path)),
            Way::Argv(argv) => self.program(first(argv)?, self.cwd),
            Way::Name(name) => self.named(name),
        }
    }

    /// The targets: one for each of the configuration when a folder was named, else the one that
    /// was named.
    ///
    /// # Errors
    /// Of kind `Config`: a program or project that is not there, or a choice to make; `Auth`: a
    /// program that may not be executed; `Usage`: no command, or one that none of several
    /// configured targets stands for.
    pub fn find(&self, way: Way<'_>, config: Option<&Config>) -> Result<Vec<Target>> {
        let default = [TargetConfig::default()];
        let configured = config.map_or(&default[..], |config| &config.targets);
        let (program, prefix_args) = match way {
            Way::Path(path) if self.cwd.join(path).is_dir() => {
                let folder = self.cwd.join(path);
                let root = config.map_or(&*folder, |config| &config.root);
                return configured.iter().map(|target| self.in_folder(&folder, root, target)).collect();
            }
            Way::Path(path) => (self.file(&self.cwd.join(path))?, Vec::new()),
            Way::Argv(argv) => (self.program(first(argv)?, self.cwd)?, argv[1..].to_vec()),
            Way::Name(name) => (self.named(name)?, Vec::new()),
        };
        let called = match way {
            Way::Path(path) => path.file_name().unwrap_or_default(),
            Way::Argv(argv) => Path::new(first(argv)?).file_name().unwrap_or_default(),
            Way::Name(name) => name,
        };
        let name = called.to_string_lossy().into_owned();
        let config = match configured {
            [only] => only,
            several => {
                several.iter().find(|target| target.name.as_ref() == Some(&name)).ok_or_else(|| {
                    let names: Vec<&str> =
                        several.iter().filter_map(|target| target.name.as_deref()).collect();
                    Error::usage(format!(
                        "the configuration has several targets, and none is called `{name}`: {}",
                        names.join(", ")
                    ))
                    .hint("check the folder to check them all, or give another --config")
                })?
            }
        };
        let name = config.name.clone().unwrap_or(name);
        let cwd = self.cwd.to_owned();
        Ok(vec![Target { name, program, prefix_args, cwd, project: None, config: config.clone() }])
    }

    /// The target of a folder: the command that the configuration in `root` names, else the
    /// program of the project.
    fn in_folder(&self, folder: &Path, root: &Path, config: &TargetConfig) -> Result<Target> {
        let config = config.clone();
        if let (Some(command), None) = (&config.command, self.bin) {
            let words: Vec<OsString> = command.iter().map(OsString::from).collect();
            let program = self.program(first(&words)?, root).map_err(|error| match error.hint {
                Some(_) => error,
                None => error.hint("build it, or correct `command` under [target] in agentnative.toml"),
            })?;
            let called = Path::new(&words[0]).file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = config.name.clone().unwrap_or(called);
            let prefix_args = words[1..].to_vec();
            let around = Project::nearest(folder)
                .unwrap_or_else(|| Project { folder: root.to_owned(), manifests: Vec::new() });
            let (cwd, project) = (root.to_owned(), Some(around));
            return Ok(Target { name, program, prefix_args, cwd, project, config });
        }
        let (project, binary) = project::choose(folder, self.bin, config.name.as_deref(), self.tool)?;
        let built = binary.built.expect("only what is built is chosen");
        let (program, prefix_args) = match binary.interpreter {
            Some(interpreter) => ((self.resolve)(OsStr::new(interpreter))?, vec![built.into_os_string()]),
            None => (self.file(&built)?, Vec::new()),
        };
        let name = config.name.clone().unwrap_or(binary.name);
        let cwd = project.folder.clone();
        Ok(Target { name, program, prefix_args, cwd, project: Some(project), config })
    }

    /// The program of a command: with a `/` relative to `base`, else on PATH.
    fn program(&self, word: &OsStr, base: &Path) -> Result<PathBuf> {
        if word.as_bytes().contains(&b'/') { self.file(&base.join(word)) } else { (self.resolve)(word) }
    }

    /// The program on PATH that `--command` names.
    fn named(&self, name: &OsStr) -> Result<PathBuf> {
        if name.is_empty() || name.as_bytes().contains(&b'/') {
            return Err(Error::usage(format!("--command {name:?} is not the name of a program on PATH"))
                .hint("give the path alone, or a command after --"));
        }
        (self.resolve)(name)
    }

    /// The program in a file.
    fn file(&self, path: &Path) -> Result<PathBuf> {
        let shown = super::shown(path, self.cwd);
        let metadata = path.metadata().map_err(|error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => {
                Error::auth(format!("{shown} may not be looked at: {error}"))
            }
            std::io::ErrorKind::NotFound => Error::config(format!("{shown} does not exist")),
            _ => Error::config(format!("cannot find {shown}: {error}")),
        })?;
        if !metadata.is_file() {
            return Err(Error::config(format!("{shown} is not a program: it is not a file")));
        }
        if access(path, Access::EXEC_OK).is_err() {
            return Err(Error::auth(format!("{shown} may not be executed")).hint(format!("chmod +x {shown}")));
        }
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        (self.resolve)(absolute.as_os_str())
    }
}

fn first(argv: &[OsString]) -> Result<&OsStr> {
    let word = argv.first().filter(|word| !word.is_empty());
    word.map(OsString::as_os_str).ok_or_else(|| Error::usage("no command after --"))
}
