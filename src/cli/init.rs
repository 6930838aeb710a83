//! `agentnative init`

use super::subject;
use crate::config::FILE_NAME;
use crate::run::{Runner, RunnerOptions};
use crate::target::skeleton;
use agentnative_contract::error::{Error, Result};
use agentnative_output::{Output, OutputFormat};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write as _;
use std::path::Path;

#[derive(clap::Args)]
pub(super) struct InitArgs {
    #[command(flatten)]
    subject: subject::SubjectArgs,
    /// Overwrite a file that is there.
    #[arg(long)]
    force: bool,
    /// Print the file, write none.
    #[arg(long)]
    print: bool,
}

/// A skeleton that was made.
#[derive(Serialize, JsonSchema)]
pub(super) struct Written {
    /// The file that was written; none with `--print`.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Commands that the help names.
    commands: Vec<String>,
    /// The skeleton.
    text: String,
}

pub(super) fn run(args: InitArgs, output: &mut Output) -> Result<u8> {
    let command = args.subject.command()?;
    let mut runner = Runner::new(RunnerOptions { stop_on_signals: true, ..RunnerOptions::default() })?;
    let (target, _) = subject::resolve(&args.subject, &mut runner)?;
    let help = subject::help(&target, &mut runner)?;
    let text = skeleton(&target.name, command.as_deref(), &help);
    let path = target.folder().join(FILE_NAME);
    if !args.print {
        write(&path, &text, args.force)?;
    }
    let written = Written {
        file: (!args.print).then(|| path.display().to_string()),
        commands: help.commands.iter().map(|command| command.name.clone()).collect(),
        text,
    };
    match output.config().format {
        OutputFormat::Text if args.print => output.text(&written.text)?,
        OutputFormat::Text => {
            let count = written.commands.len();
            let path = path.display();
            output.text(&format!(
                "wrote {path}: {count} commands found in the help, each to be confirmed there"
            ))?;
        }
        OutputFormat::Json => output.document("init", true, &written)?,
        OutputFormat::Jsonl => output.record(&written)?,
    }
    Ok(0)
}

fn write(path: &Path, text: &str, force: bool) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).truncate(true);
    // Without --force, a file that is there must not be lost, also when it came a moment ago.
    let options = if force { options.create(true) } else { options.create_new(true) };
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let message = format!("cannot write {}: {error}", path.display());
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                Error::config(message).hint("--force overwrites it, --print shows what would be written")
            }
            _ => Error::general(message),
        }
    })
}
