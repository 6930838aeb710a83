//! The format flags of a target: those that the configuration declares, and those that are derived from declared ones.

use super::section::Section;
use crate::model::OutputFormat;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The arguments that select an output format, such as `--output json`, or that spell another option.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", try_from = "RawFormatFlag")]
pub enum FormatFlag {
    /// The arguments are neither declared nor derivable from those of another format.
    #[default]
    #[serde(rename = "undeclared")]
    Unspecified,
    /// The target does not have the format or option; declared with `false`.
    #[serde(rename = "lacking")]
    Absent,
    /// The format flag consists of these arguments.
    #[serde(untagged)]
    Given(Vec<String>),
}

/// A [`FormatFlag`] as a configuration or recording contains it: `false`, a name or arguments.
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
    /// Returns the arguments of [`FormatFlag::Given`]; `None` for any other value.
    pub fn args(&self) -> Option<&[String]> {
        match self {
            Self::Given(args) => Some(args),
            Self::Unspecified | Self::Absent => None,
        }
    }
}

/// The arguments that select each format. The default value is `--output FORMAT`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormatFlags {
    /// Format flag for text for people.
    pub text: FormatFlag,
    /// Format flag for one JSON document.
    pub json: FormatFlag,
    /// Format flag for JSON Lines: one JSON object per line.
    pub jsonl: FormatFlag,
    /// Whether no format flag is declared, so that `--output FORMAT` is only assumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
}

impl Default for FormatFlags {
    fn default() -> Self {
        Self::from_declared(&BTreeMap::new(), OutputFormat::Text)
    }
}

impl FormatFlags {
    /// Returns the arguments that select `format`, or that they are absent or unspecified.
    pub const fn get(&self, format: OutputFormat) -> &FormatFlag {
        match format {
            OutputFormat::Text => &self.text,
            OutputFormat::Json => &self.json,
            OutputFormat::Jsonl => &self.jsonl,
        }
    }

    /// Returns the arguments that select `format`; `None` if the target does not have the format or the arguments are
    /// unspecified.
    pub fn args(&self, format: OutputFormat) -> Option<&[String]> {
        self.get(format).args()
    }

    /// Sets the arguments that select `format`. The format flags then no longer count as assumed.
    pub fn declare(&mut self, format: OutputFormat, args: Vec<String>) {
        self.set(format, FormatFlag::Given(args));
        self.assumed = false;
    }

    /// Returns these format flags, with those in `declared` replaced.
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

    /// Completes the declared format flags. Each other format gets the arguments of a declared format with its own name
    /// in them: `--output json` gives `--output jsonl`. If that is not possible, `by_default`, the format without a
    /// flag, gets no arguments, and any other format is unspecified. If no arguments are declared, `--output FORMAT` is
    /// assumed.
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

/// Replaces the format name `from` in `args` by `to`. The name is an entire argument or follows a `=`, as in
/// `--output=json`; the last one is replaced. Returns `None` if there is none.
fn with_replaced_name(args: &[String], from: &str, to: &str) -> Option<Vec<String>> {
    let ends_with_name =
        |arg: &String| arg.strip_suffix(from).is_some_and(|flag| flag.is_empty() || flag.ends_with('='));
    let index = args.iter().rposition(ends_with_name)?;
    let mut args = args.to_vec();
    let start = args[index].len() - from.len();
    args[index].replace_range(start.., to);
    Some(args)
}

/// Removes the table `formats` from a section and returns it: the arguments of each declared format, or `false` as
/// [`FormatFlag::Absent`]. Reports an error if all formats are `false`.
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

/// Inserts a format flag (`flag_args`) into `args`: in place of `"{format}"`, else before the first `--`, else at the
/// end.
pub fn insert_format_flag(args: &[String], flag_args: &[String]) -> Vec<String> {
    let flag_position = args.iter().position(|arg| arg == FORMAT_PLACEHOLDER);
    let end = || args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (before, after) = match flag_position {
        Some(index) => (&args[..index], &args[index + 1..]),
        None => args.split_at(end()),
    };
    [before, flag_args, after].concat()
}
