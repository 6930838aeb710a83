//! The tools `write_file` and `edit_file`.

use super::files::{MAX_BYTES, read_text};
use super::objects::{object, required_string};
use super::workspace::{AgentWorkspace, io_error};
use crate::tool_record::{RecordedFileChange, ToolCode, ToolError, ToolOutput};
use cap_std::fs::OpenOptions;
use serde_json::{Map, Value, json};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

pub(super) fn write(workspace: &AgentWorkspace, arguments: &Map<String, Value>) -> ToolOutput {
    let (path, content) = (required_string(arguments, "path"), required_string(arguments, "content"));
    let relative = workspace.relative(path)?;
    // A link within the workspace is replaced; a link that leads out of it is an error and stays.
    let existed = match workspace.dir.metadata(&relative) {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(io_error(path, &error)),
    };
    // A missing or binary file is replaced, too; its previous content counts as empty.
    let before = read_text(workspace, path, MAX_BYTES).map_or_else(|_| String::new(), |(text, _)| text);
    if let Some(folder) = relative.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        workspace.dir.create_dir_all(folder).map_err(|error| io_error(path, &error))?;
    }
    replace_file(workspace, path, &relative, content)?;
    let result = json!({"path": path, "bytes": content.len(), "created": !existed});
    let change = RecordedFileChange { path: path.to_owned(), before, after: content.to_owned() };
    Ok((object(result), Some(change)))
}

pub(super) fn edit(workspace: &AgentWorkspace, arguments: &Map<String, Value>) -> ToolOutput {
    let (path, old, new) = (
        required_string(arguments, "path"),
        required_string(arguments, "old"),
        required_string(arguments, "new"),
    );
    let relative = workspace.relative(path)?;
    let (before, truncated) = read_text(workspace, path, MAX_BYTES)?;
    if truncated {
        return Err(ToolError::execution_error(format!("{path} is larger than {MAX_BYTES} bytes")));
    }
    let count = before.match_indices(old).count();
    if count != 1 {
        let message = match count {
            0 => format!("the old text is not in {path}"),
            _ => format!("expected the old text once in {path}, found it {count} times"),
        };
        return Err(ToolError::new(ToolCode::Conflict, message));
    }
    let after = before.replacen(old, new, 1);
    replace_file(workspace, path, &relative, &after)?;
    let result = json!({"path": path, "bytes": after.len()});
    Ok((object(result), Some(RecordedFileChange { path: path.to_owned(), before, after })))
}

/// Replaces the content of a file: writes a temporary file and renames it. So the file is never partially written, and
/// a symbolic link is replaced instead of followed.
fn replace_file(
    workspace: &AgentWorkspace,
    path: &str,
    relative: &Path,
    content: &str,
) -> Result<(), ToolError> {
    let failure = |error: std::io::Error| io_error(path, &error);
    let Some(name) = relative.file_name() else {
        return Err(ToolError::execution_error(format!("{path} is not a file name")));
    };
    if workspace.dir.symlink_metadata(relative).is_ok_and(|meta| !meta.is_file() && !meta.is_symlink()) {
        return Err(ToolError::execution_error(format!("{path} is not a regular file")));
    }
    let temporary =
        relative.with_file_name(format!(".{}.{:08x}", name.display(), crate::clock::random() & 0xffff_ffff));
    let permissions = workspace.dir.metadata(relative).ok().map(|meta| meta.permissions());
    let written = (|| {
        let mut file =
            workspace.dir.open_with(&temporary, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(content.as_bytes())?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        workspace.dir.rename(&temporary, &workspace.dir, relative)
    })();
    if written.is_err() {
        // The temporary file may not exist.
        let _ = workspace.dir.remove_file(&temporary);
    }
    written.map_err(failure)
}
