//! The page of a target's own manual, as plain text: where it is, and what its source says. No program is run for it.
//!
//! A page is the target's own when it is called as the program and lies in the tree of manuals beside it,
//! `/usr/share/man` for `/usr/bin`, or in the project that builds it. Another page of that name may be about another
//! program.

use agentnative_contract::DataFile;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Longer pages are not read, in bytes.
const LONGEST: u64 = 8 << 20;
/// The sections of the manual, those with programs first.
const SECTIONS: [u8; 9] = [1, 8, 6, 7, 5, 4, 3, 2, 9];
/// The folders of a project that may be trees of manuals, or hold pages.
const FOLDERS: [&str; 7] = ["", "man", "doc", "doc/man", "docs", "docs/man", "share/man"];

/// The page of a program called `name`, and its text. It is looked for beside the program, if that is known, and then
/// in these folders of its project.
pub fn page(name: &OsStr, program: Option<&Path>, projects: &[&Path]) -> Option<(PathBuf, String)> {
    let of_projects = projects.iter().flat_map(|project| FOLDERS.map(|folder| project.join(folder)));
    let trees = program.into_iter().flat_map(beside).chain(of_projects);
    trees.into_iter().find_map(|tree| page_in(&tree, name))
}

/// The trees of manuals beside a program in a `bin`.
fn beside(program: &Path) -> Vec<PathBuf> {
    let real = fs::canonicalize(program).ok();
    let programs = std::iter::once(program.to_owned()).chain(real);
    let roots = programs.filter_map(|program| {
        let folder = program.parent()?;
        (folder.ends_with("bin") || folder.ends_with("sbin")).then(|| folder.parent().map(Path::to_owned))?
    });
    roots.flat_map(|root| [root.join("share/man"), root.join("man"), root.join("usr/share/man")]).collect()
}

/// The first page of this name in a tree, or among the files beside its folders of sections.
fn page_in(tree: &Path, name: &OsStr) -> Option<(PathBuf, String)> {
    let folders = std::iter::once(tree.to_owned())
        .chain(SECTIONS.map(|section| tree.join(format!("man{section}"))))
        .filter_map(|folder| fs::read_dir(folder).ok());
    let pages = folders.flat_map(|entries| {
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|file| is_called(file, name));
        files.sort();
        files
    });
    pages.into_iter().find_map(|file| {
        let mut text = source(tree, &file)?;
        if let Some(other) = text.strip_prefix(".so ").and_then(|rest| rest.lines().next()) {
            let other = tree.join(other.trim());
            text = source(tree, &other).or_else(|| source(tree, &other.with_added_extension("gz")))?;
        }
        Some((file, plain(&text)))
    })
}

/// Whether a page is called `NAME.SECTION`, compressed or not.
fn is_called(file: &Path, name: &OsStr) -> bool {
    let section = || {
        let after = file.file_name()?.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b".")?;
        Some([b".gz", &b".zst"[..]].iter().find_map(|end| after.strip_suffix(*end)).unwrap_or(after))
    };
    section().is_some_and(|section| {
        section.first().is_some_and(u8::is_ascii_digit) && section.iter().all(u8::is_ascii_alphanumeric)
    })
}

/// The source of a page in a tree; none where a link leads out of it.
fn source(tree: &Path, file: &Path) -> Option<String> {
    let real = fs::canonicalize(file).ok().filter(|real| real.is_file())?;
    if !real.starts_with(fs::canonicalize(tree).ok()?) {
        return None;
    }
    let mut bytes = Vec::new();
    DataFile::open(&real).ok()?.reader.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LONGEST).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// The source without its markup: headings at the margin, tags of lists indented by four, what they say by
/// eight.
fn plain(source: &str) -> String {
    let mut page = Page { text: String::new(), indent: 4, tag: false };
    for line in source.lines() {
        match line.strip_prefix(['.', '\'']) {
            Some(request) => page.request(request),
            None if line.trim().is_empty() => page.text.push('\n'),
            None => page.line(line),
        }
    }
    page.text
}

struct Page {
    text: String,
    indent: usize,
    /// The next line is the tag of a list's item.
    tag: bool,
}

impl Page {
    fn line(&mut self, words: &str) {
        let words = unescaped(words);
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        let indent = if std::mem::take(&mut self.tag) { 4 } else { self.indent };
        self.text.push_str(&format!("{:indent$}{words}\n", ""));
    }

