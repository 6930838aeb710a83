//! Parses the options on a help page.

use super::command::Argument;
use super::layout::HelpPage;
use super::usage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const MAX_OPTIONS: usize = 1_000;
/// Maximum length of the name of an option, in bytes.
const MAX_NAME: usize = 80;

/// An option, as a place in the help shows it. An option can be shown at several places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliOption {
    /// Names of the option with their dashes, such as `-o`, `--output`.
    pub names: Vec<String>,
    /// Placeholder of the option's value, such as `FILE`; `None` if the option takes no value.
    pub value: Option<String>,
    /// Allowed values that the page lists, at least two; empty if it lists none.
    pub values: Vec<String>,
    /// Environment variable that sets the option, if the page names one.
    pub variable: Option<String>,
    /// Whether a call requires the option.
    pub required: bool,
    /// Names and value placeholder, as the page shows them.
    pub(super) head: String,
    /// Lines of the option's description.
    pub(super) about: Vec<String>,
}

/// An option that accepts only certain values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionChoices {
    /// Name of the option with its dashes.
    pub flag: String,
    /// Allowed values, at least two.
    pub values: Vec<String>,
}

/// An option that an environment variable can set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionVariable {
    /// Name of the option with its dashes.
    pub flag: String,
    /// Name of the environment variable.
    pub variable: String,
    /// Whether the option takes a value.
    pub takes_value: bool,
}

impl CliOption {
    fn new(names: Vec<String>, head: &str) -> Self {
        Self {
            names,
            value: None,
            values: Vec::new(),
            variable: None,
            required: false,
            head: head.to_owned(),
            about: Vec::new(),
        }
    }

    /// Sets `value`, `values`, `variable` and `required` from the complete head and description of the option.
    fn with_parsed_description(mut self) -> Self {
        let text = self.description();
        self.values = self.listed_values().unwrap_or_default();
        let is_flag =
            self.about.iter().any(|line| ["Default: False", "Default: True"].contains(&line.as_str()));
        let value = self.value_name().or_else(|| yargs_type(&text).map(str::to_owned));
        // fire shows a value for flags as well.
        self.value = value.filter(|_| !is_flag);
        self.variable = variable(&text);
        let lower = text.to_lowercase();
        self.required = lower.contains("[required") || lower.contains("(required)");
        self
    }

