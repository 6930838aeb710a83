//! Selects the format flags in a generated configuration: the flags of most commands for the target, and different
//! flags for single commands.

use crate::config::FormatFlag;
use crate::model::OutputFormat;
use crate::targets::commands::{CommandTree, LeafCommand};
use crate::targets::help::FormatArgs;
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl FormatArgs {
    /// Returns the format flags as template values. The arguments of a format are null if it has no flag. Since
    /// principle 2 requires both JSON formats, the flag of an undocumented one is derived from the other:
    /// `--output jsonl` from `--output json`, `--jsonl` from `--json`.
    pub(super) fn template_value(&self) -> Value {
        let Self { text, json, jsonl, json_by_default } = self;
        let assumed = |other: &Option<Vec<String>>, from: &str, to: &str| {
            let (last, args) = other.as_deref()?.split_last()?;
            let last = format!("{}{to}", last.strip_suffix(from)?);
            let is_known = [text, json, jsonl].into_iter().flatten().any(|args| args.last() == Some(&last));
            (!is_known).then(|| [args, &[last]].concat())
        };
        let entry = |format, own: &Option<Vec<String>>, other, from| {
            let args = own.clone().or_else(|| assumed(other, from, format));
            json!({ "format": format, "args": args, "in_help": own.is_some() })
        };
        json!({
            "data": [entry("json", json, jsonl, "jsonl"), entry("jsonl", jsonl, json, "json")],
            "text": text.clone().or_else(|| (!json_by_default).then(Vec::new)),
            "json_by_default": json_by_default,
        })
    }

    /// Returns whether two commands select all formats by the same arguments.
    fn has_same_flags(&self, other: &Self) -> bool {
        (&self.text, &self.json, &self.jsonl) == (&other.text, &other.json, &other.jsonl)
    }
}

/// Returns the format flags that most commands have; if several are equally common, those of the first command. If no
/// command has any, returns those on the main help page; `None` if that has none either.
pub(super) fn target_formats(commands: &CommandTree) -> Option<&FormatArgs> {
    let all: Vec<&FormatArgs> = commands.leaves.iter().filter_map(|call| call.formats.as_ref()).collect();
    let count = |formats: &FormatArgs| all.iter().filter(|other| other.has_same_flags(formats)).count();
    let most = all.iter().rev().max_by_key(|formats| count(formats)).copied();
    most.or_else(|| Some(&commands.help.formats).filter(|formats| formats.have_json()))
}

/// Returns the format flags of a command as template values if they differ from those of the target; else `None`.
pub(super) fn call_formats(call: &LeafCommand, target: Option<&FormatArgs>) -> Option<Value> {
    let (own, target) = (call.formats.as_ref()?, target?);
    (!own.has_same_flags(target)).then(|| own.template_value())
}

/// Returns the format flags that a probe declares itself as template values; `None` if it declares none for JSON.
pub(super) fn declared_formats(flags: &BTreeMap<OutputFormat, FormatFlag>) -> Option<Value> {
    let args = |format| flags.get(&format).and_then(FormatFlag::args);
    let entry = |format: OutputFormat| json!({ "format": format.name(), "args": args(format) });
    let json = [OutputFormat::Json, OutputFormat::Jsonl];
    let has_json = json.iter().any(|format| args(*format).is_some());
    has_json.then(|| json!({ "data": json.map(entry), "text": args(OutputFormat::Text).unwrap_or_default() }))
}
