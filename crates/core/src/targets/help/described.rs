//! The interface of a command for a lock: what its help page states about its options, arguments and exit codes.

use super::command::Argument;
use super::layout::HelpPage;
use super::options::CliOption;
use super::{Interface, arguments, commands, exit_code_meanings, style, usage};
use agentnative_diff::interface::{
    ArgumentInterface, CommandInterface, InterfaceReader, OptionInterface, is_short,
};
use std::collections::{BTreeMap, BTreeSet};

/// Types of values of cobra that can be repeated.
const COBRA_LISTS: [&str; 4] = ["strings", "stringArray", "stringSlice", "ints"];
/// Types of values of cobra that cannot be repeated.
const COBRA_SCALARS: [&str; 6] = ["string", "int", "uint", "float", "duration", "bytes"];
/// Names of values that are numbers, in lower case.
const NUMBERS: [&str; 4] = ["integer", "int", "uint", "float"];
/// Phrases in the description of an option that can be repeated.
const REPEATABLE: [&str; 3] = ["multiple times", "more than once", "be repeated"];
/// Beginnings of the notes that parsers append to a description, in lower case.
const NOTES: [&str; 13] = [
    "default",
    "env:",
    "env var:",
    "possible values:",
    "choices:",
    "alias",
    "required",
    "boolean",
    "string",
    "number",
    "array",
    "count",
    "options:",
];

/// Returns the interface of the command `path` that a help page describes, without its description.
pub fn described_command(bytes: &[u8], path: &[&str]) -> CommandInterface {
    let page = HelpPage::parse(bytes);
    let interface = Interface::of_command(&page, path);
    let reader = style::of(&page);
    CommandInterface {
        reader: Some(reader),
        aliases: own_aliases(&page, path),
        options: options(&page, &interface, reader),
        arguments: positionals(&page, &interface, path)
            // The author of a command with cobra writes its usage.
            .filter(|positionals| !positionals.is_empty() || reader != InterfaceReader::Cobra),
        exit_codes: exit_code_meanings(&page.text)
            .into_iter()
            .map(|(code, meaning)| (code.to_string(), meaning))
            .map(|(code, meaning)| match meaning.is_empty() {
                true => (code.clone(), inline_meaning(&page.text, &code)),
                false => (code, meaning),
            })
            .collect(),
        ..CommandInterface::default()
    }
}

/// Returns the meaning of an exit code in a list on one line, such as `0 success, 2 usage error`; empty if there is none.
fn inline_meaning(text: &str, code: &str) -> String {
    let parts = text.split([',', ';']).map(|part| part.split_whitespace().collect::<Vec<_>>());
    let after_code = |words: Vec<&str>| {
        let at =
            words.iter().position(|word| word.trim_matches(|char: char| !char.is_alphanumeric()) == code)?;
        // Other numbers are not at the start of a part.
        let starts = at == 0 || words[at - 1].ends_with(':');
        let is_word = |word: &&&str| word.starts_with(char::is_alphabetic);
        let meaning: Vec<&str> = words[at + 1..].iter().take_while(is_word).copied().collect();
        (starts && !meaning.is_empty()).then(|| meaning.join(" "))
    };
    parts.filter_map(after_code).next().unwrap_or_default()
}

/// Returns the aliases of each command that a help page lists.
pub(crate) fn listed_aliases(bytes: &[u8]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, aliases) in commands::aliases_by_name(&HelpPage::parse(bytes)) {
        all.entry(name).or_default().extend(aliases);
    }
    all
}

/// Returns whether a description says that what it describes is deprecated.
pub(crate) fn is_deprecated(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.trim_start_matches(['*', ' ']).starts_with("deprecated")
        || lower.contains("[deprecated")
        || lower.contains("(deprecated")
}

/// Returns the aliases of a command that its own page lists, as cobra does below `Aliases:`.
fn own_aliases(page: &HelpPage, path: &[&str]) -> BTreeSet<String> {
    let Some(own) = path.last() else { return BTreeSet::new() };
    let heading = |words: &str| {
        let lower = words.to_lowercase();
        ["aliases:", "alias:"].iter().any(|mark| lower.starts_with(mark))
    };
    let Some(at) = page.lines.iter().position(|line| heading(&line.words)) else { return BTreeSet::new() };
    let (_, rest) = page.lines[at].words.split_once(':').unwrap_or_default();
    let list = match (rest.trim(), page.lines.get(at + 1)) {
        ("", Some(next)) => &next.words,
        (rest, _) => rest,
    };
    let names = list.split(',').filter_map(|alias| alias.split_whitespace().last());
    names.filter(|name| name != own && commands::is_name(name)).map(str::to_owned).collect()
}

