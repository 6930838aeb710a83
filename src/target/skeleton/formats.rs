//! How formats are asked for: what most commands have, for the target, and what others have, for their probes.

use super::toml_lines::{array, line};
use crate::target::commands::{Call, CallFormats, Commands};

/// How the target is asked for formats; none where no help page says so.
pub(super) struct TargetFormats(Option<CallFormats>);

impl CallFormats {
    /// Whether two commands are asked alike, wherever the arguments go.
    fn is_alike(&self, other: &Self) -> bool {
        (&self.text, &self.json, &self.jsonl) == (&other.text, &other.json, &other.jsonl)
    }

    /// The arguments for each format, `false` where there is none.
    fn values(&self) -> [(&'static str, String); 3] {
        let value =
            |asking: &Option<Vec<String>>| asking.as_ref().map_or("false".to_owned(), |args| array(args));
        let text = match (&self.text, self.json_by_default) {
            (None, false) => "[]".to_owned(),
            (text, _) => value(text),
        };
        [("json", value(&self.json)), ("jsonl", value(&self.jsonl)), ("text", text)]
    }
}

impl TargetFormats {
    pub(super) fn of(commands: &Commands) -> Self {
        let all: Vec<&CallFormats> = commands.calls.iter().filter_map(|call| call.formats.as_ref()).collect();
        let count = |formats: &CallFormats| all.iter().filter(|other| other.is_alike(formats)).count();
        // The first of those that most commands have.
        let most = all.iter().rev().max_by_key(|formats| count(formats));
        let help = &commands.help;
        let own = CallFormats::of(help);
        Self(most.map(|formats| (*formats).clone()).or(own))
    }

    pub(super) fn write(&self, text: &mut String) {
        let Some(formats) = &self.0 else {
            line(text, "# Its help names no JSON format. If it has one, say how it is asked for:");
            line(text, "#formats.json = [\"--format\", \"json\"]    # default: --output json");
            line(text, "#formats.jsonl = false    # it has no such format");
            return;
        };
        let lacks = |format| format!("    # its help names no {format}");
        for (format, value) in formats.values() {
            let note = match (format, value.as_str()) {
                ("jsonl", "false") => lacks("format of JSON Lines"),
                ("json", "false") => lacks("single JSON document"),
                ("text", "[]") => "    # what comes without a flag".to_owned(),
                ("json", _) => "    # how a format is asked for, from its help".to_owned(),
                _ => String::new(),
            };
            line(text, &format!("formats.{format} = {value}{note}"));
        }
        if formats.json_by_default {
            line(text, "default_format = \"json\"    # what comes without a flag");
        }
    }

    /// The `formats` of a probe of this command, where they are not the target's.
    pub(super) fn of_call(&self, call: &Call) -> Option<String> {
        if call.other_meaning {
            return Some(
                "formats = [\"text\"]    # in its own help, the flag of the formats means something else"
                    .to_owned(),
            );
        }
        let (own, target) = (call.formats.as_ref()?, self.0.as_ref()?);
        if own.is_alike(target) {
            return None;
        }
        let values = own.values().map(|(format, value)| format!("{format} = {value}"));
        Some(format!("formats = {{ {} }}", values.join(", ")))
    }
}
