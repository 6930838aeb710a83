//! The site of documents: the pages of `docs/`, and a page for each check, kind of change and contract. The pages
//! are made from what `explain` and `contract show` print, so they cannot differ from the program.

mod change;
mod check;
mod contract;
mod markdown;

use agentnative::catalogue::checks;
use agentnative::model::Topic;
use agentnative_contract::names;
use agentnative_diff::rules;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Where the sources of the site are written, and where `book.toml` expects them.
const FOLDER: &str = "target/site";

/// A page of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its path among the sources, such as `checks/p2-raw.md`.
    pub path: String,
    /// Its Markdown.
    pub text: String,
}

impl Page {
    fn new(topic: Topic, name: &str, text: String) -> Self {
        Self { path: format!("{}/{name}.md", topic.folder()), text }
    }
}

/// One kind of generated pages.
struct Section {
    topic: Topic,
    title: &'static str,
    index: String,
    pages: Vec<Page>,
}

fn sections() -> Result<[Section; 3], String> {
    let contracts = names().map(contract::Shown::of).collect::<Result<Vec<_>, _>>()?;
    let page = |topic| move |(name, text): (&str, String)| Page::new(topic, name, text);
    let of_checks = checks().iter().map(|check| (check.id.as_str(), check::page(check)));
    let of_changes = rules().iter().map(|rule| (rule.id.as_str(), change::page(rule)));
    let of_contracts = contracts.iter().map(|shown| (shown.name(), shown.page()));
    Ok([
        Section {
            topic: Topic::Check,
            title: "Checks",
            index: check::index(checks()),
            pages: of_checks.map(page(Topic::Check)).collect(),
        },
        Section {
            topic: Topic::Change,
            title: "Kinds of change",
            index: change::index(rules()),
            pages: of_changes.map(page(Topic::Change)).collect(),
        },
        Section {
            topic: Topic::Contract,
            title: "Bundled contracts",
            index: contract::index(&contracts),
            pages: of_contracts.map(page(Topic::Contract)).collect(),
        },
    ])
}

/// All generated pages, with the summary of the book: that of `docs/`, followed by them.
///
/// # Errors
/// When a bundled contract cannot be read.
pub fn pages(summary: &str) -> Result<Vec<Page>, String> {
    let mut summary = format!("{}\n\n# Reference\n", summary.trim_end());
    let mut pages = Vec::new();
    for section in sections()? {
        let index = Page::new(section.topic, "index", section.index);
        _ = write!(summary, "\n- [{}]({})\n", section.title, index.path);
        for page in &section.pages {
            let name = page.path.rsplit('/').next().unwrap_or(&page.path).trim_end_matches(".md");
            _ = writeln!(summary, "  - [{name}]({})", page.path);
        }
        pages.push(index);
        pages.extend(section.pages);
    }
    pages.push(Page { path: "SUMMARY.md".to_owned(), text: summary });
    Ok(pages)
}

/// Writes the sources of the site for the repository at `root`; gives their folder.
///
/// # Errors
/// When a file cannot be read or written.
pub fn write(root: &Path) -> Result<String, String> {
    let docs = root.join("docs");
    let folder = root.join(FOLDER);
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| format!("{path}: {error}")
    };
    // Pages of earlier times would be copied into the book.
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed(&folder))?;
    }
    fs::create_dir_all(&folder).map_err(failed(&folder))?;
    for entry in fs::read_dir(&docs).map_err(failed(&docs))? {
        let from = entry.map_err(failed(&docs))?.path();
        let to = folder.join(from.file_name().unwrap_or_default());
        fs::copy(&from, to).map_err(failed(&from))?;
    }
    let summary = docs.join("SUMMARY.md");
    for page in pages(&fs::read_to_string(&summary).map_err(failed(&summary))?)? {
        let to = folder.join(&page.path);
        let parent = to.parent().unwrap_or(&folder);
        fs::create_dir_all(parent).map_err(failed(parent))?;
        fs::write(&to, page.text).map_err(failed(&to))?;
    }
    Ok(FOLDER.to_owned())
}
