//! Decides whether a configured command belongs to the project around its configuration.

use super::find::Finder;
use super::project::Project;
use crate::config::repository_root;
use crate::manifest::normalize_lexically;
use std::path::{Path, PathBuf};

impl Finder<'_> {
    /// Returns the project of a command that the configuration in the folder `root` names. A command belongs to the
    /// project if its program, or the script that an interpreter from PATH runs, is in the tree of the configuration,
    /// or if the manifests there declare a program of its name. Any other command has no project.
    pub(super) fn project_of(&self, root: &Path, command: &[String]) -> Option<Project> {
        // An error, such as a manifest with another owner, means that there is no project.
        let nearest = Project::nearest(root, self.trusts_folder).unwrap_or_default();
        let tree = file_tree_root(root, nearest.as_ref());
        let is_in_tree = |word: &str| normalize_lexically(&root.join(word)).starts_with(&tree);
        let (program, arguments) = command.split_first()?;
        let own_word = match program.contains('/') && is_in_tree(program) {
            true => Some(program),
            false => arguments.iter().find(|word| root.join(word).is_file() && is_in_tree(word)),
        };
        if let Some(word) = own_word {
            let covering = nearest.filter(|project| covers(project, root, word));
            return Some(covering.unwrap_or_else(|| Project::without_manifests(root)));
        }
        // A built program can be outside the tree, as with `CARGO_TARGET_DIR` or after an installation.
        let name = Path::new(program).file_name()?.to_str()?;
        nearest.filter(|project| self.declares(project, name))
    }

    /// Returns whether a manifest declares a program of this name. An invalid manifest declares none.
    fn declares(&self, project: &Project, name: &str) -> bool {
        let declared = project.declared(self.env).unwrap_or_default();
        declared.iter().any(|(_, binary)| binary.name == name)
    }
}

/// Returns the root of the file tree that belongs to a configuration in the folder `root`: the repository, else the
/// folder of the `nearest` project, else `root`.
pub(super) fn file_tree_root(root: &Path, nearest: Option<&Project>) -> PathBuf {
    repository_root(root).or_else(|| Some(nearest?.folder.clone())).unwrap_or_else(|| root.to_owned())
}

/// Returns whether the manifests of the project apply to `word`, the program in a configured command. They do not apply
/// to a script if the script and its configuration are in a folder below the manifests. `root` is the folder of the
/// configuration.
fn covers(project: &Project, root: &Path, word: &str) -> bool {
    let config_is_below = root != project.folder && root.starts_with(&project.folder);
    let is_with_config = !word.starts_with('/') && !word.split('/').any(|part| part == "..");
    !(config_is_below && is_with_config)
}
