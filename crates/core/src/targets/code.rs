//! From what the user named to the code behind it, be the program built or not.

use super::find::{Finder, TargetSelector};
use super::{Project, display_path, project};
use crate::config::{Config, TargetConfig};
use crate::model::TargetInfo;
use agentnative_contract::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The code behind a target.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeBase {
    /// Name for people: the configured one, else that of the program, else that of the folder.
    pub name: String,
    /// The project that it is in.
    pub project: Project,
    /// Absolute folder of the package that builds the program.
    pub package: PathBuf,
    /// What the configuration says of the target.
    pub config: TargetConfig,
}

impl CodeBase {
    /// The target as a report has it that ran nothing; see [`super::Target::info`].
    pub fn info(&self, cwd: &Path) -> TargetInfo {
        let project = display_path(&self.project.folder, cwd);
        TargetInfo { name: self.name.clone(), command: Vec::new(), project: Some(project) }
    }
}

impl Finder<'_> {
    /// The code of the project that was named; none when a program was, or the configured command is of no
    /// project here.
    ///
    /// # Errors
    /// Those of `Project::nearest`; of kind `Config`: a choice to make between several targets or programs; `Usage`: there
    /// is none of that name.
    pub fn code(&self, selector: &TargetSelector, config: Option<&Config>) -> Result<Option<CodeBase>> {
        let TargetSelector::Path(path) = selector else { return Ok(None) };
        let folder = self.below(path);
        if !folder.is_dir() {
            return Ok(None);
        }
        let default = [TargetConfig::default()];
        let configured = config.map_or(&default[..], |config| &config.targets);
        let (targets, bin) = self.selected(configured)?;
        let [target] = targets else {
            let names: Vec<&str> = targets.iter().filter_map(|target| target.name.as_deref()).collect();
            let message = format!("the configuration has several targets: {}", names.join(", "));
            return Err(Error::config(message).hint("choose one with --bin NAME"));
        };
        let root = config.map_or(&*folder, |config| &config.root);
        let (project, program, package) = match (&target.command, bin) {
            (Some(command), None) => {
                let Some(project) = self.project_of(root, command) else { return Ok(None) };
                let word = command.first().map_or("", String::as_str);
                let name = Path::new(word).file_name().and_then(|name| name.to_str());
                let package = self.built_as(&project, name);
                (project, name.map(str::to_owned), package)
            }
            _ => match Project::nearest(&folder, self.named)?.filter(|project| !is_foreign(project, &folder))
            {
                None => (Project::without_manifests(&folder), None, folder.clone()),
                Some(project) => {
                    let hint = target.name.as_deref();
                    let (program, package) = project::package(&project, bin, hint, self.env)?;
                    (project, program, package)
                }
            },
        };
        let of_folder = || package.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = target.name.clone().or(program).or_else(of_folder).unwrap_or_default();
        Ok(Some(CodeBase { name, project, package, config: target.clone() }))
    }

    /// The package of the program of this name; the project's own folder where no manifest declares it or can
    /// be understood.
    pub(super) fn built_as(&self, project: &Project, name: Option<&str>) -> PathBuf {
        // Code can be read where its own tools do not work.
        let declared = project.declared(self.env).unwrap_or_default();
        let mut called = declared.into_iter().map(|(_, binary)| binary);
        let package = called.find(|binary| Some(binary.name.as_str()) == name).map(|binary| binary.folder);
        package.unwrap_or_else(|| project.folder.clone())
    }
}

/// Whether the folder is a package of its own by a manifest that names no program, below the project.
fn is_foreign(project: &Project, folder: &Path) -> bool {
    project.folder != folder && ["setup.py", "setup.cfg"].iter().any(|file| folder.join(file).is_file())
}
