//! README and the pages of `docs/`: their commands run, their links and anchors exist.

use crate::playground::{Playground, assert_line_holds, command_and_code, run_in};
use crate::programs::program;
use flate2::read::GzDecoder;
use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Commands that are not run here, each with the reason or with what covers it.
const COMMANDS_NOT_RUN: &[(&str, &str)] = &[
    ("cargo test --no-fail-fast", "`.ci/run` runs it: it is what runs this test"),
    ("cargo install --locked --path .", "it builds the program anew, as `cargo build` does"),
    ("cargo install --locked --path crates/reference-agent", "it builds the agent anew"),
    ("npm install --save-dev agentnative-check", "`packages/try-npm.sh` installs it from its files"),
    ("npx agentnative-check check --principle 2", "as above"),
    ("uv tool install agentnative-check", "the wheel is installed by hand before a release"),
    ("pipx install agentnative-check", "as above"),
    ("pip install agentnative-check", "as above"),
    ("sudo dpkg -i agentnative-check_*_amd64.deb", "`packages/try.sh` unpacks it"),
    ("cargo binstall agentnative-check", "it needs a release"),
    ("agentnative skill install", "it writes to the home folder; `cli::skill` runs it"),
    ("sha256sum --check --ignore-missing SHA256SUMS", "`packages/checksums.sh` checks them"),
    ("tar xzf agentnative-*-x86_64-unknown-linux-musl.tar.gz", "`packages/try.sh` unpacks it"),
    ("rustup target add aarch64-unknown-linux-musl", "it needs the network"),
    ("pip install -r packages/requirements.txt", "it needs the network"),
    ("packages/binary.sh aarch64-unknown-linux-musl", "`.ci/more` builds one for x86-64"),
    ("cargo xtask new check p2-output-example", "the tests of xtask make one of each kind"),
];

/// Markers around the report in the README.
const BEGIN: &str = "<!-- report: written by tests/documents.rs -->\n";
const END: &str = "<!-- /report -->";
/// Marker before the output of a command in a page: the command and `-->` follow.
const OUTPUT: &str = "<!-- output, written by tests/documents.rs: ";
const OUTPUT_END: &str = "<!-- /output -->";
/// The commands whose pages show their output in such a block.
const SHOWN_COMMANDS: [&str; 5] = ["contract diff", "contract infer", "contract lock", "outcome", "validate"];
const PICTURE: &str = "docs/report.svg";
const PICTURE_TITLE: &str = "The report of agentnative on examples/notes";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// Returns the pages of the book with their paths, sorted.
fn pages() -> Vec<(PathBuf, String)> {
    let files = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// Returns the code blocks of a page in one language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("\n```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split_once("```").unwrap().0).collect()
}

/// Returns the command lines of a page: those of `sh` blocks, and the calls of `agentnative` in `yaml` blocks.
fn commands(text: &str) -> Vec<&str> {
    let lines = blocks(text, "sh").into_iter().flat_map(str::lines).map(str::trim);
    let steps = blocks(text, "yaml").into_iter().flat_map(str::lines).map(str::trim);
    let steps = steps.filter_map(|line| line.strip_prefix("- run: ").or(line.strip_prefix("entry: ")));
    let steps = steps.filter(|line| line.starts_with("agentnative "));
    lines.chain(steps).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// Walks the project without the top-level entries of these names.
fn project_without(names: &[&str]) -> impl Iterator<Item = walkdir::DirEntry> {
    let walk = walkdir::WalkDir::new(root()).min_depth(1).into_iter();
    let is_wanted = |name: &str| !names.contains(&name);
    walk.filter_entry(move |entry| entry.depth() != 1 || is_wanted(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.unwrap())
}

/// Walks the project without build products and tests.
fn project() -> impl Iterator<Item = walkdir::DirEntry> {
    project_without(&["target", ".git", "tests"])
}

/// Copies the entries of [`project`] into a temporary repository.
fn copy_project() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in project() {
        let destination = copy.path().join(entry.path().strip_prefix(root()).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir(destination).unwrap();
        } else if entry.path_is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path()).unwrap(), destination).unwrap();
        } else {
            fs::copy(entry.path(), destination).unwrap();
        }
    }
    fs::create_dir(copy.path().join(".git")).unwrap();
    copy
}

/// Runs the commands of a page in order. `cargo run` is replaced by the program that is already built and runs in a
/// copy of the project; all other commands run in a new folder with the command-line tool `mycli`.
fn run_commands(page: &str, text: &str, copy: &Path) {
    let playground = Playground::new();
    for line in commands(text) {
        if COMMANDS_NOT_RUN.iter().any(|(command, _)| *command == command_and_code(line).0) {
            continue;
        }
        let line = line.strip_prefix("exec ").unwrap_or(line);
        assert_line_holds(page, line, |command| {
            let Some(arguments) = command.strip_prefix("cargo run ") else {
                return playground.run(command);
            };
            let example = "--example check_a_command -- ";
            let command = match arguments.strip_prefix(example) {
                Some(arguments) => format!("{} {arguments}", program("examples/check_a_command").display()),
                None => format!("agentnative {}", arguments.strip_prefix("-- ").unwrap()),
            };
            run_in(copy, &command)
        });
    }
}

