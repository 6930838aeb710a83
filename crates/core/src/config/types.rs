//! The validated settings, which the other modules use.

use super::{CommonOption, Conventions, Date, FormatFlag};
use crate::model::{Edition, Level, OutputFormat};
use agentnative_contract::Contract;
use agentnative_helper::Limits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The existing names and the date that a configuration is validated against.
#[derive(Debug, Clone, Copy)]
pub struct ValidationContext<'a> {
    /// The IDs of the checks.
    pub checks: &'a [&'a str],
    /// The names of the bundled contracts.
    pub contracts: &'a [&'a str],
    /// The date that decides whether a waiver has expired.
    pub today: Date,
}

/// A valid `agentnative.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Path of the file.
    pub path: PathBuf,
    /// Digest of the file: `xxh128:` and 32 hexadecimal digits, as `xxh128sum` prints them. Empty for text that was not
    /// read from a file.
    pub digest: String,
    /// Folder of the file, to which its paths are relative.
    pub root: PathBuf,
    /// The targets: one without a name, or one or more with names; not empty.
    pub targets: Vec<TargetConfig>,
    /// The probes, in the order of the file.
    pub probes: Vec<ProbeConfig>,
    /// The services, in the order of the file.
    pub services: Vec<ServiceConfig>,
    /// The waivers, in the order of the file.
    pub waivers: Vec<Waiver>,
    /// The settings of the checks.
    #[serde(default)]
    pub check: CheckConfig,
}

/// The settings in `[check]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckConfig {
    /// The checks to omit: IDs, or patterns with `*` ([`crate::model::matches_pattern`]).
    pub skip: Vec<String>,
    /// The levels whose warnings count as failures: `should`, or none.
    pub deny: Vec<Level>,
    /// The edition of the standard.
    #[serde(default)]
    pub edition: Edition,
}

impl Config {
    /// Returns the probes of a target, in the order of the file.
    pub fn probes_of<'a>(&'a self, target: &'a TargetConfig) -> impl Iterator<Item = &'a ProbeConfig> {
        self.probes.iter().filter(|probe| probe.target == target.name)
    }

    /// Returns the services of a target, in the order of the file.
    pub fn services_of<'a>(&'a self, target: &'a TargetConfig) -> impl Iterator<Item = &'a ServiceConfig> {
        self.services.iter().filter(|service| service.target == target.name)
    }

    /// Returns the waivers that can apply to a target: all except those for probes of other targets.
    pub fn waivers_of(&self, target: &TargetConfig) -> Vec<Waiver> {
        let foreign = |name: &String| {
            self.probes.iter().any(|probe| probe.name == *name && probe.target != target.name)
        };
        self.waivers.iter().filter(|waiver| !waiver.probe.as_ref().is_some_and(foreign)).cloned().collect()
    }
}

/// The configuration of a target. The default applies to a target without a configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetConfig {
    /// The name in `[target.NAME]`; `None` for `[target]`.
    pub name: Option<String>,
    /// Program and leading arguments, as in the file. A program with a `/` is relative to [`Config::root`]; any other is
    /// searched on PATH. If `None`, the manifest names the program.
    pub command: Option<Vec<String>>,
    /// The contract of the entire target: the name of a bundled contract, or the path of a contract folder or schema file
    /// as in the file.
    pub contract: Option<String>,
    /// The conventions of the command line.
    #[serde(flatten)]
    pub conventions: Conventions,
    /// The exit code of dry runs, if it differs from that of the call.
    pub dry_run_exit: Option<i32>,
    /// The command that builds the target before the first run.
    pub build: Option<Vec<String>>,
    /// The files in the fresh home of each run: the path in the home, and the absolute path of the original.
    pub home: BTreeMap<String, PathBuf>,
    /// The files and folders of the code that print, relative to [`Config::root`]; if empty, they are detected.
    pub output_modules: Vec<String>,
    /// Whether an unknown command is tried; if `None`, the help decides.
    pub unknown_command: Option<bool>,
    /// Environment variables of the runs.
    pub env: BTreeMap<String, String>,
    /// Names of the environment variables of this process that the runs inherit.
    pub pass_env: Vec<String>,
    /// Time limit of a run.
    pub timeout: Duration,
    /// The limits of a run.
    pub limits: Limits,
    /// The confinement of the runs.
    pub isolation: Isolation,
    /// Whether confined runs have access to the network of the machine.
    pub network: bool,
    /// Whether the runs write to the folder that they start in.
    pub writes: bool,
    /// The absolute paths in the home of the user that the runs may read.
    pub readable: Vec<PathBuf>,
}