    /// Returns whether the option has this name.
    pub fn is_called(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// Returns the longest name of the option; empty if it has none.
    pub fn longest_name(&self) -> &str {
        self.names.iter().max_by_key(|name| name.len()).map_or("", String::as_str)
    }

    /// Returns whether the head of the option shows its value as optional, as in `--color[=WHEN]`, or as cobra does in
    /// `--color string[="always"]`.
    pub fn has_optional_value(&self) -> bool {
        self.names.iter().any(|name| {
            let after = self.head.rsplit_once(name.as_str()).map_or("", |(_, after)| after.trim_start());
            after.starts_with('[') && !after.starts_with("[no-]") || after.contains("[=\"")
        })
    }

    /// Returns the names, the value placeholder and the description of the option in one line.
    pub(super) fn description(&self) -> String {
        let lines = std::iter::once(&self.head).chain(&self.about);
        lines.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Returns the placeholder of the option's value, which follows the last name, without brackets: `N` in
    /// `--limit <N>` and `--limit=N`, `A B` in `--pair A B`.
    fn value_name(&self) -> Option<String> {
        let head = self.head.replace("[no-]", "");
        let last = self.names.iter().rfind(|name| head.contains(name.as_str()));
        let after = last.and_then(|name| head.rsplit(name.as_str()).next()).unwrap_or_default();
        let after = after.split("[=\"").next().unwrap_or_default();
        let words = usage::words(after);
        let is_value = match words[..] {
            [] | ["..."] => false,
            [_] => true,
            _ => {
                after.starts_with(['=', '[']) || words.iter().all(|word| super::command::is_placeholder(word))
            }
        };
        let is_bare = |word: &&&str| word.chars().all(|char| char.is_ascii_uppercase() || char == '_');
        let bare: Vec<&str> = words.iter().take_while(is_bare).copied().collect();
        let name = if bare.is_empty() { words.first().copied().unwrap_or_default() } else { &bare.join(" ") };
        is_value.then(|| name.trim_matches(|char: char| "=[]<>{}.".contains(char)).to_owned())
    }

    /// Returns the allowed values that the page lists: `[possible values: a, b]`, `(choices: "a", "b")`, or `{a,b}`,
    /// `[a|b]` and `<a|b>` in the head, or `(a|b)` in the description. `None` if it does not list at least two.
    fn listed_values(&self) -> Option<Vec<String>> {
        let text = self.description();
        let between = |text: &str, from: &str, to: char| {
            text.split_once(from).and_then(|(_, rest)| rest.split_once(to)).map(|(list, _)| list.to_owned())
        };
        let marked =
            [("[possible values: ", ']'), ("(choices: ", ')'), ("[choices: ", ']'), ("<options: ", '>')];
        let marked = marked.iter().find_map(|(from, to)| between(&text, from, *to));
        let list_in_brackets = |text: &str| {
            let lists = [("[", ']'), ("<", '>'), ("(", ')')].into_iter();
            lists.filter_map(|(from, to)| between(text, from, to)).find(|list| list.contains('|'))
        };
        let list = marked
            .or_else(|| between(&self.head, "{", '}'))
            .or_else(|| list_in_brackets(&self.head))
            .or_else(|| self.value_name().and_then(|name| name.contains('|').then_some(name)))
            .or_else(|| self.value_name().and_then(|_| list_in_brackets(&self.about.join(" "))));
        let value = |word: &str| word.trim().trim_matches(['"', '\'']).to_owned();
        let values: Vec<String> = match list {
            // commander: `(choices: "a", "b", default: "a")`.
            Some(list) => {
                list.split([',', '|']).map(value).take_while(|value| !value.contains(": ")).collect()
            }
            None => self.itemised_values(),
        };
        let is_value = |value: &String| {
            !value.is_empty() && !value.starts_with('-') && !value.contains(char::is_whitespace)
        };
        (values.len() > 1 && values.iter().all(is_value)).then_some(values)
    }

    /// Returns the allowed values in a list of the long help of clap: items such as `- text: For people` below the line
    /// `Possible values:`.
    fn itemised_values(&self) -> Vec<String> {
        let lines = self.about.iter().skip_while(|line| *line != "Possible values:").skip(1);
        let items = lines.map_while(|line| line.strip_prefix("- "));
        items.filter_map(|item| item.split(':').next()).map(str::to_owned).collect()
    }
}

/// Returns the type of the value that yargs adds to the description of an option: `[string]`, `[number]`, `[array]`.
fn yargs_type(text: &str) -> Option<&'static str> {
    [("[string]", "string"), ("[number]", "number"), ("[array]", "array")]
        .into_iter()
        .find(|(mark, _)| text.contains(mark))
        .map(|(_, name)| name)
}

/// Returns the environment variable that a description names: `[env: NAME]`, `[env: NAME=value]`, `[env var: NAME]`,
/// `(env: NAME)`.
fn variable(text: &str) -> Option<String> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    ["env: ", "env var: "].into_iter().find_map(|mark| {
        let (before, rest) = text.split_once(mark)?;
        let end = rest.find(|char| !is_part(char))?;
        let is_note = before.ends_with(['[', '(']) || before.ends_with(", ");
        (is_note && end > 0 && rest[end..].starts_with([']', ')', '=', ';', ',']))
            .then(|| rest[..end].to_owned())
    })
}

/// Returns whether the page describes `-h` as something other than the help flag: `-h, --host HOST`.
pub(super) fn other_short_help(options: &[CliOption]) -> bool {
    options.iter().any(|option| {
        let text = option.description().to_lowercase();
        option.is_called("-h") && !text.is_empty() && !text.contains("help")
    })
}