#[test]
fn commands_of_readme_and_pages_run_and_change_no_tracked_file() {
    let copy = copy_project();
    let pages: Vec<(PathBuf, String)> =
        pages().into_iter().chain([(root().join("README.md"), readme())]).collect();
    std::thread::scope(|scope| {
        for (path, text) in pages.iter().filter(|(_, text)| !commands(text).is_empty()) {
            let copy = copy.path();
            scope.spawn(move || run_commands(&path.display().to_string(), text, copy));
        }
    });
    for entry in project() {
        let name = entry.path().strip_prefix(root()).unwrap();
        if entry.file_type().is_file() {
            let same = fs::read(entry.path()).unwrap() == fs::read(copy.path().join(name)).unwrap();
            assert!(same, "{} was rewritten", name.display());
        }
    }
    for (command, why) in COMMANDS_NOT_RUN {
        let contains = |text: &String| commands(text).iter().any(|line| command_and_code(line).0 == *command);
        assert!(
            pages.iter().any(|(_, text)| contains(text)),
            "no page contains `{command}` any more ({why})"
        );
    }
    // Commands in blocks of these languages would not be run.
    for (path, text) in &pages {
        for language in ["bash", "shell", "console"] {
            assert!(blocks(text, language).is_empty(), "{}: {language}", path.display());
        }
    }
}

/// Returns the report of a check at 80 columns, with the elapsed time of the report `old`.
fn report_of(check: &[&str], color: &str, old: &str) -> String {
    let report = output_of(&[&["check"], check].concat(), color);
    match (elapsed_time(&report), elapsed_time(old)) {
        (Some(new), Some(old)) => report.replacen(new, old, 1),
        _ => report,
    }
}

