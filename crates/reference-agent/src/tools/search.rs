//! The tool `search`: finds lines that match a regular expression, in linear time.

use super::files::read_text;
use super::objects::{object, required_string};
use super::workspace::{AgentWorkspace, io_error};
use crate::tool_record::{ToolCode, ToolError, ToolOutput};
use regex::RegexBuilder;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

const MAX_MATCHES: usize = 200;
const MAX_FILES: usize = 10_000;
const MAX_DEPTH: usize = 32;
/// Maximum size of a searched file, in bytes. Larger files are skipped.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum number of characters that are returned of a matching line.
const MAX_LINE_CHARS: usize = 400;

pub(super) fn run(workspace: &AgentWorkspace, arguments: &Map<String, Value>) -> ToolOutput {
    let pattern = required_string(arguments, "pattern");
    let path = arguments.get("path").and_then(Value::as_str).unwrap_or(".");
    let regex = RegexBuilder::new(pattern).size_limit(1 << 20).build().map_err(|error| {
        let message = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        ToolError::new(ToolCode::InvalidPattern, message)
    })?;
    let start = workspace.relative(path)?;
    let meta = workspace.dir.metadata(&start).map_err(|error| io_error(path, &error))?;
    let mut files = Vec::new();
    let mut truncated = false;
    if meta.is_dir() {
        truncated |= !collect_files(workspace, &start, 0, &mut files);
    } else {
        files.push(start);
    }
    files.sort();
    let (mut matches, mut searched) = (Vec::new(), 0);
    for file in &files {
        // A file that was removed meanwhile or is not text is skipped.
        let content = file.to_str().and_then(|path| read_text(workspace, path, MAX_FILE_BYTES).ok());
        let Some((content, false)) = content else { continue };
        searched += 1;
        for (number, line) in content.lines().enumerate().filter(|(_, line)| regex.is_match(line)) {
            if matches.len() == MAX_MATCHES {
                truncated = true;
                break;
            }
            let excerpt: String = line.chars().take(MAX_LINE_CHARS).collect();
            let name = file.strip_prefix(".").unwrap_or(file).display().to_string();
            matches.push(json!({"path": name, "line": number + 1, "text": excerpt}));
        }
    }
    let result = json!({
        "pattern": pattern, "matches": matches, "files_searched": searched, "truncated": truncated,
    });
    Ok((object(result), None))
}

/// Appends the files in a folder and its subfolders to `files`. Returns false if the list is incomplete: there are too
/// many files, or they are nested too deeply. Symbolic links are not followed, and names that begin with a dot are
/// skipped.
fn collect_files(workspace: &AgentWorkspace, folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> bool {
    let Ok(entries) = workspace.dir.read_dir(folder) else { return true };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let path = folder.join(entry.file_name());
        let complete = match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                depth < MAX_DEPTH && collect_files(workspace, &path, depth + 1, files)
            }
            Ok(kind) if kind.is_file() => {
                files.push(path);
                files.len() < MAX_FILES
            }
            _ => true,
        };
        if !complete {
            return false;
        }
    }
    true
}
