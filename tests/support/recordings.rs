//! The recordings of agents in `../shared/captures3`, which is not in the repository, and the table of what is expected
//! of each: `tests/agent_recordings.tsv`. It was written from the recordings and the scenes in their names; its token
//! counts and costs were added up by a script that shares no code with the project.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("../agent_recordings.tsv");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/captures3");

/// A run of an agent, with its row of the table.
pub struct Recording {
    row: BTreeMap<&'static str, &'static str>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Exit code; 128 + n for signal n.
    pub exit: i32,
}

impl Recording {
    /// Returns a cell of the row; empty if nothing is expected.
    pub fn get(&self, column: &str) -> &'static str {
        self.row[column]
    }

    pub fn name(&self) -> &'static str {
        self.get("recording")
    }

    /// Returns the version of the agent, which follows its name: `pi-1.6.0-text-json`.
    pub fn version(&self) -> &'static str {
        let rest = self.name().strip_prefix(self.get("agent")).unwrap();
        rest.trim_start_matches('-').split('-').next().unwrap()
    }
}

/// Returns all recordings of the table.
pub fn recordings() -> Vec<Recording> {
    let mut lines = TABLE.lines();
    let columns: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let read = |name: &str, end: &str| fs::read(Path::new(FOLDER).join(format!("{name}.{end}"))).unwrap();
    let recording = |line: &'static str| {
        let row: BTreeMap<_, _> = columns.iter().copied().zip(line.split('\t')).collect();
        assert_eq!(row.len(), columns.len(), "{line}");
        let name = row["recording"];
        let exit = String::from_utf8(read(name, "exit")).unwrap().trim().parse().unwrap();
        Recording { stdout: read(name, "stdout"), stderr: read(name, "stderr"), exit, row }
    };
    lines.map(recording).collect()
}
