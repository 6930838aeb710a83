//! Finds the manual page of a target and converts its roff source to plain text, without running a program.
//!
//! A page belongs to the target if it has the name of the program and is in the manual tree next to it,
//! `/usr/share/man` for `/usr/bin`, or in the project that builds it. Any other page of that name may be about another
//! program.

use agentnative_contract::DataFile;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Maximum size of a manual page, in bytes.
const MAX_BYTES: u64 = 8 << 20;
/// Sections of the manual in the order of the search: those about programs come first.
const SECTIONS: [u8; 9] = [1, 8, 6, 7, 5, 4, 3, 2, 9];
/// Folders of a project that may contain manual pages or a manual tree (`man1`, `man8`).
const FOLDERS: [&str; 7] = ["", "man", "doc", "doc/man", "docs", "docs/man", "share/man"];

/// Returns the path and the text of the manual page `name`. Searches the manual trees next to the program, if it is
/// known, and then the given project folders.
pub fn page(name: &OsStr, program: Option<&Path>, projects: &[&Path]) -> Option<(PathBuf, String)> {
    let project_trees = projects.iter().flat_map(|project| FOLDERS.map(|folder| project.join(folder)));
    let trees = program.into_iter().flat_map(trees_for).chain(project_trees);
    trees.into_iter().find_map(|tree| page_in(&tree, name))
}

/// Returns the manual trees that belong to a program in a `bin` or `sbin` folder, such as `/usr/share/man` for
/// `/usr/bin`.
fn trees_for(program: &Path) -> Vec<PathBuf> {
    let real = fs::canonicalize(program).ok();
    let programs = std::iter::once(program.to_owned()).chain(real);
    let roots = programs.filter_map(|program| {
        let folder = program.parent()?;
        (folder.ends_with("bin") || folder.ends_with("sbin")).then(|| folder.parent().map(Path::to_owned))?
    });
    roots.flat_map(|root| [root.join("share/man"), root.join("man"), root.join("usr/share/man")]).collect()
}

/// Returns the path and the text of the first page of this name in a manual tree. The page is in the root of the tree
/// or in the folder of a section, such as `man1`.
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
        Some((file, rendered(&text)))
    })
}

/// Returns whether a file is called `NAME.SECTION`, such as `tool.1`, with or without a compression suffix.
fn is_called(file: &Path, name: &OsStr) -> bool {
    let section = || {
        let after = file.file_name()?.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b".")?;
        Some([b".gz", &b".zst"[..]].iter().find_map(|end| after.strip_suffix(*end)).unwrap_or(after))
    };
    section().is_some_and(|section| {
        section.first().is_some_and(u8::is_ascii_digit) && section.iter().all(u8::is_ascii_alphanumeric)
    })
}

/// Reads the roff source of a page in a tree; `None` if the page cannot be read or a link leads out of the tree.
fn source(tree: &Path, file: &Path) -> Option<String> {
    let real = fs::canonicalize(file).ok().filter(|real| real.is_file())?;
    if !real.starts_with(fs::canonicalize(tree).ok()?) {
        return None;
    }
    let mut bytes = Vec::new();
    DataFile::open(&real).ok()?.reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_BYTES).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Renders roff source as plain text: headings at the margin, list tags indented by 4, their descriptions by 8.
fn rendered(source: &str) -> String {
    let mut page = PageText { text: String::new(), indent: 4, tag: false, row: None };
    for line in source.lines() {
        match line.strip_prefix(['.', '\'']) {
            Some(request) => page.request(request),
            None if line.trim().is_empty() => page.text.push('\n'),
            None => page.line(line),
        }
    }
    page.text
}

struct PageText {
    text: String,
    indent: usize,
    /// Whether the next line is the term of a list item.
    tag: bool,
    /// The cells of the current row of a table, if its cells are blocks between `T{` and `T}`.
    row: Option<String>,
}

impl PageText {
    fn line(&mut self, words: &str) {
        let block = words.trim();
        let words = unescaped(words);
        let words = words.trim();
        match &mut self.row {
            None if block == "T{" => return self.row = Some(String::new()),
            Some(_) if block == "T}" => return self.end_row(),
            Some(row) if block == "T}\tT{" => return row.push_str(" |"),
            Some(row) => return row.extend([" ", words]),
            None => {}
        }
        if words.is_empty() {
            return;
        }
        let indent = if std::mem::take(&mut self.tag) { 4 } else { self.indent };
        self.text.push_str(&format!("{:indent$}{words}\n", ""));
    }

    fn end_row(&mut self) {
        if let Some(row) = self.row.take() {
            self.text.push_str(&format!("    |{row} |\n"));
        }
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
                let tag = if name == "IP" {
                    arguments.first().cloned()
                } else {
                    Some(without_macro_names(&arguments))
                };
                self.line(&tag.unwrap_or_default());
            }
            // asciidoctor indents the description of a term.
            "RS" => self.indent += 4,
            "RE" => self.indent = self.indent.saturating_sub(4).max(4),
            "sp" => self.text.push('\n'),
            "TE" => self.end_row(),
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
                self.line(&without_macro_names(&arguments));
            }
            _ => {}
        }
    }
}

/// Returns the arguments of an mdoc macro, without the names of macros that they call.
fn without_macro_names(arguments: &[String]) -> String {
    const MACROS: [&str; 12] = ["Li", "Sy", "Cm", "Dv", "Er", "Ar", "Em", "No", "Ic", "Ql", "Va", "Ns"];
    let words = arguments.iter().filter(|word| !MACROS.contains(&word.as_str()));
    words.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Splits the arguments of a roff request at white space outside quotes.
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

/// Returns the text with roff escapes replaced by plain characters or removed.
fn unescaped(text: &str) -> String {
    let mut rendered = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            rendered.push(if char == '\t' { ' ' } else { char });
            continue;
        }
        match chars.next() {
            Some('f' | '*') => skip_name(&mut chars),
            Some('s') => {
                while chars.clone().next().is_some_and(|char| char.is_ascii_digit() || "+-".contains(char)) {
                    chars.next();
                }
            }
            Some('(') => {
                rendered.push(if matches!(next_two(&mut chars).as_str(), "en" | "em" | "hy" | "mi") {
                    '-'
                } else {
                    ' '
                })
            }
            Some('[') => {
                let name: String = chars.by_ref().take_while(|char| *char != ']').collect();
                rendered.push(if matches!(name.as_str(), "en" | "em" | "hy" | "mi") { '-' } else { ' ' });
            }
            Some('"') | None => break,
            Some('-') => rendered.push('-'),
            Some('e') => rendered.push('\\'),
            Some(' ' | '~' | '0') => rendered.push(' '),
            Some('&' | '|' | '^' | 'c' | '/' | ',' | '%' | ':') => {}
            Some(other) => rendered.push(other),
        }
    }
    rendered
}

/// Skips the name in a roff escape: one letter, two letters after `(`, or a name in brackets.
fn skip_name(chars: &mut std::str::Chars<'_>) {
    match chars.next() {
        Some('(') => drop(next_two(chars)),
        Some('[') => drop(chars.by_ref().take_while(|char| *char != ']').count()),
        _ => {}
    }
}

fn next_two(chars: &mut std::str::Chars<'_>) -> String {
    chars.by_ref().take(2).collect()
}
