//! The mappers of all agents, in the order in which detection tries them.

use super::mapper_file::MapperFile;
use super::state::{MapFn, Mapper};
use super::{Dialect, MAPPER_FILES, claude, codex, opencode, opencode_run, qwen};
use std::sync::LazyLock;

static FILES: LazyLock<Vec<(Dialect, MapperFile)>> = LazyLock::new(|| {
    let read = |json| serde_json::from_str(json).expect("the build script read the file");
    MAPPER_FILES.iter().map(|(dialect, json)| (*dialect, read(json))).collect()
});

/// The mappers of all agents. If the agent is not known, the first that recognizes an event is used.
pub(super) static MAPPERS: LazyLock<Vec<Mapper>> = LazyLock::new(|| {
    let code = [opencode::MAPPER, opencode_run::MAPPER, claude::MAPPER, codex::MAPPER, qwen::MAPPER];
    code.into_iter().chain(FILES.iter().map(|(dialect, file)| from_file(*dialect, file))).collect()
});

fn from_file(dialect: Dialect, file: &'static MapperFile) -> Mapper {
    Mapper {
        dialect,
        program: &file.program,
        agent: &file.agent,
        formats: [0, file.formats.0.len() - 1].map(|format| file.formats.0[format].as_str()),
        map: MapFn::File(file),
        failure_reason: super::state::failure_reason,
    }
}
