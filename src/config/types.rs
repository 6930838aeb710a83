//! The settings, valid: what the rest of the program works with.

use super::Date;
use crate::model::{OutputFormat, Stream};
use agentnative_contract::{Contract, Framing};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What a configuration is held against: the names that exist, and the day.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// IDs of the checks.
    pub checks: &'a [&'a str],
    /// Names of the bundled contracts.
    pub contracts: &'a [&'a str],
    /// The day that waivers are compared with.
    pub today: Date,
}

/// A valid `agentnative.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The file.
    pub path: PathBuf,
    /// Its folder: what relative paths in it are relative to.
    pub root: PathBuf,
    /// The targets: one without a name, or one or more with names. Never empty.
    pub targets: Vec<TargetConfig>,
    /// The probes, in the order of the file.
    pub probes: Vec<ProbeConfig>,
    /// The waivers, in the order of the file; none has expired.
    pub waivers: Vec<Waiver>,
}

impl Config {
    /// The probes of a target, in the order of the file.
    pub fn probes_of<'a>(&'a self, target: &'a TargetConfig) -> impl Iterator<Item = &'a ProbeConfig> {
        self.probes.iter().filter(|probe| probe.target == target.name)
    }
}

/// What is said of a target. The default is that of a target without a configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetConfig {
    /// The name in `[target.NAME]`; none for `[target]`.
    pub name: Option<String>,
    /// Program and leading arguments, as written: a program with a `/` is relative to
    /// [`Config::root`], another is found on PATH. None: it is found from the manifest.
    pub command: Option<Vec<String>>,
    /// The contract that the whole target is held to: a bundled contract's name, or the path of a contract
    /// folder or schema file as written.
    pub contract: Option<String>,
    /// How a format is asked for.
    pub formats: Formats,
    /// Where the error object of a JSON mode goes.
    pub errors: Stream,
    /// The arguments that print the schema of the target's output.
    pub schema: Option<Vec<String>>,
    /// Files and folders of its code that print, relative to [`Config::root`]; they are found when none
    /// are named.
    pub output_modules: Vec<String>,
    /// The exit codes that the target has, sorted.
    pub exit_codes: Vec<i32>,
    /// Variables that its runs get.
    pub env: BTreeMap<String, String>,
    /// Names of the variables of our own environment that its runs get.
    pub pass_env: Vec<String>,
    /// Time limit of a run.
    pub timeout: Duration,
    /// Runs are confined (`isolation = "sandbox"`).
    pub sandbox: bool,
}

impl Default for TargetConfig {
    /// Every format with its default flag, the exit codes of principle 2, ten seconds a run.
    fn default() -> Self {
        Self {
            name: None,
            command: None,
            contract: None,
            formats: Formats::default(),
            errors: Stream::Stderr,
            schema: None,
            output_modules: Vec::new(),
            exit_codes: vec![0, 1, 2, 77, 78],
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            timeout: Duration::from_secs(10),
            sandbox: false,
        }
    }
}

impl TargetConfig {
    /// Takes over what a contract for the whole target says: how its format is asked for, the error channel,
    /// the exit codes.
    pub fn take(&mut self, contract: &Contract) {
        let asking = match contract.framing() {
            Framing::Document => &mut self.formats.json,
            Framing::Lines => &mut self.formats.jsonl,
        };
        if let Some(ask) = contract.ask() {
            *asking = ask.to_vec();
        }
        self.errors = contract.errors().unwrap_or(self.errors);
        let codes = contract.exit_codes();
        if !codes.is_empty() {
            self.exit_codes = codes;
        }
    }
}

/// The arguments that ask for each format. The default is `--output FORMAT`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Formats {
    /// For people.
    pub text: Vec<String>,
    /// One JSON document.
    pub json: Vec<String>,
    /// One JSON object a line.
    pub jsonl: Vec<String>,
}

impl Default for Formats {
    fn default() -> Self {
        let output = |format: OutputFormat| vec!["--output".to_owned(), format.name().to_owned()];
        Self {
            text: output(OutputFormat::Text),
            json: output(OutputFormat::Json),
            jsonl: output(OutputFormat::Jsonl),
        }
    }
}

impl Formats {
    /// The arguments that ask for `format`.
    pub fn args(&self, format: OutputFormat) -> &[String] {
        match format {
            OutputFormat::Text => &self.text,
            OutputFormat::Json => &self.json,
            OutputFormat::Jsonl => &self.jsonl,
        }
    }
}

/// The element of a probe's arguments that stands for the arguments that ask for a format.
pub const FORMAT_PLACE: &str = "{format}";

/// `args` with the arguments `asking` for a format in their place: where `"{format}"` stands, else
/// before the first `--`, else at the end.
pub fn place_format(args: &[String], asking: &[String]) -> Vec<String> {
    let marked = args.iter().position(|arg| arg == FORMAT_PLACE);
    let end = || args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (before, after) = match marked {
        Some(at) => (&args[..at], &args[at + 1..]),
        None => args.split_at(end()),
    };
    [before, asking, after].concat()
}

/// One way to call the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeConfig {
    /// Its name, unique among the probes.
    pub name: String,
    /// Name of the target; none where the target has none.
    pub target: Option<String>,
    /// The arguments, in which an element `"{format}"` may mark the place of the format's.
    pub args: Vec<String>,
    /// The exit code that is expected, 0 to 255.
    pub exit: i32,
    /// That code is an outcome: standard output is data, and nothing is an error.
    pub result: bool,
    /// What its output is held to.
    pub contract: Contracts,
    /// The formats that it is run in; not empty.
    pub formats: Vec<OutputFormat>,
    /// Records arrive as they are made.
    pub stream: bool,
    /// What is on standard input; none is `/dev/null`.
    pub stdin: Option<Vec<u8>>,
    /// Variables that its runs get; they win over the target's.
    pub env: BTreeMap<String, String>,
    /// Working directory, absolute if the path of the configuration is; none is the target's.
    pub cwd: Option<PathBuf>,
    /// Time limit of its runs; none is the target's.
    pub timeout: Option<Duration>,
}

impl ProbeConfig {
    /// A probe of these arguments that is expected to succeed, in every format.
    pub fn new(name: impl Into<String>, args: Vec<String>) -> Self {
        Self {
            name: name.into(),
            target: None,
            args,
            exit: 0,
            result: false,
            contract: Contracts::default(),
            formats: OutputFormat::ALL.to_vec(),
            stream: false,
            stdin: None,
            env: BTreeMap::new(),
            cwd: None,
            timeout: None,
        }
    }
}

/// What the output of a probe is held to, by format: the name of a bundled contract, or the path of
/// a contract folder or schema file as written (see [`agentnative_contract::contract_path`]).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contracts {
    /// Of the document in `json`.
    pub json: Option<String>,
    /// Of each record, or of the stream, in `jsonl`.
    pub jsonl: Option<String>,
}

/// A fault that is known and accepted for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// ID of the check.
    pub check: String,
    /// Why it is accepted; not empty.
    pub reason: String,
    /// The last day that it holds.
    pub expires: Option<Date>,
}