    fn request(&mut self, request: &str) {
        let (name, rest) = request.split_once([' ', '\t']).unwrap_or((request, ""));
        let arguments = arguments(rest);
        match name {
            "SH" | "Sh" | "SS" | "Ss" => {
                let indent = if name.to_uppercase() == "SH" { 0 } else { 2 };
                self.text.push_str(&format!("\n{:indent$}{}\n", "", unescaped(&arguments.join(" "))));
                (self.indent, self.tag) = (4, false);
            }
            "TP" | "TQ" => (self.indent, self.tag) = (8, true),
            "IP" | "It" => {
                (self.indent, self.tag) = (8, true);
                let tag = if name == "IP" { arguments.first().cloned() } else { Some(callable(&arguments)) };
                self.line(&tag.unwrap_or_default());
            }
            // asciidoctor indents what a term means.
            "RS" => self.indent += 4,
            "RE" => self.indent = self.indent.saturating_sub(4).max(4),
            "sp" => self.text.push('\n'),
            "PP" | "P" | "LP" | "Pp" | "HP" | "El" | "Bl" => {
                self.text.push('\n');
                (self.indent, self.tag) = (4, false);
            }
            "B" | "I" | "SM" | "SB" | "R" => self.line(&arguments.join(" ")),
            "BR" | "RB" | "BI" | "IB" | "IR" | "RI" => self.line(&arguments.concat()),
            // Macros of mdoc have two letters, the second a small one; their arguments are words.
            _ if matches!(name.as_bytes(), [b'A'..=b'Z', b'a'..=b'z'])
                && !["Dd", "Dt", "Os"].contains(&name) =>
            {
                self.line(&callable(&arguments));
            }
            _ => {}
        }
    }
}

/// The arguments of a macro of mdoc, without the names of others among them.
fn callable(arguments: &[String]) -> String {
    const MACROS: [&str; 12] = ["Li", "Sy", "Cm", "Dv", "Er", "Ar", "Em", "No", "Ic", "Ql", "Va", "Ns"];
    let words = arguments.iter().filter(|word| !MACROS.contains(&word.as_str()));
    words.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The arguments of a request, split at spaces where there are no quotes.
fn arguments(rest: &str) -> Vec<String> {
    let (mut all, mut current, mut quoted) = (Vec::new(), String::new(), false);
    for char in rest.chars() {
        match char {
            '"' => quoted = !quoted,
            char if char.is_whitespace() && !quoted => all.extend(Some(std::mem::take(&mut current))),
            char => current.push(char),
        }
    }
    all.push(current);
    all.retain(|word| !word.is_empty());
    all
}

/// Text without escapes of roff.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            plain.push(if char == '\t' { ' ' } else { char });
            continue;
        }
        match chars.next() {
            Some('f' | '*') => skip_name(&mut chars),
            Some('s') => {
                while chars.clone().next().is_some_and(|char| char.is_ascii_digit() || "+-".contains(char)) {
                    chars.next();
                }
            }
            Some('(') => plain.push(if matches!(two(&mut chars).as_str(), "en" | "em" | "hy" | "mi") {
                '-'
            } else {
                ' '
            }),
            Some('[') => {
                let name: String = chars.by_ref().take_while(|char| *char != ']').collect();
                plain.push(if matches!(name.as_str(), "en" | "em" | "hy" | "mi") { '-' } else { ' ' });
            }
            Some('"') | None => break,
            Some('-') => plain.push('-'),
            Some('e') => plain.push('\\'),
            Some(' ' | '~' | '0') => plain.push(' '),
            Some('&' | '|' | '^' | 'c' | '/' | ',' | '%' | ':') => {}
            Some(other) => plain.push(other),
        }
    }
    plain
}

/// Skips a name of one letter, of two behind `(`, or in brackets.
fn skip_name(chars: &mut std::str::Chars<'_>) {
    match chars.next() {
        Some('(') => drop(two(chars)),
        Some('[') => drop(chars.by_ref().take_while(|char| *char != ']').count()),
        _ => {}
    }
}

fn two(chars: &mut std::str::Chars<'_>) -> String {
    chars.by_ref().take(2).collect()
}
