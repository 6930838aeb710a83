//! Reads specifications in the format of `usage` (usage.jdx.dev): KDL, or the JSON that `usage generate json` prints.

use super::model::{ArgumentInterface, CommandInterface, InterfaceReader, OptionInterface, ProgramInterface};
use agentnative_contract::error::{Error, Issue, Place, Result};
use kdl::{KdlDocument, KdlNode, KdlValue};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of levels of commands.
const MAX_DEPTH: usize = 20;

/// A command of a specification. The exported JSON has these fields; the nodes of KDL have the same names, or singular
/// ones.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SpecCommand {
    help: Option<String>,
    hide: bool,
    deprecated: Option<Value>,
    aliases: BTreeSet<String>,
    hidden_aliases: BTreeSet<String>,
    flags: Vec<SpecFlag>,
    args: Vec<SpecArg>,
    subcommands: BTreeMap<String, Self>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SpecFlag {
    help: Option<String>,
    short: Vec<String>,
    long: Vec<String>,
    required: bool,
    deprecated: Option<Value>,
    var: bool,
    count: bool,
    hide: bool,
    global: bool,
    value_optional: bool,
    arg: Option<SpecArg>,
    default: Vec<String>,
    negate: Option<String>,
    env: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SpecArg {
    name: String,
    required: bool,
    var: bool,
    choices: Option<SpecChoices>,
    default: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SpecChoices {
    choices: BTreeSet<String>,
}

/// Reads the exported JSON of a specification; `None` if the value is no specification.
pub(super) fn from_json(value: &Value) -> Option<ProgramInterface> {
    let command = value.get("cmd")?;
    command.get("subcommands").or(command.get("flags"))?;
    Some(interface(SpecCommand::deserialize(command).ok()?))
}

/// Reads a specification in KDL.
///
/// # Errors
/// A configuration error with the position if the text is not KDL.
pub(super) fn from_kdl(path: &Path, text: &str) -> Result<ProgramInterface> {
    let document: KdlDocument = text.parse().map_err(|error: kdl::KdlError| {
        let issues = error.diagnostics.iter().map(|diagnostic| {
            let before = text.get(..diagnostic.span.offset()).unwrap_or(text);
            let column = before.chars().rev().take_while(|char| *char != '\n').count() + 1;
            let line = before.matches('\n').count() + 1;
            let message = diagnostic.message.clone().unwrap_or_else(|| "not KDL".to_owned());
            Issue { place: Some(Place { file: path.to_owned(), line, column }), message }
        });
        Error::config(format!("{} is not valid KDL", path.display())).issues(issues.collect())
    })?;
    Ok(interface(command(Some(&document), &[], 0)))
}

/// Returns the command that the nodes of a document describe. `properties` are those of its own node.
fn command(document: Option<&KdlDocument>, properties: &[(&str, &KdlValue)], depth: usize) -> SpecCommand {
    let mut command = SpecCommand::default();
    let set = |command: &mut SpecCommand, name: &str, value: &KdlValue| match name {
        "help" => command.help = text(value),
        "hide" => command.hide = value.as_bool().unwrap_or_default(),
        "deprecated" => command.deprecated = value.as_string().map(Value::from),
        _ => {}
    };
    properties.iter().for_each(|(name, value)| set(&mut command, name, value));
    let flag_sets = document.into_iter().flat_map(KdlDocument::nodes);
    for node in flag_sets {
        let words: Vec<String> = arguments(node).filter_map(text).collect();
        match (node.name().value(), words.first()) {
            ("cmd", Some(name)) if depth < MAX_DEPTH => {
                let own = self::command(node.children(), &named(node), depth + 1);
                command.subcommands.insert(name.clone(), own);
            }
            ("flag", Some(form)) => command.flags.push(flag(form, node)),
            ("arg", Some(form)) => command.args.push(arg(form, node)),
            ("alias", Some(_)) => {
                let is_hidden = node.get("hide").and_then(KdlValue::as_bool) == Some(true);
                let names = if is_hidden { &mut command.hidden_aliases } else { &mut command.aliases };
                names.extend(words);
            }
            (name, _) => {
                if let Some(value) = arguments(node).next() {
                    set(&mut command, name, value);
                }
            }
        }
    }
    command
}

/// Returns the flag with the names and the value in `form`, such as `-o --output <FILE>`.
fn flag(form: &str, node: &KdlNode) -> SpecFlag {
    let mut flag = SpecFlag::default();
    for word in form.replace('\u{2026}', "...").split_whitespace() {
        let bare = word.trim_end_matches("...");
        let repeats = bare.len() < word.len();
        let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value)));
        let name = name.trim_end_matches('[');
        if let Some(long) = name.strip_prefix("--") {
            flag.long.push(long.to_owned());
        } else if let Some(short) = name.strip_prefix('-') {
            flag.short.push(short.to_owned());
        } else if !bare.is_empty() {
            flag.arg = Some(placeholder(word));
        }
        flag.value_optional |= name.len() < bare.find('=').unwrap_or_default();
        flag.arg = value.map(placeholder).or(flag.arg);
        flag.var |= repeats;
    }
    for (name, value) in settings(node) {
        match name {
            "help" => flag.help = text(value),
            "required" => flag.required = value.as_bool().unwrap_or_default(),
            "deprecated" => flag.deprecated = value.as_string().map(Value::from),
            "var" => flag.var = value.as_bool().unwrap_or_default(),
            "count" => flag.count = value.as_bool().unwrap_or_default(),
            "hide" => flag.hide = value.as_bool().unwrap_or_default(),
            "global" => flag.global = value.as_bool().unwrap_or_default(),
            "value_optional" => flag.value_optional = value.as_bool().unwrap_or_default(),
            "default" => flag.default = text(value).into_iter().collect(),
            "negate" => flag.negate = text(value),
            "env" => flag.env = text(value),
            _ => {}
        }
    }
    let children = node.children().into_iter().flat_map(KdlDocument::nodes);
    for child in children.filter(|child| child.name().value() == "arg") {
        flag.arg = arguments(child).next().and_then(text).map(|form| arg(&form, child)).or(flag.arg);
    }
    if let (Some(arg), Some(choices)) = (&mut flag.arg, choices(node)) {
        arg.choices = Some(choices);
    }
    flag
}

