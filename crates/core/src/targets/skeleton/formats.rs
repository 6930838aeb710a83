//! How formats are asked for: what most commands have, for the target, and what others have, for their probes.

use crate::targets::commands::{Call, Commands};
use crate::targets::help::FormatArgs;
use serde_json::{Value, json};

impl FormatArgs {
    /// Returns what the template shows of them; arguments are none for a format that there is not. A format that the
    /// help does not name is asked for as the other is, since principle 2 requires both: `--output jsonl` after
    /// `--output json`, `--jsonl` after `--json`.
    pub(super) fn facts(&self) -> Value {
        let Self { text, json, jsonl, json_by_default } = self;
        let assumed = |other: &Option<Vec<String>>, from: &str, to: &str| {
            let (last, args) = other.as_deref()?.split_last()?;
            let last = format!("{}{to}", last.strip_suffix(from)?);
            let is_known = [text, json, jsonl].into_iter().flatten().any(|args| args.last() == Some(&last));
            (!is_known).then(|| [args, &[last]].concat())
        };
        let asked = |format, own: &Option<Vec<String>>, other, from| {
            let args = own.clone().or_else(|| assumed(other, from, format));
            json!({ "format": format, "args": args, "in_help": own.is_some() })
        };
        json!({
            "data": [asked("json", json, jsonl, "jsonl"), asked("jsonl", jsonl, json, "json")],
            "text": text.clone().or_else(|| (!json_by_default).then(Vec::new)),
            "json_by_default": json_by_default,
        })
    }

    /// Whether two commands are asked alike.
    fn is_alike(&self, other: &Self) -> bool {
        (&self.text, &self.json, &self.jsonl) == (&other.text, &other.json, &other.jsonl)
    }
}

/// Returns how the target is asked for formats: as the first of those that most commands have; none where no help
/// page says so.
pub(super) fn of_target(commands: &Commands) -> Option<&FormatArgs> {
    let all: Vec<&FormatArgs> = commands.calls.iter().filter_map(|call| call.formats.as_ref()).collect();
    let count = |formats: &FormatArgs| all.iter().filter(|other| other.is_alike(formats)).count();
    let most = all.iter().rev().max_by_key(|formats| count(formats)).copied();
    most.or_else(|| Some(&commands.help.formats).filter(|formats| formats.ask_for_json()))
}

/// Returns how this command is asked for formats, if it is not asked as the target is.
pub(super) fn of_call(call: &Call, target: Option<&FormatArgs>) -> Option<Value> {
    let (own, target) = (call.formats.as_ref()?, target?);
    (!own.is_alike(target)).then(|| own.facts())
}
