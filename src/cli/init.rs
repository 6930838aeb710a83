//! The command `agentnative init`.

use super::explore_args::ExploreArgs;
use super::shown_path::shown;
use super::target_args::{RunArgs, TargetArgs};
use super::{confirm, group, progress, skeletons};
use crate::check::{InspectedTarget, Session, SessionOptions, TargetSelector};
use agentnative_contract::counted;
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_core::config::{Config, FILE_NAME, ProbeConfig, repository_root};
use agentnative_core::explore::{DeclaredCalls, exploration_coverage};
use agentnative_core::files::AtomicFile;
use agentnative_core::model::ExplorationCoverage;
use agentnative_core::run::{RunnerOptions, find_program};
use agentnative_core::targets::{ConfigTemplate, LeafCommand, Target};
use agentnative_output::{Output, Page, StyledText};
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use schemars::JsonSchema;
use serde::Serialize;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

#[derive(clap::Args)]
#[command(
    after_help = "Without --explore, init calls the target for its help pages only. On a terminal, init asks which of the commands found are safe to repeat, unless --probe, --safe, --yes or --print is given; the rest become comments. --skeleton begins a new tool instead: the page \"Build a CLI that agents can use\" (docs/build-a-cli.md) describes what it implements.

Examples:
  agentnative init --print ./mycli
  agentnative init --print --safe list,status --probe \"show 1\" ./mycli
  agentnative init --force --yes ./mycli
  agentnative init --print --explore ./mycli
  agentnative init --skeleton typer my-new-cli"
)]
pub(super) struct InitArgs {
    #[command(flatten, next_help_heading = group::TARGET)]
    target: TargetArgs,
    /// Declare this call as a probe. If it should fail, put the exit code first, as in 77:whoami.
    #[arg(long = "probe", value_name = "[EXIT:]ARGS", help_heading = group::CONFIGURATION)]
    probes: Vec<String>,
    /// Declare this command as a probe; it must be safe to run up to 40 times.
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = group::CONFIGURATION)]
    safe: Vec<String>,
    /// Declare all commands that are read-only, by name and description, and need no arguments as probes.
    #[arg(long, short, help_heading = group::CONFIGURATION)]
    yes: bool,
    /// Overwrite an existing file.
    #[arg(long, help_heading = group::CONFIGURATION)]
    force: bool,
    /// Print the configuration; write no file.
    #[arg(long, help_heading = group::CONFIGURATION)]
    print: bool,
    /// Write a small, complete tool that passes every check to the folder PATH, as the beginning of a new tool.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(skeletons::names()), help_heading = group::CONFIGURATION, conflicts_with_all = ["name", "bin", "config", "command", "probes", "safe", "yes", "explore", "workspace"])]
    skeleton: Option<String>,
    #[command(flatten, next_help_heading = group::CONFIGURATION)]
    explore: ExploreArgs,
    /// Folder that each explored call gets a copy of [default: a folder with a few sample files].
    #[arg(long, value_name = "DIR", requires = "explore", value_hint = ValueHint::DirPath, help_heading = group::CONFIGURATION)]
    workspace: Option<PathBuf>,
}

/// The generated configuration.
#[derive(Serialize, JsonSchema)]
pub(super) struct Written {
    /// The file that was written; absent with `--print`.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Commands that the help lists, including subcommands.
    commands: Vec<String>,
    /// The probes that are declared.
    probes: Vec<String>,
    /// What exploration found and tried; absent without `--explore`.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<ExplorationCoverage>,
    /// Note on help pages that were not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<String>,
    /// Next steps, one sentence each.
    next: Vec<String>,
    /// The configuration.
    text: String,
    /// All files of the skeleton; absent without `--skeleton`.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<SkeletonFile>>,
}

/// A file of a skeleton.
#[derive(Serialize, JsonSchema)]
struct SkeletonFile {
    /// The path of the file; relative to the folder of the skeleton with `--print`.
    path: String,
    /// The contents of the file.
    text: String,
}

