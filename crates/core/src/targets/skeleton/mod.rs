//! Writes the configuration for `agentnative init`: the template `agentnative.toml.jinja` is rendered with facts about
//! the target.

mod features;
mod formats;
mod next;

use super::commands::{CommandTree, LeafCommand};
use super::effect::Effect;
use super::help::{Argument, FormatArgs};
use crate::config::{FORMAT_PLACEHOLDER, ProbeConfig, TargetConfig, Workspace};
use crate::model::OutputFormat;
use agentnative_contract::error::{Error, Result};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, Value};
use serde_json::json;
use std::cmp::Reverse;
use std::collections::BTreeMap;

const TEMPLATE: &str = include_str!("agentnative.toml.jinja");

/// Maximum number of commands for which a probe is suggested; the others are only counted.
const MAX_SUGGESTIONS: usize = 40;

/// The facts about a target from which a configuration is generated.
#[derive(Debug)]
pub struct ConfigTemplate<'a> {
    /// Name of the target.
    pub name: &'a str,
    /// Command that starts the target; `None` if a manifest declares the program.
    pub command: Option<&'a [String]>,
    /// Commands of the target, as its help pages show them.
    pub commands: &'a CommandTree,
    /// Exit codes that the target documents, with their meaning.
    pub exit_codes: &'a BTreeMap<i32, String>,
    /// Probes that the user confirmed, and those that exploration found.
    pub probes: &'a [ProbeConfig],
    /// What exploration observed of probes, by their names.
    pub observed: &'a BTreeMap<String, String>,
    /// The exit code of invalid calls that exploration observed.
    pub observed_usage: Option<i32>,
}

impl LeafCommand {
    /// Returns the command with its required arguments, for messages: `show <id>`.
    pub fn usage_required(&self) -> String {
        let mut words = self.args(&placeholder);
        words.retain(|word| word != FORMAT_PLACEHOLDER);
        comment_text(&words.join(" "))
    }

    /// Returns the command with all its arguments, for messages: `show <id> [page]`.
    pub fn usage_full(&self) -> String {
        let words = [self.usage_required()]
            .into_iter()
            .filter(|needed| !needed.is_empty())
            .chain(self.optional_args_text());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns the optional positional arguments, for messages: `[page]`.
    fn optional_args_text(&self) -> Vec<String> {
        self.optional_args.iter().map(|operand| format!("[{}]", comment_text(&operand.name))).collect()
    }

    /// Returns the first of `args` that is still a placeholder of this command, such as `<id>`, instead of a value.
    pub fn placeholder_in<'a>(&self, args: &'a [String]) -> Option<&'a String> {
        let open = self.args_without_choices();
        let is_placeholder =
            |arg: &&String| open.iter().any(|it| **arg == placeholder(it) || **arg == nonexistent(it));
        args.iter().find(is_placeholder)
    }

    /// Creates a probe that calls the command. `values` are the values for its required arguments without listed
    /// choices. `target` is the name of the target.
    pub fn probe(&self, target: &str, values: &[String]) -> ProbeConfig {
        let open: Vec<_> = self.args_without_choices().into_iter().cloned().collect();
        let value = |operand: &_| {
            let index = open.iter().position(|other| other == operand);
            index.and_then(|index| values.get(index).cloned()).unwrap_or_default()
        };
        let args = self.args(&value);
        let words: Vec<&str> =
            args.iter().map(String::as_str).filter(|word| *word != FORMAT_PLACEHOLDER).collect();
        let name = if words.is_empty() { comment_text(target) } else { words.join(" ") };
        ProbeConfig::new(name, args)
    }
}

