//! How formats are asked for: what most commands have, for the target, and what others have, for their probes.

use super::toml_lines::{array, line};
use crate::targets::commands::{Call, Commands};
use crate::targets::help::FormatArgs;

/// How the target is asked for formats; none where no help page says so.
pub(super) struct TargetFormats(Option<FormatArgs>);

impl FormatArgs {
    /// Whether two commands are asked alike.
    fn is_alike(&self, other: &Self) -> bool {
        (&self.text, &self.json, &self.jsonl) == (&other.text, &other.json, &other.jsonl)
    }

    /// How it is asked for `json` and `jsonl`. One that the help does not name is asked for as the other is, since
    /// principle 2 requires both: `--output jsonl` after `--output json`, `--jsonl` after `--json`.
    fn data(&self) -> [(&'static str, Named); 2] {
        let named = |own: &Option<Vec<String>>, other: &Option<Vec<String>>, from: &str, to: &str| {
            if let Some(args) = own {
                return Named::InHelp(args.clone());
            }
            let renamed = other.as_deref().and_then(<[String]>::split_last).and_then(|(last, args)| {
                let last = format!("{}{to}", last.strip_suffix(from)?);
                let mut known = [&self.text, &self.json, &self.jsonl].into_iter().flatten();
                let is_known = known.any(|known| known.last() == Some(&last));
                (!is_known).then(|| [args, &[last]].concat())
            });
            renamed.map_or(Named::Nowhere, Named::Assumed)
        };
        let (json, jsonl) = (&self.json, &self.jsonl);
        [("json", named(json, jsonl, "jsonl", "json")), ("jsonl", named(jsonl, json, "json", "jsonl"))]
    }

    /// How it is asked for text.
    fn text_value(&self) -> String {
        match &self.text {
            Some(args) => array(args),
            None if self.json_by_default => "false".to_owned(),
            None => "[]".to_owned(),
        }
    }
}

/// Where it is said how a format is asked for.
enum Named {
    /// The help says it.
    InHelp(Vec<String>),
    /// It is assumed to be asked for as another format is.
    Assumed(Vec<String>),
    /// Nothing tells.
    Nowhere,
}

impl Named {
    /// The value of the key.
    fn value(&self) -> String {
        match self {
            Self::InHelp(args) | Self::Assumed(args) => array(args),
            Self::Nowhere => "false".to_owned(),
        }
    }
}

impl TargetFormats {
    pub(super) fn of(commands: &Commands) -> Self {
        let all: Vec<&FormatArgs> = commands.calls.iter().filter_map(|call| call.formats.as_ref()).collect();
        let count = |formats: &FormatArgs| all.iter().filter(|other| other.is_alike(formats)).count();
        // The first of those that most commands have.
        let most = all.iter().rev().max_by_key(|formats| count(formats));
        let own = Some(&commands.help.formats).filter(|formats| formats.ask_for_json());
        Self(most.copied().or(own).cloned())
    }

    pub(super) fn write(&self, text: &mut String) {
        let Some(formats) = &self.0 else {
            line(text, "# Its help names no JSON format. If it has one, say how it is asked for:");
            line(text, "#formats.json = [\"--format\", \"json\"]    # default: --output json");
            line(text, "#formats.jsonl = false    # it has no such format");
            return;
        };
        for (format, named) in formats.data() {
            let note = match named {
                Named::InHelp(_) if format == "json" => "    # how a format is asked for, from its help",
                Named::InHelp(_) => "",
                Named::Assumed(_) => "    # not in its help, but required by principle 2",
                Named::Nowhere => {
                    "    # not in its help, but required by principle 2: change this once it exists"
                }
            };
            line(text, &format!("formats.{format} = {}{note}", named.value()));
        }
        let value = formats.text_value();
        let note = if value == "[]" { "    # what comes without a flag" } else { "" };
        line(text, &format!("formats.text = {value}{note}"));
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
        let data = own.data().map(|(format, named)| format!("{format} = {}", named.value()));
        Some(format!("formats = {{ {}, text = {} }}", data.join(", "), own.text_value()))
    }
}