impl Default for TargetConfig {
    /// The default conventions, and ten seconds per run.
    fn default() -> Self {
        Self {
            name: None,
            command: None,
            contract: None,
            conventions: Conventions::default(),
            dry_run_exit: None,
            build: None,
            home: BTreeMap::new(),
            output_modules: Vec::new(),
            unknown_command: None,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            timeout: Duration::from_secs(10),
            limits: Limits::default(),
            isolation: Isolation::default(),
            network: false,
            writes: false,
            readable: Vec::new(),
        }
    }
}

/// The confinement of the runs of a target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// No confinement.
    None,
    /// Landlock, as far as the kernel supports it.
    #[serde(alias = "sandbox")]
    Landlock,
    /// The strongest confinement that the system supports.
    #[default]
    Auto,
    /// Namespaces; if the system has none, nothing is run.
    Require,
}

impl Isolation {
    /// All values, with their names in the file.
    pub const NAMED: [(&'static str, Self); 4] = [
        ("none", Self::None),
        ("landlock", Self::Landlock),
        ("auto", Self::Auto),
        ("require", Self::Require),
    ];
    /// The former name of `landlock`, from before there were several kinds.
    pub const ALIAS: (&'static str, Self) = ("sandbox", Self::Landlock);
}

impl TargetConfig {
    /// Applies a contract for the entire target: its format flag, the stream of its errors, and its exit codes.
    pub fn apply_contract(&mut self, contract: &Contract) {
        if let Some(ask) = contract.format_args() {
            self.conventions.formats.declare(contract.framing().format(), ask.to_vec());
        }
        self.conventions.errors = contract.error_stream().unwrap_or(self.conventions.errors);
        let codes = contract.exit_codes();
        if !codes.is_empty() {
            self.conventions.exit_codes = codes;
            self.conventions.exit_codes_declared = true;
        }
    }
}

/// A list that a call prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListConfig {
    /// RFC 6901 pointer to the items in the JSON document.
    pub items: String,
    /// Maximum number of items without a limit; `None` if that is not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

/// The declared properties of a call of the target, which derived calls inherit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallConfig {
    /// The arguments. An element `"{format}"` marks the flag position of the format flag.
    pub args: Vec<String>,
    /// Whether the expected exit code is a result: stdout contains data, and the exit code reports no error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub result: bool,
    /// Words, such as a command or a setting, one of which the error message has to contain to help the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedy: Vec<String>,
    /// The contracts of the output, by format. A path is absolute once the contract is loaded.
    #[serde(default)]
    pub contract: Contracts,
    /// The format flags that differ from those of the target.
    #[serde(default, rename = "asking", skip_serializing_if = "BTreeMap::is_empty")]
    pub format_flags: BTreeMap<OutputFormat, FormatFlag>,
    /// The spellings of common options that differ from those of the target.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flags: BTreeMap<CommonOption, FormatFlag>,
    /// Whether the call starts a login.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub login: bool,
    /// Whether the call needs the secret of the target.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// The output after which a call that runs for a while can be interrupted; `None` for any other call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
    /// The arguments of calls of the target that run before it in its workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<Vec<String>>,
    /// Whether records are printed incrementally.
    pub stream: bool,
    /// The list that the call prints, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<ListConfig>,
    /// The bytes on stdin; if `None`, stdin is `/dev/null`.
    pub stdin: Option<Vec<u8>>,
    /// Environment variables of the runs; they override those of the target.
    pub env: BTreeMap<String, String>,
    /// Working directory, absolute if the path of the configuration is; if `None`, that of the target.
    pub cwd: Option<PathBuf>,
    /// The fresh folder that each run starts in, instead of a working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
    /// Whether confined runs have access to the network of the machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
}

/// A declared probe: a call of the target with its expectations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeConfig {
    /// The name, unique among the probes.
    pub name: String,
    /// Name of the target; `None` if the target has none.
    pub target: Option<String>,
    /// The call.
    #[serde(flatten)]
    pub call: CallConfig,
    /// The expected exit code, 0 to 255.
    pub exit: i32,
    /// The formats of the runs, as far as the target has them; not empty.
    pub formats: Vec<OutputFormat>,
    /// The exit code of a dry run, if it differs from that of the call.
    pub dry_run_exit: Option<i32>,
    /// The effect of a call that changes something; `None` for any other call.
    pub effect: Option<EffectConfig>,
    /// Time limit of a run; if `None`, that of the target.
    pub timeout: Option<Duration>,
    /// Whether the runs write to the folder that they start in.
    pub writes: bool,
}

