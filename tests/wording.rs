//! Comments and texts contain none of the phrases that `docs/style.md` lists.

use regex::{Captures, Regex};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use walkdir::WalkDir;

/// The folders whose files are searched, with the extensions of these files.
const SEARCHED: &[(&str, &[&str])] = &[
    (".", &["md"]),
    ("benches", &["rs"]),
    ("checks", &["toml", "md"]),
    ("crates", &["rs", "md", "toml"]),
    ("docs", &["md"]),
    ("examples", &["rs", "md", "toml"]),
    ("fuzz", &["rs", "md"]),
    ("packages", &["md", "py"]),
    ("src", &["rs"]),
    ("tests", &["rs"]),
    ("xtask", &["rs"]),
];

/// The part of the style guide that lists the phrases.
const SECTION: &str = "## Phrases to avoid";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns a pattern for the phrases in the first column of the table, and their number.
fn phrases() -> (Regex, usize) {
    let style = fs::read_to_string(root().join("docs/style.md")).unwrap();
    let (_, section) = style.split_once(SECTION).unwrap();
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let phrases = rows.take_while(|line| line.starts_with('|')).filter_map(|line| line.split('|').nth(1));
    let phrases: Vec<&str> = phrases.flat_map(|cell| cell.split(',')).map(str::trim).collect();
    (pattern(&phrases), phrases.len())
}

/// Returns a pattern for phrases, each of which may continue on the next line.
fn pattern(phrases: &[&str]) -> Regex {
    let words: Vec<String> = phrases.iter().map(|phrase| phrase.replace(' ', r"[\s/!#]+")).collect();
    Regex::new(&format!(r"(?i)\b(?:{})\b", words.join("|"))).unwrap()
}

fn searched_files() -> Vec<PathBuf> {
    let files = SEARCHED.iter().flat_map(|(folder, extensions)| {
        let depth = if *folder == "." { 1 } else { usize::MAX };
        let walk = WalkDir::new(root().join(folder)).max_depth(depth).sort_by_file_name().into_iter();
        let paths = walk.map(|entry| entry.unwrap().into_path());
        paths.filter(|path| path.extension().is_some_and(|end| extensions.contains(&&*end.to_string_lossy())))
    });
    files.filter(|path| !path.ends_with("docs/style.md")).collect()
}

static CODE_BLOCK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?s)\n```.*?\n```").unwrap());
static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`[^`\n]*`").unwrap());
static QUOTATION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""[^"\n]*""#).unwrap());

/// Returns the text of a file in which only comments and texts of the project are left, with its line breaks.
///
/// Code in backticks and quotations are removed. The strings of Rust code are texts of the project, except in tests.
fn prose(path: &Path, text: &str) -> String {
    let remove = |pattern: &Regex, text: &str| {
        let line_breaks = |found: &Captures| "\n".repeat(found[0].matches('\n').count());
        pattern.replace_all(text, line_breaks).into_owned()
    };
    let is_test = path.strip_prefix(root()).unwrap().components().any(|part| part.as_os_str() == "tests");
    let is_page = path.extension().is_some_and(|end| end == "md");
    let is_comment = |line: &str| line.trim_start().starts_with(['/', '#']);
    let is_read = |line: &str| !is_test || is_page || is_comment(line);
    let mut text = text.to_owned();
    if path.ends_with("CHANGELOG.md") {
        text = text.split("\n## [").take(2).collect::<Vec<_>>().join("\n");
    }
    if is_page {
        text = remove(&CODE_BLOCK, &text);
    }
    let lines = remove(&CODE, &text);
    let lines = lines.lines().map(|line| match line {
        line if !is_read(line) => String::new(),
        line if is_page || is_comment(line) => remove(&QUOTATION, line),
        line => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the uses of the phrases in a text, as line numbers and phrases.
fn uses(text: &str, phrases: &Regex) -> Vec<(usize, String)> {
    let line = |offset: usize| text[..offset].matches('\n').count() + 1;
    phrases.find_iter(text).map(|found| (line(found.start()), found.as_str().to_owned())).collect()
}

#[test]
fn comments_and_texts_avoid_the_listed_phrases() {
    let (phrases, count) = phrases();
    assert!(count >= 20, "{phrases}");
    let found = searched_files().into_iter().flat_map(|path| {
        let text = prose(&path, &fs::read_to_string(&path).unwrap());
        let uses = uses(&text, &phrases);
        let path = path.strip_prefix(root()).unwrap().display().to_string();
        uses.into_iter().map(move |(line, phrase)| format!("{path}:{line}: {phrase:?}"))
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "see {SECTION:?} in docs/style.md:\n{}", found.join("\n"));
}

#[test]
fn phrases_are_found_in_comments_and_texts_only() {
    let phrases = pattern(&["is told", "nobody"]);
    let found = |path: &str, text: &str| uses(&prose(&root().join(path), text), &phrases);
    assert_eq!(found("src/a.rs", "/// It is\n/// told.\n"), [(1, "is\n/// told".to_owned())]);
    assert_eq!(found("src/a.rs", "let a = \"\nNobody\";\n"), [(2, "Nobody".to_owned())]);
    for (path, text) in [
        ("tests/a.rs", "let a = \"nobody\";\n"),
        ("src/a.rs", "/// As `nobody`, \"is told\".\nlet told = is_told;\n"),
        ("docs/a.md", "Text.\n\n```sh\nsudo -u nobody true\n```\n"),
    ] {
        assert_eq!(found(path, text), [], "{path}");
    }
}
