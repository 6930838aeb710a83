//! From what the user named to a program that can be run.

use super::env::Env;
use super::{Target, project, script};
use crate::config::{Config, TargetConfig};
use crate::model::TargetInfo;
use agentnative_contract::error::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use strict_json::sanitize::lossless;

/// How the user named the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetSelector {
    /// `check PATH`: a folder is a project, a file is the program.
    Path(PathBuf),
    /// `check -- COMMAND ARGS`.
    Argv(Vec<OsString>),
    /// `check --command NAME`: found on PATH.
    Name(OsString),
}

impl TargetSelector {
    /// A program and the arguments that stand before those of a probe.
    pub fn command(argv: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self::Argv(argv.into_iter().map(Into::into).collect())
    }

    /// What is known of the target before it is found.
    pub fn info(&self) -> TargetInfo {
        let words = match self {
            Self::Path(path) => {
                let path = path.canonicalize().unwrap_or_else(|_| path.clone());
                return TargetInfo { name: file_name(path.as_os_str()), command: Vec::new(), project: None };
            }
            Self::Argv(argv) => &argv[..],
            Self::Name(name) => std::slice::from_ref(name),
        };
        let name = words.first().map(|word| file_name(word)).unwrap_or_default();
        let command = words.iter().map(|word| lossless(word.as_bytes()).into_owned()).collect();
        TargetInfo { name, command, project: None }
    }
}

/// Finds targets.
#[derive(Clone, Copy)]
pub struct Finder<'a> {
    /// Our own working directory, absolute: what paths are relative to.
    pub cwd: &'a Path,
    /// `--bin NAME`: one of the configured targets, or of the programs of a project.
    pub bin: Option<&'a str>,
    /// The user named the configuration, and so vouches for the manifests beside it.
    pub named: bool,
    /// Finds a program that may be executed: a bare name on PATH, else an absolute path. Gives its
    /// absolute path, or that of what stands behind it if it is a shim.
    pub resolve: &'a dyn Fn(&OsStr) -> Result<PathBuf>,
    /// Looks up a variable of our own environment: Cargo's say where it builds.
    pub env: Env<'a>,
}

