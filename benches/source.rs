//! Speed of reading code: three rules and all rules, and `ast-grep scan` with the same three.
//!
//! `cargo bench --bench source -- FOLDER [AST_GREP]` over the Rust code in a folder, such as some hundred
//! packages of a registry without their tests; prints the best of five readings: seconds of the clock,
//! files and MB (10^6 bytes) a second.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use agentnative::catalogue::{Check, checks};
use agentnative::model::Language;
use agentnative::source::{Rules, scan};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A check and the one of its rules that is held to the code.
const THREE: [(&str, &str); 3] =
    [("p2-src-stray-print", "print"), ("p2-src-exit-in-library", "exit"), ("p2-src-exit-codes", "unnamed")];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let Some(folder) = args.first() else {
        println!("left out: it needs a folder of code (cargo bench --bench source -- FOLDER [AST_GREP])");
        return;
    };
    let folder = Path::new(folder);
    let three = three();
    ours("three rules", folder, || Rules::new(&three));
    ours("all rules", folder, || Rules::new(checks()));
    let program = args.get(1).map_or("ast-grep", String::as_str);
    match Command::new(program).arg("--version").stdout(Stdio::null()).status() {
        Ok(status) if status.success() => ast_grep(program, folder, &three),
        _ => println!("{program} is not there"),
    }
}

/// The three checks, each with one rule for Rust.
fn three() -> Vec<Check> {
    let one = |(id, name): (&str, &str)| {
        let mut check =
            checks().iter().find(|check| check.id.as_str() == id).expect("the check is there").clone();
        let source = check.source.as_mut().expect("it is a source check");
        source.languages.retain(|language, _| *language == Language::Rust);
        source.languages.values_mut().for_each(|rules| rules.rules.retain(|rule| rule.name == name));
        check
    };
    THREE.into_iter().map(one).collect()
}

/// The best of five.
fn best(mut run: impl FnMut()) -> Duration {
    let once = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..5).map(once).min().expect("five are some")
}

fn ours<'a>(what: &str, folder: &Path, rules: impl Fn() -> Rules + 'a) {
    let mut facts = None;
    // Compiling the rules is part of it.
    let took = best(|| facts = Some(scan(folder, &rules()).expect("the folder can be read")));
    let facts = facts.expect("it was read five times");
    let files: usize = facts.files.values().sum();
    let (seconds, megabytes) = (took.as_secs_f64(), facts.bytes as f64 / 1e6);
    println!(
        "{what}: {seconds:.3} s, {files} files ({} parsed, {} skipped, {} left out), {megabytes:.1} MB: {:.0} files/s, {:.1} MB/s, {} matches",
        facts.parsed,
        facts.skipped.len(),
        facts.excluded.non_product + facts.excluded.generated,
        files as f64 / seconds,
        megabytes / seconds,
        facts.matches.len(),
    );
}

fn ast_grep(program: &str, folder: &Path, three: &[Check]) {
    let config = tempfile::tempdir().expect("a folder can be made");
    let write =
        |file: &str, text: String| fs::write(config.path().join(file), text).expect("it can be written");
    fs::create_dir(config.path().join("rules")).expect("a folder can be made");
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
    let took = best(|| {
        let scan = ["scan", "--json=stream", "--config"];
        let seen =
            Command::new(program).args(scan).arg(config.path().join("sgconfig.yml")).arg(folder).output();
        matches = seen.expect("it runs").stdout.iter().filter(|byte| **byte == b'\n').count();
    });
    println!("{program} scan, three rules: {:.3} s, {matches} matches", took.as_secs_f64());
}
