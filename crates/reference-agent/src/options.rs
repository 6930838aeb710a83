//! The settings of a run: what the command line says, over the `--config` file, over the defaults.

use super::config_file::{self, Limits};
use super::failure::{Code, Failure, Result};
use super::protocols::{self, Protocol};
use agentnative_output::{ColorChoice, OutputConfig, OutputFormat};
use clap::{Parser, ValueEnum};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An agent: sends a query to a model, runs the tools that it asks for, and prints the answer.
#[derive(Parser, Deserialize, Debug, Clone, Default)]
#[command(name = "reference-agent", version, after_help = after_help())]
#[serde(deny_unknown_fields, default = "Options::defaults")]
pub struct Options {
    /// The query. Without one, standard input is read to its end.
    #[arg(value_name = "QUERY")]
    #[serde(skip)]
    pub query: Vec<OsString>,
    /// Output format. [default: text; with --contract the contract's own]
    #[arg(long, value_enum, value_name = "FORMAT")]
    #[serde(skip)]
    output: Option<Format>,
    /// Short for --output json.
    #[arg(long, conflicts_with_all = ["jsonl", "output"])]
    #[serde(skip)]
    json: bool,
    /// Short for --output jsonl.
    #[arg(long, conflicts_with = "output")]
    #[serde(skip)]
    jsonl: bool,
    /// Speak this contract instead of the agent's own.
    #[arg(long = "contract", value_parser = protocols::parser(), value_name = "NAME")]
    #[serde(skip)]
    pub protocol: &'static Protocol,
    /// Print the JSON Schema of what would be printed, and do nothing else.
    #[arg(long)]
    #[serde(skip)]
    pub json_schema: bool,
    /// In text, print the bare answer and nothing else.
    #[arg(long)]
    #[serde(skip)]
    pub raw: bool,
    /// No diagnostics.
    #[arg(long, short)]
    #[serde(skip)]
    quiet: bool,
    /// When to use colour in text.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    #[serde(skip)]
    color: ColorChoice,
    /// PROVIDER/MODEL, or a model of --provider. Providers: scripted (offline), openai.
    #[arg(long, value_name = "MODEL", value_parser = non_empty)]
    pub model: Option<String>,
    /// The provider, when MODEL does not name it.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// What the scripted provider plays (JSON); without it, it answers simple requests itself.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// The openai provider's server. [default: $OPENAI_BASE_URL, else https://api.openai.com/v1]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Send the key over plain http to a host that is not this machine.
    #[arg(long)]
    pub allow_insecure_http: bool,
    /// Ask the server for whole answers instead of a stream.
    #[arg(long)]
    #[serde(skip)]
    no_stream: bool,
    /// Ask the server for a stream.
    #[arg(skip)]
    pub stream: bool,
    /// How often a failed request is made again, 0 to 10. [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10))]
    pub max_retries: u32,
    /// The first wait before that, in milliseconds; it doubles.
    #[arg(skip)]
    pub retry_base_ms: u64,
    /// Longest silence of the server, in seconds. [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub idle_timeout: f64,
    /// Turns of the model before the run is given up, 1 to 200. [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub max_tool_turns: u32,
    /// Whether the model is told of tools; `auto` goes on without when it takes none.
    #[arg(long, value_enum, value_name = "MODE")]
    pub tools_mode: ToolsMode,
    /// Who approves of tools that change something. `ask` needs text and a terminal.
    #[arg(long, value_enum, value_name = "MODE")]
    pub approval_mode: ApprovalMode,
    /// Tools: safe reads, framework also writes, dev also runs commands.
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub profile: Profile,
    /// The folder that the tools work in. [default: .]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Send a text file or an image along with the query.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub attach: Vec<PathBuf>,
    /// Longest time of the whole run, in seconds. [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: f64,
    /// Settings (TOML); flags win.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// The system prompt.
    #[arg(skip)]
    pub system: Option<String>,
    /// The limits of what is sent along.
    #[arg(skip)]
    pub attachments: Limits,
}

fn after_help() -> String {
    format!(
        "A contract is one JSON document on stdout, also for an error, or a JSON object a line. Without
--contract, json is {{ok, command, data}} and jsonl an event a line, and an error is
{{error, kind, message}} on stderr. csv has a row for each event.

Exit codes:
  0    success
  1    general error: the provider failed, the turn limit came, the time ran out
  2    usage error
  77   authentication or permission error: no key, or a refused one
  78   configuration error: a bad --config, --base-url or provider
  130  interrupted (SIGINT), 143 terminated (SIGTERM)
Contracts with exit codes of their own:{}

The key of the openai provider is read from OPENAI_API_KEY, and from nowhere else.",
        protocols::exit_codes()
    )
}

/// The formats: those of every command, and a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// One JSON document.
    Json,
    /// One JSON object a line, as things happen.
    Jsonl,
    /// A table with a row for each of these objects, as things happen.
    Csv,
}

impl Format {
    /// The format that all is written in which is not the table, such as errors.
    const fn of_messages(self) -> OutputFormat {
        match self {
            Self::Json => OutputFormat::Json,
            Self::Jsonl => OutputFormat::Jsonl,
            Self::Text | Self::Csv => OutputFormat::Text,
        }
    }
}

/// Whether the model is told of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolsMode {
    /// Yes, unless it takes none.
    #[default]
    Auto,
    /// Yes; a model that takes none is an error.
    On,
    /// No.
    Off,
}

/// Who approves of tools that change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalMode {
    /// The person at the terminal.
    Ask,
    /// Nobody needs to.
    #[default]
    Auto,
    /// Nobody does: they are refused.
    Never,
}

