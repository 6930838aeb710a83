//! The flags in a help text, and those among them that ask for JSON.

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
}

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
        } else if words.starts_with('-') {
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

/// The arguments that seem to ask for a JSON document and for JSON lines.
pub(super) fn asking(flags: &[Flag<'_>]) -> (Option<Vec<String>>, Option<Vec<String>>) {
    let by_value = |values: &[&str]| {
        let said = |flag: &Flag<'_>| {
            let said = flag.about.join(" ").to_lowercase();
            let is_value = |word: &str| values.iter().find(|value| **value == word).copied();
            said.split(|char: char| !char.is_alphanumeric() && char != '-').find_map(is_value)
        };
        let of = |name: &str| {
            let mut named = flags.iter().filter(|flag| flag.names.iter().any(|n| n == name));
            let mut named =
                named.by_ref().filter(|flag| !flag.about.first().is_some_and(|head| says(head, &FILES)));
            Some(vec![name.to_owned(), named.find_map(said)?.to_owned()])
        };
        BY_VALUE.into_iter().find_map(of)
    };
    let alone = |names: &[&str]| {
        let fits = |name: &str| {
            let mut named = flags.iter().filter(|flag| flag.names.iter().any(|n| n == name)).peekable();
            named.peek().is_some() && !named.any(Flag::takes_value)
        };
        names.iter().find(|name| fits(name)).map(|name| vec![(*name).to_owned()])
    };
    let json = by_value(&["json"]).or_else(|| alone(&JSON[..2])).or_else(|| short_json(flags));
    (json, by_value(&JSONL_VALUES).or_else(|| alone(&JSONL)))
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