impl Finder<'_> {
    /// Where the search for the configuration begins ([`Config::discover`]): the folder, or the
    /// program.
    pub fn start(&self, selector: &TargetSelector) -> Result<PathBuf> {
        match selector {
            TargetSelector::Path(path) => Ok(self.below(path)),
            // One that is still to be built is where it will be.
            TargetSelector::Argv(argv) => match Path::new(first(argv)?) {
                path if is_path(path.as_os_str()) => Ok(self.below(path)),
                name => (self.resolve)(name.as_os_str()),
            },
            TargetSelector::Name(name) => self.named(name),
        }
    }

    /// The configured target that is meant, whether its program is there or not; none where it is still to be
    /// chosen.
    pub fn configured<'c>(&self, selector: &TargetSelector, config: &'c Config) -> Option<&'c TargetConfig> {
        let called = match selector {
            TargetSelector::Path(path) if self.cwd.join(path).is_dir() => {
                let (targets, _) = self.selected(&config.targets).ok()?;
                return if let [only] = targets { Some(only) } else { None };
            }
            TargetSelector::Path(path) => path.as_os_str(),
            TargetSelector::Argv(argv) => first(argv).ok()?,
            TargetSelector::Name(name) => name,
        };
        called_as(&file_name(called), &config.targets)
    }

    /// The targets: when a folder was named those of the configuration, else the one that was named.
    ///
    /// # Errors
    /// Of kind `Config`: a program or project that is not there, or a choice to make; `Usage`: no
    /// command, or none of several configured targets is meant; and those of `resolve`.
    pub fn find(&self, selector: &TargetSelector, config: Option<&Config>) -> Result<Vec<Target>> {
        let default = [TargetConfig::default()];
        let configured = config.map_or(&default[..], |config| &config.targets);
        let (called, arguments) = match selector {
            TargetSelector::Path(path) if self.cwd.join(path).is_dir() => {
                let folder = self.below(path);
                let root = config.map_or(&*folder, |config| &config.root);
                let (configured, bin) = self.selected(configured)?;
                return configured.iter().map(|target| self.in_folder(&folder, root, target, bin)).collect();
            }
            TargetSelector::Path(path) => (path.as_os_str(), &[][..]),
            TargetSelector::Argv(argv) => (first(argv)?, &argv[1..]),
            TargetSelector::Name(name) => (name.as_os_str(), &[][..]),
        };
        let (program, prefix_args) = match selector {
            TargetSelector::Path(path) => self.file(&self.below(path))?,
            TargetSelector::Argv(_) => (self.program(called, self.cwd)?, arguments.to_vec()),
            TargetSelector::Name(_) => (self.named(called)?, Vec::new()),
        };
        let name = file_name(called);
        let config = called_as(&name, configured).ok_or_else(|| {
            none_called(&name, configured).hint("omit the program and choose a target with --bin NAME")
        })?;
        Ok(vec![Target {
            name: config.name.clone().unwrap_or(name),
            program,
            prefix_args,
            cwd: self.cwd.to_owned(),
            project: None,
            package: None,
            config: config.clone(),
        }])
    }

    /// The configured targets that `--bin` leaves, and the program that it then names.
    pub(super) fn selected<'t>(
        &self,
        configured: &'t [TargetConfig],
    ) -> Result<(&'t [TargetConfig], Option<&str>)> {
        let Some(bin) = self.bin else { return Ok((configured, None)) };
        match configured.iter().position(|target| target.name.as_deref() == Some(bin)) {
            Some(at) => Ok((&configured[at..=at], None)),
            None if configured.len() == 1 => Ok((configured, Some(bin))),
            None => Err(none_called(bin, configured).hint("pass one of these names to --bin")),
        }
    }

    /// The target of a folder: the program that `bin` names, else the command that the configuration
    /// in `root` names, else the program of the project.
    fn in_folder(
        &self,
        folder: &Path,
        root: &Path,
        config: &TargetConfig,
        bin: Option<&str>,
    ) -> Result<Target> {
        let (called, program, prefix_args, cwd, project, package) = match (&config.command, bin) {
            (Some(command), None) => {
                let words: Vec<OsString> = command.iter().map(OsString::from).collect();
                let word = first(&words)?;
                let program = self.program(word, root).map_err(|error| match error.hint {
                    Some(_) => error,
                    None => error.hint("build it, or correct `command` under [target] in agentnative.toml"),
                })?;
                let around = self.project_of(root, command);
                let called = file_name(word);
                let package = around.as_ref().map(|project| self.built_as(project, Some(&called)));
                (called, program, words[1..].to_vec(), root.to_owned(), around, package)
            }
            _ => {
                let hint = config.name.as_deref();
                let (project, binary) = project::choose(folder, bin, hint, self.named, self.env)?;
                let built = binary.built.expect("only built programs are considered").into_os_string();
                let (program, prefix_args) = match binary.interpreter {
                    Some(interpreter) => (OsString::from(interpreter), vec![built]),
                    None => (built, Vec::new()),
                };
                let program = (self.resolve)(&program)?;
                let (cwd, package) = (project.folder.clone(), Some(binary.folder));
                (binary.name, program, prefix_args, cwd, Some(project), package)
            }
        };
        let name = config.name.clone().unwrap_or(called);
        Ok(Target { name, program, prefix_args, cwd, project, package, config: config.clone() })
    }

    /// What runs a file: itself, or its interpreter with the file as first argument.
    fn file(&self, file: &Path) -> Result<(PathBuf, Vec<OsString>)> {
        let Some(interpreter) = script::interpreter(file) else {
            return Ok(((self.resolve)(file.as_os_str())?, Vec::new()));
        };
        let mut words: Vec<OsString> = interpreter.into_iter().map(OsString::from).collect();
        words.push(file.into());
        let program = (self.resolve)(&words[0]).map_err(|error| {
            error.hint(format!(
                "{} is a script: install its interpreter, or pass a command after --",
                file.display()
            ))
        })?;
        Ok((program, words.split_off(1)))
    }

    /// The program of a command: with a `/` relative to `base`, else on PATH.
    fn program(&self, word: &OsStr, base: &Path) -> Result<PathBuf> {
        if is_path(word) { (self.resolve)(base.join(word).as_os_str()) } else { (self.resolve)(word) }
    }

    /// A path from the current folder on, without `.` in it.
    pub(super) fn below(&self, path: &Path) -> PathBuf {
        self.cwd.join(path).components().collect()
    }

    /// The program on PATH that `--command` names.
    fn named(&self, name: &OsStr) -> Result<PathBuf> {
        if name.is_empty() {
            return Err(Error::usage("--command is empty; expected the name or the path of a program"));
        }
        (self.resolve)(name)
    }
}

/// The only target, else the one of this name.
fn called_as<'t>(name: &str, targets: &'t [TargetConfig]) -> Option<&'t TargetConfig> {
    match targets {
        [only] => Some(only),
        several => several.iter().find(|target| target.name.as_deref() == Some(name)),
    }
}

fn is_path(word: &OsStr) -> bool {
    word.as_bytes().contains(&b'/')
}

fn none_called(name: &str, targets: &[TargetConfig]) -> Error {
    let names: Vec<&str> = targets.iter().filter_map(|target| target.name.as_deref()).collect();
    let names = names.join(", ");
    Error::usage(format!("the configuration has no target `{name}`; its targets: {names}"))
}

fn first(argv: &[OsString]) -> Result<&OsStr> {
    let word = argv.first().filter(|word| !word.is_empty());
    word.map(OsString::as_os_str).ok_or_else(|| Error::usage("no command after --"))
}

fn file_name(word: &OsStr) -> String {
    Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned()
}
