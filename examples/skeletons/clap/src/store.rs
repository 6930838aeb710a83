//! The tasks in todo.json of the current folder.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::output::{ExitCode, Failure, failure};

pub const STORE: &str = "todo.json";
const LOCK: &str = "todo.json.lock";

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub name: String,
    pub note: String,
}

pub fn load() -> Result<Vec<Task>, Failure> {
    if !Path::new(STORE).exists() {
        return Ok(Vec::new());
    }
    Ok(serde_json::from_str(&fs::read_to_string(STORE)?)?)
}

/// Changes the list, and returns whether that changes anything. The new file is the lock, until it is renamed.
pub fn save(dry_run: bool, change: impl Fn(&mut Vec<Task>)) -> Result<bool, Failure> {
    let lock =
        (!dry_run).then(|| fs::File::create_new(LOCK)).transpose().map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                let message =
                    format!("another call changes {STORE}; try again, or remove {LOCK} if there is none");
                failure(ExitCode::General, "locked", message)
            }
            _ => error.into(),
        })?;
    let before = load()?;
    let mut after = before.clone();
    change(&mut after);
    if let Some(file) = lock {
        serde_json::to_writer(file, &after)?;
        if before == after { fs::remove_file(LOCK)? } else { fs::rename(LOCK, STORE)? }
    }
    Ok(before != after)
}