pub(super) fn parse(page: &HelpPage) -> Vec<CliOption> {
    let mut options: Vec<CliOption> = Vec::new();
    let mut indent = None;
    // Column of the description of the option above.
    let mut column = None;
    let mut in_usage = false;
    // Where the help option is indented, all are: a line at the margin is one of a paragraph.
    let margin =
        page.lines.iter().find(|line| is_help_option(&line.words)).map_or(0, |line| line.indent.min(1));
    for line in &page.lines {
        let words = line.words.as_str();
        if options.len() >= MAX_OPTIONS {
            break;
        }
        in_usage &= !line.after_blank;
        if page.usage_lines.contains(&line.number) || words.starts_with("[-") || words.contains(":= {") {
            in_usage = true;
            indent = None;
        }
        let continues = indent.is_some() && column == Some(line.indent);
        if in_usage {
            options.extend(options_in_line(words));
        } else if words.starts_with('-') && !words.starts_with("- ") && !continues && line.indent >= margin {
            let (head, about) = split_head(words);
            let about = about.trim_start();
            column = (!about.is_empty()).then(|| line.indent + words.len() - about.len());
            let mut names: Vec<String> = head.split([',', '|', ' ', '/']).filter_map(option_name).collect();
            names.extend(negated_name(head));
            if !names.is_empty() {
                let mut option = CliOption::new(names, head);
                option.about.push(about.to_owned());
                options.push(option);
                indent = Some(line.indent);
            }
        } else if let (Some(option), true) =
            (options.last_mut(), indent.is_some_and(|indent| line.indent > indent))
        {
            option.about.push(words.to_owned());
            column = column.or(Some(line.indent));
        } else {
            indent = None;
        }
    }
    // One line of a usage can add several options.
    options.truncate(MAX_OPTIONS);
    merge_usage(options.into_iter().map(CliOption::with_parsed_description).collect(), &page.usage)
}

/// Returns whether a line lists the help option: `-h, --help  Print help`.
fn is_help_option(line: &str) -> bool {
    line.starts_with('-') && line.split([' ', ',', '|', '/']).any(|word| word == "--help")
}

/// Merges the options that a usage shows with those that are described below it. Removes an option of the usage if a
/// description exists. Adds the value to a described option if only the usage shows it.
fn merge_usage(mut options: Vec<CliOption>, usage: &[String]) -> Vec<CliOption> {
    let described: BTreeSet<String> = options
        .iter()
        .filter(|option| !option.about.is_empty())
        .flat_map(|option| option.names.clone())
        .collect();
    let is_described = |name: &str| {
        let letters = name.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        let are_options = letters.chars().all(|letter| described.contains(&format!("-{letter}")));
        described.contains(name) || letters.len() > 1 && are_options
    };
    options.retain(|option| !option.about.is_empty() || !option.names.iter().any(|name| is_described(name)));
    let in_usage: Vec<CliOption> = usage.iter().flat_map(|form| options_in_form(form)).collect();
    for option in options.iter_mut().filter(|option| option.value.is_none() || option.values.is_empty()) {
        if let Some(shown) =
            in_usage.iter().find(|shown| shown.names.iter().any(|name| option.is_called(name)))
        {
            option.value = option.value.take().or_else(|| shown.value.clone());
            option.values.clone_from(&shown.values);
        }
    }
    options
}

/// Returns the options in a usage form such as `tool [--priority low|high]`, with their values.
pub(super) fn options_in_form(form: &str) -> Vec<CliOption> {
    let words = usage::words(form);
    let groups = words.iter().filter(|word| word.starts_with(['[', '(']));
    let options = groups.flat_map(|group| {
        let inner = group.trim_end_matches('.').trim_matches(['[', ']', '(', ')']);
        let parts: Vec<&str> = inner.split(" | ").collect();
        let is_one = parts.len() == 1;
        parts.into_iter().filter_map(move |part| {
            let head = part.trim();
            let names: Vec<String> = match is_one && !head.contains([' ', '=']) {
                true => head.split('|').filter_map(option_name).collect(),
                false => head.split([' ', '=']).take(1).filter_map(option_name).collect(),
            };
            (!names.is_empty()).then(|| CliOption::new(names, head).with_parsed_description())
        })
    });
    let bare = words.iter().skip(1).filter(|word| word.starts_with('-'));
    let bare = bare
        .filter_map(|word| Some(CliOption::new(vec![option_name(word)?], word).with_parsed_description()));
    options.chain(bare).collect()
}

