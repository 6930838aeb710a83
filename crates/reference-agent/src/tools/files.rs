//! The tools `list_files` and `read_file`.

use super::objects::{object, required_string};
use super::workspace::{AgentWorkspace, io_error};
use crate::tool_record::{ToolCode, ToolError, ToolOutput};
use cap_std::fs::{File, OpenOptions, OpenOptionsExt as _};
use serde_json::{Map, Value, json};
use std::io::Read as _;
use std::path::Path;

/// Maximum number of entries in a listing.
const MAX_ENTRIES: usize = 1_000;
/// Maximum number of bytes of a file that are returned to the model.
pub(super) const MAX_BYTES: u64 = 256 * 1024;

pub(super) fn list(workspace: &AgentWorkspace, arguments: &Map<String, Value>) -> ToolOutput {
    let path = arguments.get("path").and_then(Value::as_str).unwrap_or(".");
    let hidden = arguments.get("hidden").and_then(Value::as_bool).unwrap_or(false);
    let entries =
        workspace.dir.read_dir(workspace.relative(path)?).map_err(|error| io_error(path, &error))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| io_error(path, &error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') && !hidden {
            continue;
        }
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_dir() => "directory",
            Ok(kind) if kind.is_symlink() => "symlink",
            Ok(kind) if kind.is_file() => "file",
            _ => "other",
        };
        names.push((name, kind));
    }
    names.sort();
    let truncated = names.len() > MAX_ENTRIES;
    names.truncate(MAX_ENTRIES);
    let entries: Vec<Value> =
        names.into_iter().map(|(name, kind)| json!({"name": name, "type": kind})).collect();
    Ok((object(json!({"path": path, "entries": entries, "truncated": truncated})), None))
}

pub(super) fn read(workspace: &AgentWorkspace, arguments: &Map<String, Value>) -> ToolOutput {
    let path = required_string(arguments, "path");
    let (content, truncated) = read_text(workspace, path, MAX_BYTES)?;
    Ok((object(json!({"path": path, "content": content, "truncated": truncated})), None))
}

/// Opens a regular file. Pipes and devices are rejected without blocking.
fn open(workspace: &AgentWorkspace, path: &str) -> Result<File, ToolError> {
    let failure = |error: std::io::Error| io_error(path, &error);
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(nonblocking);
    let file = workspace.dir.open_with(workspace.relative(path)?, &options).map_err(failure)?;
    let kind = file.metadata().map_err(failure)?.file_type();
    if kind.is_dir() {
        return Err(ToolError::execution_error(format!("{path} is a folder")));
    }
    if !kind.is_file() {
        return Err(ToolError::new(ToolCode::UnsupportedFileType, format!("{path} is not a regular file")));
    }
    Ok(file)
}

/// Reads at most `max` bytes of a text file. Returns the text, and whether the file is longer.
pub(super) fn read_text(
    workspace: &AgentWorkspace,
    path: &str,
    max: u64,
) -> Result<(String, bool), ToolError> {
    let mut bytes = Vec::new();
    let file = open(workspace, path)?;
    file.take(max + 1).read_to_end(&mut bytes).map_err(|error| io_error(path, &error))?;
    let truncated = bytes.len() as u64 > max;
    bytes.truncate(max as usize);
    let text = as_text(bytes, truncated).ok_or_else(|| {
        let extension =
            Path::new(path).extension().map_or_else(String::new, |e| format!(" ({})", e.display()));
        ToolError::new(ToolCode::UnsupportedFileType, format!("{path} is not a text file{extension}"))
    })?;
    Ok((text, truncated))
}

/// Returns the bytes as text; `None` unless they are UTF-8 without NUL. If `truncated` is set, an incomplete character
/// at the end is removed.
fn as_text(mut bytes: Vec<u8>, truncated: bool) -> Option<String> {
    if truncated
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}