/// Returns the options on a page. An option that the page shows at several places is one option.
fn options(
    page: &HelpPage,
    interface: &Interface,
    reader: InterfaceReader,
) -> BTreeMap<String, OptionInterface> {
    let mut groups: Vec<Vec<&CliOption>> = Vec::new();
    for option in &interface.options {
        let is_same = |other: &&CliOption| {
            names_in_head(option).any(|name| names_in_head(other).any(|known| known == name))
        };
        match groups.iter_mut().find(|group| group.iter().any(&is_same)) {
            Some(group) => group.push(option),
            None => groups.push(vec![option]),
        }
    }
    let described = groups.iter().filter(|group| !is_cut(group)).filter_map(|group| {
        let mut names: Vec<&String> = Vec::new();
        for name in group.iter().flat_map(|option| names_in_head(option)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let key = names.iter().find(|name| !is_short(name)).or(names.first())?;
        Some(((*key).clone(), described_option(key, &names, group, page, interface, reader)))
    });
    described.collect()
}

/// Returns the names of an option without those of other options on the same line, such as `--all` in
/// `--any like --all` and `-o` in `-i FILE -o FILE`.
fn names_in_head(option: &CliOption) -> impl Iterator<Item = &String> {
    let words: Vec<&str> = option.head.split_whitespace().collect();
    let is_name = |word: &str| word.starts_with(['-', '[']);
    let is_other = |pair: &[&str]| {
        // Of two long names without a comma, the second one is the placeholder of the first one.
        let are_long = pair.iter().all(|word| word.starts_with("--"));
        let separates =
            pair[0].ends_with([',', '|', '/']) || pair[0] == "or" || is_name(pair[0]) && !are_long;
        !separates && pair[1].starts_with('-')
    };
    let end = words.windows(2).position(is_other).map_or(words.len(), |at| at + 1);
    let head = words[..end].join(" ").replace("[no-]", "");
    let is_own = move |name: &str| {
        head.is_empty() || head.contains(name) || head.contains(&name.replacen("--no-", "--", 1))
    };
    option.names.iter().filter(move |name| is_own(name))
}

/// Returns a value name if a placeholder follows the last name of an option, such as `USER[:PASS] | TOKEN`, which is no
/// single placeholder, or the name of another option.
fn placeholder_after_names(option: &CliOption) -> Option<String> {
    let name = names_in_head(option).last()?;
    let (_, after) = option.head.rsplit_once(name.as_str())?;
    let word = after.split_whitespace().next()?;
    let is_note = NOTES.iter().any(|note| word.trim_start_matches('[').to_lowercase().starts_with(note));
    let is_value = word.starts_with("--")
        || super::command::is_placeholder(word) && !word.starts_with(['(', '.']) && !word.starts_with("[-");
    (is_value && !is_note).then(|| "VALUE".to_owned())
}

/// Returns whether a table of rich cut the names of the option.
fn is_cut(group: &[&CliOption]) -> bool {
    group
        .iter()
        .any(|option| option.head.split_whitespace().next().is_some_and(|name| name.contains('\u{2026}')))
}

fn described_option(
    key: &str,
    names: &[&String],
    group: &[&CliOption],
    page: &HelpPage,
    interface: &Interface,
    reader: InterfaceReader,
) -> OptionInterface {
    let of_kind = |short: bool| {
        let others = names.iter().filter(|name| ***name != key && is_short(name) == short);
        others.map(|name| (*name).clone()).collect::<BTreeSet<String>>()
    };
    let first = |value: &dyn Fn(&CliOption) -> Option<String>| group.iter().find_map(|option| value(option));
    let values = group.iter().find(|option| !option.values.is_empty());
    let text = group.iter().map(|option| option.about.join(" ")).find(|text| !text.trim().is_empty());
    let text = text.unwrap_or_default();
    let shown = first(&|option| option.value.clone().or_else(|| placeholder_after_names(option)));
    let in_text = value_in_description(key, &text).filter(|_| shown.is_none());
    let value_optional =
        in_text.is_some() || shown.is_some() && group.iter().any(|option| has_optional_value(option));
    let value = shown.or(in_text);
    OptionInterface {
        long: of_kind(false),
        short: of_kind(true),
        description: without_notes(&text),
        value_optional,
        values: values.map(|option| option.values.iter().cloned().collect()).unwrap_or_default(),
        default: value.as_deref().and_then(|value| default(&text).filter(|default| fits(default, value))),
        required: is_required(names, group, page, interface, reader),
        repeatable: is_repeatable(group, &text, value.as_deref(), reader),
        deprecated: is_deprecated(&text),
        variable: first(&|option| option.variable.clone()),
        // A set of values in the place of the name is no name.
        value: value.map(|name| if name.contains([',', '|']) { "VALUE".to_owned() } else { name }),
        ..OptionInterface::default()
    }
}

/// Returns the value of an option that only its description shows, as in `a level using --verbose=n`.
fn value_in_description(key: &str, text: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("{key}="))?;
    let value: String = rest.chars().take_while(|char| char.is_ascii_alphanumeric()).collect();
    (!value.is_empty()).then_some(value)
}

