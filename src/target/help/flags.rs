//! The flags in a help text, and those among them that ask for JSON.

use super::{Choices, EnvFlag, Operand};

/// More flags than this are not read.
const MOST: usize = 1_000;

/// Flags that choose a format by a value, the best guess first.
const BY_VALUE: [&str; 6] = ["--output", "--format", "--output-format", "--message-format", "-o", "-f"];
/// Flags that alone ask for a JSON document.
const JSON: [&str; 3] = ["--json", "-json", "-j"];
/// Flags that alone ask for JSON lines.
const JSONL: [&str; 4] = ["--jsonl", "--ndjson", "--json-lines", "--jsonlines"];
/// Values that ask for JSON lines.
const JSONL_VALUES: [&str; 5] = ["jsonl", "ndjson", "json-lines", "jsonlines", "stream-json"];

/// A flag as one place of the text has it.
pub(super) struct Flag<'t> {
    names: Vec<String>,
    /// What the text says of it: the rest of its line and the lines below that belong to it.
    about: Vec<&'t str>,
}

impl Flag<'_> {
    /// Whether its last name is followed by a stand-in for a value.
    fn takes_value(&self) -> bool {
        let head = self.about.first().copied().unwrap_or_default();
        let after = self.names.last().and_then(|name| head.split(name).last()).unwrap_or_default();
        after.starts_with(['=', '['])
            || matches!(after.trim().split(' ').collect::<Vec<_>>()[..], [one] if !one.is_empty())
    }

    /// The first of its words that is one of these values.
    fn value<'v>(&self, values: &[&'v str]) -> Option<&'v str> {
        let said = self.about.join(" ").to_lowercase();
        let is_value = |word: &str| values.iter().find(|value| **value == word).copied();
        said.split(|char: char| !char.is_alphanumeric() && char != '-').find_map(is_value)
    }

    /// The value that asks for text: a word that stands in a list of values, as in `{text,json}`.
    fn text_value(&self) -> Option<&'static str> {
        let said = self.about.join(" ").to_lowercase();
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
                let begins = before.ends_with(['{', '[', '(', '<', ',', '|', ':', '/', '-'])
                    || before.ends_with(" or");
                let ends = after.starts_with(['}', ']', ')', '>', ':']) || after.starts_with("or ");
                after.starts_with([',', '|', '/']) || begins && ends
            })
        };
        TEXT_VALUES.iter().find(listed).copied()
    }

    /// The values that the text lists: `[possible values: a, b]`, `{a,b}`, `(choices: "a", "b")`.
    fn choices(&self) -> Option<Vec<String>> {
        let head = self.about.first().copied().unwrap_or_default();
        let said = self.about.join(" ");
        let between = |text: &str, from: &str, to: char| {
            text.split_once(from).and_then(|(_, rest)| rest.split_once(to)).map(|(list, _)| list.to_owned())
        };
        let list = between(&said, "[possible values: ", ']')
            .or_else(|| between(&said, "(choices: ", ')'))
            .or_else(|| between(head, "{", '}'))?;
        let value = |word: &str| word.trim().trim_matches(['"', '\'']).to_owned();
        let values: Vec<String> = list.split(',').map(value).collect();
        let is_value = |value: &String| !value.is_empty() && !value.contains(char::is_whitespace);
        (values.len() > 1 && values.iter().all(is_value)).then_some(values)
    }

    /// The variable that the text names: `[env: NAME]`, `[env: NAME=value]`, `[env var: NAME]`.
    fn variable(&self) -> Option<String> {
        let said = self.about.join(" ");
        let (_, rest) = said.split_once("[env: ").or_else(|| said.split_once("[env var: "))?;
        let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
        let end = rest.find(|char| !is_part(char))?;
        (end > 0 && rest[end..].starts_with([']', '='])).then(|| rest[..end].to_owned())
    }

    /// Whether its value is `json` where it is left out: `[default: json]`.
    fn json_is_default(&self) -> bool {
        let said = self.about.join(" ").to_lowercase();
        let after = said.split("default").skip(1);
        let value = |after: &str| {
            after.trim_start_matches([':', ' ', '"', '\'', '`', '=', '(', '\u{201c}']).to_owned()
        };
        after.map(value).any(|after| {
            let word = after.split(|char: char| !char.is_alphanumeric() && char != '-').next();
            word == Some("json")
        })
    }

    /// Whether what is said of this value speaks of JSON lines: `json: one object per line`.
    fn value_has_lines(&self, value: &str) -> bool {
        self.about.iter().any(|line| {
            let line = line.trim_start_matches(['-', '*', ' ', '\'', '"', '`']).to_lowercase();
            let after = line.strip_prefix(value).unwrap_or_default().trim_start_matches(['\'', '"', '`']);
            let of_entry = after.starts_with([':', ' ']) && has_lines(after);
            let in_brackets =
                line.split(&format!("{value} (")).nth(1).and_then(|rest| rest.split(')').next());
            of_entry || in_brackets.is_some_and(has_lines)
        })
    }
}