impl ConfigTemplate<'_> {
    /// Returns the text of the generated configuration. Confirmed probes are declared; all suggestions from the help
    /// are comments. The text is deterministic. It is a valid configuration, even if all comments are turned into code.
    ///
    /// # Errors
    /// Of kind `General`, if the template cannot be rendered.
    pub fn text(&self) -> Result<String> {
        let render_error = |error| Error::general(format!("cannot generate the configuration: {error:#}"));
        let mut environment = Environment::new();
        let mut syntax = SyntaxConfig::builder();
        let syntax = syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
        environment.set_syntax(syntax.map_err(render_error)?);
        environment.add_filter("toml", |value: Value| toml(&value));
        let template = environment.template_from_str(TEMPLATE).map_err(render_error)?;
        template.render(Value::from(Serde(self.template_values()))).map_err(render_error)
    }

    /// Returns the values for the template.
    fn template_values(&self) -> serde_json::Value {
        let formats = formats::target_formats(self.commands);
        let default = TargetConfig::default().conventions;
        let used = |call: &&LeafCommand| {
            self.probes.iter().any(|probe| self.call_of(&probe.call.args) == Some(call))
        };
        let open: Vec<&LeafCommand> = self.commands.leaves.iter().filter(|call| !used(call)).collect();
        let with_effect = |effect| open.iter().filter(move |call| call.effect() == effect);
        let suggested = [Effect::Reads, Effect::Unknown, Effect::Changes]
            .into_iter()
            .flat_map(with_effect)
            .take(MAX_SUGGESTIONS);
        json!({
            "name": comment_text(self.name),
            "command": self.command,
            "formats": formats.map(FormatArgs::template_value),
            "codes": self.codes(),
            "default_codes": default.exit_codes,
            "names_codes": self.exit_codes.len() > 1,
            "usage": self.usage(),
            "default_usage": default.usage,
            "is_usage_observed": self.observed_usage.is_some(),
            "schema": self.commands.schema,
            "has": self.features(),
            "probes": self.probes.iter().map(|probe| self.confirmed(probe, formats)).collect::<Vec<_>>(),
            "calls": suggested.map(|call| self.suggested(call, formats)).collect::<Vec<_>>(),
            "more": open.len().saturating_sub(MAX_SUGGESTIONS),
            "unread": self.commands.unread.as_deref().map(comment_text),
            "failures": self.codes_without_probe().into_iter().map(|code| self.failure(code)).collect::<Vec<_>>(),
        })
    }

    fn confirmed(&self, probe: &ProbeConfig, formats: Option<&FormatArgs>) -> serde_json::Value {
        let call = self.call_of(&probe.call.args);
        let workspace = probe.call.workspace.as_ref().map(|workspace| match workspace {
            Workspace::Empty => json!(true),
            Workspace::Copy(folder) => json!(folder),
        });
        let own_formats = formats::declared_formats(&probe.call.format_flags);
        json!({
            "about": self.observed.get(&probe.name).map(|observed| comment_text(observed)),
            "workspace": workspace,
            "stdin": probe.call.stdin.as_ref().map(|bytes| String::from_utf8_lossy(bytes)),
            "has_effect": probe.effect.is_some(),
            "items": probe.call.list.as_ref().map(|list| &list.items),
            "text_only": probe.formats == [OutputFormat::Text],
            "name": probe.name,
            "args": with_flag_position(&probe.call.args, call),
            "exit": probe.exit,
            "format_flag_reused": call.is_some_and(|call| call.format_flag_reused),
            "formats": own_formats.or_else(|| formats::call_formats(call?, formats)),
        })
    }

    fn suggested(&self, call: &LeafCommand, formats: Option<&FormatArgs>) -> serde_json::Value {
        let takes = call.optional_args_text().join(" ");
        let takes = if takes.is_empty() { takes } else { format!("takes {takes}") };
        let about = [comment_text(&call.about), takes].into_iter().filter(|words| !words.is_empty());
        let open = call
            .args_without_choices()
            .into_iter()
            .map(|operand| format!("<{}>", comment_text(&operand.name)));
        json!({
            "about": about.collect::<Vec<_>>().join("; "),
            "name": if call.words.is_empty() { comment_text(self.name) } else { call.name() },
            "args": call.args(&placeholder),
            "open": open.collect::<Vec<_>>(),
            "reads": call.only_reads(),
            "changes": features::changes(call),
            "destroys": features::destroys(call),
            "lists": features::lists(call),
            "format_flag_reused": call.format_flag_reused,
            "formats": formats::call_formats(call, formats),
        })
    }

    /// Returns the exit codes for the configuration: the documented or else the default ones, and those of the probes.
    fn codes(&self) -> Vec<i32> {
        let mut codes: Vec<i32> = match self.exit_codes.len() {
            0 | 1 => TargetConfig::default().conventions.exit_codes,
            _ => [0].into_iter().chain(self.exit_codes.keys().copied()).collect(),
        };
        codes.extend(self.probes.iter().map(|probe| probe.exit).chain(self.observed_usage));
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    fn usage(&self) -> i32 {
        let default = TargetConfig::default().conventions.usage;
        if let Some(observed) = self.observed_usage {
            return observed;
        }
        let is_usage = |about: &str| {
            let about = about.to_lowercase();
            ["usage", "argument", "command line", "wrong call"].iter().any(|word| about.contains(word))
        };
        let documented = self.exit_codes.iter().find(|(code, about)| **code != 0 && is_usage(about));
        match self.codes().contains(&default) {
            true => default,
            false => documented.map_or(default, |(code, _)| *code),
        }
    }

    /// Returns the exit codes from 1 to 127 with which no probe exits, except the code for invalid usage. Codes above
    /// 128 are those of signals, which no arguments cause.
    fn codes_without_probe(&self) -> Vec<i32> {
        let usage = self.usage();
        let probed = |code: i32| self.probes.iter().any(|probe| probe.exit == code);
        let is_missing = |code: &i32| (1..128).contains(code) && *code != usage && !probed(*code);
        self.codes().into_iter().filter(is_missing).collect()
    }

    /// Returns the command that a call with these arguments runs: the one whose words come first in the arguments, and
    /// the longest of those. The target itself matches only if no command does.
    fn call_of(&self, args: &[String]) -> Option<&LeafCommand> {
        let args: Vec<&String> = args.iter().filter(|arg| *arg != FORMAT_PLACEHOLDER).collect();
        let found = self.commands.leaves.iter().filter_map(|call| {
            let Some(first) = call.words.first() else { return Some((Reverse(usize::MAX), 0, call)) };
            let at = args.iter().position(|arg| *arg == first)?;
            let follows = call.words.len() <= args.len() - at
                && call.words.iter().zip(&args[at..]).all(|(word, arg)| word == *arg);
            follows.then_some((Reverse(at), call.words.len(), call))
        });
        found.max_by_key(|(at, length, _)| (*at, *length)).map(|(_, _, call)| call)
    }

    /// Returns the arguments of a call that requests something nonexistent; `None` if no command that only reads has
    /// exactly one required argument without choices.
    fn failing_call(&self) -> Option<Vec<String>> {
        let one_value = |call: &&LeafCommand| call.only_reads() && call.args_without_choices().len() == 1;
        self.commands.leaves.iter().find(one_value).map(|call| call.args(&nonexistent))
    }

    /// Returns the template values of a probe that exits with `code`.
    fn failure(&self, code: i32) -> serde_json::Value {
        let documented =
            self.exit_codes.get(&code).map(|about| comment_text(about)).filter(|about| !about.is_empty());
        let (name, meaning) = match code {
            1 => ("not-found", ", general error: request something that does not exist"),
            77 => ("signed-out", ", authentication or permission: no login, an invalid key"),
            78 => ("bad-config", ", configuration: an invalid configuration file"),
            _ => ("", ""),
        };
        // Other failures need calls that cannot be derived from the help.
        let args = self.failing_call().filter(|_| code == 1);
        json!({
            "about": format!("{code}{}", documented.map_or_else(|| meaning.to_owned(), |about| format!(": {about}"))),
            "name": if name.is_empty() { format!("exit-{code}") } else { name.to_owned() },
            "exit": code,
            "args": args.unwrap_or_else(|| vec!["<arguments>".to_owned()]),
        })
    }
}

