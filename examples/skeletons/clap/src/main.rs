//! Keeps a list of tasks in todo.json of the current folder.

mod output;
mod server;
mod store;

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum as _};
use output::{ExitCode, Failure, Format, Output, failure};
use serde_json::json;
use store::{STORE, Task, load, save};

const EXAMPLES: &str = "Examples:
  todo list --output json
  todo remove milk --yes

Exit codes:
  0   success
  1   the command failed
  2   wrong arguments
  77  no token, or the server rejects it
  78  the configuration is missing or invalid";

/// Keep a list of tasks in todo.json of the current folder
#[derive(Parser)]
#[command(version, after_long_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Args)]
struct Common {
    /// Format of the output
    #[arg(short, long, value_enum, default_value_t = Format::Text, global = true)]
    output: Format,
    /// Short for --output json
    #[arg(long, global = true)]
    json: bool,
    /// Short for --output jsonl
    #[arg(long, global = true)]
    jsonl: bool,
    /// Print data and errors only
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Print more details
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Ask no questions
    #[arg(long, global = true)]
    no_input: bool,
}

#[derive(Subcommand)]
enum Command {
    /// List the tasks
    #[command(after_long_help = "Example:\n  todo list --limit 2")]
    List {
        /// Print at most this number of tasks
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Show a task
    #[command(after_long_help = "Example:\n  todo show milk")]
    Show { name: String },
    /// Add or replace a task
    #[command(after_long_help = "Example:\n  todo add milk --note 'two bottles'")]
    Add {
        name: String,
        /// Text of the task
        #[arg(long, default_value = "")]
        note: String,
        /// Show what would change
        #[arg(long)]
        dry_run: bool,
    },
    /// Remove a task
    #[command(after_long_help = "Example:\n  todo remove milk --yes")]
    Remove {
        name: String,
        /// Do not ask for a confirmation
        #[arg(short, long)]
        yes: bool,
        /// Show what would change
        #[arg(long)]
        dry_run: bool,
    },
    /// Send the tasks to a server (TODO_URL, TODO_TOKEN)
    #[command(after_long_help = "Example:\n  todo sync --dry-run")]
    Sync {
        /// Read the token from a file
        #[arg(long)]
        token_file: Option<PathBuf>,
        /// Time limit in seconds
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
        timeout: u64,
        /// Show what would change
        #[arg(long)]
        dry_run: bool,
    },
    /// Print the JSON Schema of the output
    #[command(after_long_help = "Example:\n  todo schema")]
    Schema,
    /// Print a completion script
    #[command(after_long_help = "Example:\n  todo completions bash")]
    Completions { shell: clap_complete::Shell },
    /// Install the instructions for agents
    #[command(after_long_help = "Example:\n  todo install-skill")]
    InstallSkill,
}

/// Asks on a terminal whether the task should be removed.
fn confirm(name: &str, no_input: bool) -> Result<(), Failure> {
    if no_input || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(failure(
            ExitCode::Usage,
            "unconfirmed",
            format!("nothing is removed; --yes removes '{name}'"),
        ));
    }
    eprint!("Remove '{name}'? [y/N] ");
    let answer = io::stdin().lock().lines().next().transpose()?;
    match answer.as_deref() {
        Some("y") => Ok(()),
        _ => Err(failure(ExitCode::General, "cancelled", "nothing is removed")),
    }
}

fn run(command: Command, no_input: bool, output: &Output) -> Result<(), Failure> {
    match command {
        Command::List { limit } => {
            let tasks = load()?;
            if output.verbose {
                output.note(&format!("read {} tasks from {STORE}", tasks.len()));
            }
            let items = &tasks[..tasks.len().min(limit as usize)];
            let truncated = items.len() < tasks.len();
            let text: Vec<_> = items.iter().map(|task| format!("{}  {}", task.name, task.note)).collect();
            output.data(&json!({ "items": items, "truncated": truncated }), &text.join("\n"), items)?;
            if truncated {
                output.note(&format!("{} of {} tasks; --limit shows more", items.len(), tasks.len()));
            }
            Ok(())
        }
        Command::Show { name } => {
            let task = load()?.into_iter().find(|task| task.name == name);
            let missing = format!("there is no task '{name}'; `todo list` shows all tasks");
            let task = task.ok_or_else(|| failure(ExitCode::General, "not_found", missing))?;
            output.one(json!(task), &format!("{name}  {}", task.note))
        }
        Command::Add { name, note, dry_run } => {
            let task = Task { name: name.clone(), note };
            let changed = save(dry_run, |tasks| {
                tasks.retain(|one| one.name != name);
                tasks.push(task.clone());
            })?;
            output.change(&name, changed, dry_run, ["added", "would add"])
        }
        Command::Remove { name, yes, dry_run } => {
            if !yes && !dry_run {
                confirm(&name, no_input)?;
            }
            let changed = save(dry_run, |tasks| tasks.retain(|one| one.name != name))?;
            output.change(&name, changed, dry_run, ["removed", "would remove"])
        }
        Command::Sync { token_file, timeout, dry_run } => server::sync(output, token_file, timeout, dry_run),
        Command::Schema => output.raw(include_str!("../todo.schema.json")),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "todo", &mut script);
            output.raw(&String::from_utf8_lossy(&script))
        }
        Command::InstallSkill => {
            let path = Path::new(&env::var("HOME")?).join(".agents/skills/todo/SKILL.md");
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(&path, include_str!("../SKILL.md"))?;
            output.one(json!({ "path": path }), &path.display().to_string())
        }
    }
}

fn main() {
    let cli = Cli::try_parse().unwrap_or_else(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        // Errors of the parser are printed in the format of the call.
        let named = |word: String| {
            Format::from_str(word.trim_start_matches("--output=").trim_start_matches("--"), false)
        };
        let format = env::args().skip(1).find_map(|word| named(word).ok()).unwrap_or(Format::Text);
        let message = error.to_string();
        let message = message.trim_start_matches("error: ").trim_end();
        let output = Output { format, quiet: false, verbose: false };
        process::exit(output.fail(failure(ExitCode::Usage, "usage", message)))
    });
    let Common { output, json, jsonl, quiet, verbose, no_input } = cli.common;
    let format = if json {
        Format::Json
    } else if jsonl {
        Format::Jsonl
    } else {
        output
    };
    let output = Output { format, quiet, verbose };
    if let Err(failure) = run(cli.command, no_input, &output) {
        process::exit(output.fail(failure));
    }
}
