//! `cargo xtask man DIR`: writes a man page for each program and subcommand, generated from its command line. The
//! sections EXIT STATUS and EXAMPLES are from the end of the help. A subcommand whose help has no exit codes has those
//! of its program.

use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::fs;
use std::path::Path;
use time::OffsetDateTime;

/// A man page.
pub struct ManPage {
    /// File name, such as `agentnative-check.1`.
    pub file: String,
    /// Content as roff.
    pub text: String,
}

/// Sections that the help does not have: rows of a name and its description.
struct ExtraSections {
    files: &'static [(&'static str, &'static str)],
    environment: &'static [(&'static str, &'static str)],
}

/// A heading and its paragraphs of lines.
type Section<'a> = (&'static str, Vec<Vec<&'a str>>);

/// The common properties of the pages of one program.
struct Shared<'a> {
    extra_sections: ExtraSections,
    /// Exit codes of the program, for subcommands whose help has none.
    exit_status: Option<Section<'a>>,
    /// `YYYY-MM-DD`.
    date: &'a str,
    /// Name and version of the program.
    source: &'a str,
}

const EXIT_STATUS: &str = "EXIT STATUS";

const AGENTNATIVE: ExtraSections = ExtraSections {
    files: &[
        (
            "agentnative.toml",
            "The configuration: targets, probes, waivers. Searched for from the folder upwards.",
        ),
        ("agentnative.lock/", "The locked output of the probes, from agentnative contract lock."),
        (
            "$XDG_CACHE_HOME/agentnative/",
            "The verdicts of the last checks, for --failed. Without XDG_CACHE_HOME: ~/.cache/agentnative/.",
        ),
    ],
    environment: &[
        (
            "NO_COLOR, FORCE_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM",
            "With --color auto: whether text has colour.",
        ),
        ("GITHUB_ACTIONS", "If it is true, a text report of agentnative check is followed by annotations."),
        ("GITHUB_STEP_SUMMARY", "The file that the summary is appended to where annotations are written."),
        ("XDG_CACHE_HOME", "Folder of the cache."),
    ],
};

const REFERENCE_AGENT: ExtraSections = ExtraSections {
    files: &[(
        "$XDG_STATE_HOME/reference-agent/scratchpad/",
        "A log of each run. Without XDG_STATE_HOME: ~/.local/state/reference-agent/scratchpad/.",
    )],
    environment: &[
        ("OPENAI_API_KEY", "Key of the openai provider."),
        ("OPENAI_BASE_URL", "Server of the openai provider, unless --base-url is given."),
        (
            "NO_COLOR, FORCE_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM",
            "With --color auto: whether text has colour.",
        ),
        ("XDG_STATE_HOME", "Folder of the logs."),
    ],
};

/// Writes the pages into a folder, with the date of SOURCE_DATE_EPOCH or else today; returns their paths, one per line.
///
/// # Errors
/// Fails if SOURCE_DATE_EPOCH is invalid or a file cannot be written.
pub fn write(folder: &Path) -> Result<String, String> {
    let date = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => (seconds.parse().ok())
            .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok())
            .ok_or_else(|| {
                format!("SOURCE_DATE_EPOCH is `{seconds}`: expected the seconds since the start of 1970")
            })?,
        Err(_) => OffsetDateTime::now_utc(),
    };
    fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    let mut paths = Vec::new();
    for page in pages(&date.date().to_string())? {
        let path = folder.join(&page.file);
        fs::write(&path, page.text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        paths.push(path.display().to_string());
    }
    Ok(paths.join("\n"))
}

/// Returns the pages of both programs, with this date (`YYYY-MM-DD`).
///
/// # Errors
/// Fails if a page cannot be rendered.
pub fn pages(date: &str) -> Result<Vec<ManPage>, String> {
    let programs =
        [(agentnative::cli::command(), AGENTNATIVE), (reference_agent::command(), REFERENCE_AGENT)];
    let mut pages = Vec::new();
    for (program, extra_sections) in programs {
        let mut program = program.disable_help_subcommand(true);
        program.build();
        let source = format!("{} {}", program.get_name(), program.get_version().unwrap_or_default());
        let after_help = end_of_help(&program);
        let exit_status = sections(&after_help).into_iter().find(|(heading, _)| *heading == EXIT_STATUS);
        let shared = Shared { extra_sections, exit_status, date, source: &source };
        add_pages(&program, None, &shared, &mut pages)?;
    }
    Ok(pages)
}

