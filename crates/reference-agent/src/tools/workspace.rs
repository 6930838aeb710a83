//! The folder that the tools work in.

use super::running::RunningCommand;
use crate::failure::{Code, Failure};
use crate::tool_record::{ToolCode, ToolError};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::path::{Path, PathBuf};

/// The workspace, with the command that runs in it.
pub struct Workspace {
    pub(super) dir: Dir,
    /// The workspace, absolute.
    pub(super) root: PathBuf,
    pub(super) running: RunningCommand,
}

impl Workspace {
    /// Opens the workspace; a configuration failure when it is no folder that can be opened.
    pub fn open(workspace: &Path, running: RunningCommand) -> Result<Self, Failure> {
        let failure = |error: std::io::Error| {
            let what = format!("cannot open the workspace {}", workspace.display());
            Failure::io(Code::AgentConfigError, &what, &error)
        };
        let root = workspace.canonicalize().map_err(failure)?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).map_err(failure)?;
        Ok(Self { dir, root, running })
    }

    /// A path of the model's, relative to the workspace. An absolute one must lie in it.
    pub(super) fn relative(&self, path: &str) -> Result<PathBuf, ToolError> {
        let path = Path::new(path);
        let inner = if path.is_absolute() {
            path.strip_prefix(&self.root)
                .map_err(|_| ToolError::execution(format!("{} is outside the workspace", path.display())))?
        } else {
            path
        };
        Ok(if inner.as_os_str().is_empty() { ".".into() } else { inner.to_owned() })
    }
}

/// An I/O error as one of the seven codes.
pub(super) fn io_error(path: &str, error: &std::io::Error) -> ToolError {
    match error.kind() {
        std::io::ErrorKind::NotFound => ToolError::new(ToolCode::NotFound, format!("{path} does not exist")),
        std::io::ErrorKind::PermissionDenied => {
            ToolError::execution(format!("{path} is not allowed, or leads outside the workspace"))
        }
        _ => ToolError::execution(format!("{path}: {error}")),
    }
}
