//! The format flags of a target: those that the file declares, and those derived from them.

use super::section::Section;
use crate::model::OutputFormat;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format flag of a format: the arguments that select it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", try_from = "RawFormatFlag")]
pub enum FormatFlag {
    /// Neither declared nor derivable from the other formats.
    #[default]
    #[serde(rename = "undeclared")]
    Unspecified,
    /// The target does not have the format (`false`).
    #[serde(rename = "lacking")]
    Absent,
    /// These arguments select the format.
    #[serde(untagged)]
    Given(Vec<String>),
}

/// A [`FormatFlag`] in a configuration or recording.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawFormatFlag {
    Exists(bool),
    Name(String),
    With(Vec<String>),
}

impl TryFrom<RawFormatFlag> for FormatFlag {
    type Error = &'static str;

    fn try_from(raw: RawFormatFlag) -> Result<Self, &'static str> {
        match raw {
            RawFormatFlag::With(args) => Ok(Self::Given(args)),
            RawFormatFlag::Exists(false) => Ok(Self::Absent),
            RawFormatFlag::Name(name) if name == "lacking" => Ok(Self::Absent),
            RawFormatFlag::Name(name) if name == "undeclared" => Ok(Self::Unspecified),
            RawFormatFlag::Exists(true) | RawFormatFlag::Name(_) => Err("expected arguments, or `false`"),
        }
    }
}

impl FormatFlag {
    /// Returns the arguments, if the format flag is given.
    pub fn args(&self) -> Option<&[String]> {
        match self {
            Self::Given(args) => Some(args),
            Self::Unspecified | Self::Absent => None,
        }
    }
}

/// The format flag of each format. The default is `--output FORMAT`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormatFlags {
    /// Text for people.
    pub text: FormatFlag,
    /// One JSON document.
    pub json: FormatFlag,
    /// JSON Lines: one JSON object per line.
    pub jsonl: FormatFlag,
    /// No format flag is declared: `--output` is assumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
}

impl Default for FormatFlags {
    fn default() -> Self {
        Self::from_declared(&BTreeMap::new(), OutputFormat::Text)
    }
}

impl FormatFlags {
    /// Returns the format flag of `format`.
    pub const fn get(&self, format: OutputFormat) -> &FormatFlag {
        match format {
            OutputFormat::Text => &self.text,
            OutputFormat::Json => &self.json,
            OutputFormat::Jsonl => &self.jsonl,
        }
    }

    /// Returns the arguments that select `format`; `None` if it is missing or its format flag is unspecified.
    pub fn args(&self, format: OutputFormat) -> Option<&[String]> {
        self.get(format).args()
    }

    /// Declares the arguments that select `format`.
    pub fn declare(&mut self, format: OutputFormat, args: Vec<String>) {
        self.set(format, FormatFlag::Given(args));
        self.assumed = false;
    }

    /// Replaces the format flags that are in `declared`.
    pub(super) fn with_declared(mut self, declared: BTreeMap<OutputFormat, FormatFlag>) -> Self {
        for (format, flag) in declared {
            self.assumed &= flag.args().is_none_or(<[String]>::is_empty);
            self.set(format, flag);
        }
        self
    }

    fn set(&mut self, format: OutputFormat, flag: FormatFlag) {
        match format {
            OutputFormat::Text => self.text = flag,
            OutputFormat::Json => self.json = flag,
            OutputFormat::Jsonl => self.jsonl = flag,
        }
    }

    /// Returns the format flags of all formats from those in `declared` and the default format. If the arguments of a
    /// declared format contain its name, replacing the name derives those of the others.
    pub(super) fn from_declared(
        declared: &BTreeMap<OutputFormat, FormatFlag>,
        by_default: OutputFormat,
    ) -> Self {
        use OutputFormat::{Json, Jsonl, Text};
        // Empty arguments show nothing about the other formats.
        let template =
            |format| Some((format, declared.get(&format)?.args().filter(|args| !args.is_empty())?));
        let templates: Vec<(OutputFormat, &[String])> =
            [Json, Jsonl, Text].into_iter().filter_map(template).collect();
        let derived = |format: OutputFormat| {
            if templates.is_empty() {
                return FormatFlag::Given(vec!["--output".to_owned(), format.name().to_owned()]);
            }
            match templates
                .iter()
                .find_map(|(template, args)| with_replaced_name(args, template.name(), format.name()))
            {
                Some(args) => FormatFlag::Given(args),
                None if format == by_default => FormatFlag::Given(Vec::new()),
                None => FormatFlag::Unspecified,
            }
        };
        let flag = |format| declared.get(&format).cloned().unwrap_or_else(|| derived(format));
        Self { text: flag(Text), json: flag(Json), jsonl: flag(Jsonl), assumed: templates.is_empty() }
    }
}

/// Replaces the last `from` in `args`, an entire argument or the value after a `=`, by `to`; `None` if there is none.
fn with_replaced_name(args: &[String], from: &str, to: &str) -> Option<Vec<String>> {
    let ends_with_name =
        |arg: &String| arg.strip_suffix(from).is_some_and(|flag| flag.is_empty() || flag.ends_with('='));
    let index = args.iter().rposition(ends_with_name)?;
    let mut args = args.to_vec();
    let start = args[index].len() - from.len();
    args[index].replace_range(start.., to);
    Some(args)
}

/// Removes the table `formats` from a section, and returns it. Each format has its arguments or `false`.
pub(super) fn take(section: &mut Section<'_>) -> Option<BTreeMap<OutputFormat, FormatFlag>> {
    let value = section.get("formats")?;
    let formats: BTreeMap<OutputFormat, FormatFlag> =
        serde_json::from_value(section.take("formats")?).ok()?;
    if OutputFormat::ALL.iter().all(|format| formats.get(format) == Some(&FormatFlag::Absent)) {
        return value.report("all formats are `false`; expected at least one format");
    }
    Some(formats)
}

/// Placeholder for the format flag in the arguments of a probe.
pub const FORMAT_PLACEHOLDER: &str = "{format}";

/// Inserts a format flag (`flag_args`) into `args`: in place of `"{format}"`, else before the first `--`, else at the end.
pub fn insert_format_flag(args: &[String], flag_args: &[String]) -> Vec<String> {
    let flag_position = args.iter().position(|arg| arg == FORMAT_PLACEHOLDER);
    let end = || args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (before, after) = match flag_position {
        Some(index) => (&args[..index], &args[index + 1..]),
        None => args.split_at(end()),
    };
    [before, flag_args, after].concat()
}
