//! Development tasks: scaffolds (files and table rows that fail the tests until they are filled in), the documentation
//! site, and the man pages.

pub mod man;
pub mod site;
mod templates;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What a scaffold is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaffoldKind {
    /// A check of `agentnative check`.
    Check,
    /// A bundled contract.
    Contract,
    /// An output format of a report.
    Renderer,
    /// A kind of change that `contract diff` reports.
    Change,
}

impl ScaffoldKind {
    /// Parses the name of a kind.
    ///
    /// # Errors
    /// Fails if the name is unknown.
    pub fn parse(name: &str) -> Result<Self, String> {
        match name {
            "check" => Ok(Self::Check),
            "contract" => Ok(Self::Contract),
            "renderer" => Ok(Self::Renderer),
            "change" => Ok(Self::Change),
            _ => Err(format!("cannot make a `{name}`: expected check, contract, renderer or change")),
        }
    }

    /// Returns the instructions for the created files.
    pub const fn next_steps(self) -> &'static str {
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

/// Creates the files of a scaffold in the repository at `root`, and inserts its table rows; returns the paths of the
/// created and changed files.
///
/// # Errors
/// Fails if the name is invalid for its kind or exists, or if a file cannot be written.
pub fn scaffold(root: &Path, kind: ScaffoldKind, name: &str) -> Result<Vec<PathBuf>, String> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if name.is_empty() || !name.split('-').all(|part| !part.is_empty() && part.chars().all(is_allowed)) {
        return Err(format!(
            "`{name}` is no name: expected words of small letters and digits with - between them"
        ));
    }
    let mut scaffold = Scaffold { root, paths: Vec::new() };
    match kind {
        ScaffoldKind::Check => scaffold.check(name)?,
        ScaffoldKind::Contract => scaffold.contract(name)?,
        ScaffoldKind::Renderer => scaffold.renderer(name)?,
        ScaffoldKind::Change => scaffold.change(name)?,
    }
    Ok(scaffold.paths)
}

struct Scaffold<'a> {
    root: &'a Path,
    /// Paths of the created and changed files, relative to the root.
    paths: Vec<PathBuf>,
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
        self.edit(&table, |text| {
            insert_row(&insert_module(&text, &module), "CHECKS: &[CheckRow] = &[", &row)
        })?;
        let fixture = format!("fixtures/clis/violating/{id}");
        self.write(format!("{fixture}/cli"), templates::FIXTURE)?;
        self.make_executable(&format!("{fixture}/cli"))?;
        self.write(format!("{fixture}/agentnative.toml"), templates::FIXTURE_CONFIG)
    }

    /// Returns an `order` after those of all checks.
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

    /// Writes a new file.
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
        self.paths.push(path.into());
        Ok(())
    }

    fn make_executable(&self, path: &str) -> Result<(), String> {
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.root.join(path), mode).map_err(|error| format!("{path}: {error}"))
    }

    /// Changes an existing file.
    fn edit(&mut self, path: &str, change: impl Fn(String) -> String) -> Result<(), String> {
        let file = self.root.join(path);
        let failed = |error: std::io::Error| format!("cannot change {path}: {error}");
        let before = fs::read_to_string(&file).map_err(failed)?;
        let after = change(before.clone());
        if after == before {
            return Err(format!("{path} has it already, or no table where it belongs"));
        }
        fs::write(&file, after).map_err(failed)?;
        self.paths.push(path.into());
        Ok(())
    }
}

/// Returns the text with `mod NAME;` among its modules, which are sorted by name.
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

/// Returns the text with the rule among those sorted by ID; unchanged if the rule exists.
fn insert_rule(text: String, id: &str, rule: &str) -> String {
    const HEAD: &str = "[[rule]]\nid = \"";
    let ids =
        || text.match_indices(HEAD).map(|(start, _)| (start, text[start + HEAD.len()..].split('"').next()));
    if ids().any(|(_, other)| other == Some(id)) {
        return text;
    }
    let next = ids().find(|(_, other)| other.is_some_and(|other| other > id));
    let index = next.map_or(text.len(), |(start, _)| start);
    let (before, after) = if index == text.len() { ("\n", "") } else { ("", "\n") };
    [&text[..index], before, rule, after, &text[index..]].concat()
}

/// Returns the text with a row at the end of the table that starts with `head`.
fn insert_row(text: &str, head: &str, row: &str) -> String {
    let end = text.find(head).and_then(|start| Some(start + text[start..].find("];")?));
    end.map_or_else(|| text.to_owned(), |end| format!("{}{row}{}", &text[..end], &text[end..]))
}

/// Returns the variant of `CheckId` that the build script generates: `P2OutputJson` for `p2-output-json`.
fn variant(id: &str) -> String {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    id.split('-').map(capital).collect()
}