/// Which tools there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Those that read.
    Safe,
    /// Also those that write.
    #[default]
    Framework,
    /// Also `run_command`.
    Dev,
}

/// The name of a value as it stands on the command line.
pub fn value_name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

fn non_empty(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty".into()),
        text if text.starts_with('/') || text.ends_with('/') => {
            Err("expected PROVIDER/MODEL or MODEL".into())
        }
        text => Ok(text.to_owned()),
    }
}

/// A positive number of seconds, at most a day.
fn seconds(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if is_timeout(number) { Ok(number) } else { Err("expected more than 0 and at most 86400 seconds".into()) }
}

/// Whether a number of seconds is positive, and at most a day.
pub fn is_timeout(seconds: f64) -> bool {
    seconds > 0.0 && seconds <= 86_400.0
}

impl Options {
    /// What holds where neither the command line nor the configuration file says otherwise.
    pub fn defaults() -> Self {
        Self {
            stream: true,
            max_retries: 2,
            retry_base_ms: 500,
            idle_timeout: 60.0,
            max_tool_turns: 10,
            timeout: 300.0,
            ..Self::default()
        }
    }

    /// Those of a run that cannot begin: nothing is known but the protocol, not even the model.
    pub fn unknown(protocol: &'static Protocol) -> Self {
        Self { protocol, model: Some(String::new()), ..Self::default() }
    }

    /// The settings of the command line over the defaults. Answers to `--help` and `--version` are errors.
    pub fn parse_flags(args: &[OsString]) -> Result<Self, clap::Error> {
        let mut options = Self::defaults();
        options.try_update_from(args)?;
        Ok(options)
    }

    fn requested_format(&self) -> Option<Format> {
        match self {
            Self { json: true, .. } => Some(Format::Json),
            Self { jsonl: true, .. } => Some(Format::Jsonl),
            Self { output, .. } => *output,
        }
    }

    /// The protocol's own format, else the one that is asked for.
    pub fn format(&self) -> OutputFormat {
        self.protocol.format.or(self.requested_format().map(Format::of_messages)).unwrap_or_default()
    }

    /// Whether a table is asked for.
    pub fn is_table(&self) -> bool {
        self.output == Some(Format::Csv)
    }

    /// How output looks.
    pub fn output(&self) -> OutputConfig {
        self.protocol.output(OutputConfig::detect(self.format(), self.color, self.quiet))
    }

    /// The settings with those of the configuration file between the command line, which these are
    /// from, and the defaults; fails for settings that make no sense together, too.
    pub fn resolve(mut self, args: &[OsString]) -> Result<Self> {
        if let (Some(own), Some(requested)) = (self.protocol.format, self.requested_format())
            && value_name(requested) != own.name()
        {
            let contract = self.protocol.contract.unwrap_or_default();
            let (own, requested) = (own.name(), value_name(requested));
            let message =
                format!("--contract {contract} is spoken in {own} only: it makes no sense in {requested}");
            let hint = format!("leave the format away, or say --output {own}");
            return Err(Failure::new(Code::InvalidOption, message).hint(hint));
        }
        let format = self.format();
        if let Some(requested) = self.requested_format().filter(|format| *format != Format::Text)
            && self.raw
        {
            let message =
                format!("--raw prints the bare answer: it makes no sense in {}", value_name(requested));
            return Err(Failure::new(Code::InvalidOption, message));
        }
        if let Some(path) = &self.config {
            let file = config_file::read(path)?;
            let allow_insecure_http = file.allow_insecure_http || self.allow_insecure_http;
            self = file;
            let updated = self.try_update_from(args);
            updated.map_err(|error| Failure::new(Code::InvalidOption, error.to_string()))?;
            // A flag that is not there counts as false.
            self.allow_insecure_http = allow_insecure_http;
        }
        self.stream &= !self.no_stream;
        if let Some(word) = self.query.iter().find(|word| word.to_str().is_none()) {
            return Err(Failure::new(Code::InvalidOption, format!("not UTF-8: {}", word.display())));
        }
        if self.approval_mode == ApprovalMode::Ask && format.is_json() {
            let message =
                format!("--approval-mode ask needs a person, and {} is for programs", format.name());
            return Err(Failure::new(Code::InteractiveApprovalJson, message).hint("use auto or never"));
        }
        Ok(self)
    }

    /// The provider, which may not exist, and the model: `--provider`, else what stands before the first
    /// slash of the model; a base URL alone means openai.
    pub fn provider_and_model(&self) -> (&str, &str) {
        let (provider, model) = match (self.provider.as_deref(), self.model.as_deref()) {
            (None, Some(model)) => match model.split_once('/').filter(|(_, rest)| !rest.is_empty()) {
                Some((provider, rest)) => (Some(provider), Some(rest)),
                None => (None, Some(model)),
            },
            named => named,
        };
        let provider = provider.unwrap_or(if self.base_url.is_some() { "openai" } else { "scripted" });
        (provider, model.unwrap_or(if provider == "openai" { "gpt-4o-mini" } else { "offline" }))
    }

    /// The folder that the tools work in.
    pub fn workspace(&self) -> &Path {
        self.workspace.as_deref().unwrap_or(Path::new("."))
    }

    /// The server of the openai provider.
    pub fn base_url(&self) -> String {
        let variable = || std::env::var("OPENAI_BASE_URL").ok().filter(|value| !value.is_empty());
        let given = self.base_url.clone().or_else(variable);
        given.unwrap_or_else(|| "https://api.openai.com/v1".into())
    }
}
