//! The documentation site: the pages of `docs/`, and a page for each check, kind of change and contract. The latter are
//! generated from the data of `explain` and `contract show`, so they cannot differ from the program.

pub mod board;
mod change;
mod check;
mod contract;
mod markdown;
mod skeleton;

use agentnative::catalogue::checks;
use agentnative::model::Topic;
use agentnative_contract::bundled_names;
use agentnative_diff::change_rules;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Folder of the sources of the site, as in `book.toml`.
const SITE_FOLDER: &str = "target/site";

/// The page of `docs/` that is not in the site.
const MAINTAINERS_ONLY: &str = "style.md";

/// A page of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Path in the folder of the sources, such as `checks/p2-raw.md`.
    pub path: String,
    /// Content as Markdown.
    pub text: String,
}

impl Page {
    fn new(topic: Topic, name: &str, text: String) -> Self {
        Self { path: format!("{}/{name}.md", topic.folder()), text }
    }
}

/// The generated pages about one topic.
struct Section {
    topic: Topic,
    title: &'static str,
    index: String,
    pages: Vec<Page>,
}

fn sections() -> Result<[Section; 3], String> {
    let contracts = bundled_names().map(contract::ContractPage::bundled).collect::<Result<Vec<_>, _>>()?;
    let page = |topic| move |(name, text): (&str, String)| Page::new(topic, name, text);
    let check_pages = checks().iter().map(|check| (check.id.as_str(), check::page(check)));
    let change_pages = change_rules().iter().map(|rule| (rule.id.as_str(), change::page(rule)));
    let contract_pages = contracts.iter().map(|contract| (contract.name(), contract.page()));
    Ok([
        Section {
            topic: Topic::Check,
            title: "Checks",
            index: check::index(checks()),
            pages: check_pages.map(page(Topic::Check)).collect(),
        },
        Section {
            topic: Topic::Change,
            title: "Kinds of change",
            index: change::index(change_rules()),
            pages: change_pages.map(page(Topic::Change)).collect(),
        },
        Section {
            topic: Topic::Contract,
            title: "Bundled contracts",
            index: contract::index(&contracts),
            pages: contract_pages.map(page(Topic::Contract)).collect(),
        },
    ])
}

/// Returns all generated pages, and the summary of the book: `summary` of `docs/`, followed by these pages.
///
/// # Errors
/// Fails if a bundled contract cannot be loaded.
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
    summary.push_str("\n- [Skeletons](skeletons/common.md)\n");
    for (name, text) in skeleton::pages()? {
        let path = format!("skeletons/{name}.md");
        if name != "common" {
            _ = writeln!(summary, "  - [{name}]({path})");
        }
        pages.push(Page { path, text });
    }
    pages.push(Page { path: "SUMMARY.md".to_owned(), text: summary });
    Ok(pages)
}

/// Writes the sources of the site for the repository at `root`; returns their folder.
///
/// # Errors
/// Fails if a file cannot be read or written.
pub fn write(root: &Path) -> Result<String, String> {
    let docs = root.join("docs");
    let folder = root.join(SITE_FOLDER);
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| format!("{path}: {error}")
    };
    // Outdated pages would be copied into the book.
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed(&folder))?;
    }
    fs::create_dir_all(&folder).map_err(failed(&folder))?;
    for entry in fs::read_dir(&docs).map_err(failed(&docs))? {
        let from = entry.map_err(failed(&docs))?.path();
        if from.ends_with(MAINTAINERS_ONLY) {
            continue;
        }
        let to = folder.join(from.file_name().unwrap_or_default());
        fs::copy(&from, to).map_err(failed(&from))?;
    }
    let guide = docs.join(skeleton::GUIDE);
    let names = skeleton::pages()?.into_iter().map(|(name, _)| name);
    let text = skeleton::with_links(&fs::read_to_string(&guide).map_err(failed(&guide))?, names);
    fs::write(folder.join(skeleton::GUIDE), text).map_err(failed(&guide))?;
    let summary = docs.join("SUMMARY.md");
    for page in pages(&fs::read_to_string(&summary).map_err(failed(&summary))?)? {
        let to = folder.join(&page.path);
        let parent = to.parent().unwrap_or(&folder);
        fs::create_dir_all(parent).map_err(failed(parent))?;
        fs::write(&to, page.text).map_err(failed(&to))?;
    }
    board::write(root, &folder)?;
    Ok(SITE_FOLDER.to_owned())
}
