//! Which arguments ask for a format, as far as the options of a help page tell.

use super::options::CliOption;

/// Options that choose a format by a value, the best guess first.
const BY_VALUE: [&str; 6] = ["--output", "--format", "--output-format", "--message-format", "-o", "-f"];
/// Options that alone ask for a JSON document.
const JSON: [&str; 2] = ["--json", "-json"];
/// Options that alone ask for JSON lines.
const JSONL: [&str; 4] = ["--jsonl", "--ndjson", "--json-lines", "--jsonlines"];
/// Values that ask for JSON lines.
const JSONL_VALUES: [&str; 5] = ["jsonl", "ndjson", "json-lines", "jsonlines", "stream-json"];
/// Values that ask for text.
const TEXT_VALUES: [&str; 6] = ["text", "plain", "human", "table", "pretty", "txt"];
/// Words for what is no format.
const FILES: [&str; 8] = ["file", "files", "filename", "path", "dir", "directory", "folder", "destination"];
/// Parts of the name of an option about JSON that asks for something else than JSON on standard output.
const NO_OUTPUT: [&str; 12] =
    ["body", "data", "field", "fields", "file", "from", "in", "input", "no", "parse", "path", "schema"];

/// The arguments that seem to ask for each format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormatArgs {
    /// For text, where an option with a value chooses the format.
    pub text: Option<Vec<String>>,
    /// For a JSON document.
    pub json: Option<Vec<String>>,
    /// For JSON lines.
    pub jsonl: Option<Vec<String>>,
    /// JSON is printed without an option.
    pub json_by_default: bool,
}

impl FormatArgs {
    /// Whether they ask for JSON, in a document or in lines.
    pub fn ask_for_json(&self) -> bool {
        self.json.is_some() || self.jsonl.is_some()
    }
}

/// Whether `--output` chooses a format, as far as the page tells.
pub(super) fn output_is_format(options: &[CliOption]) -> bool {
    options.iter().filter(|option| option.is_called(BY_VALUE[0])).any(|option| {
        let said = option.description();
        says(&said, &["format", "formats", "json"]) && !says(&said, &FILES)
    })
}

pub(super) fn read(options: &[CliOption]) -> FormatArgs {
    let by_value = |values: &[&str]| {
        BY_VALUE.into_iter().find_map(|name| {
            let choosers =
                options.iter().filter(|option| option.is_called(name) && !says(&option.head, &FILES));
            let found = choosers.filter_map(|option| value(option, values)).next()?;
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
    if json.is_some() && jsonl.is_none() && chooser.is_some_and(|option| value_has_lines(option, "json")) {
        jsonl = json.take();
    } else if json.is_none()
        && let Some(option) = switch(options, &JSON).or_else(|| switch_about_json(options))
    {
        let name = JSON.into_iter().find(|name| option.is_called(name));
        let asking = vec![name.unwrap_or_else(|| option.longest_name()).to_owned()];
        match has_lines(&option.description()) {
            true => jsonl = jsonl.or(Some(asking)),
            false => json = Some(asking),
        }
    }
    let jsonl = jsonl.or_else(|| {
        let option = switch(options, &JSONL)?;
        JSONL.into_iter().find(|name| option.is_called(name)).map(|name| vec![name.to_owned()])
    });
    FormatArgs { text, json, jsonl, json_by_default }
}

/// Returns the option that these arguments give a value to.
fn chooser<'o>(options: &'o [CliOption], args: &Option<Vec<String>>) -> Option<&'o CliOption> {
    let name = args.as_ref()?.first()?;
    options.iter().filter(|option| option.is_called(name)).find(|option| value(option, &["json"]).is_some())
}

/// Returns the first option that has one of these names and takes no value at any place of the page.
fn switch<'o>(options: &'o [CliOption], names: &[&str]) -> Option<&'o CliOption> {
    names.iter().find_map(|name| {
        let named = || options.iter().filter(|option| option.is_called(name));
        named().next().filter(|_| !named().any(|option| option.value.is_some()))
    })
}

/// Returns the first option without a value that has JSON in its name, such as `--json-output`, or is `-j` and is
/// described as JSON.
fn switch_about_json(options: &[CliOption]) -> Option<&CliOption> {
    let is_about_json = |option: &&CliOption| {
        let short = option.names.iter().all(|name| name == "-j") && says(&option.description(), &["json"]);
        short
            || option.names.iter().any(|name| {
                let mut parts = name.trim_start_matches('-').split(['-', '_']);
                parts.clone().any(|part| part == "json") && !parts.any(|part| NO_OUTPUT.contains(&part))
            })
    };
    options.iter().filter(|option| option.value.is_none()).find(is_about_json)
}

fn says(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    text.split(|char: char| !char.is_alphanumeric()).any(|word| words.contains(&word))
}

/// Returns the first word that the page says of an option that is one of these values.
fn value<'v>(option: &CliOption, values: &[&'v str]) -> Option<&'v str> {
    let said = option.description().to_lowercase();
    let is_value = |word: &str| values.iter().find(|value| **value == word).copied();
    said.split(|char: char| !char.is_alphanumeric() && char != '-').find_map(is_value)
}

/// Returns the value that asks for text: a word that stands in a list of values, as in `{text,json}`.
fn text_value(option: &CliOption) -> Option<&'static str> {
    let said = option.description().to_lowercase();
    let is_part = |char: char| char.is_alphanumeric() || char == '-' || char == '_';
    let quotes = ['"', '\'', '`'];
    let listed = |value: &&&'static str| {
        said.match_indices(**value).any(|(at, _)| {
            let (before, after) = (&said[..at], said[at + value.len()..].trim_start_matches(quotes));
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

/// Whether the value of an option is `json` where it is left out: `[default: json]`.
fn json_is_default(option: &CliOption) -> bool {
    let said = option.description().to_lowercase();
    let value =
        |after: &str| after.trim_start_matches([':', ' ', '"', '\'', '`', '=', '(', '\u{201c}']).to_owned();
    said.split("default").skip(1).map(value).any(|after| {
        let word = after.split(|char: char| !char.is_alphanumeric() && char != '-').next();
        word == Some("json")
    })
}

/// Whether what is said of a value speaks of JSON lines: `json: one object per line`.
fn value_has_lines(option: &CliOption, value: &str) -> bool {
    std::iter::once(&option.head).chain(&option.about).any(|line| {
        let line = line.trim_start_matches(['-', '*', ' ', '\'', '"', '`']).to_lowercase();
        let after = line.strip_prefix(value).unwrap_or_default().trim_start_matches(['\'', '"', '`']);
        let of_entry = after.starts_with([':', ' ']) && has_lines(after);
        let in_brackets = line.split(&format!("{value} (")).nth(1).and_then(|rest| rest.split(')').next());
        of_entry || in_brackets.is_some_and(has_lines)
    })
}

/// Whether words speak of JSON lines.
fn has_lines(said: &str) -> bool {
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
    let said = said.to_lowercase();
    WORDS.iter().any(|word| said.contains(word))
}
