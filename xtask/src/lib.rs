//! Scaffolds: the files and table rows of something new, which leave the tests red until they are filled in; the site of
//! documents; and the man pages.

pub mod man;
pub mod site;
mod templates;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A check of `agentnative check`.
    Check,
    /// A bundled contract.
    Contract,
    /// A way to show a report.
    Renderer,
    /// A kind of change that `contract diff` tells.
    Change,
}

impl Kind {
    /// The kind of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn parse(name: &str) -> Result<Self, String> {
        match name {
            "check" => Ok(Self::Check),
            "contract" => Ok(Self::Contract),
            "renderer" => Ok(Self::Renderer),
            "change" => Ok(Self::Change),
            _ => Err(format!("cannot make a `{name}`: expected check, contract, renderer or change")),
        }
    }

    /// What to do with what was made.
    pub const fn next(self) -> &'static str {
        match self {
            Self::Check => "Fill them in as checks/README.md says; cargo test says what is missing.",
            Self::Contract => "Fill them in as contracts/README.md says; cargo test says what is missing.",
            Self::Renderer => "Write the renderer, and add it to tests/render.rs with a snapshot.",
            Self::Change => {
                "Fill it in as the head of changes.toml says, and report the change in crates/diff/src/ beside it."
            }
        }
    }
}

/// Makes the files of something new in the repository at `root`, and its rows in tables; gives their paths.
///
/// # Errors
/// When the name is not of the form that its kind has, it is there already, or a file cannot be written.
pub fn new(root: &Path, kind: Kind, name: &str) -> Result<Vec<PathBuf>, String> {
    let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if name.is_empty() || !name.split('-').all(|part| !part.is_empty() && part.chars().all(lower)) {
        return Err(format!(
            "`{name}` is no name: expected words of small letters and digits with - between them"
        ));
    }
    let mut made = Scaffold { root, made: Vec::new() };
    match kind {
        Kind::Check => made.check(name)?,
        Kind::Contract => made.contract(name)?,
        Kind::Renderer => made.renderer(name)?,
        Kind::Change => made.change(name)?,
    }
    Ok(made.made)
}

struct Scaffold<'a> {
    root: &'a Path,
    made: Vec<PathBuf>,
}

