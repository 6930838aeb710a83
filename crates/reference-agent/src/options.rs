//! The settings of a run, from the command line, else the `--config` file, else the defaults.

mod resolve;

use super::attach::Limits;
use super::modes::{ApprovalMode, Profile, ToolsMode};
use super::protocols::{self, EncoderSettings, Protocol};
use super::serve::ServeArgs;
use agentnative_output::{ColorChoice, OutputConfig, OutputFormat, whole_number};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};
use clap_complete::Shell;
use serde::Deserialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A reference agent: sends a query to a model, runs the tools that the model calls, and prints the answer.
#[derive(Parser, Deserialize, Debug, Clone, Default)]
#[command(
    name = "reference-agent",
    version,
    after_help = "reference-agent --help also lists examples and exit codes.",
    after_long_help = after_long_help()
)]
#[serde(deny_unknown_fields, default = "Options::defaults")]
pub struct Options {
    /// Query [default: read from stdin].
    #[arg(value_name = "QUERY")]
    #[serde(skip)]
    pub query: Vec<OsString>,
    /// Output format: text, json, jsonl or csv [default: text, or the format of --contract].
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        hide_possible_values = true,
        help_heading = OUTPUT
    )]
    #[serde(skip)]
    output: Option<Format>,
    /// Same as --output json.
    #[arg(long, global = true, help_heading = OUTPUT, conflicts_with_all = ["jsonl", "output"])]
    #[serde(skip)]
    json: bool,
    /// Same as --output jsonl.
    #[arg(long, global = true, help_heading = OUTPUT, conflicts_with = "output")]
    #[serde(skip)]
    jsonl: bool,
    /// Print in the format of this contract instead of the agent's own.
    #[arg(long = "contract", help_heading = OUTPUT, value_parser = protocols::contract_parser(), value_name = "NAME")]
    #[serde(skip)]
    pub protocol: &'static Protocol,
    /// Print the JSON Schema of the output; run nothing.
    #[arg(long, help_heading = OUTPUT)]
    #[serde(skip)]
    pub json_schema: bool,
    /// Print a completion script for a shell (bash, zsh or fish); run nothing.
    #[arg(long, help_heading = OUTPUT, value_name = "SHELL", value_enum, hide_possible_values = true)]
    #[serde(skip)]
    pub completions: Option<Shell>,
    /// Print only the answer (text).
    #[arg(long, help_heading = OUTPUT)]
    #[serde(skip)]
    pub raw: bool,
    /// Print no diagnostics.
    #[arg(long, short, global = true, help_heading = OUTPUT)]
    #[serde(skip)]
    quiet: bool,
    /// Colour in text: auto, always or never.
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = OUTPUT
    )]
    #[serde(skip)]
    color: ColorChoice,
    /// Model as PROVIDER/MODEL, or a model of --provider [default: scripted/offline].
    #[arg(long, help_heading = MODEL, value_name = "MODEL", value_parser = parse_model)]
    pub model: Option<String>,
    /// Provider: scripted (offline) or openai.
    #[arg(long, help_heading = MODEL, value_name = "NAME")]
    provider: Option<String>,
    /// Turns of the scripted provider (JSON) [default: it answers simple requests].
    #[arg(long, help_heading = MODEL, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Server of the openai provider [default: $OPENAI_BASE_URL, else https://api.openai.com/v1].
    #[arg(long, help_heading = MODEL, value_name = "URL")]
    base_url: Option<String>,
    /// Send the key over plain http to another machine.
    #[arg(long, help_heading = MODEL)]
    pub allow_insecure_http: bool,
    /// Request complete answers from the server instead of a stream.
    #[arg(long, help_heading = MODEL)]
    #[serde(skip)]
    no_stream: bool,
    /// Request a stream from the server.
    #[arg(skip)]
    pub stream: bool,
    /// Number of retries of a failed request, 0 to 10 [default: 2].
    #[arg(long, help_heading = LIMITS, value_name = "N", value_parser = whole_number::<u32>(0..=10))]
    pub max_retries: u32,
    /// Wait before the first retry, in milliseconds; doubles with each retry.
    #[arg(skip)]
    pub retry_base_ms: u64,
    /// Time limit for the next byte from the server [default: 60].
    #[arg(long, help_heading = LIMITS, value_name = "SECONDS", value_parser = parse_timeout)]
    pub idle_timeout: f64,
    /// Limit of turns of the model, 1 to 200 [default: 10].
    #[arg(long, help_heading = LIMITS, value_name = "N", value_parser = whole_number::<u32>(1..=200))]
    pub max_tool_turns: u32,
    /// Offer tools to the model: on, off, or auto (on, unless the model rejects them)
    /// [default: auto].
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        hide_possible_values = true,
        help_heading = TOOLS
    )]
    pub tools_mode: ToolsMode,
    /// Approve tools that change files: auto, never, or ask (requires text and a terminal)
    /// [default: auto].
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        hide_possible_values = true,
        help_heading = TOOLS
    )]
    pub approval_mode: ApprovalMode,
    /// Tools to offer: safe (read), framework (also write) or dev (also run commands)
    /// [default: framework].
    #[arg(
        long,
        value_enum,
        value_name = "PROFILE",
        hide_possible_values = true,
        help_heading = TOOLS
    )]
    pub profile: Profile,
    /// Folder that the tools are confined to [default: .].
    #[arg(long, help_heading = TOOLS, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Send a text file or an image with the query (repeatable).
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub attach: Vec<PathBuf>,
    /// Time limit of the run [default: 300].
    #[arg(long, help_heading = LIMITS, value_name = "SECONDS", value_parser = parse_timeout)]
    pub timeout: f64,
    /// Settings (TOML); flags override them.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// Arguments of the subcommand `serve`, if it is called.
    #[arg(skip)]
    #[serde(skip)]
    pub serve: Option<ServeArgs>,
    /// System prompt.
    #[arg(skip)]
    pub system: Option<String>,
    /// Limits of attachments.
    #[arg(skip)]
    pub attachments: Limits,
}