/// Returns the positional argument with the placeholder `form`, such as `[file]...`.
fn arg(form: &str, node: &KdlNode) -> SpecArg {
    let mut arg = placeholder(form);
    for (name, value) in settings(node) {
        match name {
            "required" => arg.required = value.as_bool().unwrap_or_default(),
            "var" => arg.var = value.as_bool().unwrap_or_default(),
            "default" => arg.default = text(value).into_iter().collect(),
            _ => {}
        }
    }
    arg.choices = choices(node);
    arg
}

fn placeholder(form: &str) -> SpecArg {
    let form = form.strip_prefix("-- ").unwrap_or(form);
    SpecArg {
        name: form.trim_matches(|char: char| "[]<>.\u{2026}".contains(char)).to_owned(),
        required: !form.starts_with('['),
        var: form.contains("...") || form.contains('\u{2026}'),
        ..SpecArg::default()
    }
}

fn choices(node: &KdlNode) -> Option<SpecChoices> {
    let children = node.children()?.nodes().iter();
    let choices = children.filter(|child| child.name().value() == "choices").flat_map(arguments);
    let choices: BTreeSet<String> = choices.filter_map(text).collect();
    (!choices.is_empty()).then_some(SpecChoices { choices })
}

/// Returns the arguments of a node, without its properties.
fn arguments(node: &KdlNode) -> impl Iterator<Item = &KdlValue> {
    node.entries().iter().filter(|entry| entry.name().is_none()).map(kdl::KdlEntry::value)
}

/// Returns the properties of a node.
fn named(node: &KdlNode) -> Vec<(&str, &KdlValue)> {
    node.entries().iter().filter_map(|entry| Some((entry.name()?.value(), entry.value()))).collect()
}

/// Returns the properties of a node, and its children with one argument.
fn settings(node: &KdlNode) -> Vec<(&str, &KdlValue)> {
    let children = node.children().into_iter().flat_map(KdlDocument::nodes);
    let children = children.filter_map(|child| Some((child.name().value(), arguments(child).next()?)));
    named(node).into_iter().chain(children).collect()
}

fn text(value: &KdlValue) -> Option<String> {
    match value {
        KdlValue::String(text) => Some(text.clone()),
        KdlValue::Integer(number) => Some(number.to_string()),
        KdlValue::Float(number) => Some(number.to_string()),
        KdlValue::Bool(value) => Some(value.to_string()),
        KdlValue::Null => None,
    }
}

fn interface(root: SpecCommand) -> ProgramInterface {
    let mut commands = BTreeMap::new();
    add(&mut commands, String::new(), root, 0);
    ProgramInterface::new(commands)
}

fn add(commands: &mut BTreeMap<String, CommandInterface>, name: String, spec: SpecCommand, depth: usize) {
    let arguments = spec.args.iter().map(|arg| ArgumentInterface {
        name: arg.name.clone(),
        required: arg.required && arg.default.is_empty(),
        repeatable: arg.var,
        values: allowed_values(Some(arg)),
    });
    let command = CommandInterface {
        reader: Some(InterfaceReader::Usage),
        description: spec.help.unwrap_or_default(),
        aliases: spec.aliases.into_iter().chain(spec.hidden_aliases).collect(),
        hidden: spec.hide,
        deprecated: spec.deprecated.is_some(),
        options: spec.flags.into_iter().filter_map(option).collect(),
        arguments: Some(arguments.collect()),
        ..CommandInterface::default()
    };
    for (word, below) in spec.subcommands.into_iter().filter(|_| depth < MAX_DEPTH) {
        add(commands, super::lookup::join(&name, &word), below, depth + 1);
    }
    commands.insert(name, command);
}

/// Returns an option with its name; `None` if it has no name.
fn option(flag: SpecFlag) -> Option<(String, OptionInterface)> {
    let SpecFlag { long, short, arg, negate, .. } = flag;
    let mut long: Vec<String> = long.into_iter().map(|name| format!("--{name}")).chain(negate).collect();
    let mut short: Vec<String> = short.into_iter().map(|name| format!("-{name}")).collect();
    let names = if long.is_empty() { &mut short } else { &mut long };
    let name = (!names.is_empty()).then(|| names.remove(0))?;
    let option = OptionInterface {
        long: long.into_iter().collect(),
        short: short.into_iter().collect(),
        description: flag.help.unwrap_or_default(),
        value: arg.as_ref().map(|arg| arg.name.clone()),
        value_optional: flag.value_optional || arg.as_ref().is_some_and(|arg| !arg.required),
        values: allowed_values(arg.as_ref()),
        hidden_values: BTreeSet::new(),
        default: flag.default.first().cloned(),
        required: flag.required.then_some(true),
        repeatable: Some(flag.var || flag.count || arg.as_ref().is_some_and(|arg| arg.var)),
        global: flag.global,
        hidden: flag.hide,
        deprecated: flag.deprecated.is_some(),
        variable: flag.env,
    };
    Some((name, option))
}

fn allowed_values(arg: Option<&SpecArg>) -> BTreeSet<String> {
    arg.and_then(|arg| arg.choices.as_ref()).map(|choices| choices.choices.clone()).unwrap_or_default()
}