impl Scaffold<'_> {
    fn check(&mut self, id: &str) -> Result<(), String> {
        let parts = id.strip_prefix('p').and_then(|rest| rest.split_once('-'));
        let numbered = parts.and_then(|(number, words)| Some((number.parse::<u8>().ok()?, words)));
        let (principle, words) = numbered
            .ok_or_else(|| format!("`{id}` is no ID of a check: expected p2-… for one of principle 2"))?;
        let order = self.next_order()?;
        if words.starts_with("src-") {
            return self.write(format!("checks/{id}.toml"), &templates::source_check(id, principle, order));
        }
        self.write(format!("checks/{id}.toml"), &templates::check(id, principle, order))?;
        let folder = format!("crates/judge/src/p{principle}");
        let table = format!("{folder}/mod.rs");
        if !self.root.join(&table).exists() {
            self.write(table.clone(), &templates::principle(principle))?;
            self.edit("crates/judge/src/lib.rs", |text| {
                let table = |principle: u8| format!("p{principle}::CHECKS");
                let next = (principle + 1..=9).map(table).find(|next| text.contains(next));
                let (row, text) = (table(principle), insert_module(&text, &format!("p{principle}")));
                match next {
                    Some(next) => text.replacen(&next, &format!("{row}, {next}"), 1),
                    None => text.replacen("::CHECKS]", &format!("::CHECKS, {row}]"), 1),
                }
            })?;
        }
        let module = words.replace('-', "_");
        self.write(format!("{folder}/{module}.rs"), &templates::logic(id, &module))?;
        let row = format!("    (CheckId::{}, {module}::{module}),\n", variant(id));
        self.edit(&table, |text| insert_row(&insert_module(&text, &module), "CHECKS: &[Row] = &[", &row))?;
        let fixture = format!("fixtures/clis/violating/{id}");
        self.write(format!("{fixture}/cli"), templates::FIXTURE)?;
        self.executable(&format!("{fixture}/cli"))?;
        self.write(format!("{fixture}/agentnative.toml"), templates::FIXTURE_CONFIG)
    }

    /// A place in the report behind those of all checks.
    fn next_order(&self) -> Result<u16, String> {
        let folder = self.root.join("checks");
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let texts = entries.flatten().filter_map(|entry| fs::read_to_string(entry.path()).ok());
        let orders = texts.filter_map(|text| {
            let order = text.lines().find_map(|line| line.strip_prefix("order = "))?;
            order.trim().parse::<u16>().ok()
        });
        Ok(orders.max().unwrap_or(0) + 1)
    }

    fn contract(&mut self, name: &str) -> Result<(), String> {
        let folder = format!("contracts/{name}");
        self.write(format!("{folder}/contract.toml"), &templates::contract(name))?;
        self.write(format!("{folder}/output.schema.json"), templates::SCHEMA)?;
        self.write(format!("{folder}/examples/expected.toml"), templates::EXPECTED)?;
        self.write(format!("{folder}/examples/valid/least.json"), "{}\n")?;
        self.write(format!("{folder}/examples/invalid/no-object.json"), "[]\n")
    }

    fn renderer(&mut self, name: &str) -> Result<(), String> {
        let module = name.replace('-', "_");
        self.write(format!("src/output/{module}.rs"), &templates::renderer(name))?;
        let row = format!("    Renderer {{ name: \"{name}\", render: {module}::render }},\n");
        self.edit("src/output/mod.rs", |text| {
            insert_row(&insert_module(&text, &module), "RENDERERS: &[Renderer] = &[", &row)
        })
    }

    fn change(&mut self, id: &str) -> Result<(), String> {
        if !id.starts_with("diff-") {
            return Err(format!("`{id}` is no ID of a change: expected diff-…"));
        }
        let path = "crates/diff/src/changes.toml";
        self.edit(path, |text| insert_rule(text, id, &templates::change(id)))
    }

    /// Writes a file that is not there yet.
    fn write(&mut self, path: String, text: &str) -> Result<(), String> {
        let file = self.root.join(&path);
        if file.exists() {
            return Err(format!("{path} is there already"));
        }
        let failed = |error: std::io::Error| format!("cannot write {path}: {error}");
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(&file, text).map_err(failed)?;
        self.made.push(path.into());
        Ok(())
    }

    fn executable(&self, path: &str) -> Result<(), String> {
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.root.join(path), mode).map_err(|error| format!("{path}: {error}"))
    }

    /// Changes a file that is there.
    fn edit(&mut self, path: &str, change: impl Fn(String) -> String) -> Result<(), String> {
        let file = self.root.join(path);
        let failed = |error: std::io::Error| format!("cannot change {path}: {error}");
        let before = fs::read_to_string(&file).map_err(failed)?;
        let after = change(before.clone());
        if after == before {
            return Err(format!("{path} has it already, or no table where it belongs"));
        }
        fs::write(&file, after).map_err(failed)?;
        self.made.push(path.into());
        Ok(())
    }
}

/// The text with `mod NAME;` among its modules, which are sorted by name.
fn insert_module(text: &str, name: &str) -> String {
    let name_of = |line: &str| {
        Some(line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
    };
    let modules: Vec<(String, &str)> = text.lines().filter_map(|line| Some((name_of(line)?, line))).collect();
    let new = format!("mod {name};");
    match modules.iter().find(|(other, _)| other.as_str() > name) {
        Some((_, next)) => text.replacen(&format!("{next}\n"), &format!("{new}\n{next}\n"), 1),
        None => match modules.last() {
            Some((_, last)) => text.replacen(&format!("{last}\n"), &format!("{last}\n{new}\n"), 1),
            None => text.replacen("\n\n", &format!("\n\n{new}\n\n"), 1),
        },
    }
}

/// `text` with the rule `id` at its place among those sorted by ID; as it is when the rule is there.
fn insert_rule(text: String, id: &str, rule: &str) -> String {
    const HEAD: &str = "[[rule]]\nid = \"";
    let ids = || text.match_indices(HEAD).map(|(at, _)| (at, text[at + HEAD.len()..].split('"').next()));
    if ids().any(|(_, other)| other == Some(id)) {
        return text;
    }
    let at = ids().find(|(_, other)| other.is_some_and(|other| other > id)).map_or(text.len(), |(at, _)| at);
    let gap = if at == text.len() { "\n" } else { "" };
    [&text[..at], gap, rule, if at == text.len() { "" } else { "\n" }, &text[at..]].concat()
}

/// The text with a row at the end of the table that starts with `head`.
fn insert_row(text: &str, head: &str, row: &str) -> String {
    let end = text.find(head).and_then(|start| Some(start + text[start..].find("];")?));
    end.map_or_else(|| text.to_owned(), |end| format!("{}{row}{}", &text[..end], &text[end..]))
}

/// The name that the build script gives to a check's ID: `P2OutputJson` for `p2-output-json`.
fn variant(id: &str) -> String {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    id.split('-').map(capital).collect()
}
