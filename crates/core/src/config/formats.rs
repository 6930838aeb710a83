//! How a target is asked for its formats: what the file says, and what follows from that.

use super::section::Section;
use crate::model::OutputFormat;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a format is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", try_from = "Written")]
pub enum Asking {
    /// Nobody says how, and it cannot be told from the other formats.
    #[default]
    Undeclared,
    /// There is no such format (`false`).
    Lacking,
    /// With these arguments.
    #[serde(untagged)]
    With(Vec<String>),
}

/// An [`Asking`] as the configuration has it, or a recording.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Exists(bool),
    Name(String),
    With(Vec<String>),
}

impl TryFrom<Written> for Asking {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, &'static str> {
        match written {
            Written::With(args) => Ok(Self::With(args)),
            Written::Exists(false) => Ok(Self::Lacking),
            Written::Name(name) if name == "lacking" => Ok(Self::Lacking),
            Written::Name(name) if name == "undeclared" => Ok(Self::Undeclared),
            Written::Exists(true) | Written::Name(_) => Err("expected arguments, or `false`"),
        }
    }
}

impl Asking {
    /// The arguments, where there are any to ask with.
    pub fn args(&self) -> Option<&[String]> {
        match self {
            Self::With(args) => Some(args),
            Self::Undeclared | Self::Lacking => None,
        }
    }
}

/// How each format is asked for. The default is `--output FORMAT`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Formats {
    /// For people.
    pub text: Asking,
    /// One JSON document.
    pub json: Asking,
    /// One JSON object a line.
    pub jsonl: Asking,
    /// Nobody says with which flag: it is assumed to be `--output`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
}

impl Default for Formats {
    fn default() -> Self {
        Self::complete(&BTreeMap::new(), OutputFormat::Text)
    }
}

impl Formats {
    /// How `format` is asked for.
    pub const fn of(&self, format: OutputFormat) -> &Asking {
        match format {
            OutputFormat::Text => &self.text,
            OutputFormat::Json => &self.json,
            OutputFormat::Jsonl => &self.jsonl,
        }
    }

    /// The arguments that ask for `format`; none where it is lacking or not declared.
    pub fn args(&self, format: OutputFormat) -> Option<&[String]> {
        self.of(format).args()
    }

    /// Says that `format` is asked for with these arguments.
    pub fn declare(&mut self, format: OutputFormat, args: Vec<String>) {
        self.set(format, Asking::With(args));
        self.assumed = false;
    }

    /// The same, but for what is `declared`.
    pub(super) fn overlaid(mut self, declared: BTreeMap<OutputFormat, Asking>) -> Self {
        for (format, asking) in declared {
            self.assumed &= asking.args().is_none_or(<[String]>::is_empty);
            self.set(format, asking);
        }
        self
    }

    fn set(&mut self, format: OutputFormat, asking: Asking) {
        match format {
            OutputFormat::Text => self.text = asking,
            OutputFormat::Json => self.json = asking,
            OutputFormat::Jsonl => self.jsonl = asking,
        }
    }

    /// All formats, from those that are `declared` and the one that comes without a flag. Where the
    /// arguments of a declared one hold its name, those of the others are made by replacing it.
    pub(super) fn complete(declared: &BTreeMap<OutputFormat, Asking>, by_default: OutputFormat) -> Self {
        use OutputFormat::{Json, Jsonl, Text};
        // No arguments at all say nothing about the other formats.
        let asked = |format| Some((format, declared.get(&format)?.args().filter(|args| !args.is_empty())?));
        let models: Vec<(OutputFormat, &[String])> =
            [Json, Jsonl, Text].into_iter().filter_map(asked).collect();
        let derived = |format: OutputFormat| {
            if models.is_empty() {
                return Asking::With(vec!["--output".to_owned(), format.name().to_owned()]);
            }
            match models.iter().find_map(|(model, args)| renamed(args, model.name(), format.name())) {
                Some(args) => Asking::With(args),
                None if format == by_default => Asking::With(Vec::new()),
                None => Asking::Undeclared,
            }
        };
        let asking = |format| declared.get(&format).cloned().unwrap_or_else(|| derived(format));
        Self { text: asking(Text), json: asking(Json), jsonl: asking(Jsonl), assumed: models.is_empty() }
    }
}

/// `args` with the word `from`, alone or after a `=`, replaced by `to`; none where it is not among them.
fn renamed(args: &[String], from: &str, to: &str) -> Option<Vec<String>> {
    let holds =
        |arg: &String| arg.strip_suffix(from).is_some_and(|flag| flag.is_empty() || flag.ends_with('='));
    let at = args.iter().rposition(holds)?;
    let mut args = args.to_vec();
    let flag = args[at].len() - from.len();
    args[at].replace_range(flag.., to);
    Some(args)
}

/// Takes the table of formats of a section, each with its arguments or `false`.
pub(super) fn take(section: &mut Section<'_>) -> Option<BTreeMap<OutputFormat, Asking>> {
    let value = section.get("formats")?;
    let formats: BTreeMap<OutputFormat, Asking> = serde_json::from_value(section.take("formats")?).ok()?;
    if OutputFormat::ALL.iter().all(|format| formats.get(format) == Some(&Asking::Lacking)) {
        return value.fault("every format is `false`; expected at least one that exists");
    }
    Some(formats)
}

/// The element of a probe's arguments that stands for the arguments that ask for a format.
pub const FORMAT_PLACE: &str = "{format}";

/// `args` with the arguments `asking` for a format in their place: where `"{format}"` stands, else
/// before the first `--`, else at the end.
pub fn place_format(args: &[String], asking: &[String]) -> Vec<String> {
    let marked = args.iter().position(|arg| arg == FORMAT_PLACE);
    let end = || args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (before, after) = match marked {
        Some(at) => (&args[..at], &args[at + 1..]),
        None => args.split_at(end()),
    };
    [before, asking, after].concat()
}
