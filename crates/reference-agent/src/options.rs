//! The command line and the `--config` file, made into one set of settings.

use super::config_file::{ConfigFile, Limits};
use super::failure::{Code, Failure, Result};
use super::protocols::{self, Protocol};
use agentnative_output::{ColorChoice, OutputConfig, OutputFormat};
use clap::{Parser, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// An agent: sends a query to a model, runs the tools that it asks for, and prints the answer.
#[derive(Parser, Debug)]
#[command(name = "reference-agent", version, after_help = after_help())]
pub struct Flags {
    /// The query. Without one, standard input is read to its end.
    #[arg(value_name = "QUERY")]
    query: Vec<OsString>,
    /// Output format. [default: text; with --contract the contract's own]
    #[arg(long, value_enum, value_name = "FORMAT")]
    output: Option<OutputFormat>,
    /// Short for --output json.
    #[arg(long, conflicts_with_all = ["jsonl", "output"])]
    json: bool,
    /// Short for --output jsonl.
    #[arg(long, conflicts_with = "output")]
    jsonl: bool,
    /// Speak this contract instead of the agent's own.
    #[arg(long, value_parser = protocols::parser(), value_name = "NAME")]
    contract: Option<&'static Protocol>,
    /// Print the JSON Schema of what would be printed, and do nothing else.
    #[arg(long)]
    json_schema: bool,
    /// In text, print the bare answer and nothing else.
    #[arg(long)]
    raw: bool,
    /// No diagnostics.
    #[arg(long, short)]
    quiet: bool,
    /// When to use colour in text.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    /// PROVIDER/MODEL, or a model of --provider. Providers: scripted (offline), openai.
    #[arg(long, value_name = "MODEL", value_parser = non_empty)]
    model: Option<String>,
    /// The provider, when MODEL does not name it.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// What the scripted provider plays (JSON); without it, it answers simple requests itself.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// The openai provider's server. [default: $OPENAI_BASE_URL, else https://api.openai.com/v1]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Send the key over plain http to a host that is not this machine.
    #[arg(long)]
    allow_insecure_http: bool,
    /// Ask the server for whole answers instead of a stream.
    #[arg(long)]
    no_stream: bool,
    /// How often a failed request is made again, 0 to 10. [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10))]
    max_retries: Option<u32>,
    /// Longest silence of the server, in seconds. [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    idle_timeout: Option<Duration>,
    /// Turns of the model before the run is given up, 1 to 200. [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    max_tool_turns: Option<u32>,
    /// Whether the model is told of tools; `auto` goes on without when it takes none.
    #[arg(long, value_enum, value_name = "MODE")]
    tools_mode: Option<ToolsMode>,
    /// Who approves of tools that change something. `ask` needs text and a terminal.
    #[arg(long, value_enum, value_name = "MODE")]
    approval_mode: Option<ApprovalMode>,
    /// Tools: safe reads, framework also writes, dev also runs commands.
    #[arg(long, value_enum, value_name = "PROFILE")]
    profile: Option<Profile>,
    /// The folder that the tools work in. [default: .]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Send a text file or an image along with the query.
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
    /// Longest time of the whole run, in seconds. [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Settings (TOML); flags win.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn after_help() -> String {
    format!(
        "A contract is one JSON document on stdout, also for an error, or a JSON object a line. Without
--contract, json is {{ok, command, data}} and jsonl an event a line, and an error is
{{error, kind, message}} on stderr.

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

/// Whether the model is told of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, serde::Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, serde::Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, ValueEnum, serde::Deserialize)]
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
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    duration(number).ok_or_else(|| "expected more than 0 and at most 86400 seconds".to_owned())
}

/// Seconds as a duration, when they are more than none and at most a day.
pub fn duration(seconds: f64) -> Option<Duration> {
    let sound = seconds > 0.0 && seconds <= 86_400.0;
    sound.then(|| Duration::from_secs_f64(seconds))
}

/// All settings of a run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The words of the query; empty when it is to be read from standard input.
    pub query: Vec<String>,
    /// The protocol to write in.
    pub protocol: &'static Protocol,
    /// Print the schema only.
    pub json_schema: bool,
    /// In text, the bare answer.
    pub raw: bool,
    /// The provider's name, not yet known to exist.
    pub provider: String,
    /// The model's name.
    pub model: String,
    /// What the scripted provider plays.
    pub script: Option<PathBuf>,
    /// The server of the openai provider.
    pub base_url: String,
    /// Plain http to anywhere.
    pub allow_insecure_http: bool,
    /// Ask for a stream.
    pub stream: bool,
    /// How often a failed request is made again.
    pub max_retries: u32,
    /// The first wait before that; it doubles.
    pub retry_base: Duration,
    /// Longest silence of the server.
    pub idle_timeout: Duration,
    /// Turns before the run is given up.
    pub max_tool_turns: u32,
    /// Whether the model is told of tools.
    pub tools_mode: ToolsMode,
    /// Who approves.
    pub approval: ApprovalMode,
    /// Which tools there are.
    pub profile: Profile,
    /// Where the tools work.
    pub workspace: PathBuf,
    /// What is sent along.
    pub attach: Vec<PathBuf>,
    /// The limits of that.
    pub limits: Limits,
    /// Longest time of the whole run.
    pub timeout: Duration,
    /// The system prompt.
    pub system: Option<String>,
}

impl Flags {
    /// The protocol and the format that are asked for.
    ///
    /// # Errors
    /// A protocol in a format that it does not have.
    pub fn form(&self) -> Result<(&'static Protocol, OutputFormat)> {
        let protocol = self.contract.unwrap_or_default();
        let asked = match self {
            Self { json: true, .. } => Some(OutputFormat::Json),
            Self { jsonl: true, .. } => Some(OutputFormat::Jsonl),
            Self { output, .. } => *output,
        };
        let format = match (protocol.format, asked) {
            (Some(own), Some(asked)) if own != asked => {
                let message = format!(
                    "--contract {} is spoken in {} only: it makes no sense in {}",
                    protocol.contract.unwrap_or_default(),
                    own.name(),
                    asked.name()
                );
                let hint = format!("leave the format away, or say --output {}", own.name());
                return Err(Failure::new(Code::InvalidOption, message).hint(hint));
            }
            (Some(own), _) => own,
            (None, asked) => asked.unwrap_or_default(),
        };
        Ok((protocol, format))
    }

    /// How output looks, in the format asked for.
    pub fn output(&self, format: OutputFormat) -> OutputConfig {
        OutputConfig::detect(format, self.color, self.quiet)
    }

    /// The settings: these flags over the configuration file over the defaults.
    ///
    /// # Errors
    /// Wrong flags, and a bad configuration file.
    pub fn settle(self) -> Result<Options> {
        let (protocol, format) = self.form()?;
        if self.raw && format.is_json() {
            let message = format!("--raw prints the bare answer: it makes no sense in {}", format.name());
            return Err(Failure::new(Code::InvalidOption, message));
        }
        let file = match &self.config {
            Some(path) => ConfigFile::read(path)?,
            None => ConfigFile::default(),
        };
        let (idle_timeout, timeout, limits) = (file.idle_timeout(), file.timeout(), file.limits());
        let words = self.query.into_iter().map(|word| {
            word.into_string()
                .map_err(|word| Failure::new(Code::InvalidOption, format!("not UTF-8: {}", word.display())))
        });
        let query = words.collect::<Result<_>>()?;
        let approval = self.approval_mode.or(file.approval_mode).unwrap_or_default();
        if approval == ApprovalMode::Ask && format.is_json() {
            let message =
                format!("--approval-mode ask needs a person, and {} is for programs", format.name());
            return Err(Failure::new(Code::InteractiveApprovalJson, message).hint("use auto or never"));
        }
        let (provider, model) = provider_of(
            self.provider.or(file.provider),
            self.model.or(file.model),
            self.base_url.is_some() || file.base_url.is_some(),
        );
        let env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let base_url = self.base_url.or(file.base_url).or_else(|| env("OPENAI_BASE_URL"));
        Ok(Options {
            query,
            protocol,
            json_schema: self.json_schema,
            raw: self.raw,
            provider,
            model,
            script: self.script.or(file.script),
            base_url: base_url.unwrap_or_else(|| "https://api.openai.com/v1".into()),
            allow_insecure_http: self.allow_insecure_http || file.allow_insecure_http,
            stream: !self.no_stream && file.stream.unwrap_or(true),
            max_retries: self.max_retries.or(file.max_retries).unwrap_or(2),
            retry_base: Duration::from_millis(file.retry_base_ms.unwrap_or(500).min(60_000)),
            idle_timeout: self.idle_timeout.or(idle_timeout).unwrap_or(Duration::from_secs(60)),
            max_tool_turns: self.max_tool_turns.or(file.max_tool_turns).unwrap_or(10),
            tools_mode: self.tools_mode.or(file.tools_mode).unwrap_or_default(),
            approval,
            profile: self.profile.or(file.profile).unwrap_or_default(),
            workspace: self.workspace.or(file.workspace).unwrap_or_else(|| ".".into()),
            attach: self.attach,
            limits,
            timeout: self.timeout.or(timeout).unwrap_or(Duration::from_secs(300)),
            system: file.system,
        })
    }
}

/// The provider and the model: `--provider`, else what stands before the first slash of the model;
/// a base URL alone means openai.
fn provider_of(provider: Option<String>, model: Option<String>, base_url: bool) -> (String, String) {
    let (named, model) = match (&provider, model) {
        (None, Some(model)) => match model.split_once('/') {
            Some((provider, rest)) if !rest.is_empty() => (Some(provider.to_owned()), Some(rest.to_owned())),
            _ => (None, Some(model)),
        },
        (_, model) => (None, model),
    };
    let provider =
        provider.or(named).unwrap_or_else(|| if base_url { "openai".into() } else { "scripted".into() });
    let model = model.unwrap_or_else(|| match provider.as_str() {
        "openai" => "gpt-4o-mini".into(),
        _ => "offline".into(),
    });
    (provider, model)
}
