//! The kinds of files that a command probably reads.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Extensions of files, each with the words in a help page that name their kind.
const EXTENSIONS: [(&str, &[&str]); 20] = [
    ("json", &["json"]),
    ("jsonl", &["jsonl", "ndjson"]),
    ("yaml", &["yaml", "yml"]),
    ("toml", &["toml"]),
    ("csv", &["csv", "tsv"]),
    ("md", &["markdown", "md"]),
    ("txt", &["text", "txt"]),
    ("py", &["python", "py"]),
    ("ts", &["typescript", "ts"]),
    ("js", &["javascript", "js"]),
    ("html", &["html", "htm"]),
    ("css", &["css"]),
    ("xml", &["xml"]),
    ("svg", &["svg", "svgs"]),
    ("sql", &["sql"]),
    ("db", &["database", "sqlite", "db"]),
    ("sh", &["shell", "bash"]),
    ("rs", &["rust"]),
    ("png", &["png", "image", "images"]),
    ("jpg", &["jpeg", "jpg", "image", "images"]),
];

/// Returns the extensions of the files that a command probably reads, the most probable first: those whose kind the
/// name of a program contains, then those that the help page names most often, then JSON, source code and text. Besides
/// the known ones, these are the extensions of `files`.
pub(super) fn file_extensions(programs: &BTreeSet<&str>, page: &str, files: &[String]) -> Vec<String> {
    let page = page.to_lowercase();
    let words: Vec<&str> = page.split(|char: char| !char.is_alphanumeric()).collect();
    let weight = |known: &[&str]| {
        let in_name = |word: &&&str| word.len() > 2 && programs.iter().any(|name| name.contains(**word));
        let mentions = words.iter().filter(|word| known.contains(word)).count();
        (known.iter().filter(in_name).count(), mentions)
    };
    let mut weighted: Vec<(Reverse<(usize, usize)>, &str)> =
        EXTENSIONS.iter().map(|(extension, known)| (Reverse(weight(known)), *extension)).collect();
    let is_known = |extension: &&str| EXTENSIONS.iter().any(|(_, known)| known.contains(extension));
    let others = files.iter().filter_map(|file| Some(file.rsplit_once('.')?.1));
    let others: BTreeSet<&str> = others.filter(|extension| !is_known(extension)).collect();
    weighted.extend(others.into_iter().map(|extension| (Reverse(weight(&[extension])), extension)));
    weighted.retain(|(Reverse(weight), _)| *weight > (0, 0));
    weighted.sort_by_key(|(weight, _)| *weight);
    let found = weighted.into_iter().map(|(_, extension)| extension).chain(["json", "py", "txt"]);
    found.map(str::to_owned).collect()
}