impl ProbeConfig {
    /// Returns the formats of the runs for which the probe, or else `target`, has a format flag.
    pub fn formats_for<'a>(&'a self, target: &'a TargetConfig) -> impl Iterator<Item = OutputFormat> + 'a {
        let has_flag = |format: &OutputFormat| {
            self.call
                .format_flags
                .get(format)
                .unwrap_or_else(|| target.conventions.formats.get(*format))
                .args()
                .is_some()
        };
        self.formats.iter().copied().filter(has_flag)
    }

    /// Returns a probe with these arguments that is expected to exit with 0 in all formats.
    pub fn new(name: impl Into<String>, args: Vec<String>) -> Self {
        Self {
            name: name.into(),
            target: None,
            call: CallConfig { args, ..CallConfig::default() },
            exit: 0,
            formats: OutputFormat::ALL.to_vec(),
            dry_run_exit: None,
            effect: None,
            timeout: None,
            writes: false,
        }
    }
}

/// Placeholder for the path of the file that contains the secret.
pub const FILE_PLACEHOLDER: &str = "{file}";

/// The declared effect of a call that changes something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectConfig {
    /// Whether the call has to be confirmed.
    pub destructive: bool,
    /// Whether a second call changes nothing more; `None` if that is not declared.
    pub idempotent: Option<bool>,
    /// Whether the formats are declared. Then the call runs in them like one that changes nothing, each run in a fresh
    /// workspace.
    pub formats_declared: bool,
}

/// The fresh folder that each run starts in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Workspace {
    /// An empty folder.
    Empty,
    /// A copy of this folder; absolute if the path of the configuration is.
    Copy(PathBuf),
}

/// A service: a program that runs during the probes of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceConfig {
    /// Name of the target; `None` if the target has none.
    pub target: Option<String>,
    /// Program and arguments, as in the file ([`TargetConfig::command`]).
    pub command: Vec<String>,
    /// The condition for readiness.
    pub ready: Ready,
    /// Environment variables that the service adds to the runs of the target.
    pub env: BTreeMap<String, String>,
}

/// The condition under which a service is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ready {
    /// A TCP port accepts connections: this one or, if `None`, the one that is chosen for the service.
    Port(Option<u16>),
    /// The service has printed a line that contains this text.
    Line(String),
}

/// Placeholder for the port that is chosen for a service.
pub const PORT_PLACEHOLDER: &str = "{port}";
/// Placeholder in a probe for the address of a server that accepts connections and never answers.
pub const STALLED_PLACEHOLDER: &str = "{stalled}";

/// The contracts of the output of a probe, by format: the name of a bundled contract, or the path of a contract folder
/// or schema file as in the file ([`agentnative_contract::contract_path`]).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contracts {
    /// The contract of the document in `json`.
    pub json: Option<String>,
    /// The contract of each record, or of the stream, in `jsonl`.
    pub jsonl: Option<String>,
}

impl Contracts {
    /// Returns the names, that for `json` first.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        [&self.json, &self.jsonl].into_iter().flatten()
    }
}

/// An accepted problem, with a reason and an optional last day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// ID of the check.
    pub check: String,
    /// The probe that it applies to; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The format that it applies to; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
    /// The reason for accepting the problem; not empty.
    pub reason: String,
    /// The last day on which it applies.
    pub expires: Option<Date>,
    /// Whether that day was over when the file was read, so that it no longer applies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
}
