//! Resolves the user's selection of a target to an executable program.

use super::env::Env;
use super::{Target, project, script};
use crate::config::{Config, TargetConfig};
use crate::model::TargetInfo;
use agentnative_contract::error::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use strict_json::sanitize::lossless;

/// How the user selected the target on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetSelector {
    /// `check PATH`: the folder of a project, or the file of the program.
    Path(PathBuf),
    /// `check -- COMMAND ARGS`.
    Argv(Vec<OsString>),
    /// `check --command NAME`: a program on PATH, or an absolute path.
    Name(OsString),
}

impl TargetSelector {
    /// Selects a program and the arguments that precede those of each probe.
    pub fn command(argv: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self::Argv(argv.into_iter().map(Into::into).collect())
    }

    /// Returns the description of the target for a report, before the program is found.
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

/// Finds the target that a [`TargetSelector`] selects.
#[derive(Clone, Copy)]
pub struct Finder<'a> {
    /// Absolute working directory of this process. Relative paths are relative to it.
    pub cwd: &'a Path,
    /// Value of `--bin NAME`: the name of a configured target or of a program in the project.
    pub bin_name: Option<&'a str>,
    /// Whether the user named the configuration file, and thereby trusts the manifests next to it.
    pub trusts_folder: bool,
    /// Finds an executable program by its name on PATH or its absolute path. Returns its absolute path; for a shim,
    /// that of the real program.
    pub resolve: &'a dyn Fn(&OsStr) -> Result<PathBuf>,
    /// Looks up an environment variable, such as `CARGO_TARGET_DIR`.
    pub env: Env<'a>,
}

