//! Benchmark of scanning source code with three rules and with all rules, compared with `ast-grep scan` with the same
//! three rules.
//!
//! `cargo bench --bench source -- FOLDER [AST_GREP]` scans the Rust code in a folder, such as a hundred packages of a
//! registry without their tests. It prints the best of five measurements: wall-clock time in seconds, and files and MB
//! (10^6 bytes) per second.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use agentnative::catalogue::{Check, checks};
use agentnative::model::Language;
use agentnative::source::{Rules, scan};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Each check with the name of the rule that is used.
const THREE_RULES: [(&str, &str); 3] =
    [("p2-src-stray-print", "print"), ("p2-src-exit-in-library", "exit"), ("p2-src-exit-codes", "unnamed")];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let Some(folder) = args.first() else {
        println!("skipped: expected a folder of code (cargo bench --bench source -- FOLDER [AST_GREP])");
        return;
    };
    let folder = Path::new(folder);
    let three = three_rules();
    measure_scan("three rules", folder, || Rules::new(&three));
    measure_scan("all rules", folder, || Rules::new(checks()));
    let program = args.get(1).map_or("ast-grep", String::as_str);
    match Command::new(program).arg("--version").stdout(Stdio::null()).status() {
        Ok(status) if status.success() => measure_ast_grep(program, folder, &three),
        _ => println!("skipped: {program} is not installed"),
    }
}

/// Returns the checks of `THREE_RULES`, each with one rule for Rust only.
fn three_rules() -> Vec<Check> {
    let one = |(id, name): (&str, &str)| {
        let mut check =
            checks().iter().find(|check| check.id.as_str() == id).expect("the check exists").clone();
        let source = check.source.as_mut().expect("the check is a source check");
        source.languages.retain(|language, _| *language == Language::Rust);
        source.languages.values_mut().for_each(|rules| rules.rules.retain(|rule| rule.name == name));
        check
    };
    THREE_RULES.into_iter().map(one).collect()
}

/// Returns the shortest of five run times.
fn best_time(mut run: impl FnMut()) -> Duration {
    let once = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..5).map(once).min().expect("there were five runs")
}

fn measure_scan<'a>(label: &str, folder: &Path, rules: impl Fn() -> Rules + 'a) {
    let mut facts = None;
    // The time includes the compilation of the rules.
    let time = best_time(|| facts = Some(scan(folder, &rules()).expect("the folder can be read")));
    let facts = facts.expect("the folder was scanned");
    let files: usize = facts.files.values().sum();
    let (seconds, megabytes) = (time.as_secs_f64(), facts.bytes as f64 / 1e6);
    println!(
        "{label}: {seconds:.3} s, {files} files ({} parsed, {} skipped, {} excluded), {megabytes:.1} MB: {:.0} files/s, {:.1} MB/s, {} matches",
        facts.parsed,
        facts.skipped.len(),
        facts.excluded.non_product + facts.excluded.generated,
        files as f64 / seconds,
        megabytes / seconds,
        facts.matches.len(),
    );
}

fn measure_ast_grep(program: &str, folder: &Path, three: &[Check]) {
    let config = tempfile::tempdir().expect("a folder can be created");
    let write = |file: &str, text: String| {
        fs::write(config.path().join(file), text).expect("the file can be written")
    };
    fs::create_dir(config.path().join("rules")).expect("a folder can be created");
    write("sgconfig.yml", "ruleDirs: [rules]\n".to_owned());
    for check in three {
        for rule in check.source.iter().flat_map(|source| source.languages.values()).flat_map(|of| &of.rules)
        {
            write(
                &format!("rules/{}.yml", rule.name),
                format!("id: {}\nlanguage: rust\n{}", rule.name, rule.rule),
            );
        }
    }
    let mut matches = 0;
    let time = best_time(|| {
        let scan = ["scan", "--json=stream", "--config"];
        let output =
            Command::new(program).args(scan).arg(config.path().join("sgconfig.yml")).arg(folder).output();
        matches =
            output.expect("ast-grep can be started").stdout.iter().filter(|byte| **byte == b'\n').count();
    });
    println!("{program} scan, three rules: {:.3} s, {matches} matches", time.as_secs_f64());
}
