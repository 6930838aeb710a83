//! The configuration that `agentnative init` writes. Its text is in `agentnative.toml.jinja`; here are the facts that
//! fill it.

mod features;
mod formats;
mod next;

use super::commands::{Call, Commands};
use super::effect::Effect;
use super::help::{FormatArgs, Operand};
use crate::config::{FORMAT_PLACE, ProbeConfig, TargetConfig};
use agentnative_contract::error::{Error, Result};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, Value};
use serde_json::json;
use std::cmp::Reverse;
use std::collections::BTreeMap;

const TEMPLATE: &str = include_str!("agentnative.toml.jinja");

/// More commands than this are only counted.
const MOST: usize = 40;

/// What a configuration is written from.
#[derive(Debug)]
pub struct Skeleton<'a> {
    /// The target's name.
    pub name: &'a str,
    /// Its command; none where it is found from a manifest.
    pub command: Option<&'a [String]>,
    /// What its help pages say.
    pub commands: &'a Commands,
    /// The exit codes that its help names, with their meaning.
    pub exit_codes: &'a BTreeMap<i32, String>,
    /// The probes that its author confirmed.
    pub probes: &'a [ProbeConfig],
}

impl Call {
    /// The call for people, with what it needs: `show <id>`.
    pub fn needed(&self) -> String {
        let mut words = self.args(&placeholder);
        words.retain(|word| word != FORMAT_PLACE);
        plain(&words.join(" "))
    }

    /// The call for people, with what it needs and takes: `show <id> [page]`.
    pub fn usage(&self) -> String {
        let words = [self.needed()].into_iter().filter(|needed| !needed.is_empty()).chain(self.takes());
        words.collect::<Vec<_>>().join(" ")
    }

    /// The positional arguments that it takes besides, for people.
    fn takes(&self) -> Vec<String> {
        self.takes.iter().map(|operand| format!("[{}]", plain(&operand.name))).collect()
    }

    /// The word of these arguments that stands for a value of this call and is none.
    pub fn placeholder_in<'a>(&self, args: &'a [String]) -> Option<&'a String> {
        let open = self.open();
        let stands = |arg: &&String| open.iter().any(|it| **arg == placeholder(it) || **arg == missing(it));
        args.iter().find(stands)
    }

    /// Its probe, with these values for what it needs.
    pub fn probe(&self, target: &str, values: &[String]) -> ProbeConfig {
        let open: Vec<_> = self.open().into_iter().cloned().collect();
        let value = |operand: &_| {
            let at = open.iter().position(|other| other == operand);
            at.and_then(|at| values.get(at).cloned()).unwrap_or_default()
        };
        let args = self.args(&value);
        let words: Vec<&str> = args.iter().map(String::as_str).filter(|word| *word != FORMAT_PLACE).collect();
        let name = if words.is_empty() { plain(target) } else { words.join(" ") };
        ProbeConfig::new(name, args)
    }
}

