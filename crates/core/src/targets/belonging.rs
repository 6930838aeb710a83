//! Whether a configured command is one of the project that its configuration is in.

use super::find::Finder;
use super::project::Project;
use crate::config::repository;
use crate::manifest::normal;
use std::path::{Path, PathBuf};

impl Finder<'_> {
    /// The project of a command that the configuration in `root` names. A program that lies in the tree of
    /// the configuration has one, be it called by itself or by an interpreter from PATH, and so has one
    /// wherever it lies, if the manifests there declare its name. Any other command from PATH, and one from
    /// elsewhere, has none here.
    pub(super) fn project_of(&self, root: &Path, command: &[String]) -> Option<Project> {
        // Manifests of others are none of its project.
        let nearest = Project::nearest(root, self.named).unwrap_or_default();
        let tree = tree(root, nearest.as_ref());
        let is_own = |word: &str| normal(&root.join(word)).starts_with(&tree);
        let (program, arguments) = command.split_first()?;
        let own = match program.contains('/') && is_own(program) {
            true => Some(program),
            false => arguments.iter().find(|word| root.join(word).is_file() && is_own(word)),
        };
        if let Some(word) = own {
            let concerned = nearest.filter(|project| concerns(project, root, word));
            return Some(concerned.unwrap_or_else(|| Project::without_manifests(root)));
        }
        // What is built may lie elsewhere, as with `CARGO_TARGET_DIR`, or be installed.
        let name = Path::new(program).file_name()?.to_str()?;
        nearest.filter(|project| self.declares(project, name))
    }

    /// Whether a manifest declares a program of this name. One that cannot be understood declares none.
    fn declares(&self, project: &Project, name: &str) -> bool {
        let declared = project.declared(self.env).unwrap_or_default();
        declared.iter().any(|(_, binary)| binary.name == name)
    }
}

/// The folder whose contents are the configuration's own: the repository, else the nearest project, else the
/// folder of the configuration.
pub(super) fn tree(root: &Path, nearest: Option<&Project>) -> PathBuf {
    repository(root).or_else(|| Some(nearest?.folder.clone())).unwrap_or_else(|| root.to_owned())
}

/// Whether the program is one of the project: a script that lies with its configuration in a folder below the
/// manifests has nothing to do with them.
fn concerns(project: &Project, root: &Path, word: &str) -> bool {
    let below = root != project.folder && root.starts_with(&project.folder);
    let beside = !word.starts_with('/') && !word.split('/').any(|part| part == "..");
    !(below && beside)
}
