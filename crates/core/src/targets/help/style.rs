//! Recognises the argument parser that wrote a help page.

use super::HelpPage;
use super::layout::PageLine;
use agentnative_diff::interface::InterfaceReader;

/// Phrases in the help of argument parsers whose subcommands all accept `--help`.
const PHRASES: [(InterfaceReader, &str); 6] = [
    (InterfaceReader::Argparse, "show this help message and exit"),
    (InterfaceReader::Click, "show this message and exit"),
    (InterfaceReader::Clap, "print this message or the help of the given subcommand"),
    (InterfaceReader::Commander, "display help for command"),
    (InterfaceReader::Cac, "run any command with the `--help` flag"),
    (InterfaceReader::Fire, "command is one of the following:"),
];

/// Returns the argument parser whose subcommands all accept `--help`, if it wrote the page.
pub(super) fn parser_with_help_flag(page: &HelpPage) -> Option<InterfaceReader> {
    let lower = page.text.to_lowercase();
    let has = |test: &dyn Fn(&PageLine) -> bool| page.lines.iter().any(test);
    // cobra: `-h, --help   help for notes`; yargs: `--help  Show help  [boolean]`.
    let is_cobra =
        |line: &PageLine| line.words.starts_with("-h, --help ") && line.words.contains("  help for ");
    let is_yargs = |line: &PageLine| {
        let line = &line.words;
        line.contains("--help ") && line.contains("Show help") && line.ends_with("[boolean]")
    };
    // oclif: `$ notes [COMMAND]`, and a version line with the version of Node.js.
    let is_oclif = page.usage.iter().any(|form| form.starts_with("$ ")) && lower.contains(" node-v");
    let by_phrase = PHRASES.iter().find(|(_, phrase)| lower.contains(phrase)).map(|(parser, _)| *parser);
    by_phrase
        .or_else(|| has(&is_cobra).then_some(InterfaceReader::Cobra))
        .or_else(|| has(&is_yargs).then_some(InterfaceReader::Yargs))
        .or(is_oclif.then_some(InterfaceReader::Oclif))
}

/// Returns the style of a help page: the argument parser that wrote it, as far as the page shows it.
pub(super) fn of(page: &HelpPage) -> InterfaceReader {
    parser_with_help_flag(page).unwrap_or_else(|| {
        let is_clap = |line: &PageLine| {
            line.words.contains("--help")
                && ["Print help", "Prints help"].iter().any(|text| line.words.contains(text))
        };
        let is_title = |line: &PageLine| line.words == "Print help" || line.words.starts_with("Print help (");
        let is_help = |pair: &[PageLine]| pair[0].words.contains("--help") && is_title(&pair[1]);
        match page.lines.iter().any(is_clap) || page.lines.windows(2).any(is_help) {
            true => InterfaceReader::Clap,
            false => InterfaceReader::Plain,
        }
    })
}
