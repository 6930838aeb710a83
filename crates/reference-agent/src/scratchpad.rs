//! The scratchpad: a JSON line for each thing that a run does, kept after it.
//!
//! Where a protocol has a folder for it in the workspace, it lies there and the protocol names it.
//! Else it lies in the user's state folder, so that nobody's project is littered.

use super::clock;
use super::event::{Event, Outcome};
use super::options::Options;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The open scratchpad of a run.
#[derive(Debug)]
pub struct Scratchpad {
    file: File,
    /// As the contracts name it.
    pub name: String,
}

impl Scratchpad {
    /// Makes the file, and its folder.
    pub fn create(options: &Options) -> io::Result<Self> {
        let (folder, path) = if let Some(path) = options.protocol.scratchpad {
            // Beneath the workspace, whatever links there are.
            let workspace = Dir::open_ambient_dir(options.workspace(), ambient_authority())?;
            workspace.create_dir_all(path)?;
            (workspace.open_dir(path)?, PathBuf::from(path))
        } else {
            let path = state_folder()?;
            std::fs::create_dir_all(&path)?;
            (Dir::open_ambient_dir(&path, ambient_authority())?, path)
        };
        let name = format!("{}{}.jsonl", clock::stamp(clock::now_ms()), clock::id("_"));
        let file = folder.open_with(&name, OpenOptions::new().append(true).create_new(true))?;
        Ok(Self { file, name: path.join(name).display().to_string() })
    }

    /// Writes down what happened. Losing a line of it is no reason to fail.
    pub fn event(&mut self, event: &Event) {
        let line = match event {
            Event::Start { query, provider, model, .. } => {
                self.line(json!({"type": "init", "content": query}));
                json!({"type": "start", "provider": provider, "model": model})
            }
            Event::Retry { attempt, message, .. } => {
                json!({"type": "retry", "attempt": attempt, "message": message})
            }
            Event::ToolResult(record) => json!({
                "type": "tool_result", "toolName": record.tool, "args": record.input, "result": record.text(),
                "ok": record.ok, "durationMs": record.duration_ms,
            }),
            _ => return,
        };
        self.line(line);
    }

    /// Writes down the end.
    pub fn end(&mut self, outcome: &Outcome) {
        self.line(match outcome {
            Ok(answer) => json!({"type": "answer", "content": answer}),
            Err(failure) => {
                json!({"type": "error", "code": failure.code.name(), "content": failure.message})
            }
        });
    }

    fn line(&mut self, mut line: Value) {
        line["timestamp"] = clock::iso(clock::now_ms()).into();
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