pub(super) fn run(args: InitArgs, output: &mut Output, runner: &RunnerOptions) -> Result<()> {
    if let Some(name) = &args.skeleton {
        return write_skeleton(name, args.target.folder(), args.print, args.force, output);
    }
    let mut probes = ProbeConfig::from_flags(&args.probes)?;
    let selector = args.target.selector();
    let named = command(&selector)?;
    let by_path = matches!(&selector, TargetSelector::Path(_) | TargetSelector::Argv(_));
    // While `init` asks questions, a signal ends it immediately.
    let runner = RunnerOptions { stop_on_signals: false, ..runner.clone() };
    let options = SessionOptions {
        explore: args.explore.options(args.workspace.as_deref()),
        ..args.target.options(&RunArgs::default(), &runner)
    };
    let session = Session::new(selector, options);
    let InspectedTarget { target, commands, exit_codes } =
        session.inspect(&mut progress::help_pages(output))?;
    output.clear_progress();
    let path = target.config_folder().join(FILE_NAME);
    let manifest = Config::find(target.config_folder())?
        .filter(|manifest| manifest.parent() == path.parent() && *manifest != path);
    if let Some(manifest) = manifest
        && !args.print
    {
        return Err(Error::config(format!("{} already contains a configuration", shown(&manifest)))
            .hint("edit it there, or remove it first; --print shows what would be written"));
    }
    if path.exists() && !args.print && !args.force {
        return Err(already_exists(&path));
    }
    let explored = explored_calls(&args, &session, target.config_folder(), output)?;
    let asks = explored.is_none()
        && args.probes.is_empty()
        && args.safe.is_empty()
        && !args.yes
        && !args.print
        && output.can_ask();
    if asks {
        confirm::ask_for_probes(&commands, &target.name, &mut probes, output);
    } else {
        confirm::add_from_options(&commands, &target.name, &args.safe, args.yes, &mut probes)?;
    }
    let (declared, coverage) = explored.unwrap_or_default();
    let is_new = |found: &ProbeConfig| probes.iter().all(|probe| probe.call.args != found.call.args);
    let found: Vec<ProbeConfig> = declared.probes.iter().filter(|found| is_new(found)).cloned().collect();
    probes.extend(found);
    let command = named
        .map(|words| make_words_portable(with_interpreter(words, &target), target.config_folder(), by_path));
    let skeleton = ConfigTemplate {
        name: &target.name,
        command: command.as_deref(),
        commands: &commands,
        exit_codes: &exit_codes,
        probes: &probes,
        observed: &declared.observed,
        observed_usage: declared.usage,
    };
    let (text, next) = (skeleton.text()?, skeleton.next_steps(&args.target.words()));
    if !args.print {
        write(&path, &text, args.force)?;
    }
    let names = commands
        .leaves
        .iter()
        .map(LeafCommand::name)
        .chain(commands.schema.iter().map(|words| words.join(" ")));
    let written = Written {
        file: (!args.print).then(|| shown(&path)),
        commands: names.filter(|name| !name.is_empty()).collect(),
        probes: probes.into_iter().map(|probe| probe.name).collect(),
        next,
        coverage,
        unread: commands.unread.clone(),
        text,
        files: None,
    };
    output.emit("init", true, &written, |page| match &written.file {
        None => page.text(&written.text),
        Some(path) => {
            page.paragraph(
                0,
                format!(
                    "wrote {path}: {} found in the help, {} declared",
                    counted(written.commands.len(), "command"),
                    counted(written.probes.len(), "probe"),
                ),
            );
            if let Some(unread) = &written.unread {
                page.paragraph(0, format!("note: {unread}"));
            }
            print_next(page, &written.next);
        }
    })
}

fn print_next(page: &mut Page, steps: &[String]) {
    page.paragraph(0, "next:");
    for step in steps {
        page.labelled(2, &StyledText::plain("- "), step);
    }
}

/// Writes the skeleton with this name to `folder`, or prints it.
fn write_skeleton(name: &str, folder: &Path, print: bool, force: bool, output: &mut Output) -> Result<()> {
    let files = skeletons::files(name);
    let configuration = skeletons::configuration(&files);
    if !print {
        let existing = files.iter().map(|(path, _)| folder.join(path)).find(|path| path.exists());
        if let Some(path) = existing.filter(|_| !force) {
            return Err(already_exists(&path));
        }
        for (path, text) in &files {
            write_skeleton_file(&folder.join(path), text, force)?;
        }
    }
    let quoted = folder.to_string_lossy();
    let quoted = shlex::try_quote(&quoted).unwrap_or_else(|_| quoted.clone());
    let preparation = skeletons::preparation(configuration);
    let prepare = preparation.map(|command| format!("prepare it: cd {quoted} && {command}"));
    let check = format!("check it: agentnative check --strict {quoted}");
    let replace = "replace its commands by your own, and their probes in agentnative.toml".to_owned();
    let shown_file = |path: &Path| if print { path.display().to_string() } else { shown(&folder.join(path)) };
    let shown_files = files
        .iter()
        .map(|(path, text)| SkeletonFile { path: shown_file(path), text: (*text).to_owned() })
        .collect();
    let written = Written {
        file: (!print).then(|| shown_file(Path::new(FILE_NAME))),
        commands: Vec::new(),
        probes: skeletons::probes(configuration).collect(),
        coverage: None,
        unread: None,
        next: prepare.into_iter().chain([check, replace]).collect(),
        text: configuration.to_owned(),
        files: Some(shown_files),
    };
    output.emit("init", true, &written, |page| {
        if print {
            for (nth, file) in written.files.iter().flatten().enumerate() {
                let separator = if nth == 0 { "" } else { "\n" };
                page.text(&format!("{separator}==> {} <==\n{}", file.path, file.text));
            }
            return;
        }
        page.paragraph(0, format!("wrote {}:", counted(files.len(), "file")));
        written.files.iter().flatten().for_each(|file| page.paragraph(2, &file.path));
        print_next(page, &written.next);
    })
}