/// Adds the subcommand `serve` to the command line. It is added by hand because clap cannot derive the update of a
/// subcommand.
fn with_serve(command: clap::Command) -> clap::Command {
    let command = command.args_conflicts_with_subcommands(true).disable_help_subcommand(true);
    command.subcommand(ServeArgs::command())
}

/// Heading in the help of the group of options for the output.
const OUTPUT: &str = "Output";
const MODEL: &str = "Model";
const TOOLS: &str = "Tools";
const LIMITS: &str = "Limits";

fn after_long_help() -> String {
    format!(
        "json is one document {{ok, command, data}}, jsonl one event per line, csv one row per event. \
An error is {{error, kind, message}} on stderr. With --contract, the contract defines the output, errors and exit codes. \
The key of the openai provider is read from OPENAI_API_KEY only.

Examples:
  reference-agent \"list the files here\"
  reference-agent --jsonl \"calculate 6 * 7\"
  reference-agent --contract agent-js \"calculate 6 * 7\"

Exit codes:
  0    success
  1    provider failed, turn or time limit reached
  2    wrong arguments
  77   key missing or rejected
  78   invalid --config, --base-url or provider
  130  interrupted (SIGINT); 143 terminated (SIGTERM)
Exit codes of contracts that have their own:{}",
        protocols::exit_codes()
    )
}

/// The output formats: those of every command, and csv.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for users.
    Text,
    /// One JSON document.
    Json,
    /// One JSON object per line, as events happen.
    Jsonl,
    /// A table with one row per object, as events happen.
    Csv,
}

impl Format {
    /// Returns the format of messages, such as errors. For csv, it is text; otherwise it is the format itself.
    const fn message_format(self) -> OutputFormat {
        match self {
            Self::Json => OutputFormat::Json,
            Self::Jsonl => OutputFormat::Jsonl,
            Self::Text | Self::Csv => OutputFormat::Text,
        }
    }
}