/// Values that ask for text.
const TEXT_VALUES: [&str; 6] = ["text", "plain", "human", "table", "pretty", "txt"];

/// Words for what is no format.
const FILES: [&str; 8] = ["file", "files", "filename", "path", "dir", "directory", "folder", "destination"];

/// Whether `--output` chooses a format, as far as the text tells.
pub(super) fn output_is_format(flags: &[Flag<'_>]) -> bool {
    let mut named = flags.iter().filter(|flag| flag.names.iter().any(|name| name == BY_VALUE[0]));
    named.any(|flag| {
        let said = flag.about.join(" ");
        says(&said, &["format", "formats", "json"]) && !says(&said, &FILES)
    })
}

/// Whether the text describes `-h`, and not as a flag that prints help: `-h, --host HOST`.
pub(super) fn other_short_help(flags: &[Flag<'_>]) -> bool {
    flags.iter().any(|flag| {
        let said = flag.about.join(" ").to_lowercase();
        flag.names.iter().any(|name| name == "-h") && !said.is_empty() && !said.contains("help")
    })
}

fn says(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    text.split(|char: char| !char.is_alphanumeric()).any(|word| words.contains(&word))
}

/// The flags, in the order of the text.
pub(super) fn read(text: &str) -> Vec<Flag<'_>> {
    let mut flags: Vec<Flag<'_>> = Vec::new();
    let mut flag_indent = None;
    let mut in_usage = false;
    for line in text.lines() {
        let words = line.trim();
        let indent = line.len() - line.trim_start().len();
        if flags.len() >= MOST {
            break;
        }
        if words.is_empty() {
            in_usage = false;
        } else if words.to_lowercase().starts_with("usage:")
            || words.starts_with("[-")
            || words.contains(":= {")
        {
            in_usage = true;
            flag_indent = None;
            flags.extend(in_brackets(words));
        } else if in_usage {
            flags.extend(in_brackets(words));
        } else if words.starts_with('-') && !words.starts_with("- ") {
            let (head, about) = words.split_once("  ").unwrap_or((words, ""));
            let names: Vec<String> = head.split([',', '|', ' ', '/']).filter_map(name).collect();
            if !names.is_empty() {
                flags.push(Flag { names, about: vec![head, about] });
                flag_indent = Some(indent);
            }
        } else if flag_indent.is_some_and(|flag| indent > flag) {
            flags.last_mut().expect("an indentation is that of a flag").about.push(words);
        } else {
            flag_indent = None;
        }
    }
    // A line of a usage may have many.
    flags.truncate(MOST);
    flags
}

/// Each name once.
pub(super) fn names(flags: &[Flag<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in flags.iter().flat_map(|flag| &flag.names) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The options whose values are listed, under each of their names.
pub(super) fn choices(flags: &[Flag<'_>]) -> Vec<Choices> {
    let of = |flag: &Flag<'_>| {
        let values = flag.choices()?;
        let named = |name: &String| Choices { flag: name.clone(), values: values.clone() };
        Some(flag.names.iter().map(named).collect::<Vec<_>>())
    };
    flags.iter().filter_map(of).flatten().collect()
}

/// The options that variables stand for, by their longest names.
pub(super) fn env_flags(flags: &[Flag<'_>]) -> Vec<EnvFlag> {
    let of = |flag: &Flag<'_>| {
        let name = flag.names.iter().max_by_key(|name| name.len())?;
        Some(EnvFlag { flag: name.clone(), variable: flag.variable()?, takes_value: flag.takes_value() })
    };
    flags.iter().filter_map(of).collect()
}

/// The arguments that seem to ask for each format.
pub(super) struct Asked {
    pub(super) text: Option<Vec<String>>,
    pub(super) json: Option<Vec<String>>,
    pub(super) jsonl: Option<Vec<String>>,
    pub(super) json_by_default: bool,
}

pub(super) fn asking(flags: &[Flag<'_>]) -> Asked {
    let named =
        |name: &'static str| flags.iter().filter(move |flag| flag.names.iter().any(|own| own == name));
    let formats = |name: &'static str| {
        named(name).filter(|flag| !flag.about.first().is_some_and(|head| says(head, &FILES)))
    };
    let by_value = |values: &[&str]| {
        BY_VALUE.into_iter().find_map(|name| {
            let found = formats(name).find_map(|flag| flag.value(values))?;
            Some(vec![name.to_owned(), found.to_owned()])
        })
    };
    let alone = |names: &[&'static str]| {
        let fits = |name: &&&'static str| named(name).next().is_some() && !named(name).any(Flag::takes_value);
        names.iter().find(fits).map(|name| vec![(*name).to_owned()])
    };
    let of_flag = |asking: &Option<Vec<String>>| {
        let name = asking.as_ref()?.first()?;
        flags.iter().filter(|flag| flag.names.contains(name)).find(|flag| flag.value(&["json"]).is_some())
    };
    let mut json = by_value(&["json"]);
    let mut jsonl = by_value(&JSONL_VALUES);
    let chooser = of_flag(&json).or_else(|| of_flag(&jsonl));
    let text = json.as_ref().or(jsonl.as_ref()).and_then(|asking| match &asking[..] {
        [name, _] => {
            let of_name = || flags.iter().filter(|flag| flag.names.contains(name));
            let value = of_name().find_map(Flag::text_value)?;
            Some(vec![name.clone(), value.to_owned()])
        }
        _ => None,
    });
    let json_by_default = chooser.is_some_and(Flag::json_is_default);
    if json.is_some() && jsonl.is_none() && chooser.is_some_and(|flag| flag.value_has_lines("json")) {
        jsonl = json.take();
    } else if json.is_none() {
        let flag = alone(&JSON[..2]).or_else(|| short_json(flags));
        let has_lines = flag.as_ref().is_some_and(|asking| {
            flags.iter().any(|flag| flag.names.contains(&asking[0]) && has_lines(&flag.about.join(" ")))
        });
        match has_lines {
            true => jsonl = jsonl.or(flag),
            false => json = flag,
        }
    }
    let jsonl = jsonl.or_else(|| alone(&JSONL));
    Asked { text, json, jsonl, json_by_default }
}

/// Adds the options that the text calls required and its usage does not show.
pub(super) fn add_required(flags: &[Flag<'_>], operands: &mut Vec<Operand>) {
    for flag in flags {
        let said = flag.about.join(" ").to_lowercase();
        let Some(name) = flag.names.iter().find(|name| name.starts_with("--")).or(flag.names.first()) else {
            continue;
        };
        let is_there = operands
            .iter()
            .any(|known| known.option.as_ref().is_some_and(|option| flag.names.contains(option)));
        if !is_there && (said.contains("[required]") || said.contains("(required)")) {
            let value = name.trim_start_matches('-').to_owned();
            operands.push(Operand {
                name: value,
                option: Some(name.clone()),
                required: true,
                choices: Vec::new(),
            });
        }
    }
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

/// `-j`, where the text says that it means JSON.
fn short_json(flags: &[Flag<'_>]) -> Option<Vec<String>> {
    let flag = flags.iter().find(|flag| flag.names.iter().any(|name| name == JSON[2]))?;
    flag.about.join(" ").to_lowercase().contains("json").then(|| vec![JSON[2].to_owned()])
}

/// The flags in a usage: `[-v | --version]`, `{ -j[son] | -p[retty] }`.
fn in_brackets<'t>(line: &str) -> impl Iterator<Item = Flag<'t>> {
    line.split_whitespace().filter_map(|word| {
        let word = word.trim_start_matches(['[', '(', '{', '|']);
        word.starts_with('-').then_some(())?;
        let names: Vec<String> = word.split('|').filter_map(name).collect();
        (!names.is_empty()).then_some(Flag { names, about: Vec::new() })
    })
}

/// The name of the flag that a word is: `--depth=N` is `--depth`, `-j[son]` is `-json`.
fn name(word: &str) -> Option<String> {
    let word = word.trim().trim_start_matches(['[', '(', '{']);
    let word = word.replace("[no-]", "");
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    let end = word.find(|char| !is_part(char)).unwrap_or(word.len());
    let (start, rest) = word.split_at(end);
    let tail = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(tail, _)| tail);
    let tail = tail.filter(|tail| !tail.is_empty() && tail.chars().all(is_part)).unwrap_or_default();
    let dashes = start.len() - start.trim_start_matches('-').len();
    let named = start[dashes..].starts_with(|char: char| char.is_ascii_alphanumeric());
    ((dashes == 1 || dashes == 2) && named && word.len() <= 80).then(|| format!("{start}{tail}"))
}