/// Returns whether the head of an option shows its value as optional. A choice in brackets, as click shows it, is not
/// optional; the value in `-input=true`, as Go shows it, is.
fn has_optional_value(option: &CliOption) -> bool {
    let is_switch = option.value.as_deref().is_some_and(|value| ["true", "false"].contains(&value));
    option.has_optional_value() && !option.head.contains('|') || is_switch
}

/// Returns whether a call needs the option; `None` if the page does not state it, or if the reader implies that it does
/// not.
fn is_required(
    names: &[&String],
    group: &[&CliOption],
    page: &HelpPage,
    interface: &Interface,
    reader: InterfaceReader,
) -> Option<bool> {
    let in_usage = interface.arguments.iter().any(|argument| {
        let option = argument.option.as_ref().filter(|_| argument.required);
        option.is_some_and(|option| names.contains(&option))
    });
    // Alternative forms of a usage need different options.
    if group.iter().any(|option| option.required) || in_usage && page.usage.len() == 1 {
        return Some(true);
    }
    let is_bracketed = |form: &String| {
        let words = usage::words(form);
        words.iter().any(|word| {
            let inner = word.trim_start_matches(['[', '(']).split([' ', '=', ']', '|']).next();
            word.starts_with('[') && inner.is_some_and(|inner| names.iter().any(|name| *name == inner))
        })
    };
    (!reader.states_required() && page.usage.iter().any(is_bracketed)).then_some(false)
}

/// Returns whether the option can be repeated; `None` if the page does not state it.
fn is_repeatable(
    group: &[&CliOption],
    text: &str,
    value: Option<&str>,
    reader: InterfaceReader,
) -> Option<bool> {
    let has_dots = |option: &&CliOption| option.head.contains("...") || option.head.contains('\u{2026}');
    let is_described = || REPEATABLE.iter().any(|phrase| text.contains(phrase));
    match reader {
        _ if group.iter().any(has_dots) || value.is_some() && is_described() => Some(true),
        InterfaceReader::Cobra => {
            let is_of = |types: &[&str]| value.is_some_and(|value| types.contains(&value));
            (is_of(&COBRA_LISTS) || is_of(&COBRA_SCALARS)).then(|| is_of(&COBRA_LISTS))
        }
        InterfaceReader::Yargs => value.map(|_| text.contains("[array]")),
        _ => None,
    }
}

