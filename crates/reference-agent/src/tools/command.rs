//! The tool `run_command`, the only code of the agent that starts a process.
//!
//! The command runs in a new process group, with a deadline and without API keys in its environment. Its output is
//! captured up to a limit. When the command ends, all its descendants are killed. The agent is the subreaper of
//! orphaned processes, so that even descendants that left the process group are found.

use super::objects::{object, required_string};
use super::workspace::AgentWorkspace;
use crate::tool_record::{ToolError, ToolOutput};
use agentnative_helper::process_tree::{become_reaper, kill_descendants, wait_until_ended};
use rustix::process::Pid;
use serde_json::{Map, Value, json};
use std::io::Read;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Maximum timeout of a command, in seconds.
pub(super) const MAX_TIMEOUT_SECONDS: u32 = 600;
const DEFAULT_TIMEOUT_SECONDS: f64 = 30.0;
/// Maximum number of bytes that are captured of stdout and of stderr.
const MAX_CAPTURED_BYTES: usize = 64 * 1024;

pub(super) fn run(workspace: &AgentWorkspace, arguments: &Map<String, Value>) -> ToolOutput {
    let line = required_string(arguments, "command");
    let seconds = arguments.get("timeout").and_then(Value::as_f64).unwrap_or(DEFAULT_TIMEOUT_SECONDS);
    let deadline =
        Instant::now() + Duration::from_secs_f64(seconds.clamp(0.001, f64::from(MAX_TIMEOUT_SECONDS)));
    let (mut child, leader) =
        start(workspace, line).map_err(|error| ToolError::execution_error(error.to_string()))?;
    let stdout = child.stdout.take().map(capture).transpose();
    let stderr = child.stderr.take().map(capture).transpose();
    let in_time = stdout.is_ok() && stderr.is_ok() && wait_until_ended(leader, deadline);
    {
        // The leader has not been reaped, so its process ID has not been reused.
        let mut state = workspace.running.lock();
        kill_descendants(leader);
        state.leader = None;
    }
    let status = child.wait().map_err(|error| ToolError::execution_error(error.to_string()))?;
    let join = |thread: std::io::Result<Option<JoinHandle<Captured>>>| {
        let thread = thread.map_err(|error| {
            ToolError::execution_error(format!("cannot read what the command prints: {error}"))
        })?;
        Ok(thread.and_then(|thread| thread.join().ok()).unwrap_or_default())
    };
    let (stdout, stderr) = (join(stdout)?, join(stderr)?);
    if !in_time {
        return Err(ToolError::execution_error(format!("the command timed out after {seconds} s: {line}")));
    }
    let exit_code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    let result = json!({
        "command": line, "exit_code": exit_code, "stdout": stdout.text, "stderr": stderr.text,
        "truncated": stdout.truncated || stderr.truncated,
    });
    Ok((object(result), None))
}

#[expect(clippy::disallowed_methods, reason = "the only tool that starts a process")]
fn start(workspace: &AgentWorkspace, line: &str) -> std::io::Result<(Child, Pid)> {
    // Best effort: without a subreaper, only descendants that left the process group survive.
    let _ = become_reaper();
    let mut state = workspace.running.lock();
    if state.closed {
        return Err(std::io::Error::other("the run is over"));
    }
    let inherited = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TERM", "USER", "TZ"];
    let child = Command::new("/bin/sh")
        .args(["-c", line])
        .current_dir(&workspace.root)
        .env_clear()
        .envs(inherited.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let leader = Pid::from_child(&child);
    state.leader = Some(leader);
    Ok((child, leader))
}

/// The captured beginning of stdout or stderr of a command.
#[derive(Default)]
struct Captured {
    text: String,
    truncated: bool,
}

/// Reads a stream of a command to its end in a thread, and captures the beginning. The rest is read, too, so that the
/// command never blocks on a full pipe.
fn capture(mut stream: impl Read + Send + 'static) -> std::io::Result<JoinHandle<Captured>> {
    Builder::new().spawn(move || {
        let (mut bytes, mut buffer, mut truncated) = (Vec::new(), [0; 8192], false);
        while let Ok(n @ 1..) = stream.read(&mut buffer) {
            let count = (MAX_CAPTURED_BYTES - bytes.len()).min(n);
            bytes.extend_from_slice(&buffer[..count]);
            truncated |= count < n;
        }
        Captured { text: String::from_utf8_lossy(&bytes).into_owned(), truncated }
    })
}