impl Skeleton<'_> {
    /// Returns the text of the configuration. The confirmed probes are declared; everything else that the help tells of
    /// is a comment. It is valid as it is and with all comments turned on, and the same for the same input.
    ///
    /// # Errors
    /// General, if the template cannot be filled.
    pub fn text(&self) -> Result<String> {
        let unfilled = |error| Error::general(format!("cannot make a configuration: {error:#}"));
        let mut environment = Environment::new();
        let mut syntax = SyntaxConfig::builder();
        let syntax = syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
        environment.set_syntax(syntax.map_err(unfilled)?);
        environment.add_filter("toml", |value: Value| toml(&value));
        let template = environment.template_from_str(TEMPLATE).map_err(unfilled)?;
        template.render(Value::from(Serde(self.facts()))).map_err(unfilled)
    }

    /// Returns what the template is filled with.
    fn facts(&self) -> serde_json::Value {
        let formats = formats::of_target(self.commands);
        let default = TargetConfig::default().conventions;
        let used =
            |call: &&Call| self.probes.iter().any(|probe| self.call_of(&probe.call.args) == Some(call));
        let open: Vec<&Call> = self.commands.calls.iter().filter(|call| !used(call)).collect();
        let of_effect = |effect| open.iter().filter(move |call| call.effect() == effect);
        let named =
            [Effect::Reads, Effect::Unknown, Effect::Changes].into_iter().flat_map(of_effect).take(MOST);
        json!({
            "name": plain(self.name),
            "command": self.command,
            "formats": formats.map(FormatArgs::facts),
            "codes": self.codes(),
            "default_codes": default.exit_codes,
            "names_codes": self.exit_codes.len() > 1,
            "usage": self.usage(),
            "default_usage": default.usage,
            "schema": self.commands.schema,
            "has": self.features(),
            "probes": self.probes.iter().map(|probe| self.confirmed(probe, formats)).collect::<Vec<_>>(),
            "calls": named.map(|call| self.suggested(call, formats)).collect::<Vec<_>>(),
            "more": open.len().saturating_sub(MOST),
            "unread": self.commands.unread.as_deref().map(plain),
            "failures": self.missing().into_iter().map(|code| self.failure(code)).collect::<Vec<_>>(),
        })
    }

    /// A probe that the author confirmed.
    fn confirmed(&self, probe: &ProbeConfig, formats: Option<&FormatArgs>) -> serde_json::Value {
        let call = self.call_of(&probe.call.args);
        json!({
            "name": probe.name,
            "args": placed(&probe.call.args, call),
            "exit": probe.exit,
            "other_meaning": call.is_some_and(|call| call.other_meaning),
            "formats": call.and_then(|call| formats::of_call(call, formats)),
        })
    }

    /// A probe of a command.
    fn suggested(&self, call: &Call, formats: Option<&FormatArgs>) -> serde_json::Value {
        let takes = call.takes().join(" ");
        let takes = if takes.is_empty() { takes } else { format!("takes {takes}") };
        let about = [plain(&call.about), takes].into_iter().filter(|words| !words.is_empty());
        let open = call.open().into_iter().map(|operand| format!("<{}>", plain(&operand.name)));
        json!({
            "about": about.collect::<Vec<_>>().join("; "),
            "name": if call.words.is_empty() { plain(self.name) } else { call.name() },
            "args": call.args(&placeholder),
            "open": open.collect::<Vec<_>>(),
            "reads": call.reads(),
            "changes": features::changes(call),
            "destroys": features::destroys(call),
            "lists": features::lists(call),
            "other_meaning": call.other_meaning,
            "formats": formats::of_call(call, formats),
        })
    }

    /// The codes of the target: those that its help names, else the default; and those of its probes.
    fn codes(&self) -> Vec<i32> {
        let mut codes: Vec<i32> = match self.exit_codes.len() {
            0 | 1 => TargetConfig::default().conventions.exit_codes,
            _ => [0].into_iter().chain(self.exit_codes.keys().copied()).collect(),
        };
        codes.extend(self.probes.iter().map(|probe| probe.exit));
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// Its code for invalid usage.
    fn usage(&self) -> i32 {
        let default = TargetConfig::default().conventions.usage;
        let is_usage = |about: &str| {
            let about = about.to_lowercase();
            ["usage", "argument", "command line", "wrong call"].iter().any(|word| about.contains(word))
        };
        let named = self.exit_codes.iter().find(|(code, about)| **code != 0 && is_usage(about));
        match self.codes().contains(&default) {
            true => default,
            false => named.map_or(default, |(code, _)| *code),
        }
    }

    /// The codes that no probe ends with. Those above 128 are of signals, which no arguments bring about.
    fn missing(&self) -> Vec<i32> {
        let usage = self.usage();
        let probed = |code: i32| self.probes.iter().any(|probe| probe.exit == code);
        let is_missing = |code: &i32| (1..128).contains(code) && *code != usage && !probed(*code);
        self.codes().into_iter().filter(is_missing).collect()
    }

    /// The command that a probe calls: the first that is among its arguments, and the longest there.
    fn call_of(&self, args: &[String]) -> Option<&Call> {
        let args: Vec<&String> = args.iter().filter(|arg| *arg != FORMAT_PLACE).collect();
        let found = self.commands.calls.iter().filter_map(|call| {
            let Some(first) = call.words.first() else { return Some((Reverse(usize::MAX), 0, call)) };
            let at = args.iter().position(|arg| *arg == first)?;
            let follows = call.words.len() <= args.len() - at
                && call.words.iter().zip(&args[at..]).all(|(word, arg)| word == *arg);
            follows.then_some((Reverse(at), call.words.len(), call))
        });
        found.max_by_key(|(at, length, _)| (*at, *length)).map(|(_, _, call)| call)
    }

    /// A call of something that does not exist.
    fn failing_call(&self) -> Option<Vec<String>> {
        let one_value = |call: &&Call| call.reads() && call.open().len() == 1;
        self.commands.calls.iter().find(one_value).map(|call| call.args(&missing))
    }

    /// A probe that ends with a code.
    fn failure(&self, code: i32) -> serde_json::Value {
        let named = self.exit_codes.get(&code).map(|about| plain(about)).filter(|about| !about.is_empty());
        let (name, meaning) = match code {
            1 => ("not-found", ", general error: ask for something that does not exist"),
            77 => ("signed-out", ", authentication or permission: no login, an invalid key"),
            78 => ("bad-config", ", configuration: an invalid configuration file"),
            _ => ("", ""),
        };
        // A call that this target does not have would show another failure.
        let args = self.failing_call().filter(|_| code == 1);
        json!({
            "about": format!("{code}{}", named.map_or_else(|| meaning.to_owned(), |about| format!(": {about}"))),
            "name": if name.is_empty() { format!("exit-{code}") } else { name.to_owned() },
            "exit": code,
            "args": args.unwrap_or_else(|| vec!["<arguments>".to_owned()]),
        })
    }
}

/// What stands for a value that only its user knows.
fn placeholder(operand: &Operand) -> String {
    format!("<{}>", operand.name)
}

/// What stands for a value that leads to a failure.
fn missing(operand: &Operand) -> String {
    format!("<{} that does not exist>", operand.name)
}

/// The arguments of a confirmed probe, with the place of the format where the pages tell it.
fn placed(args: &[String], call: Option<&Call>) -> Vec<String> {
    let place = call.and_then(|call| {
        let at = call.format_place?;
        let begins = call.words.iter().zip(args).all(|(word, arg)| word == arg);
        (begins && at < args.len()).then_some(at)
    });
    let mut args = args.to_vec();
    if let Some(at) = place.filter(|_| !args.iter().any(|arg| arg == FORMAT_PLACE)) {
        args.insert(at, FORMAT_PLACE.to_owned());
    }
    args
}

/// Returns a string, a list or a number as TOML. A list that is not there is `false`.
fn toml(value: &Value) -> String {
    match value.kind() {
        ValueKind::None => "false".to_owned(),
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

/// Words of a stranger for a comment: one line without control characters, not too long.
fn plain(text: &str) -> String {
    let text: String =
        text.chars().map(|char| if char.is_control() { ' ' } else { char }).take(100).collect();
    text.trim().to_owned()
}
