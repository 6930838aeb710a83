//! `agentnative init`

use super::group;
use super::target_args::{RunArgs, TargetArgs};
use crate::check::{Session, TargetSelector};
use crate::config::{FILE_NAME, repository};
use crate::run::{RunnerOptions, find};
use crate::target::skeleton;
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_output::Output;
use schemars::JsonSchema;
use serde::Serialize;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative init --print ./mycli
  agentnative init --print --command mycli
  agentnative init --force ./mycli")]
pub(super) struct InitArgs {
    #[command(flatten, next_help_heading = group::TARGET)]
    target: TargetArgs,
    /// Overwrite an existing file.
    #[arg(long, help_heading = group::CONFIGURATION)]
    force: bool,
    /// Print the configuration; write no file.
    #[arg(long, help_heading = group::CONFIGURATION)]
    print: bool,
}

/// A generated skeleton.
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

pub(super) fn run(args: InitArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    let selector = args.target.selector();
    let command = command(&selector)?;
    let by_path = matches!(&selector, TargetSelector::Path(_) | TargetSelector::Argv(_));
    let session = Session::new(selector, args.target.options(&RunArgs::default(), runner));
    let (target, help) = session.inspect()?;
    let command = command.map(|words| portable(words, target.folder(), by_path));
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
    output.emit("init", true, &written, |page| match &written.file {
        None => page.text(&written.text),
        Some(path) => {
            let count = written.commands.len();
            page.text(&format!(
                "wrote {path}: {count} commands found in the help, each to be confirmed there"
            ));
        }
    })?;
    Ok(0)
}

/// The command as it was named, for the configuration; none for a project's own program.
///
/// # Errors
/// Usage, for a word that is not UTF-8: TOML cannot hold it.
fn command(selector: &TargetSelector) -> Result<Option<Vec<String>>> {
    let word = |word: &OsStr| {
        let not_utf8 = || Error::usage(format!("{word:?} is not UTF-8: agentnative.toml cannot hold it"));
        word.to_str().map(str::to_owned).ok_or_else(not_utf8)
    };
    let words = match selector {
        TargetSelector::Argv(argv) => argv.iter().map(|arg| word(arg)).collect::<Result<_>>()?,
        TargetSelector::Name(name) => vec![word(name)?],
        TargetSelector::Path(path) if path.is_file() => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            vec![word(path.as_os_str())?]
        }
        TargetSelector::Path(_) => return Ok(None),
    };
    Ok(Some(words))
}

/// The words of a command as a file in `folder` can have them on every machine: files of the same repository
/// by their path from there, and a program that PATH finds by its name.
fn portable(words: Vec<String>, folder: &Path, by_path: bool) -> Vec<String> {
    let tree = repository(folder).unwrap_or_else(|| folder.to_owned());
    let word = |(at, word): (usize, String)| {
        let file: PathBuf = folder.join(&word).components().collect();
        let named = (at == 0 && by_path && word.contains('/')) || Path::new(&word).is_absolute();
        if !named || !file.is_file() {
            return word;
        }
        let up = folder.ancestors().position(|above| file.starts_with(above) && above.starts_with(&tree));
        let below = up.and_then(|up| Some((up, file.strip_prefix(folder.ancestors().nth(up)?).ok()?)));
        if let Some((up, below)) = below {
            let start = if up == 0 { "./".to_owned() } else { "../".repeat(up) };
            return format!("{start}{}", below.display());
        }
        let name = file.file_name().filter(|_| at == 0);
        let found = name.and_then(|name| find(name).ok()).filter(|found| *found == file);
        match (found, name.and_then(OsStr::to_str)) {
            (Some(_), Some(name)) => name.to_owned(),
            _ => word,
        }
    };
    words.into_iter().enumerate().map(word).collect()
}

fn write(path: &Path, text: &str, force: bool) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).truncate(true);
    // Without --force, a file that is there must not be lost, also when it came a moment ago.
    let options = if force { options.create(true) } else { options.create_new(true) };
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::io(ErrorKind::Config, "write", path, &error)
            .hint("--force overwrites it, --print shows what would be written"),
        _ => Error::io(ErrorKind::General, "write", path, &error),
    })
}
