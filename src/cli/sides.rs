//! The two sides of `contract diff`: what each promises, wherever that is told.

use super::bound;
use super::inputs::{is_lines, name, open, threads};
use super::live::{Call, Told};
use super::subject::SubjectArgs;
use crate::judge::{CheckContext, learn};
use crate::probe::Recording;
use crate::report::CheckId;
use agentnative_contract::diff::{Change, compare};
use agentnative_contract::error::{Error, Issue, Place, Result};
use agentnative_contract::infer::{Inference, Rules};
use agentnative_contract::lock::Lock;
use agentnative_contract::{CONTRACT_FILE, Contract, Events, Framing, Promise, contract_path};
use agentnative_output::Output;
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Commands in the place of files.
#[derive(clap::Args)]
pub(super) struct LiveArgs {
    /// The old side is what this command does now, called with the configuration's probes.
    #[arg(long, value_name = "COMMAND")]
    old_command: Option<String>,
    /// The new side is what this command does now, called with the configuration's probes.
    #[arg(long, value_name = "COMMAND")]
    new_command: Option<String>,
    /// The configuration of both commands (default: agentnative.toml in this folder or above, else beside
    /// the command).
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A further probe of both commands, split as a shell splits words: "[EXIT:]ARGS".
    #[arg(long, value_name = "[EXIT:]ARGS", allow_hyphen_values = true)]
    probe: Vec<String>,
}

/// One side.
pub(super) struct Side {
    /// As it was named.
    pub name: String,
    /// What it promises.
    pub promises: Vec<Promise>,
    /// Why nothing is known of some output.
    pub unknown: Vec<String>,
    /// What it is a lock of, or what a lock of it would be.
    lock: Option<Lock>,
}

/// What changed from one side to the other. What was seen of no data (an empty list, a null of the day)
/// is no change where both sides are learnt from runs.
pub(super) fn changes(old: &Side, new: &Side) -> Vec<Change> {
    match (&old.lock, &new.lock) {
        (Some(before), Some(now)) => compare(&old.promises, &now.compared_with(before)),
        _ => compare(&old.promises, &new.promises),
    }
}

/// Both sides, old and new.
pub(super) fn both(
    named: &[String],
    live: &LiveArgs,
    output: &mut Output,
    executable: &Path,
) -> Result<(Side, Side)> {
    let mut named = named.iter();
    let mut side = |command: &Option<String>| match command {
        Some(command) => Some(run(command, live, output, executable)),
        None => named.next().map(|name| read(name)),
    };
    let (old, new) = (side(&live.old_command), side(&live.new_command));
    match (old, new, named.next()) {
        (Some(old), Some(new), None) => Ok((old?, new?)),
        (_, _, extra) => {
            let many = if extra.is_some() { "more than two sides" } else { "less than two sides" };
            let error = Error::usage(format!("there are {many}, expected an old and a new one"));
            Err(error.hint("agentnative contract diff OLD NEW; a command takes the place of a side"))
        }
    }
}

/// What a name stands for.
fn read(named: &str) -> Result<Side> {
    let side =
        |promises: Vec<Promise>| Side { name: named.to_owned(), promises, unknown: Vec::new(), lock: None };
    let path = Path::new(named);
    if path.is_dir() && !path.join(CONTRACT_FILE).is_file() {
        let lock = Lock::read(path)?;
        return Ok(Side { lock: Some(lock.clone()), ..side(lock.compared()) });
    }
    let is_file =
        path.is_file() && (contract_path(Path::new(""), named).is_some() || path.extension().is_some());
    if is_file && is_recording(path)? {
        return Ok(Side { name: named.to_owned(), ..learnt(&Recording::read(path)?)? });
    }
    if !is_file || is_schema(path)? {
        let contract = Contract::named(Path::new(""), named)?;
        return Ok(side(vec![Promise::of_contract(&contract)]));
    }
    Ok(side(vec![samples(path)?]))
}

/// What a command promises by what it does.
fn run(command: &str, live: &LiveArgs, output: &mut Output, executable: &Path) -> Result<Side> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| Error::usage(format!("`{command}` cannot be split into words")))?;
    let near = || {
        let folder = std::env::current_dir().ok()?;
        folder.ancestors().map(|folder| folder.join("agentnative.toml")).find(|path| path.is_file())
    };
    let config = live.config.clone().or_else(near);
    let subject = SubjectArgs::of_command(words.into_iter().map(OsString::from).collect(), config);
    let call = Call { subject: &subject, probes: &live.probe, contract: None, timeout: None, jobs: None };
    let made = call.make(&[CheckId::P2ContractLocked.check()], executable, &mut |told| {
        if let Told::Ended(observation, count, runs) = told {
            output.progress(&format!("{count}/{runs} {}", observation.key.probe));
        }
        Ok(())
    })?;
    output.clear_progress();
    if made.signal.is_some() {
        return Err(Error::general("interrupted: nothing was compared"));
    }
    Ok(Side { name: command.to_owned(), ..learnt(&made.recording)? })
}

