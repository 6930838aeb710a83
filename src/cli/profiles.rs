//! The bundled profiles: configurations for known tools, with the files that they name.

use super::embedded::{File, files};
use crate::check::{cache_folder, create_cache_folder, load_config};
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_core::config::Config;
use agentnative_core::files::{AtomicFile, MAX_TEXT_BYTES, read_if_exists};
use agentnative_core::run::find_program;
use clap::builder::PossibleValuesParser;
use std::ffi::OsStr;
use std::path::Path;

/// The value of `--profile` that selects no profile.
pub(super) const NONE: &str = "none";

/// Where the files of the profiles are, in the cache folder of the user.
const FOLDER: &str = concat!("agentnative/profiles/", env!("CARGO_PKG_VERSION"));

/// The profiles and their files. A profile is a configuration in the folder itself.
const TOOLS: &[File] = files!("examples":
    "bandit.toml" "biome.toml" "cargo.toml" "docker.toml" "eslint.toml" "findmnt.toml" "htmlhint.toml" "ip.toml" "jq.toml"
    "kubectl.toml" "lsblk.toml" "mocha.toml" "mypy.toml" "npm.toml" "oxlint.toml" "pip.toml" "ruff.toml"
    "shellcheck.toml" "terraform.toml" "uv.toml"
    "workspaces/biome/clean.js" "workspaces/biome/findings.js" "workspaces/mocha/failing.cjs"
    "workspaces/mocha/passing.cjs" "workspaces/oxlint/clean.js" "workspaces/oxlint/findings.js"
    "workspaces/terraform/invalid/main.tf" "workspaces/terraform/valid/main.tf");

/// The profiles of agents and their files.
const AGENTS: &[File] = files!("examples/agents":
    "claude.toml" "cline.toml" "codex.toml" "copilot.toml" "droid.toml" "gemini.toml" "kimi.toml" "opencode.toml"
    "pi.toml" "qwen.toml" "vibe.toml"
    "home/cline.json" "home/codex.toml" "home/droid.json" "home/gemini.json" "home/kimi.toml" "home/opencode.json"
    "home/pi.json" "home/vibe.toml");

/// Returns the parser of `--profile`: the names of the profiles, and `none`.
pub(super) fn parser() -> PossibleValuesParser {
    PossibleValuesParser::new(std::iter::once(NONE).chain(names()))
}

fn names() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<_> = TOOLS.iter().chain(AGENTS).filter_map(|(path, _)| name(path)).collect();
    names.sort_unstable();
    names.into_iter()
}

/// Returns the name of the profile in the file at this path; `None` if the file is not a profile.
fn name(path: &str) -> Option<&str> {
    path.strip_suffix(".toml").filter(|name| !name.contains('/'))
}

/// Returns the profile of a command on PATH.
pub(super) fn of_command(command: &OsStr) -> Option<&'static str> {
    names().find(|name| OsStr::new(name) == command)
}

/// Writes the files of a profile to the cache folder of the user, and reads the profile.
///
/// # Errors
/// If a file cannot be written, or the program of a service of the profile is missing.
pub(super) fn load(name: &str) -> Result<Config> {
    let file = format!("{name}.toml");
    let is_tool = TOOLS.iter().any(|(path, _)| *path == file);
    let (folder, files) = if is_tool { ("tools", TOOLS) } else { ("agents", AGENTS) };
    let missing = || Error::config("no home folder, in which the files of the profile could be written");
    let folder = cache_folder().ok_or_else(missing)?.join(FOLDER).join(folder);
    for (path, text) in files {
        write(&folder.join(path), text)?;
    }
    let config = load_config(&folder.join(file))?;
    for program in config.services.iter().flat_map(|service| service.command.first()) {
        find_program(OsStr::new(program))?;
    }
    Ok(config)
}

/// Writes a file, and the folders above it, unless it has this text already.
fn write(path: &Path, text: &str) -> Result<()> {
    if read_if_exists(path, MAX_TEXT_BYTES).is_ok_and(|bytes| bytes.as_deref() == Some(text.as_bytes())) {
        return Ok(());
    }
    create_cache_folder(path)
        .map_err(|error| Error::io(ErrorKind::Write, "create the folder of", path, &error))?;
    AtomicFile::replace(path)?.write(text.as_bytes())
}
