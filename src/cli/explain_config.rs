//! The command `agentnative explain config [KEY]`.

use agentnative_contract::error::Result;
use agentnative_core::config::{ConfigKey, find_keys, keys};
use agentnative_output::{Output, Page, StyledText};

/// Shows the keys that match `query`, or an overview of all.
pub(super) fn run(query: Option<&str>, output: &mut Output) -> Result<()> {
    let found: Vec<&ConfigKey> = match query {
        Some(query) => find_keys(query)?,
        None => keys().iter().collect(),
    };
    output.emit_records("explain", true, &found, &found, |page| match query {
        Some(_) => found.iter().for_each(|key| show(key, page)),
        None => overview(page),
    })
}

fn overview(page: &mut Page) {
    page.paragraph(
        0,
        "The keys of agentnative.toml. `agentnative explain config KEY` shows one of them with an example, \
         `agentnative schema config` prints the JSON Schema for editors.",
    );
    for section in keys().iter().filter(|key| key.parent().is_none()) {
        page.heading(section.header());
        page.paragraph(2, section.first_sentence());
        let inside = keys().iter().filter(|key| key.parent().is_some() && key.section() == section.path);
        let row = |key: &ConfigKey| {
            let name = key.path.trim_start_matches(&section.path).trim_start_matches('.');
            vec![StyledText::strong(name), StyledText::plain(key.first_sentence())]
        };
        page.table(2, inside.map(row));
    }
}

fn show(key: &ConfigKey, page: &mut Page) {
    page.heading(&key.path);
    let presence = key.presence().map(|presence| format!("; {presence}")).unwrap_or_default();
    page.labelled(2, &StyledText::dim("type: "), format!("{}{presence}", key.kind));
    page.paragraph(2, &key.about);
    page.blank();
    page.block(4, &key.example);
}