/// Returns the positional arguments in the usage of a command; `None` if it has several forms or alternatives.
fn positionals(page: &HelpPage, interface: &Interface, path: &[&str]) -> Option<Vec<ArgumentInterface>> {
    let forms: Vec<Vec<&str>> = page
        .usage
        .iter()
        .filter_map(|form| arguments::words_after(&usage::words(form), path).map(<[&str]>::to_vec))
        .collect();
    let [words] = &forms[..] else { return None };
    if !interface.commands.is_empty() || words.iter().any(|word| is_alternative(word)) {
        return None;
    }
    let is_repeated = |argument: &Argument| {
        let at = words.iter().position(|word| !word.starts_with('-') && word.contains(&*argument.name));
        at.is_some_and(|at| {
            words[at].contains("...") || words.get(at + 1).is_some_and(|next| next.starts_with("..."))
        })
    };
    let positionals = interface.arguments.iter().filter(|argument| argument.option.is_none());
    let positionals = positionals.map(|argument| ArgumentInterface {
        name: argument.name.clone(),
        required: argument.required,
        repeatable: is_repeated(argument),
        values: argument.choices.iter().cloned().collect(),
    });
    Some(positionals.collect())
}

/// Returns whether a word of a usage is a group of alternatives with an option or with several words, such as
/// `<FILE|--stdin>` or `[config|blob ID]`.
fn is_alternative(word: &str) -> bool {
    let has_option = word.contains("|-") || word.contains("| -");
    let is_phrase = |part: &str| part.trim_end_matches('.').split_whitespace().count() > 1;
    !word.starts_with("[-") && (has_option || word.contains('|') && word.split('|').any(is_phrase))
}

/// Returns the default value in a description: `[default: a]`, `(default a)`, ` - default: a` or `Defaults to a.`.
/// `None` for a path, which depends on the machine, and for a description such as `(default: the current branch)`.
fn default(text: &str) -> Option<String> {
    let sentence = || {
        let (_, rest) = text.split_once("Defaults to ").or_else(|| text.split_once(" - default: "))?;
        let value = rest.split_whitespace().next()?;
        Some(value.trim_end_matches('.').to_owned())
    };
    let of_note = |(from, to): (usize, usize)| default_in_note(&text[from + 1..to - 1]).map(str::to_owned);
    let value = notes(text).into_iter().find_map(of_note).or_else(sentence)?;
    let value = value.trim_matches(['"', '\'', '`', ' ']);
    let is_path = value.starts_with(['/', '~']) || value.contains(" /");
    (!value.is_empty() && !is_path).then(|| value.to_owned())
}

/// Returns whether a default can be a value of this name. The default `CERT_NONE` of an `INTEGER` is the name of a number.
fn fits(default: &str, value: &str) -> bool {
    !NUMBERS.contains(&value.to_lowercase().as_str()) || default.parse::<f64>().is_ok()
}

/// Returns the default in the text of a note such as `default: a` or `env var: X, default: a`.
fn default_in_note(note: &str) -> Option<&str> {
    let lower = note.to_lowercase();
    let at = if lower.starts_with("default") { 0 } else { lower.find(", default: ")? + 2 };
    let value = note.get(at + "default".len()..)?.strip_prefix([':', '=', ' '])?.trim();
    Some(value.strip_prefix("is ").unwrap_or(value))
}

/// Returns whether a default is a description, such as `the current branch`. `10 MB` and `"a b"` are values.
fn is_prose(default: &str) -> bool {
    let mut parts = default.split([',', ';']).map(|part| part.trim_matches([' ', '[', ']', '(', ')']));
    let is_value = |part: &str| part.starts_with(|char: char| char.is_ascii_digit() || "\"'`".contains(char));
    parts.any(|part| part.contains(' ') && !is_value(part))
}

/// Returns a description without the notes that parsers append, such as `[default: 3]`.
fn without_notes(text: &str) -> String {
    let mut rest = text.to_owned();
    for (from, to) in notes(text).into_iter().rev() {
        rest.replace_range(from..to, " ");
    }
    rest.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the positions of the notes in a description, with their brackets. A default in words is no note.
fn notes(text: &str) -> Vec<(usize, usize)> {
    let mut notes = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (at, char) in text.char_indices() {
        match char {
            '[' | '(' => open.push(at),
            ']' | ')' => {
                if let Some(from) = open.pop() {
                    let inner = &text[from + 1..at];
                    let lower = inner.to_lowercase();
                    let is_note = NOTES.iter().any(|note| lower.starts_with(note));
                    if open.is_empty() && is_note && !default_in_note(inner).is_some_and(is_prose) {
                        notes.push((from, at + 1));
                    }
                }
            }
            _ => {}
        }
    }
    notes
}