/// Writes a file of a skeleton with its folders. A script is executable.
fn write_skeleton_file(path: &Path, text: &str, force: bool) -> Result<()> {
    let failed = |error: &std::io::Error| Error::io(ErrorKind::Write, "write", path, error);
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| failed(&error))?;
    write(path, text, force)?;
    if text.starts_with("#!") {
        let mut permissions = std::fs::metadata(path).map_err(|error| failed(&error))?.permissions();
        permissions.set_mode(permissions.mode() | 0o111);
        std::fs::set_permissions(path, permissions).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Explores the target, with `--explore`. Returns the calls to declare in a configuration in `folder`, and what was
/// tried.
fn explored_calls(
    args: &InitArgs,
    session: &Session,
    folder: &Path,
    output: &mut Output,
) -> Result<Option<(DeclaredCalls, Option<ExplorationCoverage>)>> {
    let Some(options) = args.explore.options(args.workspace.as_deref()) else { return Ok(None) };
    let workspace =
        options.workspace.as_ref().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
    let recording = session.run(&[], &mut progress::progress_observer(output))?.recording;
    output.clear_progress();
    let workspace = workspace.map(|path| path.strip_prefix(folder).map_or(path.clone(), Path::to_owned));
    let declared = DeclaredCalls::of(&recording, workspace.as_deref());
    Ok(Some((declared, exploration_coverage(&recording))))
}

/// Returns the words of the target's command. If the command is only a script, and the target is run by an interpreter,
/// the words include the interpreter: `python3 mycli.py`.
fn with_interpreter(words: Vec<String>, target: &Target) -> Vec<String> {
    let by_interpreter = words.len() == 1 && !target.prefix_args.is_empty();
    let all = std::iter::once(target.program.as_os_str()).chain(target.prefix_args.iter().map(|arg| &**arg));
    let all: Option<Vec<String>> = all.map(|word| word.to_str().map(str::to_owned)).collect();
    all.filter(|_| by_interpreter).unwrap_or(words)
}

/// Returns the command line that the user gave, for the configuration; `None` if the user named a project and not a
/// program.
///
/// # Errors
/// A usage error if a word is not UTF-8: TOML cannot contain it.
fn command(selector: &TargetSelector) -> Result<Option<Vec<String>>> {
    let word = |word: &OsStr| {
        let not_utf8 = || Error::usage(format!("{word:?} is not UTF-8: agentnative.toml cannot contain it"));
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

/// Makes the words of a command valid on other machines, for a configuration in `folder`. Files of the same repository
/// become relative paths, and a program on `PATH` becomes its name. If `by_path`, the first word may be a relative
/// path.
fn make_words_portable(words: Vec<String>, folder: &Path, by_path: bool) -> Vec<String> {
    let tree = repository_root(folder).unwrap_or_else(|| folder.to_owned());
    let word = |(at, word): (usize, String)| {
        let file = without_parents(folder.join(&word).components().collect());
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
        let found = name.and_then(|name| find_program(name).ok()).filter(|found| *found == file);
        match (found, name.and_then(OsStr::to_str)) {
            (Some(_), Some(name)) => name.to_owned(),
            _ if Path::new(&word).is_absolute() => file.to_str().map_or(word, str::to_owned),
            _ => word,
        }
    };
    words.into_iter().enumerate().map(word).collect()
}

/// Resolves `..` in a path by following the file system; an unresolvable path stays unchanged.
fn without_parents(path: PathBuf) -> PathBuf {
    if !path.components().any(|part| part == Component::ParentDir) {
        return path;
    }
    let real = path.parent().and_then(|parent| parent.canonicalize().ok());
    real.zip(path.file_name()).map(|(parent, name)| parent.join(name)).unwrap_or(path)
}

fn write(path: &Path, text: &str, force: bool) -> Result<()> {
    if force {
        return AtomicFile::replace(path)?.write(text.as_bytes());
    }
    // An existing file must not be lost, even if it was created a moment ago.
    let created = std::fs::File::create_new(path);
    let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => already_exists(path),
        _ => Error::io(ErrorKind::Write, "write", path, &error),
    })
}

fn already_exists(path: &Path) -> Error {
    Error::config(format!("cannot write {}: File exists", shown(path)))
        .hint("--force overwrites it, --print shows what would be written")
}