/// What the runs of a recording show of its declared probes.
fn learnt(recording: &Recording) -> Result<Side> {
    let contracts = bound::load_all(&recording.probes)?;
    let context =
        CheckContext::new(&recording.promises, &contracts, &recording.probes, &recording.observations);
    let learnt = learn(&context, &recording.target.name, true);
    if learnt.lock.promises.is_empty() && learnt.unknown.is_empty() {
        let message =
            format!("no probe of {} is declared: there is nothing to compare", recording.target.name);
        return Err(Error::config(message).hint("declare probes in agentnative.toml, or give --probe"));
    }
    Ok(Side {
        name: String::new(),
        promises: learnt.lock.compared(),
        unknown: learnt.unknown,
        lock: Some(learnt.lock),
    })
}

/// Whether a file begins as a recording does.
fn is_recording(path: &Path) -> Result<bool> {
    let (reader, _) = open(path)?;
    let mut head = Vec::new();
    let read = reader.take(64).read_to_end(&mut head);
    read.map_err(|error| Error::usage(format!("cannot read {}: {error}", path.display())))?;
    Ok(head.starts_with(b"{\"recording\":"))
}

/// A keyword, and whether a value can be its.
type Keyword = (&'static str, fn(&Value) -> bool);

/// Keywords that only a schema has, with what their values are.
const KEYWORDS: [Keyword; 10] = [
    ("$schema", Value::is_string),
    ("$ref", Value::is_string),
    ("$defs", Value::is_object),
    ("definitions", Value::is_object),
    ("properties", Value::is_object),
    ("items", |value| value.is_object() || value.is_boolean()),
    ("oneOf", Value::is_array),
    ("anyOf", Value::is_array),
    ("allOf", Value::is_array),
    ("enum", Value::is_array),
];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Whether a file holds a schema and not samples.
fn is_schema(path: &Path) -> Result<bool> {
    let text = path.as_os_str().to_string_lossy();
    if text.ends_with(".schema.json") {
        return Ok(true);
    }
    if is_lines(path) {
        return Ok(false);
    }
    let unreadable = |error| Error::usage(format!("cannot read {}: {error}", path.display()));
    let length = fs::metadata(path).map_err(unreadable)?.len();
    if length > 16 << 20 {
        return Ok(false);
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    // What cannot be read is told of with its place by whoever takes it for what its name says.
    let Ok(value) = serde_json::from_slice::<Value>(&bytes) else {
        return Ok(path.extension().is_some_and(|extension| extension == "json"));
    };
    let Some(members) = value.as_object() else { return Ok(value.is_boolean()) };
    let one = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let types = |value: &Value| {
        one(value) || value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(one))
    };
    let typed = members.get("type");
    if typed.is_some_and(|typed| !types(typed)) {
        return Ok(members.contains_key("$schema"));
    }
    let keyword = KEYWORDS.iter().any(|(key, fits)| members.get(*key).is_some_and(fits));
    Ok(typed.is_some() || keyword || members.is_empty())
}

/// What samples promise, as far as they show it.
fn samples(path: &Path) -> Result<Promise> {
    let (reader, length) = open(path)?;
    let framing = if is_lines(path) {
        Some(Framing::Lines)
    } else {
        path.extension().filter(|extension| *extension == "json").map(|_| Framing::Document)
    };
    let threads = if length.is_some_and(|length| length < 2 << 20) { 1 } else { threads(None) };
    let mut inference = Inference::new();
    let faults = inference.input(reader, framing, threads, &mut |_| {});
    let faults =
        faults.map_err(|error| Error::general(format!("cannot learn from {}: {error}", name(path))))?;
    if !faults.is_empty() {
        let issue = |fault: agentnative_contract::Finding| {
            let at = |position: Option<u64>| {
                position.and_then(|position| usize::try_from(position).ok()).unwrap_or(0)
            };
            let place = Place { file: path.to_owned(), line: at(fault.line), column: at(fault.column) };
            Issue { place: Some(place), message: fault.message }
        };
        let error = Error::config(format!("{} holds no strict JSON", name(path)));
        return Err(error.issues(faults.into_iter().map(issue).collect()));
    }
    if inference.records() == 0 {
        return Err(Error::config(format!("{} holds no samples", name(path))));
    }
    let rules = Rules::cautious();
    let lines = framing.unwrap_or(if inference.records() > 1 { Framing::Lines } else { Framing::Document });
    let mut promise = Promise { framing: Some(lines), ..Promise::default() };
    if lines == Framing::Lines {
        let found = ["type", "kind", "event"]
            .into_iter()
            .find_map(|key| Some((key, inference.variants(key, &rules)?)));
        if let Some((key, variants)) = found {
            let types =
                variants.into_iter().filter_map(|one| Some((one.tag.as_str()?.to_owned(), one.schema)));
            promise.events = Some(Events {
                discriminator: format!("/{key}"),
                types: types.collect(),
                ..Events::default()
            });
            return Ok(promise);
        }
    }
    promise.schema = Some(inference.schema(&rules));
    Ok(promise)
}
