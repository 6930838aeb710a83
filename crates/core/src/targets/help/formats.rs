//! Guesses the format flags of a target from the options on a help page.

use super::options::CliOption;
use crate::model::OutputFormat;

/// Options that select a format by their value, such as `--output json`; the most likely first.
const BY_VALUE: [&str; 6] = ["--output", "--format", "--output-format", "--message-format", "-o", "-f"];
const JSON_FLAGS: [&str; 2] = ["--json", "-json"];
const JSONL_FLAGS: [&str; 4] = ["--jsonl", "--ndjson", "--json-lines", "--jsonlines"];
const JSONL_VALUES: [&str; 5] = ["jsonl", "ndjson", "json-lines", "jsonlines", "stream-json"];
const TEXT_VALUES: [&str; 6] = ["text", "plain", "human", "table", "pretty", "txt"];
/// Words about an option whose value is a path, not a format.
const FILE_WORDS: [&str; 8] =
    ["file", "files", "filename", "path", "dir", "directory", "folder", "destination"];
/// Words that occur in the names of options with `json` that do not select JSON on stdout: `--json-file`.
const NOT_OUTPUT_WORDS: [&str; 15] = [
    "body", "cols", "columns", "data", "field", "fields", "file", "from", "in", "input", "no", "parse",
    "path", "schema", "log",
];

/// The arguments that probably select the formats of a target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormatArgs {
    /// Arguments that select text, if an option with a value selects the format.
    pub text: Option<Vec<String>>,
    /// Arguments that select a JSON document.
    pub json: Option<Vec<String>>,
    /// Arguments that select JSON Lines.
    pub jsonl: Option<Vec<String>>,
    /// Whether the target prints JSON without a format flag.
    pub json_by_default: bool,
}

impl FormatArgs {
    /// Returns whether there are arguments for JSON or JSON Lines.
    pub fn have_json(&self) -> bool {
        self.json.is_some() || self.jsonl.is_some()
    }
}

/// Returns whether the page describes `--output` as an option that selects a format.
pub(super) fn output_is_format(options: &[CliOption]) -> bool {
    options.iter().filter(|option| option.is_called(BY_VALUE[0])).any(|option| {
        let description = option.description();
        has_word(&description, &["format", "formats", "json"]) && !has_word(&description, &FILE_WORDS)
    })
}

pub(super) fn parse(options: &[CliOption]) -> FormatArgs {
    let by_value = |values: &[&str]| {
        BY_VALUE.into_iter().find_map(|name| {
            let choosers = options
                .iter()
                .filter(|option| option.is_called(name) && !has_word(&option.head, &FILE_WORDS));
            let found = choosers.filter_map(|option| listed_value(option, values)).next()?;
            Some(vec![name.to_owned(), found.to_owned()])
        })
    };
    let mut json = by_value(&["json"]);
    let mut jsonl = by_value(&JSONL_VALUES);
    let chooser = chooser(options, &json).or_else(|| chooser(options, &jsonl));
    let text = json.as_ref().or(jsonl.as_ref()).and_then(|args| {
        let [name, _] = &args[..] else { return None };
        let value = options.iter().filter(|option| option.is_called(name)).find_map(text_value)?;
        Some(vec![name.clone(), value.to_owned()])
    });
    let json_by_default = chooser.is_some_and(json_is_default);
    if json.is_some() && jsonl.is_none() && chooser.is_some_and(|option| value_is_jsonl(option, "json")) {
        jsonl = json.take();
    } else if json.is_none()
        && let Some(option) = flag(options, &JSON_FLAGS).or_else(|| flag_about_json(options))
    {
        let name = JSON_FLAGS.into_iter().find(|name| option.is_called(name));
        let args = vec![name.unwrap_or_else(|| option.longest_name()).to_owned()];
        match mentions_jsonl(&option.description()) {
            true => jsonl = jsonl.or(Some(args)),
            false => json = Some(args),
        }
    }
    let jsonl = jsonl.or_else(|| {
        let option = flag(options, &JSONL_FLAGS)?;
        JSONL_FLAGS.into_iter().find(|name| option.is_called(name)).map(|name| vec![name.to_owned()])
    });
    FormatArgs { text, json, jsonl, json_by_default }
}

impl CliOption {
    /// Returns the formats that the option may print, judging by its description: `Print the report as JSON`. The option
    /// does not have to be one that agentnative can pass, such as a choice between several documents.
    pub fn described_formats(&self) -> Vec<OutputFormat> {
        const OUTPUT: [&str; 6] = ["output", "print ", "prints ", "as json", "in json", "return"];
        let description = self.description().to_lowercase();
        let is_output = OUTPUT.iter().any(|words| description.contains(words));
        if !is_output || !has_word(&description, &["json", "jsonl", "ndjson"]) {
            return Vec::new();
        }
        let is_jsonl = mentions_jsonl(&description)
            || ["for each", "separate json"].iter().any(|words| description.contains(words));
        let json = std::iter::once(OutputFormat::Json);
        json.chain(is_jsonl.then_some(OutputFormat::Jsonl)).collect()
    }
}