/// Splits the line of an option into its names and its description, at two spaces or a tab.
fn split_head(words: &str) -> (&str, &str) {
    words.split_once("  ").or_else(|| words.split_once('\t')).unwrap_or((words, ""))
}

pub(super) fn names(options: &[CliOption]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in options.iter().flat_map(|option| &option.names) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Returns the options whose allowed values are listed, with one entry for each name of an option.
pub(super) fn choices(options: &[CliOption]) -> Vec<OptionChoices> {
    let of = |option: &CliOption| {
        let values = option.values.clone();
        let named = |name: &String| OptionChoices { flag: name.clone(), values: values.clone() };
        option.names.iter().map(named).collect::<Vec<_>>()
    };
    options.iter().filter(|option| !option.values.is_empty()).flat_map(of).collect()
}

/// Returns the options that an environment variable can set, each by its longest name.
pub(super) fn env_flags(options: &[CliOption]) -> Vec<OptionVariable> {
    let of = |option: &CliOption| {
        let (flag, variable) = (option.longest_name().to_owned(), option.variable.clone()?);
        Some(OptionVariable { flag, variable, takes_value: option.value.is_some() })
    };
    options.iter().filter_map(of).collect()
}

/// Adds the options that the page marks as required to the arguments of a command, unless its usage shows them already.
pub(super) fn add_required(options: &[CliOption], operands: &mut Vec<Argument>) {
    for option in options.iter().filter(|option| option.required) {
        let long = option.names.iter().find(|name| name.starts_with("--"));
        let Some(name) = long.or(option.names.first()) else { continue };
        let is_there =
            operands.iter().any(|known| known.option.as_ref().is_some_and(|known| option.is_called(known)));
        if !is_there {
            operands.push(Argument {
                name: name.trim_start_matches('-').to_owned(),
                option: Some(name.clone()),
                required: true,
                choices: option.values.clone(),
            });
        }
    }
}

/// Returns the options in a line of a usage, such as `[-v | --version]` or `{ -j[son] | -p[retty] }`.
fn options_in_line(line: &str) -> impl Iterator<Item = CliOption> {
    line.split_whitespace().filter_map(|word| {
        let word = word.trim_start_matches(['[', '(', '{', '|']);
        word.starts_with('-').then_some(())?;
        let names: Vec<String> = word.split('|').filter_map(option_name).collect();
        let head = if word.contains('=') { word.trim_end_matches([']', ')', '}', '.']) } else { "" };
        (!names.is_empty()).then(|| CliOption::new(names, head))
    })
}

/// Returns the negated name of an option: `--no-sort` for `--[no-]sort`. `None` if the head contains no such name.
fn negated_name(head: &str) -> Option<String> {
    let (_, rest) = head.split_once("--[no-]")?;
    let end = rest.find(|char: char| !char.is_ascii_alphanumeric() && char != '-').unwrap_or(rest.len());
    (end > 0 && end <= MAX_NAME).then(|| format!("--no-{}", &rest[..end]))
}

/// Returns the name of the option in a word: `--depth` in `--depth=N`, `-json` in `-j[son]`. `None` if the word is not
/// an option.
fn option_name(word: &str) -> Option<String> {
    let word = word.trim().trim_start_matches(['[', '(', '{']);
    let word = word.replace("[no-]", "");
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    let end = word.find(|char| !is_part(char)).unwrap_or(word.len());
    let (start, rest) = word.split_at(end);
    let tail = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(tail, _)| tail);
    let tail = tail.filter(|tail| !tail.is_empty() && tail.chars().all(is_part)).unwrap_or_default();
    let dashes = start.len() - start.trim_start_matches('-').len();
    let named = start[dashes..].starts_with(|char: char| char.is_ascii_alphanumeric());
    ((dashes == 1 || dashes == 2) && named && word.len() <= MAX_NAME).then(|| format!("{start}{tail}"))
}