fn add_pages(
    command: &Command,
    parent: Option<&str>,
    shared: &Shared,
    pages: &mut Vec<ManPage>,
) -> Result<(), String> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    pages.push(page(command, name, parent, shared).map_err(|error| format!("{name}: {error}"))?);
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    for subcommand in visible {
        add_pages(subcommand, Some(name), shared, pages)?;
    }
    Ok(())
}

fn page(command: &Command, name: &str, parent: Option<&str>, shared: &Shared) -> std::io::Result<ManPage> {
    let usage = command.clone().render_usage().to_string();
    let after_help = end_of_help(command);
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let clap_page = (command.clone().version(None).after_help(None).after_long_help(None))
        .mut_args(with_values)
        .override_usage(usage.trim_start_matches("Usage:").trim_start().to_owned())
        // The section NAME has the description without a period.
        .about(about.trim_end_matches('.').to_owned())
        .long_about(format!("{}.", about.trim_end_matches('.')));
    let mut text = Vec::new();
    Man::new(clap_page)
        .title(name.to_uppercase())
        .date(shared.date)
        .source(shared.source)
        .manual("User Commands")
        .render(&mut text)?;

    let mut roff = Roff::new();
    let help_sections = sections(&after_help);
    let has_exit_status = help_sections.iter().any(|(heading, _)| *heading == EXIT_STATUS);
    let inherited = shared.exit_status.iter().filter(|_| !has_exit_status);
    for (heading, paragraphs) in inherited.chain(&help_sections) {
        roff.control("SH", [*heading]);
        for (index, lines) in paragraphs.iter().enumerate() {
            if index > 0 {
                roff.control("PP", []);
            }
            add_lines(lines, &mut roff);
        }
    }
    match parent {
        None => {
            add_rows("FILES", shared.extra_sections.files, &mut roff);
            add_rows("ENVIRONMENT", shared.extra_sections.environment, &mut roff);
        }
        Some(parent) => {
            roff.control("SH", ["SEE ALSO"]);
            roff.text([bold(parent), roman("(1)")]);
        }
    }
    text.extend(roff.to_roff().into_bytes());
    Ok(ManPage { file: format!("{name}.1"), text: String::from_utf8_lossy(&text).into_owned() })
}

/// Returns the argument with its possible values at the end of its help, as in `--help`.
fn with_values(argument: Arg) -> Arg {
    let shown = argument.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
    let values: Vec<String> = shown.map(|value| value.get_name().to_owned()).collect();
    if values.is_empty() || argument.is_hide_possible_values_set() || !argument.get_action().takes_values() {
        return argument;
    }
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    argument.help(format!("{help} [possible values: {}]", values.join(", "))).hide_possible_values(true)
}

/// Returns the text behind the options in the output of `--help`.
pub fn end_of_help(command: &Command) -> String {
    let text = command.get_after_long_help().or(command.get_after_help());
    text.map(ToString::to_string).unwrap_or_default()
}

/// Parses the text after the options in the help. A paragraph without a heading belongs to the section before it.
fn sections(after_help: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for paragraph in after_help.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        let known = [("Exit codes:", EXIT_STATUS), ("Examples:", "EXAMPLES")];
        let headed =
            known.into_iter().find_map(|(words, heading)| Some((heading, paragraph.strip_prefix(words)?)));
        let (heading, text) = match headed {
            Some((heading, text)) => (Some(heading), text),
            None => (None, paragraph),
        };
        let lines = text.lines().filter(|line| !line.is_empty()).collect();
        match (heading, sections.last_mut()) {
            (None, Some((_, paragraphs))) => paragraphs.push(lines),
            (heading, _) => sections.push((heading.unwrap_or("NOTES"), vec![lines])),
        }
    }
    sections
}

/// Adds lines: indented ones are verbatim, others are filled.
fn add_lines(lines: &[&str], roff: &mut Roff) {
    for group in lines.chunk_by(|a, b| a.starts_with("  ") == b.starts_with("  ")) {
        let verbatim = group[0].starts_with("  ");
        if verbatim {
            roff.control("RS", ["2"]).control("nf", []);
        }
        for line in group {
            roff.text([roman(if verbatim { &line[2..] } else { line.trim_start() })]);
        }
        if verbatim {
            roff.control("fi", []).control("RE", []);
        }
    }
}

fn add_rows(heading: &str, rows: &[(&str, &str)], roff: &mut Roff) {
    roff.control("SH", [heading]);
    for (name, text) in rows {
        roff.control("TP", []);
        roff.text([bold(*name)]);
        roff.text([roman(*text)]);
    }
}
