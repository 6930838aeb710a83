//! Finds the source code of a target, whether or not its program is built.

use super::find::{Finder, TargetSelector};
use super::{Project, display_path, project};
use crate::config::{Config, TargetConfig};
use crate::model::TargetInfo;
use agentnative_contract::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The source code of a target, whether or not its program is built.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeBase {
    /// Name of the target in reports: the configured name, else that of the program, else that of the folder.
    pub name: String,
    /// Project that contains the code.
    pub project: Project,
    /// Absolute path of the folder of the package that builds the program.
    pub package: PathBuf,
    /// Configuration of the target.
    pub config: TargetConfig,
}

impl CodeBase {
    /// Returns the description of the target for a report without runs. The folder of the project is relative to `cwd`
    /// if it is below `cwd`.
    pub fn info(&self, cwd: &Path) -> TargetInfo {
        let project = display_path(&self.project.folder, cwd);
        TargetInfo { name: self.name.clone(), command: Vec::new(), project: Some(project) }
    }
}

impl Finder<'_> {
    /// Returns the code of the selected project folder. `None` if the selector names a program instead of a folder, or
    /// if the configured command belongs to no project.
    ///
    /// # Errors
    /// Those of `Project::nearest`; of kind `Config`, if there are several targets or programs; of kind `Usage`, if
    /// there is none of the requested name.
    pub fn code(&self, selector: &TargetSelector, config: Option<&Config>) -> Result<Option<CodeBase>> {
        let TargetSelector::Path(path) = selector else { return Ok(None) };
        let folder = self.absolute(path);
        if !folder.is_dir() {
            return Ok(None);
        }
        let default = [TargetConfig::default()];
        let configured = config.map_or(&default[..], |config| &config.targets);
        let (targets, bin) = self.selected(configured)?;
        let [target] = targets else {
            let names: Vec<&str> = targets.iter().filter_map(|target| target.name.as_deref()).collect();
            let message = format!("the configuration declares several targets: {}", names.join(", "));
            return Err(Error::config(message).hint("choose one with --bin NAME"));
        };
        let root = config.map_or(&*folder, |config| &config.root);
        let (project, program, package) = match (&target.command, bin) {
            (Some(command), None) => {
                let Some(project) = self.project_of(root, command) else { return Ok(None) };
                let word = command.first().map_or("", String::as_str);
                let name = Path::new(word).file_name().and_then(|name| name.to_str());
                let package = self.package_declaring(&project, name);
                (project, name.map(str::to_owned), package)
            }
            _ => match Project::nearest(&folder, self.trusts_folder)?
                .filter(|project| !is_separate_package(project, &folder))
            {
                None => (Project::without_manifests(&folder), None, folder.clone()),
                Some(project) => {
                    let hint = target.name.as_deref();
                    let (program, package) = project::package(&project, bin, hint, self.env)?;
                    (project, program, package)
                }
            },
        };
        let folder_name = || package.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = target.name.clone().or(program).or_else(folder_name).unwrap_or_default();
        Ok(Some(CodeBase { name, project, package, config: target.clone() }))
    }

    /// Returns the folder of the package that declares a program of this name. If no manifest declares it or a manifest
    /// is invalid, returns the folder of the project.
    pub(super) fn package_declaring(&self, project: &Project, name: Option<&str>) -> PathBuf {
        // Source code can be checked although its build tools would fail.
        let declared = project.declared(self.env).unwrap_or_default();
        let mut binaries = declared.into_iter().map(|(_, binary)| binary);
        let package = binaries.find(|binary| Some(binary.name.as_str()) == name).map(|binary| binary.folder);
        package.unwrap_or_else(|| project.folder.clone())
    }
}

/// Returns whether `folder` is a package of its own below the folder of the project: it contains `setup.py` or
/// `setup.cfg`, which are not searched for programs.
fn is_separate_package(project: &Project, folder: &Path) -> bool {
    project.folder != folder && ["setup.py", "setup.cfg"].iter().any(|file| folder.join(file).is_file())
}