/// Returns the option in `args` if the help lists `json` among its values.
fn chooser<'o>(options: &'o [CliOption], args: &Option<Vec<String>>) -> Option<&'o CliOption> {
    let name = args.as_ref()?.first()?;
    options
        .iter()
        .filter(|option| option.is_called(name))
        .find(|option| listed_value(option, &["json"]).is_some())
}

/// Returns the first option that has one of these names and takes no value at any place on the page.
fn flag<'o>(options: &'o [CliOption], names: &[&str]) -> Option<&'o CliOption> {
    names.iter().find_map(|name| {
        let candidates = || options.iter().filter(|option| option.is_called(name));
        candidates().next().filter(|_| !candidates().any(|option| option.value.is_some()))
    })
}

/// Returns the first flag with JSON in its name, such as `--json-output`, or `-j` with a description that mentions
/// JSON.
fn flag_about_json(options: &[CliOption]) -> Option<&CliOption> {
    let is_about_json = |option: &&CliOption| {
        let short =
            option.names.iter().all(|name| name == "-j") && has_word(&option.description(), &["json"]);
        short
            || option.names.iter().any(|name| {
                let mut parts = name.trim_start_matches('-').split(['-', '_']);
                parts.clone().any(|part| part == "json")
                    && !parts.any(|part| NOT_OUTPUT_WORDS.contains(&part))
            })
    };
    options.iter().filter(|option| option.value.is_none()).find(is_about_json)
}

fn has_word(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    text.split(|char: char| !char.is_alphanumeric()).any(|word| words.contains(&word))
}

/// Returns the first of `values` in the names or the description of an option.
fn listed_value<'v>(option: &CliOption, values: &[&'v str]) -> Option<&'v str> {
    let description = option.description().to_lowercase();
    let is_value = |word: &str| values.iter().find(|value| **value == word).copied();
    description.split(|char: char| !char.is_alphanumeric() && char != '-').find_map(is_value)
}

/// Returns the value that selects text, if the description of the option lists values such as `{text,json}`.
fn text_value(option: &CliOption) -> Option<&'static str> {
    let description = option.description().to_lowercase();
    let is_part = |char: char| char.is_alphanumeric() || char == '-' || char == '_';
    let quotes = ['"', '\'', '`'];
    let listed = |value: &&&'static str| {
        description.match_indices(**value).any(|(at, _)| {
            let (before, after) =
                (&description[..at], description[at + value.len()..].trim_start_matches(quotes));
            if before.ends_with(is_part) || after.starts_with(is_part) {
                return false;
            }
            let before = before.trim_end_matches(quotes).trim_end();
            let after = after.trim_start();
            let begins =
                before.ends_with(['{', '[', '(', '<', ',', '|', ':', '/', '-']) || before.ends_with(" or");
            let ends = after.starts_with(['}', ']', ')', '>', ':']) || after.starts_with("or ");
            after.starts_with([',', '|', '/']) || begins && ends
        })
    };
    TEXT_VALUES.iter().find(listed).copied()
}

/// Returns whether the default value of an option is `json`, as in `[default: json]`.
fn json_is_default(option: &CliOption) -> bool {
    let description = option.description().to_lowercase();
    let value =
        |after: &str| after.trim_start_matches([':', ' ', '"', '\'', '`', '=', '(', '\u{201c}']).to_owned();
    description.split("default").skip(1).map(value).any(|after| {
        let word = after.split(|char: char| !char.is_alphanumeric() && char != '-').next();
        word == Some("json")
    })
}

/// Returns whether an option describes this value as JSON Lines: `json: one object per line`.
fn value_is_jsonl(option: &CliOption, value: &str) -> bool {
    std::iter::once(&option.head).chain(&option.about).any(|line| {
        let line = line.trim_start_matches(['-', '*', ' ', '\'', '"', '`']).to_lowercase();
        let after = line.strip_prefix(value).unwrap_or_default().trim_start_matches(['\'', '"', '`']);
        let of_entry = after.starts_with([':', ' ']) && mentions_jsonl(after);
        let in_brackets = line.split(&format!("{value} (")).nth(1).and_then(|rest| rest.split(')').next());
        of_entry || in_brackets.is_some_and(mentions_jsonl)
    })
}

fn mentions_jsonl(description: &str) -> bool {
    const WORDS: [&str; 9] = [
        "jsonl",
        "ndjson",
        "json lines",
        "json-lines",
        "jsonlines",
        "per line",
        "a line each",
        "on each line",
        "newline-delimited",
    ];
    let description = description.to_lowercase();
    WORDS.iter().any(|word| description.contains(word))
}