/// Returns the placeholder for a value that only the user knows, such as `<id>`.
fn placeholder(operand: &Argument) -> String {
    format!("<{}>", operand.name)
}

/// Returns the placeholder for a value that causes a failure, such as `<id that does not exist>`.
fn nonexistent(operand: &Argument) -> String {
    format!("<{} that does not exist>", operand.name)
}

/// Inserts `{format}` into the arguments of a confirmed probe, if the help pages show a position for the format flag.
fn with_flag_position(args: &[String], call: Option<&LeafCommand>) -> Vec<String> {
    let place = call.and_then(|call| {
        let at = call.flag_position?;
        let begins = call.words.iter().zip(args).all(|(word, arg)| word == arg);
        (begins && at < args.len()).then_some(at)
    });
    let mut args = args.to_vec();
    if let Some(at) = place.filter(|_| !args.iter().any(|arg| arg == FORMAT_PLACEHOLDER)) {
        args.insert(at, FORMAT_PLACEHOLDER.to_owned());
    }
    args
}

/// Formats a string, a list or a number of the template as TOML. A missing list becomes `false`.
fn toml(value: &Value) -> String {
    match value.kind() {
        ValueKind::None => "false".to_owned(),
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::Seq => {
            let elements = value.try_iter().into_iter().flatten();
            format!("[{}]", elements.map(|element| toml(&element)).collect::<Vec<_>>().join(", "))
        }
        ValueKind::String => {
            toml::Value::String(value.to_string().replace(char::is_control, " ")).to_string()
        }
        _ => value.to_string(),
    }
}

/// Sanitizes a text of the target for a comment: one line of at most 100 characters without control characters.
fn comment_text(text: &str) -> String {
    let text: String =
        text.chars().map(|char| if char.is_control() { ' ' } else { char }).take(100).collect();
    text.trim().to_owned()
}
