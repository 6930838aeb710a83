//! Finds the exit codes that a text documents in a list, a table or a sentence. Ignores other numbers, such as defaults
//! and limits.

use std::collections::BTreeMap;

/// Returns the exit codes whose meaning the text states. Each is mapped to the 0-based number of the line that
/// introduces the list or sentence with the code.
pub fn documented_exit_codes(text: &str) -> BTreeMap<u8, usize> {
    let text = with_plain_tables(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut documented = BTreeMap::new();
    let mut at = 0;
    while at < lines.len() {
        if !mentions_codes(lines[at]) && !is_wrapped(&lines, at) {
            at += 1;
            continue;
        }
        let end = match heading(&lines, at) {
            Some(level) => section_end(&lines, at, level),
            None => at + 1,
        };
        let mut codes = sentence_codes(&lines, at, end);
        for line in at + 1..end {
            codes.extend(entry_codes(lines[line], &lines[line + 1..end]));
        }
        for code in codes {
            documented.entry(code).or_insert(at);
        }
        at = end;
    }
    documented
}

/// Returns the exit codes that a text documents, each with its meaning: the rest of the line that begins with the
/// code.
pub fn exit_code_meanings(text: &str) -> BTreeMap<i32, String> {
    let plain = with_plain_tables(text);
    let lines: Vec<&str> = plain.lines().collect();
    let meaning = |code: u8, from: usize| {
        let of_line = |line: &&str| {
            let line = line.trim_start().trim_start_matches(['-', '*', ' ', '`']);
            let rest = line.strip_prefix(&code.to_string())?;
            let rest = rest.strip_prefix(|char: char| !char.is_alphanumeric())?;
            Some(rest.trim_matches(|char: char| !char.is_alphanumeric() && char != ')').to_owned())
        };
        lines[from.min(lines.len())..].iter().find_map(of_line).unwrap_or_default()
    };
    let documented = documented_exit_codes(text).into_iter();
    documented.map(|(code, line)| (i32::from(code), meaning(code, line))).collect()
}

/// Returns a text in which tables of box-drawing characters, such as those of tbl in manual pages, consist of `|` and
/// `-`.
fn with_plain_tables(text: &str) -> String {
    let plain = |char| match char {
        '│' | '├' | '┤' => '|',
        '─' | '┌' | '┐' | '└' | '┘' | '┬' | '┴' | '┼' => '-',
        char => char,
    };
    text.chars().map(plain).collect()
}

/// Returns whether a line ends in `exit` or a similar word and the next line begins with the code, as in a wrapped
/// description.
fn is_wrapped(lines: &[&str], at: usize) -> bool {
    let next = lines.get(at + 1).filter(|next| !is_option(next)).and_then(|next| words(next).next());
    next.zip(words(lines[at]).last()).is_some_and(|(next, last)| mentions_codes(&format!("{last} {next}")))
}

/// Returns whether a line mentions exit codes.
fn mentions_codes(line: &str) -> bool {
    let words: Vec<String> = words(line).map(str::to_lowercase).collect();
    let is = |word: &str, all: &[&str]| all.contains(&word);
    words.windows(2).any(|pair| {
        is(&pair[0], &["exit", "return", "status", "exits", "exited"])
            && is(&pair[1], &["code", "codes", "status", "statuses", "value", "values", "with"])
    }) || words.iter().enumerate().any(|(at, word)| {
        let next = words.get(at + 1).is_some_and(|next| next.parse::<u8>().is_ok());
        is(word, &["exitcode", "exitcodes", "exitstatus", "errorlevel"])
            || next && is(word, &["exits", "exit", "returns", "return"])
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn has_words(text: &str) -> bool {
    words(text).any(|word| word.chars().count() > 1 && word.chars().all(char::is_alphabetic))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The kind and level of a heading, which determine where its section ends.
#[derive(Clone, Copy, PartialEq)]
enum HeadingLevel {
    /// A Markdown heading, with the number of its `#`.
    Hashes(usize),
    /// A heading in plain text, with its indentation.
    Indented(usize),
    /// The header row of a table.
    Table,
}

/// Returns the level of the line at index `at` if it is a heading, else `None`. Headings are Markdown headings, header
/// rows of tables, and lines that are underlined, in capitals, end in a colon, or consist of few words about exit
/// codes.
fn heading(lines: &[&str], at: usize) -> Option<HeadingLevel> {
    let line = lines[at].trim();
    if line.starts_with('|') {
        let below = lines.get(at + 1).is_some_and(|next| next.trim().starts_with('|') && is_rule(next));
        return below.then_some(HeadingLevel::Table);
    }
    let hashes = line.len() - line.trim_start_matches('#').len();
    if hashes > 0 {
        return Some(HeadingLevel::Hashes(hashes));
    }
    let title = line.trim_matches(['*', '_', ':']);
    let letters = || title.chars().filter(|char| char.is_alphabetic());
    let starts = title.starts_with(char::is_alphabetic) && line.len() < 100;
    let capitals = letters().count() >= 4 && letters().all(char::is_uppercase);
    let is_short = words(title).count() <= 3 && mentions_codes(title) && !title.ends_with(['.', ',']);
    let underlined = lines.get(at + 1).is_some_and(|next| is_rule(next));
    let is_heading =
        starts && (capitals || line.ends_with(':') || line.ends_with(":**") || is_short || underlined);
    is_heading.then(|| HeadingLevel::Indented(indent(lines[at])))
}

/// Returns whether a line is a horizontal rule of dashes or similar characters.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() > 2 && line.contains(['=', '-', '~']) && line.chars().all(|char| "=-~|:+ ".contains(char))
}

/// Returns whether a line begins with an option, such as `--json`.
fn is_option(line: &str) -> bool {
    let after = line.trim_start().trim_start_matches('-');
    line.trim_start().starts_with('-') && after.starts_with(char::is_alphabetic)
}

/// Returns the index of the first line after the section whose heading is at index `at`.
fn section_end(lines: &[&str], at: usize, level: HeadingLevel) -> usize {
    let ends = |line: usize| match level {
        HeadingLevel::Table => !lines[line].trim().starts_with('|'),
        // The line above a rule is a heading; the rule itself is not.
        _ if is_rule(lines[line]) || is_option(lines[line]) => is_option(lines[line]),
        _ => match (heading(lines, line), level) {
            (Some(HeadingLevel::Hashes(own)), HeadingLevel::Hashes(above)) => own <= above,
            (Some(HeadingLevel::Hashes(_)), _) => true,
            (Some(HeadingLevel::Indented(own)), HeadingLevel::Indented(above)) => own <= above,
            (Some(HeadingLevel::Indented(own)), HeadingLevel::Hashes(_)) => {
                own == 0 && is_rule(lines.get(line + 1).unwrap_or(&""))
            }
            _ => false,
        },
    };
    (at + 1..lines.len()).find(|line| ends(*line)).unwrap_or(lines.len())
}

/// Returns the exit codes in a line that is a list entry or a table row; empty if no meaning is stated. The meaning of
/// a list entry can be in the lines `below` it.
fn entry_codes(line: &str, below: &[&str]) -> Vec<u8> {
    let text = line.trim_start();
    if let Some(row) = text.strip_prefix('|') {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let has_meaning = cells.iter().any(|cell| has_words(cell));
        let codes = cells.iter().find_map(|cell| leading_codes(cell).filter(|(_, rest)| rest.is_empty()));
        return codes.filter(|_| has_meaning).map(|(codes, _)| codes).unwrap_or_default();
    }
    let bullet = ["- ", "* ", "+ ", "• ", "· "].into_iter().find_map(|bullet| text.strip_prefix(bullet));
    let item = bullet.unwrap_or(text).trim_start();
    let Some((codes, rest)) = leading_codes(item) else { return named_code(item).into_iter().collect() };
    let separate =
        rest.is_empty() || rest.starts_with(|char: char| char.is_whitespace() || ":=-–—,;(|".contains(char));
    let next = below.iter().find(|line| !line.trim().is_empty());
    let has_meaning = match has_words(rest) {
        true => separate,
        false => next.is_some_and(|next| indent(next) > indent(line) && has_words(next)),
    };
    if has_meaning && separate { codes } else { Vec::new() }
}

/// Parses the exit codes at the start of a text, such as `1`, `0, 1` or `64-78`. Returns the codes and the remaining
/// text; `None` if the text does not begin with a code.
fn leading_codes(text: &str) -> Option<(Vec<u8>, &str)> {
    const MARKS: [char; 9] = ['`', '*', '\'', '"', '(', ')', '[', ']', '_'];
    let (mut codes, mut rest): (Vec<u8>, _) = (Vec::new(), text);
    loop {
        let bare = rest.trim_start_matches(MARKS);
        let digits = bare.len() - bare.trim_start_matches(|char: char| char.is_ascii_digit()).len();
        let code = bare[..digits].parse().ok()?;
        let after = bare[digits..].trim_start_matches(MARKS);
        if after.starts_with(['.', '%', '+']) || after.starts_with(char::is_alphanumeric) {
            return None; // A list number, a fraction, or a number with a unit.
        }
        codes.push(code);
        let trimmed = after.trim_start();
        let joint = [", ", "/", "-", "–", "..", "or ", "to ", "and "].into_iter().find(|joint| {
            let next = trimmed.strip_prefix(joint).map(|next| next.trim_start().trim_start_matches(MARKS));
            next.is_some_and(|next| next.starts_with(|char: char| char.is_ascii_digit()))
        });
        let Some(joint) = joint else {
            return Some((codes, after));
        };
        rest = trimmed[joint.len()..].trim_start();
        if ["-", "–", "..", "to "].contains(&joint)
            && let Some((last, _)) = leading_codes(rest)
            && let Some(to) = last.first()
        {
            codes.extend(code.saturating_add(1)..*to);
        }
    }
}

/// Returns the exit code after a name, such as 2 in `EXIT_USAGE (2)`, `EXIT_USAGE = 2` or `usage: 2`.
fn named_code(text: &str) -> Option<u8> {
    let (name, behind) = text.split_at(text.find([' ', '=', ':', '('])?);
    let name = name.trim_matches(['`', '*']);
    let is_name = has_words(name) && name.chars().all(|char| char.is_alphanumeric() || "_.".contains(char));
    let code = behind.trim_start().strip_prefix(['=', ':', '('])?.trim_start();
    let (codes, _) = leading_codes(code).filter(|_| is_name && name != "default")?;
    codes.first().copied()
}

struct Word<'t> {
    /// The word in lower case, without punctuation around it.
    text: String,
    raw: &'t str,
}

/// Words that precede an exit code.
const NOUNS: [&str; 12] = [
    "exit",
    "exits",
    "exiting",
    "exited",
    "code",
    "codes",
    "status",
    "statuses",
    "return",
    "returns",
    "returning",
    "errorlevel",
];
/// Words that precede a list of exit codes.
const LIST_NOUNS: [&str; 2] = ["codes", "statuses"];
/// Words that can come between a noun such as `status` and the exit code.
const FILLERS: [&str; 12] = ["is", "are", "be", "will", "of", "with", "a", "an", "the", "set", "to", "="];
const CONDITIONS: [&str; 6] = ["if", "when", "unless", "on", "for", "whether"];
/// Words that start the meaning of a code in an enumeration.
const MEANINGS: [&str; 14] = [
    "if",
    "when",
    "unless",
    "on",
    "for",
    "in",
    "means",
    "is",
    "indicates",
    "signals",
    "otherwise",
    "=",
    "-",
    "–",
];

/// Returns the exit codes in the sentences that start in line `from`, which mentions exit codes. They end with the
/// section, at line `end`, or, if line `from` is not a heading, with the paragraph.
fn sentence_codes(lines: &[&str], from: usize, end: usize) -> Vec<u8> {
    let section = end > from + 1;
    let ends = |line: usize| {
        let blank = lines[line].trim().is_empty();
        if section { line >= end } else { blank || is_option(lines[line]) }
    };
    let last = (from + 1..lines.len()).find(|line| ends(*line)).unwrap_or(lines.len());
    let prose = lines[from..last].iter().filter(|line| !line.trim_start().starts_with('|'));
    let all: Vec<Word<'_>> = prose.flat_map(|line| words_of(line)).collect();
    let (mut found, mut sentence, mut in_chain, mut in_list) = (Vec::new(), 0, false, false);
    for at in 0..all.len() {
        if at > 0 && all[at - 1].raw.ends_with('.') {
            sentence = at;
        }
        let Ok(code) = all[at].text.parse::<u8>() else { continue };
        let next = all.get(at + 1).map(|word| word.text.as_str()).unwrap_or_default();
        let before = all[..at].last();
        let noun = noun_before(&all[..at], sentence);
        let direct = match noun {
            Some(noun) if all[noun].text.starts_with("return") => CONDITIONS.contains(&next),
            // An aside such as `(0 = unlimited)`, except after `codes`, where it is a list.
            Some(noun) if all[at].raw.starts_with('(') => LIST_NOUNS.contains(&all[noun].text.as_str()),
            Some(_) => true,
            None => {
                let has_noun = all[sentence..at].iter().any(|word| NOUNS[..8].contains(&word.text.as_str()));
                let other = before.is_some_and(|word| ["default", "from", "than"].contains(&&*word.text));
                has_noun && !other && CONDITIONS[..3].contains(&next)
            }
        };
        let joined = before.is_some_and(|word| {
            word.raw.ends_with([',', ';', '.', ':'])
                || ["and", "or", "otherwise", "else"].contains(&&*word.text)
        });
        let explained = all[at].raw.ends_with([':', ')']) || MEANINGS.contains(&next);
        let is_word = next.starts_with(char::is_alphabetic);
        let chained = in_chain && joined && is_word && (in_list || explained);
        let condition = all[sentence..at].iter().any(|word| CONDITIONS.contains(&word.text.as_str()));
        let ended = all[at].raw.ends_with(['.', ';']);
        let has_meaning =
            if ended || next.is_empty() { condition } else { is_word || MEANINGS.contains(&next) };
        if (direct && has_meaning) || chained {
            found.push(code);
            in_chain = true;
            in_list |= noun.is_some_and(|noun| all[noun].raw.ends_with(':'));
        }
    }
    found
}

/// Splits a line into words. An `=` is a word of its own.
fn words_of(line: &str) -> impl Iterator<Item = Word<'_>> {
    line.split_whitespace().flat_map(|raw| raw.split_inclusive('=')).flat_map(move |raw| {
        let (word, sign) = match raw.strip_suffix('=') {
            Some(word) => (word, Some("=")),
            None => (raw, None),
        };
        [Some(word), sign].into_iter().flatten().filter(|raw| !raw.is_empty()).map(move |raw| {
            let text = raw.trim_matches(|char: char| "`*'\"()[],;:.".contains(char)).to_lowercase();
            Word { text: if raw == "=" { raw.to_owned() } else { text }, raw }
        })
    })
}

/// Returns the index of the noun that makes the word after `words` an exit code: `status` in `the exit status is`.
/// `sentence` is the index at which the sentence starts. Returns `None` if there is no such noun.
fn noun_before(words: &[Word<'_>], sentence: usize) -> Option<usize> {
    let at = (sentence..words.len()).rev().find(|at| !FILLERS.contains(&words[*at].text.as_str()))?;
    let word = &words[at];
    let is_other_code = || {
        let mut before = words[..at].iter().rev().map(|word| word.text.as_str());
        let before = before.find(|word| !NOUNS.contains(word)).unwrap_or_default();
        ["http", "response", "country", "language"].contains(&before)
    };
    let is_value = || {
        ["value", "values"].contains(&word.text.as_str())
            && at > 0
            && ["exit", "return"].contains(&words[at - 1].text.as_str())
    };
    let is_noun = NOUNS.contains(&word.text.as_str()) || is_value();
    (is_noun && !word.raw.ends_with(['.', ',', ';']) && !is_other_code()).then_some(at)
}