/// Returns the output of a failing call of the program at 80 columns.
fn output_of(args: &[&str], color: &str) -> String {
    let cache = tempfile::tempdir().unwrap();
    let output = Command::new(program("agentnative"))
        .args(args)
        .args(["--color", color])
        .current_dir(root())
        .env("COLUMNS", "80")
        .env("XDG_CACHE_HOME", cache.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the elapsed time in the first paragraph of a report, such as `1.2 s`.
fn elapsed_time(report: &str) -> Option<&str> {
    let head = report.trim_start_matches("```text").split("\n\n").next()?;
    let parts = head.split(" · ").map(|part| part.trim_end().trim_end_matches("\x1b[0m"));
    parts.last().filter(|part| part.ends_with('s') && part.starts_with(|c: char| c.is_ascii_digit()))
}

fn picture(report: &str) -> String {
    let mut script = Command::new("python3")
        .arg(root().join("xtask/picture.py"))
        .arg(PICTURE_TITLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut script.stdin.take().unwrap(), report.as_bytes()).unwrap();
    let output = script.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Compares the report in a page with that of a check, or rewrites it with `UPDATE=1`. Returns the report of the check.
fn compare_report(page: &str, check: &[&str]) -> String {
    compare_output(page, |shown| report_of(check, "never", shown))
}

/// As [`compare_report`], for any output. `output` receives the text in the page.
fn compare_output(page: &str, output: impl Fn(&str) -> String) -> String {
    let path = root().join(page);
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let report = output(shown);
    let block = format!("```text\n{}\n```\n", report.trim_end());
    match is_update() {
        true => fs::write(path, format!("{before}{BEGIN}{block}{END}{after}")).unwrap(),
        false => assert_eq!(shown, block, "{page}: UPDATE=1 rewrites it"),
    }
    report
}

fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value == "1")
}

#[test]
fn the_report_in_the_readme_and_its_picture_are_current() {
    let report = compare_report("README.md", &["examples/notes"]);
    let drawn = picture(&report_of(&["examples/notes"], "always", &report));
    match is_update() {
        true => fs::write(root().join(PICTURE), drawn).unwrap(),
        false => assert_eq!(fs::read_to_string(root().join(PICTURE)).unwrap(), drawn, "UPDATE=1 rewrites it"),
    }
}

#[test]
fn the_report_in_the_page_on_exploration_is_current() {
    compare_report("docs/explore.md", &["--explore", "examples/explore"]);
}

#[test]
fn the_report_in_the_page_on_interfaces_is_current() {
    let side = |version: u8| format!("fixtures/interface/tasks-{version}");
    // Without a configuration of its own, the probes of this repository would be compared as well.
    let config = "fixtures/interface/agentnative.toml";
    let (old, new) = (side(1), side(2));
    let args = ["contract", "diff", "--config", config, "--old-command", &old, "--new-command", &new];
    compare_output("docs/interface.md", |_| output_of(&args, "never"));
}

/// Returns a page with the current output of each command that [`OUTPUT`] names; adds the commands to `shown`.
fn with_current_outputs(text: &str, copy: &Path, shown: &mut Vec<String>) -> String {
    let mut parts = text.split(OUTPUT);
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (command, rest) = part.split_once(" -->\n").unwrap();
        let (_, after) = rest.split_once(OUTPUT_END).unwrap();
        let output = run_in(copy, &format!("COLUMNS=80 {command}"));
        let out = String::from_utf8(output.stdout).unwrap().replace(&format!("{}/", copy.display()), "");
        assert!(!out.is_empty(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        page += &format!(
            "{OUTPUT}{command} -->\n```text\n$ {command}\n{}\n```\n{OUTPUT_END}{after}",
            out.trim_end()
        );
        shown.push(command.to_owned());
    }
    page
}

#[test]
fn the_outputs_in_the_pages_are_current() {
    let copy = copy_project();
    let mut shown = Vec::new();
    for (path, text) in pages() {
        let current = with_current_outputs(&text, &copy.path().canonicalize().unwrap(), &mut shown);
        match is_update() {
            true => fs::write(&path, current).unwrap(),
            false => assert_eq!(text, current, "{}: UPDATE=1 rewrites it", path.display()),
        }
    }
    for command in SHOWN_COMMANDS {
        let call = format!("agentnative {command} ");
        assert!(
            shown.iter().any(|shown| shown.starts_with(&call)),
            "no page shows the output of `{command}`"
        );
    }
}

/// Returns the relative links of a page with their anchors.
fn links(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let links = text.split("](").skip(1).map(|rest| rest.split_once(')').unwrap().0);
    links.filter(|link| !link.contains("://")).map(|link| match link.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (link, None),
    })
}

/// Returns the anchors of the headings of a page, as GitHub and mdBook name them.
fn anchors(text: &str) -> Vec<String> {
    let mut in_code = false;
    let headings = text.lines().filter(|line| {
        in_code ^= line.trim_start().starts_with("```");
        !in_code && line.starts_with('#')
    });
    let is_kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    let names = headings.map(|line| line.trim_start_matches('#').trim().to_lowercase());
    names.map(|name| name.chars().filter(is_kept).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn links_anchors_and_rows_of_modules_in_documents_are_complete() {
    let documents = project().filter(|entry| entry.path().extension().is_some_and(|end| end == "md"));
    let mut link_count = 0;
    for path in documents.map(walkdir::DirEntry::into_path) {
        let text = fs::read_to_string(&path).unwrap();
        for (link, anchor) in links(&text) {
            let linked = if link.is_empty() { path.clone() } else { path.parent().unwrap().join(link) };
            assert!(linked.exists(), "{}: {link}", path.display());
            if let Some(anchor) = anchor {
                let anchors = anchors(&fs::read_to_string(linked).unwrap());
                assert!(anchors.iter().any(|name| name == anchor), "{}: {link}#{anchor}", path.display());
            }
            link_count += 1;
        }
    }
    assert!(link_count > 30, "{link_count}");
    // Each top-level module has a row.
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let folders = ["src", "crates/core/src"].map(|folder| fs::read_dir(root().join(folder)).unwrap());
    for entry in folders.into_iter().flatten() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let module = name.trim_end_matches(".rs");
        if !["main", "lib", "bin"].contains(&module) {
            assert!(architecture.contains(&format!("| `{module}` |")), "{module}");
        }
    }
}

/// Paths in recordings and generated files begin with `/x`.
#[test]
fn no_file_contains_an_absolute_path_of_a_checkout() {
    let folders: Vec<String> = fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| regex::escape(entry.file_name().to_str().unwrap()))
        .collect();
    let below = folders.join("|");
    let path =
        Regex::new(&format!(r"(?:^|[^\w.:/}}$*-])(/(?:[\w.-]+/)+?((?:{below})/[\w./-]*[\w-]))")).unwrap();
    let mut wrong = BTreeSet::new();
    for entry in project_without(&["target", ".git"]).filter(|entry| entry.file_type().is_file()) {
        let mut bytes = fs::read(entry.path()).unwrap();
        if entry.path().extension().is_some_and(|extension| extension == "gz") {
            let packed = std::mem::take(&mut bytes);
            GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        }
        for found in path.captures_iter(&String::from_utf8_lossy(&bytes)) {
            if !found[1].starts_with("/x/") && root().join(&found[2]).exists() {
                wrong.insert(format!("{}: {}", entry.path().display(), &found[1]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_page_is_in_the_summary_of_the_book_and_links_to_pages_only() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let named: Vec<PathBuf> = links(&summary).map(|(link, _)| root().join("docs").join(link)).collect();
    for (path, text) in pages() {
        // The book does not contain the files outside `docs/`.
        for (link, _) in links(&text) {
            assert!(!link.starts_with(".."), "{}: {link}", path.display());
        }
        // The page on style is for maintainers, and not in the book.
        let listed =
            named.contains(&path) || ["SUMMARY.md", "style.md"].iter().any(|name| path.ends_with(name));
        assert!(listed, "{} is not in docs/SUMMARY.md", path.display());
    }
}
