//! The generated pages of the site: one for each ID, with valid links and the texts of the catalogue files.

use agentnative::catalogue::checks;
use agentnative::model::Topic;
use agentnative_contract::bundled_names;
use agentnative_diff::change_rules;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use xtask::site::board::{self, Board};
use xtask::site::pages;

/// The generated pages by path.
static SITE: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let summary = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/SUMMARY.md");
    let pages = pages(&fs::read_to_string(summary).unwrap()).unwrap();
    pages.into_iter().map(|page| (page.path, page.text)).collect()
});

/// Returns the text of a page without code blocks and code in backticks.
fn without_code(text: &str) -> String {
    let mut fence = None;
    let mut out = String::new();
    for line in text.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if ticks == *open && line == ticks => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => out.extend(line.split('`').step_by(2).chain(["\n"])),
        }
    }
    assert_eq!(fence, None, "a block has no end");
    out
}

/// Returns the targets of the links of a page.
fn links(text: &str) -> Vec<String> {
    let text = without_code(text);
    text.split("](").skip(1).map(|rest| rest.split_once(')').unwrap().0.to_owned()).collect()
}

#[test]
fn each_check_change_and_contract_has_a_page_in_the_summary_and_an_index() {
    let site = &*SITE;
    let checks = checks().iter().map(|check| (Topic::Check, check.id.as_str()));
    let changes = change_rules().iter().map(|rule| (Topic::Change, rule.id.as_str()));
    let contracts = bundled_names().map(|name| (Topic::Contract, name));
    let all: Vec<_> = checks.chain(changes).chain(contracts).collect();
    for (topic, name) in &all {
        let path = format!("{}/{name}.md", topic.folder());
        // A report links to this page.
        let address = topic.url(Some("https://docs.example"), name).unwrap();
        assert_eq!(address, format!("https://docs.example/{}", path.replace(".md", ".html")));
        assert!(site[&path].starts_with(&format!("# {name}\n")), "{path}");
        assert!(site["SUMMARY.md"].contains(&format!("  - [{name}]({path})\n")), "{path}");
        let index = &site[&format!("{}/index.md", topic.folder())];
        assert!(index.contains(&format!("| [`{name}`](../{path}) |")), "{path}");
    }
    let skeletons = site.keys().filter(|path| path.starts_with("skeletons/")).count();
    assert_eq!(skeletons, 7, "six skeletons, and their common files");
    let others = site.len() - skeletons;
    assert_eq!(others, all.len() + 4, "three indexes, the summary, and no page of anything else");
}

#[test]
fn links_have_existing_targets() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let site = &*SITE;
    let mut count = 0;
    for (path, text) in site {
        for link in links(text) {
            let beside = format!("skeletons/{link}");
            let to = if path == "SUMMARY.md" { &link } else { link.strip_prefix("../").unwrap_or(&beside) };
            assert!(site.contains_key(to) || docs.join(to).is_file(), "{path}: {link}");
            assert_ne!(to, path, "a page links to itself");
            count += 1;
        }
    }
    assert!(count > 350, "{count}");
    assert!(links(&site["checks/p2-output-json.md"]).contains(&"../checks/p2-output-pure.md".to_owned()));
    assert!(
        links(&site["checks/p2-contract-locked.md"]).contains(&"../changes/diff-key-removed.md".to_owned())
    );
}

#[test]
fn the_texts_contain_no_unintended_markup() {
    for (path, text) in SITE.iter().filter(|(path, _)| *path != "SUMMARY.md") {
        assert!(!text.contains("{{#"), "{path}: mdBook would replace it");
        assert!(text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()), "{path}");
        let prose = without_code(text);
        let unescaped = |mark: char| {
            prose.match_indices(mark).any(|(index, _)| !prose[..index].ends_with('\\')).then_some(mark)
        };
        assert_eq!(['<', '>', '&', '_', '~', '{'].into_iter().find_map(unescaped), None, "{path}");
        // All rows of a table have the same number of cells.
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with("| "))) {
            assert_eq!(cells(pair[0]), cells(pair[1]), "{path}: {}", pair[1]);
        }
    }
}

#[test]
fn a_page_has_the_complete_text_of_its_check() {
    let site = &*SITE;
    for check in checks() {
        let page = &site[&format!("checks/{}.md", check.id)];
        let plain: String = page.chars().filter(|c| *c != '\\').collect();
        for text in [&check.why, &check.help.any, &check.title] {
            for passage in
                text.split(|c: char| "`\\|\n".contains(c)).map(str::trim).filter(|passage| passage.len() > 20)
            {
                let passage = passage.trim_start_matches("- ");
                let rest = &passage[passage.char_indices().nth(1).map_or(0, |(index, _)| index)..];
                assert!(plain.contains(rest), "{}: {passage}", check.id);
            }
        }
        for example in &check.examples {
            assert!(page.contains(&format!("$ {}\n", example.command)), "{}", check.id);
        }
        for snippet in
            check.source.iter().flat_map(|source| source.languages.values().flat_map(|rules| &rules.bad))
        {
            assert!(page.contains(snippet.code.trim_matches('\n')), "{}: {}", check.id, snippet.code);
        }
    }
}

#[test]
fn the_board_is_that_of_the_recordings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = Board::read(&root).unwrap().page();
    let path = root.join("docs").join(board::PAGE);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap(), page, "UPDATE=1 writes it");
}
