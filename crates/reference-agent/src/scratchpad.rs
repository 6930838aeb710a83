//! The scratchpad: a log file of a run in JSON Lines, which is kept after the run.
//!
//! If the protocol defines a folder in the workspace for the scratchpad, it is written there. Otherwise it is written
//! to the state folder of the user, so that the workspace contains no unexpected files.

use super::clock;
use super::event::{AgentEvent, TurnOutcome};
use super::options::Options;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The open log file of a run.
#[derive(Debug)]
pub struct Scratchpad {
    file: File,
    /// Path of the file, as the output reports it. It is relative to the workspace if the protocol defines the folder.
    pub path: String,
}

impl Scratchpad {
    /// Creates the log file, and its folder if it is missing.
    pub fn create(options: &Options) -> io::Result<Self> {
        let (folder, folder_path) = if let Some(path) = options.protocol.scratchpad {
            // Symbolic links out of the workspace are not followed.
            let workspace = Dir::open_ambient_dir(options.workspace(), ambient_authority())?;
            workspace.create_dir_all(path)?;
            (workspace.open_dir(path)?, PathBuf::from(path))
        } else {
            let path = state_folder()?;
            std::fs::create_dir_all(&path)?;
            (Dir::open_ambient_dir(&path, ambient_authority())?, path)
        };
        let name = format!("{}{}.jsonl", clock::file_timestamp(clock::now_ms()), clock::random_id("_"));
        let file = folder.open_with(&name, OpenOptions::new().append(true).create_new(true))?;
        Ok(Self { file, path: folder_path.join(name).display().to_string() })
    }

    /// Appends an event of the run to the file. Write errors are ignored.
    pub fn log_event(&mut self, event: &AgentEvent) {
        let line = match event {
            AgentEvent::Start { query, provider, model, .. } => {
                self.write_line(json!({"type": "init", "content": query}));
                json!({"type": "start", "provider": provider, "model": model})
            }
            AgentEvent::Retry { attempt, message, .. } => {
                json!({"type": "retry", "attempt": attempt, "message": message})
            }
            AgentEvent::ToolResult(record) => json!({
                "type": "tool_result", "toolName": record.tool, "args": record.input, "result": record.text(),
                "ok": record.ok, "durationMs": record.duration_ms,
            }),
            _ => return,
        };
        self.write_line(line);
    }

    /// Appends the outcome of the run to the file. Write errors are ignored.
    pub fn log_outcome(&mut self, outcome: &TurnOutcome) {
        self.write_line(match outcome {
            Ok(answer) => json!({"type": "answer", "content": answer}),
            Err(failure) => {
                json!({"type": "error", "code": failure.code.name(), "content": failure.message})
            }
        });
    }

    fn write_line(&mut self, mut line: Value) {
        line["timestamp"] = clock::iso_8601(clock::now_ms()).into();
        let _ = self.file.write_all(format!("{line}\n").as_bytes());
    }
}

fn state_folder() -> io::Result<PathBuf> {
    let var = |name| std::env::var_os(name).filter(|value| Path::new(value).is_absolute());
    let state = match (var("XDG_STATE_HOME"), var("HOME")) {
        (Some(state), _) => PathBuf::from(state),
        (None, Some(home)) => Path::new(&home).join(".local/state"),
        (None, None) => {
            return Err(io::Error::new(io::ErrorKind::NotFound, "neither XDG_STATE_HOME nor HOME is set"));
        }
    };
    Ok(state.join("reference-agent/scratchpad"))
}