impl Finder<'_> {
    /// Returns the folder or program at which the search for the configuration starts ([`Config::discover`]).
    pub fn search_start(&self, selector: &TargetSelector) -> Result<PathBuf> {
        match selector {
            TargetSelector::Path(path) => Ok(self.absolute(path)),
            // Not resolved, since the program need not be built yet.
            TargetSelector::Argv(argv) => match Path::new(first_word(argv)?) {
                path if is_path(path.as_os_str()) => Ok(self.absolute(path)),
                name => (self.resolve)(name.as_os_str()),
            },
            TargetSelector::Name(name) => self.resolve_name(name),
        }
    }

    /// Returns the configuration of the selected target, whether or not its program exists; `None` if the selection is
    /// ambiguous.
    pub fn configured<'c>(&self, selector: &TargetSelector, config: &'c Config) -> Option<&'c TargetConfig> {
        let requested = match selector {
            TargetSelector::Path(path) if self.cwd.join(path).is_dir() => {
                let (targets, _) = self.selected(&config.targets).ok()?;
                return if let [only] = targets { Some(only) } else { None };
            }
            TargetSelector::Path(path) => path.as_os_str(),
            TargetSelector::Argv(argv) => first_word(argv).ok()?,
            TargetSelector::Name(name) => name,
        };
        only_or_named(&file_name(requested), &config.targets)
    }

    /// Returns the selected targets. A folder selects all its configured targets, or the one that `--bin` names. Any
    /// other selector selects one program.
    ///
    /// # Errors
    /// Of kind `Config`, if a program or project is missing or the program is ambiguous; of kind `Usage`, if the
    /// command is empty or no configured target has the requested name; and those of `resolve`.
    pub fn find(&self, selector: &TargetSelector, config: Option<&Config>) -> Result<Vec<Target>> {
        let default = [TargetConfig::default()];
        let configured = config.map_or(&default[..], |config| &config.targets);
        let (requested, arguments) = match selector {
            TargetSelector::Path(path) if self.cwd.join(path).is_dir() => {
                let folder = self.absolute(path);
                let root = config.map_or(&*folder, |config| &config.root);
                let (configured, bin) = self.selected(configured)?;
                return configured.iter().map(|target| self.in_folder(&folder, root, target, bin)).collect();
            }
            TargetSelector::Path(path) => (path.as_os_str(), &[][..]),
            TargetSelector::Argv(argv) => (first_word(argv)?, &argv[1..]),
            TargetSelector::Name(name) => (name.as_os_str(), &[][..]),
        };
        let (program, prefix_args) = match selector {
            TargetSelector::Path(path) => self.resolve_file(&self.absolute(path))?,
            TargetSelector::Argv(_) => (self.resolve_program(requested, self.cwd)?, arguments.to_vec()),
            TargetSelector::Name(_) => (self.resolve_name(requested)?, Vec::new()),
        };
        let name = file_name(requested);
        let config = only_or_named(&name, configured).ok_or_else(|| {
            no_target_named(&name, configured).hint("omit the program, and select a target with --bin NAME")
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

    /// Applies `--bin NAME` to the configured targets. Returns the selected targets, and the name if it is that of a
    /// program instead of a target. Without `--bin`, returns all targets and `None`.
    pub(super) fn selected<'t>(
        &self,
        configured: &'t [TargetConfig],
    ) -> Result<(&'t [TargetConfig], Option<&str>)> {
        let Some(bin) = self.bin_name else { return Ok((configured, None)) };
        match configured.iter().position(|target| target.name.as_deref() == Some(bin)) {
            Some(at) => Ok((&configured[at..=at], None)),
            None if configured.len() == 1 => Ok((configured, Some(bin))),
            None => Err(no_target_named(bin, configured).hint("pass one of these names to --bin")),
        }
    }

    /// Returns the target for `config` in a project folder: the program `bin`, else the configured command, else the
    /// program of the project. `root` is the folder of the configuration.
    fn in_folder(
        &self,
        folder: &Path,
        root: &Path,
        config: &TargetConfig,
        bin: Option<&str>,
    ) -> Result<Target> {
        let (program_name, program, prefix_args, cwd, project, package) = match (&config.command, bin) {
            (Some(command), None) => {
                let words: Vec<OsString> = command.iter().map(OsString::from).collect();
                let word = first_word(&words)?;
                let program = self.resolve_program(word, root).map_err(|error| match error.hint {
                    Some(_) => error,
                    None => error.hint("build it, or correct `command` under [target] in agentnative.toml"),
                })?;
                let project = self.project_of(root, command);
                let program_name = file_name(word);
                let package =
                    project.as_ref().map(|project| self.package_declaring(project, Some(&program_name)));
                (program_name, program, words[1..].to_vec(), root.to_owned(), project, package)
            }
            _ => {
                let hint = config.name.as_deref();
                let (project, binary) = project::choose(folder, bin, hint, self.trusts_folder, self.env)?;
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
        let name = config.name.clone().unwrap_or(program_name);
        Ok(Target { name, program, prefix_args, cwd, project, package, config: config.clone() })
    }

    /// Returns the program that runs a file, and its arguments: the file itself without arguments, or its interpreter
    /// with the file as an argument.
    fn resolve_file(&self, file: &Path) -> Result<(PathBuf, Vec<OsString>)> {
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

    /// Resolves the program of a command: relative to `base` if it contains a `/`, else on PATH.
    fn resolve_program(&self, word: &OsStr, base: &Path) -> Result<PathBuf> {
        if is_path(word) { (self.resolve)(base.join(word).as_os_str()) } else { (self.resolve)(word) }
    }

    /// Makes a path absolute, based on the working directory, and removes its `.` components.
    pub(super) fn absolute(&self, path: &Path) -> PathBuf {
        self.cwd.join(path).components().collect()
    }

    fn resolve_name(&self, name: &OsStr) -> Result<PathBuf> {
        if name.is_empty() {
            return Err(Error::usage("--command is empty; expected the name or the path of a program"));
        }
        (self.resolve)(name)
    }
}

/// Returns the only target or, if there are several, the one called `name`.
fn only_or_named<'t>(name: &str, targets: &'t [TargetConfig]) -> Option<&'t TargetConfig> {
    match targets {
        [only] => Some(only),
        several => several.iter().find(|target| target.name.as_deref() == Some(name)),
    }
}

fn is_path(word: &OsStr) -> bool {
    word.as_bytes().contains(&b'/')
}

fn no_target_named(name: &str, targets: &[TargetConfig]) -> Error {
    let names: Vec<&str> = targets.iter().filter_map(|target| target.name.as_deref()).collect();
    let names = names.join(", ");
    Error::usage(format!("the configuration has no target `{name}`; its targets: {names}"))
}

fn first_word(argv: &[OsString]) -> Result<&OsStr> {
    let word = argv.first().filter(|word| !word.is_empty());
    word.map(OsString::as_os_str).ok_or_else(|| Error::usage("no command after --"))
}

fn file_name(word: &OsStr) -> String {
    Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned()
}
