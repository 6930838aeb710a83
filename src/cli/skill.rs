//! The command `agentnative skill install`.

use super::shown_path::shown;
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_core::files::AtomicFile;
use agentnative_output::Output;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The instructions for agents.
const SKILL: &str = include_str!("../../skills/agentnative/SKILL.md");

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative skill install --dry-run
  agentnative skill install --for claude,codex")]
pub(super) struct SkillArgs {
    #[command(subcommand)]
    command: SkillCommand,
}

#[derive(clap::Subcommand)]
enum SkillCommand {
    /// Write SKILL.md to the folders in which agents look for skills.
    Install(InstallArgs),
}

#[derive(clap::Args)]
#[command(
    after_help = "Without --for, the skill is installed for claude, and in ~/.agents/skills for the agents that read \
this folder: cline, codex, copilot, cursor, gemini, kimi, opencode and pi.

Examples:
  agentnative skill install --dry-run
  agentnative skill install --for claude,codex
  agentnative skill install --project"
)]
struct InstallArgs {
    /// Agent to install the skill for (repeatable).
    #[arg(
        long = "for",
        value_enum,
        value_name = "AGENT",
        value_delimiter = ',',
        default_values_t = [Agent::Claude, Agent::Codex],
        hide_default_value = true
    )]
    agents: Vec<Agent>,
    /// Install into the current folder instead of the home folder.
    #[arg(long)]
    project: bool,
    /// Overwrite files that differ.
    #[arg(long)]
    force: bool,
    /// List the files; write nothing.
    #[arg(long)]
    dry_run: bool,
}

/// An agent that reads skills.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Agent {
    Claude,
    Cline,
    Codex,
    Copilot,
    Cursor,
    Droid,
    Gemini,
    Kimi,
    Opencode,
    Pi,
    Qwen,
    Vibe,
}

impl Agent {
    /// Returns the folder with skills, relative to the home folder and to a project.
    fn folder(self) -> &'static str {
        match self {
            Self::Claude => ".claude/skills",
            Self::Droid => ".factory/skills",
            Self::Qwen => ".qwen/skills",
            Self::Vibe => ".vibe/skills",
            Self::Cline | Self::Codex | Self::Copilot | Self::Cursor => ".agents/skills",
            Self::Gemini | Self::Kimi | Self::Opencode | Self::Pi => ".agents/skills",
        }
    }
}

/// The installed skill.
#[derive(Serialize, JsonSchema)]
pub(super) struct Installed {
    /// Whether the files were only listed.
    dry_run: bool,
    /// The files of the skill.
    files: Vec<InstalledFile>,
}

/// A file of the skill.
#[derive(Serialize, JsonSchema)]
struct InstalledFile {
    /// Path of the file.
    file: String,
    /// What the command does with the file.
    change: InstallChange,
}

/// What the command does with a file.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum InstallChange {
    /// The file is new.
    Created,
    /// The file had other contents.
    Replaced,
    /// The file already has these contents.
    Unchanged,
}

pub(super) fn run(args: &SkillArgs, output: &mut Output) -> Result<()> {
    let SkillCommand::Install(args) = &args.command;
    let root = if args.project { PathBuf::from(".") } else { home()? };
    let mut folders: Vec<&str> = args.agents.iter().map(|agent| agent.folder()).collect();
    folders.sort_unstable();
    folders.dedup();
    let paths = folders.iter().map(|folder| root.join(folder).join("agentnative/SKILL.md"));
    let changes = paths.map(|path| change(&path, args.force).map(|change| (path, change)));
    let changes = changes.collect::<Result<Vec<_>>>()?;
    for (path, _) in changes.iter().filter(|(_, change)| *change != InstallChange::Unchanged && !args.dry_run)
    {
        write(path)?;
    }
    let file =
        |(path, change): &(PathBuf, InstallChange)| InstalledFile { file: shown(path), change: *change };
    let installed = Installed { dry_run: args.dry_run, files: changes.iter().map(file).collect() };
    output.emit("skill install", true, &installed, |page| {
        for InstalledFile { file, change } in &installed.files {
            page.paragraph(
                0,
                match (change, args.dry_run) {
                    (InstallChange::Unchanged, _) => format!("{file} is up to date"),
                    (_, false) => format!("wrote {file}"),
                    (_, true) => format!("would write {file}"),
                },
            );
        }
    })
}

fn home() -> Result<PathBuf> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    home.ok_or_else(|| Error::config("the home folder is unknown").hint("set HOME, or use --project"))
}

/// Returns what happens to a file. Fails if it differs and must not be overwritten.
fn change(path: &Path, force: bool) -> Result<InstallChange> {
    match std::fs::read(path) {
        Ok(bytes) if bytes == SKILL.as_bytes() => Ok(InstallChange::Unchanged),
        Ok(_) if force => Ok(InstallChange::Replaced),
        Ok(_) => Err(Error::config(format!("{} differs from the skill of this version", shown(path)))
            .hint("--force overwrites it")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(InstallChange::Created),
        Err(error) => Err(Error::io(ErrorKind::Config, "read", path, &error)),
    }
}

fn write(path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        let created = std::fs::create_dir_all(folder);
        created.map_err(|error| Error::io(ErrorKind::Write, "create", folder, &error))?;
    }
    AtomicFile::replace(path)?.write(SKILL.as_bytes())
}
