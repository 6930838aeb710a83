//! The folder that the tools are confined to.

use super::running::RunningCommand;
use crate::failure::{Code, Failure};
use crate::tool_record::{ToolCode, ToolError};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::path::{Path, PathBuf};

/// The open workspace (the folder that the tools are confined to), with the command that is running in it.
pub struct AgentWorkspace {
    pub(super) dir: Dir,
    /// Absolute path of the workspace.
    pub(super) root: PathBuf,
    pub(super) running: RunningCommand,
}

impl AgentWorkspace {
    /// Opens the folder `workspace`.
    ///
    /// # Errors
    /// [`Code::AgentConfigError`] if the folder cannot be opened.
    pub fn open(workspace: &Path, running: RunningCommand) -> Result<Self, Failure> {
        let failure = |error: std::io::Error| {
            let what = format!("cannot open the workspace {}", workspace.display());
            Failure::from_io(Code::AgentConfigError, &what, &error)
        };
        let root = workspace.canonicalize().map_err(failure)?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).map_err(failure)?;
        Ok(Self { dir, root, running })
    }

    /// Converts a path that the model passed to a path relative to the workspace. Fails for an absolute path outside
    /// the workspace.
    pub(super) fn relative(&self, path: &str) -> Result<PathBuf, ToolError> {
        let path = Path::new(path);
        let relative = if path.is_absolute() {
            path.strip_prefix(&self.root).map_err(|_| {
                ToolError::execution_error(format!("{} is outside the workspace", path.display()))
            })?
        } else {
            path
        };
        Ok(if relative.as_os_str().is_empty() { ".".into() } else { relative.to_owned() })
    }
}

/// Converts an I/O error at a path to a tool error. The kind of the error determines its code.
pub(super) fn io_error(path: &str, error: &std::io::Error) -> ToolError {
    match error.kind() {
        std::io::ErrorKind::NotFound => ToolError::new(ToolCode::NotFound, format!("{path} does not exist")),
        std::io::ErrorKind::PermissionDenied => {
            ToolError::execution_error(format!("{path} is not allowed, or leads outside the workspace"))
        }
        _ => ToolError::execution_error(format!("{path}: {error}")),
    }
}