fn parse_model(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty".into()),
        text if text.starts_with('/') || text.ends_with('/') => {
            Err("expected PROVIDER/MODEL or MODEL".into())
        }
        text => Ok(text.to_owned()),
    }
}

/// Parses a timeout in seconds. Fails unless it is positive and at most one day.
fn parse_timeout(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if is_valid_timeout(number) {
        Ok(number)
    } else {
        Err("expected more than 0 and at most 86400 seconds".into())
    }
}

/// Returns whether a timeout in seconds is positive and at most one day.
pub fn is_valid_timeout(seconds: f64) -> bool {
    seconds > 0.0 && seconds <= 86_400.0
}

impl Options {
    /// Returns the default settings, which apply if neither the command line nor the configuration file sets a value.
    /// Unlike [`Self::default`], their limits are not 0.
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

    /// Returns the settings for a run that failed before its settings were known. Only the protocol is set.
    pub fn with_protocol_only(protocol: &'static Protocol) -> Self {
        Self { protocol, model: Some(String::new()), ..Self::default() }
    }

    /// Parses the command line. Options that it lacks have their default values. `--help` and `--version` are returned
    /// as errors.
    pub fn parse_flags(args: &[OsString]) -> Result<Self, clap::Error> {
        let mut options = Self::defaults();
        options.update(args)?;
        Ok(options)
    }

    /// Returns the definition of the command line, including the subcommand `serve`.
    pub fn command_line() -> clap::Command {
        with_serve(Self::command())
    }

    /// Replaces the settings for which the command line has options; the other settings stay.
    fn update(&mut self, args: &[OsString]) -> Result<(), clap::Error> {
        let matches = with_serve(Self::command_for_update()).try_get_matches_from(args)?;
        self.update_from_arg_matches(&matches)?;
        let serve = matches.subcommand().map(|(_, matches)| ServeArgs::from_arg_matches(matches));
        self.serve = serve.transpose()?;
        Ok(())
    }

    fn requested_format(&self) -> Option<Format> {
        match self {
            Self { json: true, .. } => Some(Format::Json),
            Self { jsonl: true, .. } => Some(Format::Jsonl),
            Self { output, .. } => *output,
        }
    }

    /// Returns the output format: the one that the protocol requires, or the requested format if it requires none.
    pub fn format(&self) -> OutputFormat {
        self.protocol.format.or(self.requested_format().map(Format::message_format)).unwrap_or_default()
    }

    fn is_csv(&self) -> bool {
        self.output == Some(Format::Csv)
    }

    /// Returns the settings of the output: its format, whether it has colour, and whether diagnostics are printed.
    pub fn output_config(&self) -> OutputConfig {
        self.protocol.output_config(OutputConfig::from_environment(self.format(), self.color, self.quiet))
    }

    /// Returns the names of the provider and of the model, in this order. The provider is `--provider`, otherwise the
    /// part of `--model` before the first slash, otherwise `openai` if a base URL is set, otherwise `scripted`. It is
    /// not validated.
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

    /// Returns the folder that the tools are confined to.
    pub fn workspace(&self) -> &Path {
        self.workspace.as_deref().unwrap_or(Path::new("."))
    }

    pub fn encoder_settings(&self) -> EncoderSettings {
        EncoderSettings {
            raw: self.raw,
            csv: self.is_csv(),
            max_retries: self.max_retries,
            tools_mode: self.tools_mode,
            approval_mode: self.approval_mode,
            profile: self.profile,
            workspace: self.workspace().to_owned(),
        }
    }

    /// Returns the base URL of the openai provider: the setting, otherwise `$OPENAI_BASE_URL`, otherwise the URL of
    /// OpenAI.
    pub fn base_url(&self) -> String {
        let variable = || std::env::var("OPENAI_BASE_URL").ok().filter(|value| !value.is_empty());
        let configured = self.base_url.clone().or_else(variable);
        configured.unwrap_or_else(|| "https://api.openai.com/v1".into())
    }
}
