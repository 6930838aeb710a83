//! Reads the files around the code: README files, schemas, and instructions for agents.

use super::exclusions::{NON_PRODUCT, VENDORED, patterns, relative_path, walker};
use agentnative_core::facts::{AgentInstructions, CodeLine, Frontmatter, ProjectDocument, ProjectDocuments};
use agentnative_core::files::{MAX_TEXT_BYTES, read};
use ignore::DirEntry;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use strict_json::sanitize;

/// Reads the README files, schemas and instructions for agents around the folder `package`, which is in the folder
/// `project`. Unreadable files count as missing.
pub fn read_project(project: &Path, package: &Path) -> ProjectDocuments {
    let absolute = |folder: &Path| fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let (project, package) = (absolute(project), absolute(package));
    let mut readmes = Vec::new();
    for here in package.ancestors() {
        readmes = readmes_in(here, &project);
        if !readmes.is_empty() || here.join(".git").exists() || !is_in_repository(&package) {
            break;
        }
    }
    ProjectDocuments { readmes, schemas: schemas(&project), bundles: agent_instructions(&project, &package) }
}

fn is_in_repository(folder: &Path) -> bool {
    folder.ancestors().any(|above| above.join(".git").exists())
}

fn readmes_in(folder: &Path, project: &Path) -> Vec<ProjectDocument> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        (name == "readme" || name.starts_with("readme.")) && path.is_file()
    });
    files.sort();
    files.iter().filter_map(|path| document(project, path)).collect()
}

fn document(project: &Path, path: &Path) -> Option<ProjectDocument> {
    let bytes = read(path, MAX_TEXT_BYTES).ok()?;
    Some(ProjectDocument {
        file: relative_path(project, path)?,
        text: sanitize::lossless(&bytes).into_owned(),
    })
}

/// Returns the JSON Schemas under `root`, without ignored files and tests.
fn schemas(root: &Path) -> Vec<ProjectDocument> {
    let vendored = patterns(root, &[VENDORED, NON_PRODUCT].concat());
    let enter = move |entry: &DirEntry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0 || !vendored.matched(entry.path(), is_folder).is_ignore()
    };
    let entries = walker(root, enter).sort_by_file_name(|a, b| a.cmp(b)).build();
    let files = entries.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let json = files.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "json"));
    json.filter_map(|entry| {
        let document = document(root, entry.path())?;
        let named = document.file.ends_with(".schema.json");
        let declares = document.text.contains("\"$schema\"") && document.text.contains("json-schema.org/");
        (named || declares && is_schema(&document.text)).then_some(document)
    })
    .collect()
}

/// True if the key `$schema` of a document declares it to be a JSON Schema. A document that only contains or names a
/// schema is none.
fn is_schema(text: &str) -> bool {
    let document: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let uri = document.as_ref().and_then(|document| document.get("$schema")?.as_str());
    uri.is_some_and(|uri| uri.contains("json-schema.org/"))
}

/// Returns the instructions for agents (`AGENTS.md` and `SKILL.md`) in the folders from the package up to the root of
/// the repository.
fn agent_instructions(project: &Path, package: &Path) -> Vec<AgentInstructions> {
    let mut found = Vec::new();
    for here in package.ancestors() {
        let mut folders = vec![here.to_owned()];
        for skills in ["skills", ".claude/skills", ".agents/skills"] {
            let entries = fs::read_dir(here.join(skills)).into_iter().flatten().flatten();
            folders.extend(entries.map(|entry| entry.path()));
        }
        folders.sort();
        let files = folders.iter().flat_map(|folder| ["AGENTS.md", "SKILL.md"].map(|name| folder.join(name)));
        found.extend(files.filter(|path| path.is_file()).filter_map(|path| bundle(project, &path)));
        if here.join(".git").exists() || !is_in_repository(package) {
            break;
        }
    }
    found
}

fn bundle(project: &Path, path: &Path) -> Option<AgentInstructions> {
    let ProjectDocument { file, text } = document(project, path)?;
    Some(AgentInstructions { file, frontmatter: frontmatter(&text), code: code(&text) })
}

/// Returns the inline code and the lines of the code blocks in a Markdown text. A line that ends in a backslash
/// continues on the next line.
fn code(text: &str) -> Vec<CodeLine> {
    let mut found: Vec<CodeLine> = Vec::new();
    let mut in_block = false;
    let mut continues = false;
    let starts: Vec<usize> = text.match_indices('\n').map(|(offset, _)| offset + 1).collect();
    let line_of = |offset: usize| 1 + starts.partition_point(|start| *start <= offset) as u64;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_block = true,
            Event::End(TagEnd::CodeBlock) => (in_block, continues) = (false, false),
            Event::Code(span) => {
                found.push(CodeLine { line: line_of(range.start), text: span.into_string() })
            }
            Event::Text(block) if in_block => {
                for (nth, line) in block.lines().enumerate() {
                    let continued = line.trim_end().strip_suffix('\\');
                    let text = continued.unwrap_or(line).trim();
                    match found.last_mut().filter(|_| continues) {
                        Some(last) => last.text.push_str(&format!(" {text}")),
                        None => found.push(CodeLine {
                            line: line_of(range.start) + nth as u64,
                            text: text.to_owned(),
                        }),
                    }
                    continues = continued.is_some();
                }
            }
            _ => {}
        }
    }
    found.retain(|line| !line.text.trim().is_empty());
    found
}

/// The required keys of the YAML frontmatter in a Markdown file. The frontmatter may have more keys.
#[derive(Deserialize)]
struct FrontmatterKeys {
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
}

fn frontmatter(text: &str) -> Frontmatter {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let yaml = text.strip_prefix("---\n").and_then(|rest| {
        let end = rest.find("\n---\n").or_else(|| rest.strip_suffix("\n---").map(str::len))?;
        rest.get(..end)
    });
    match yaml.map(serde_saphyr::from_str::<FrontmatterKeys>) {
        None => Frontmatter::Missing,
        Some(Ok(keys)) => Frontmatter::Read {
            name: keys.name.trim().to_owned(),
            description: keys.description.trim().to_owned(),
        },
        Some(Err(error)) => {
            let words = error.to_string();
            Frontmatter::Invalid(words.lines().next().unwrap_or_default().to_owned())
        }
    }
}
