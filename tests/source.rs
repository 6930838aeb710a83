//! The source checks: their snippets, the files that are read, projects, and waivers.

use agentnative::catalogue::{Check, Snippet, checks};
use agentnative::facts::{CodeFacts, SkipReason, SkippedFile};
use agentnative::judge::source_checks::{Code, code_notes, judge};
use agentnative::model::{CheckResult, Language, Status};
use agentnative::source::{Rules, scan, scan_within};
use agentnative_contract::budget::Budget;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;
use tempfile::TempDir;

/// Creates a package with these files.
fn package(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (file, text) in files {
        write(folder.path(), file, text.as_bytes());
    }
    folder
}

fn write(folder: &Path, file: &str, bytes: &[u8]) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn facts(folder: &Path) -> CodeFacts {
    static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::new(checks()));
    scan(folder, &RULES).unwrap()
}

/// Judges one check on a package; `output` are its output modules.
fn verdict(id: &str, facts: &CodeFacts, output: &[String]) -> CheckResult {
    let check = source_checks().find(|check| check.id.as_str() == id).unwrap();
    judge(&Ok(Code { facts, output }), check).result(check)
}

fn source_checks() -> impl Iterator<Item = &'static Check> {
    checks().iter().filter(|check| check.source.is_some())
}

/// Calls `problem_of` for each snippet of each check, and fails with all problems. The last argument is whether the
/// snippet is a good one.
fn for_each_snippet(problem_of: impl Fn(&Check, Language, &Snippet, bool) -> Option<String>) {
    let mut problems = Vec::new();
    for check in source_checks() {
        for (language, rules) in &check.source.as_ref().unwrap().languages {
            let good = rules.good.iter().map(|snippet| (snippet, true));
            for (snippet, good) in good.chain(rules.bad.iter().map(|snippet| (snippet, false))) {
                if let Some(problem) = problem_of(check, *language, snippet, good) {
                    problems.push(format!("{} {}: {problem}\n{}", check.id, language.name(), snippet.code));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn bad_snippets_are_reported_and_good_snippets_are_not() {
    for_each_snippet(|check, _, snippet, good| {
        let folder = package(&[(&snippet.file, &snippet.code)]);
        let facts = facts(folder.path());
        if !facts.skipped.is_empty() {
            return Some(format!("the snippet is skipped: {:?}", facts.skipped));
        }
        let result = verdict(check.id.as_str(), &facts, &[]);
        match (good, result.status) {
            (true, Status::Pass | Status::Unverified) | (false, Status::Warn | Status::Fail) => None,
            (true, status) => Some(format!("noisy: {status:?} {} {:#?}", result.message, result.evidence)),
            (false, status) => Some(format!("missing: {status:?} {}", result.message)),
        }
    });
}

#[test]
fn snippets_have_their_language_and_matches_contain_a_word_of_their_rule() {
    for_each_snippet(|_, language, snippet, _| {
        let folder = package(&[(&snippet.file, &snippet.code)]);
        let facts = facts(folder.path());
        if facts.files.keys().collect::<Vec<_>>() != [&language] {
            return Some(format!("it is {:?}", facts.files));
        }
        facts.matches.iter().find_map(|found| {
            let check = checks().iter().find(|check| check.id.as_str() == found.check).unwrap();
            let rules = &check.source.as_ref().unwrap().languages[&language].rules;
            let rule = rules.iter().find(|rule| rule.name == found.rule).unwrap();
            let text = &snippet.code[found.span.range.clone()];
            let contains_word =
                rule.of.is_some() || rule.words.iter().any(|word| text.contains(word.trim_matches('*')));
            (!contains_word).then(|| format!("the match of {} contains none of its words: {text}", rule.name))
        })
    });
}

#[test]
fn every_source_check_is_complete() {
    let mut count = 0;
    for check in source_checks() {
        count += 1;
        let source = check.source.as_ref().unwrap();
        assert_eq!(source.languages.len(), Language::ALL.len(), "{}: a language is missing", check.id);
        for (language, rules) in &source.languages {
            let location = format!("{} {}", check.id, language.name());
            assert!(
                !rules.good.is_empty() && !rules.bad.is_empty(),
                "{location}: both kinds of snippet are needed"
            );
            assert!(!rules.not_covered.is_empty(), "{location}: `not_covered` is empty");
            let mut names: Vec<_> = rules.rules.iter().map(|rule| &rule.name).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), rules.rules.len(), "{location}: a rule's name is used twice");
            for rule in &rules.rules {
                assert_eq!(
                    rule.words.is_empty(),
                    rule.of.is_some(),
                    "{location} {}: expected either `words` or `of`",
                    rule.name
                );
                let is_valid =
                    rule.of.as_ref().is_none_or(|of| rules.rules.iter().any(|rule| rule.name == *of));
                assert!(is_valid, "{location} {}: `of` is not the name of a rule", rule.name);
            }
        }
    }
    assert_eq!(count, 7);
}

#[test]
fn only_the_code_of_the_program_is_read() {
    let print = "pub fn f() { println!(\"x\"); }\n";
    let folder = package(&[
        ("Cargo.toml", "[package]\nname = \"tool\"\n"),
        (".gitignore", "/src/ignored.rs\n"),
        ("src/main.rs", "fn main() { println!(\"x\"); }\n"),
        ("src/ignored.rs", print),
        ("src/.hidden/a.rs", print),
        ("src/pb.rs", "// @generated by a program\npub fn f() { println!(\"x\"); }\n"),
        ("src/list/tests.rs", print),
        (
            "src/inner.rs",
            "#[cfg(test)]\n/// Docs.\nmod tests { fn f() { println!(\"x\"); } }\n#[test]\nfn t() { println!(\"x\"); }\n",
        ),
        ("tests/a.rs", print),
        ("src/tool_test/a.rs", print),
        ("benches/a.rs", print),
        ("examples/a.rs", print),
        ("build.rs", print),
        ("target/debug/a.rs", print),
        ("vendor/other/src/lib.rs", print),
        ("assets/a.rs", print),
        ("crates/other/Cargo.toml", "[package]\nname = \"other\"\n"),
        ("crates/other/src/main.rs", print),
        ("docs/tool.py", "print(1)\n"),
    ]);
    let facts = facts(folder.path());
    assert_eq!(facts.files.keys().collect::<Vec<_>>(), [&Language::Rust]);
    let result = verdict("p2-src-stray-print", &facts, &[]);
    let files: Vec<_> = result.evidence.iter().map(|evidence| evidence.file.clone().unwrap()).collect();
    assert_eq!(files, ["src/main.rs"]);
    assert_eq!((facts.excluded.non_product, facts.excluded.generated), (7, 1));
    assert!(facts.skipped.is_empty(), "{:?}", facts.skipped);
}

#[test]
fn unreadable_files_are_skipped_and_reported() {
    let folder = package(&[
        ("src/good.py", "import sys\nsys.stderr.write('x')\n"),
        ("src/broken.py", "def f(:\n    print(1\n"),
    ]);
    write(folder.path(), "src/binary.py", b"print(1)\0\x01");
    write(folder.path(), "src/latin.py", b"# one\nprint('\xe9')\n");
    write(folder.path(), "src/bom.py", b"\xef\xbb\xbfprint('x')\n");
    let huge = fs::File::create(folder.path().join("src/huge.py")).unwrap();
    huge.set_len(100 << 20).unwrap();
    write(
        folder.path(),
        "src/deep.py",
        format!("print({}1{})\n", "(".repeat(50_000), ")".repeat(50_000)).as_bytes(),
    );
    let facts = facts(folder.path());
    let reason = |file: &str| {
        let skipped = facts.skipped.iter().find(|skipped| skipped.file == file);
        skipped.map(|skipped| skipped.why.clone())
    };
    assert_eq!(reason("src/broken.py"), Some(SkipReason::Broken(1)));
    assert_eq!(reason("src/binary.py"), Some(SkipReason::Binary));
    assert_eq!(reason("src/latin.py"), Some(SkipReason::NotUtf8(2)));
    assert_eq!(reason("src/huge.py"), Some(SkipReason::TooLarge(100 << 20)));
    assert_eq!(reason("src/good.py"), None);
    assert_eq!(reason("src/bom.py"), None);
    assert_eq!(facts.files[&Language::Python], 7);

    let code = Code { facts: &facts, output: &[] };
    let reported = code_notes(&code).join("\n");
    assert!(reported.contains("src/binary.py (binary)"), "{reported}");
    // No code that was read ends the process, but skipped files prevent a pass.
    let exits = verdict("p2-src-exit-in-library", &facts, &[]);
    assert_eq!(exits.status, Status::Unverified, "{}", exits.message);
    assert!(exits.message.contains("skipped"), "{}", exits.message);
    // Problems in the other files are reported nevertheless.
    let prints = verdict("p2-src-stray-print", &facts, &[]);
    assert_eq!(prints.status, Status::Warn);
    let first = &prints.evidence[0];
    assert_eq!((first.file.as_deref(), first.line, first.column), (Some("src/bom.py"), Some(1), Some(1)));
}

/// Returns files of each language with `depth` nested calls, or modules in Rust. A call is two levels of the syntax
/// tree, a module is one.
fn nested(depth: usize) -> [(&'static str, String); 4] {
    let calls = |call: &str| format!("{}1{}", format!("{call}(\n").repeat(depth), ")".repeat(depth));
    [
        ("src/nested.py", format!("{}\n", calls("print"))),
        ("src/nested.go", format!("package x\n\nfunc f() {{\n{}\n}}\n", calls("fmt.Println"))),
        ("src/nested.ts", format!("{};\n", calls("console.log"))),
        (
            "src/nested.rs",
            format!("{}fn f() {{ println!(); }}\n{}", "mod a {\n".repeat(depth), "}\n".repeat(depth)),
        ),
    ]
}

#[test]
fn code_that_is_nested_too_deeply_is_skipped() {
    let folder = TempDir::new().unwrap();
    for (file, text) in nested(20_000) {
        write(folder.path(), file, text.as_bytes());
    }
    let facts = facts(folder.path());
    let files: Vec<&str> = facts.skipped.iter().map(|skipped| skipped.file.as_str()).collect();
    assert_eq!(files, ["src/nested.go", "src/nested.py", "src/nested.rs", "src/nested.ts"]);
    for SkippedFile { file, why, .. } in &facts.skipped {
        // The limit of 2,000 nested nodes is about 1,000 calls or modules.
        assert!(matches!(why, SkipReason::TooDeep(900..1100)), "{file}: {why}");
    }
    let prints = verdict("p2-src-stray-print", &facts, &[]);
    assert_eq!(prints.status, Status::Unverified);
    assert!(prints.message.contains("src/nested.go (nested too deeply in line "), "{}", prints.message);
}

#[test]
fn code_below_the_nesting_limit_is_read() {
    let folder = TempDir::new().unwrap();
    for (file, text) in nested(300) {
        write(folder.path(), file, text.as_bytes());
    }
    let shallow = facts(folder.path());
    assert_eq!((shallow.skipped.as_slice(), shallow.parsed), (&[][..], 4));
    assert_eq!(verdict("p2-src-stray-print", &shallow, &[]).evidence.len(), 3 * 300 + 1);
    // At this depth, a rule for Go exceeds its number of steps.
    for (file, text) in nested(900) {
        write(folder.path(), file, text.as_bytes());
    }
    let deep = facts(folder.path());
    let skipped: Vec<_> = deep.skipped.iter().map(|skipped| (skipped.file.as_str(), &skipped.why)).collect();
    assert_eq!((skipped, deep.parsed), (vec![("src/nested.go", &SkipReason::TooExpensive)], 3));
}

#[test]
fn the_cost_of_rules_is_limited_by_the_size_of_the_file() {
    // The rule compares each argument with all others.
    let folder = package(&[
        ("src/many.py", &format!("print({})\n", "'a',\n".repeat(5_000))),
        ("src/few.py", &"print(a, b, c)\n".repeat(1_000)),
    ]);
    let facts = facts(folder.path());
    let skipped: Vec<_> = facts.skipped.iter().map(|skipped| (skipped.file.as_str(), &skipped.why)).collect();
    assert_eq!(skipped, [("src/many.py", &SkipReason::TooExpensive)]);
    assert_eq!(verdict("p2-src-stray-print", &facts, &[]).evidence.len(), 1_000);
}

#[test]
fn a_stopped_scan_verifies_no_check() {
    let folder = package(&[("src/a.py", &"print(a)\n".repeat(10_000))]);
    let no_time = Budget { time: Duration::ZERO, ..Budget::STEP };
    let facts = scan_within(no_time, folder.path().to_owned(), Rules::new(checks())).unwrap();
    for check in source_checks() {
        let result = verdict(check.id.as_str(), &facts, &[]);
        assert_eq!(result.status, Status::Unverified, "{}", check.id);
        let message = "reading the code was stopped: it needs more than 0 s of CPU time";
        assert_eq!(result.message, message);
    }
}

#[cfg(unix)]
#[test]
fn code_with_attributes_unknown_to_the_grammar_is_read() {
    let folder = package(&[
        ("Cargo.toml", "[package]\nname = \"tool\"\n"),
        (
            "src/lib.rs",
            "pub fn f(s: S, t: S) {\n    let S { #[cfg(unix)] a, b } = s;\n    match t {\n        \
             S { #[allow(unused)] #[cfg(any(unix, windows))] a, .. } => println!(\"ü\"),\n    }\n}\n",
        ),
    ]);
    let facts = facts(folder.path());
    assert_eq!(facts.skipped, []);
    let result = verdict("p2-src-stray-print", &facts, &[]);
    assert_eq!(
        (result.status, result.evidence[0].line, result.evidence[0].column),
        (Status::Warn, Some(4), Some(68))
    );
    // Code that is invalid without the attributes too is skipped.
    write(folder.path(), "src/lib.rs", b"fn f() {\n    #[cfg(unix)] let = println!(\"x\");\n}\n");
    assert_eq!(skipped_files(folder.path()), ["src/lib.rs: does not parse at line 2"]);
}

fn skipped_files(folder: &Path) -> Vec<String> {
    facts(folder).skipped.iter().map(|skipped| format!("{}: {}", skipped.file, skipped.why)).collect()
}

#[test]
fn links_are_not_followed_and_pipes_are_not_opened() {
    let folder = package(&[("src/a.py", "print(1)\n"), ("elsewhere/b.py", "x = 1\n")]);
    std::os::unix::fs::symlink("..", folder.path().join("src/loop")).unwrap();
    std::os::unix::fs::symlink("a.py", folder.path().join("src/link.py")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("src/dangling.py")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.path().join("src/pipe.py"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let facts = facts(folder.path());
    assert_eq!(facts.excluded.links, 3);
    assert_eq!(facts.files[&Language::Python], 2);
    assert!(facts.skipped.is_empty());
}

#[test]
fn a_comment_waives_one_line_and_needs_a_reason() {
    let folder = package(&[(
        "src/list.rs",
        "pub fn f() {\n\
         \x20   println!(\"a\"); // agentnative-ignore p2-src-stray-print: shown while it starts\n\
         \x20   // agentnative-ignore p2-src-stray-print: the next line\n\
         \x20   println!(\"b\");\n\
         \x20   println!(\"agentnative-ignore p2-src-stray-print: no comment\");\n\
         \x20   println!(\"c\"); // agentnative-ignore p2-src-stray-print\n\
         \x20   println!(\"d\"); // agentnative-ignore p2-src-exit-codes: another check\n\
         \x20   println!(\"e\"); // ast-grep-ignore\n\
         }\n",
    )]);
    let code_facts = facts(folder.path());
    let result = verdict("p2-src-stray-print", &code_facts, &[]);
    let lines: Vec<_> = result.evidence.iter().map(|evidence| evidence.line.unwrap()).collect();
    assert_eq!((result.status, lines), (Status::Warn, vec![5, 6, 7, 8]));
    let code = Code { facts: &code_facts, output: &[] };
    let reported = code_notes(&code);
    assert_eq!(reported.len(), 4, "{reported:#?}");
    assert!(
        reported[0].contains("src/list.rs:2: p2-src-stray-print is waived: shown while it starts"),
        "{reported:#?}"
    );
    assert!(
        reported[2].contains("src/list.rs:6: the waiver of p2-src-stray-print is ignored"),
        "{reported:#?}"
    );
    assert!(
        reported[3]
            .contains("src/list.rs:7: the waiver of p2-src-exit-codes is unused: it matches no problem"),
        "{reported:#?}"
    );

    let folder = package(&[(
        "src/list.py",
        "print('a')  # agentnative-ignore p2-src-stray-print: a page for people\n",
    )]);
    let result = verdict("p2-src-stray-print", &facts(folder.path()), &[]);
    assert_eq!(result.status, Status::Waived);
    assert!(result.message.contains("a page for people"), "{}", result.message);
}

#[test]
fn the_output_module_is_detected_and_can_be_configured() {
    let folder = package(&[
        ("Cargo.toml", "[package]\nname = \"tool\"\n"),
        ("src/main.rs", "fn main() {}\n"),
        (
            "src/shape.rs",
            "pub struct Shape { pub format: Format, pub quiet: bool }\n\
             impl Shape { pub fn emit(&self) { println!(\"x\"); } }\n\
             pub fn show() { println!(\"y\"); }\n",
        ),
        ("src/pages.rs", "pub fn page() { println!(\"z\"); }\n"),
    ]);
    let facts = facts(folder.path());
    let files = |output: &[String]| {
        let result = verdict("p2-src-stray-print", &facts, output);
        result.evidence.into_iter().map(|evidence| evidence.file.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(files(&[]), ["src/pages.rs"]);
    assert_eq!(files(&["src/pages.rs".to_owned()]), ["src/shape.rs", "src/shape.rs"]);
    assert_eq!(verdict("p2-src-stray-print", &facts, &["src".to_owned()]).status, Status::Pass);
}

#[test]
fn the_linted_package_is_the_one_that_builds_the_target() {
    let folder = package(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\"]\n[workspace.dependencies]\ncore = { path = \"crates/core\" }\n",
        ),
        ("crates/cli/Cargo.toml", "[package]\nname = \"cli\"\n[dependencies]\ncore = { workspace = true }\n"),
        ("crates/cli/src/main.rs", "fn main() { println!(\"x\"); }\n"),
        ("crates/core/Cargo.toml", "[package]\nname = \"core\"\n[dependencies]\nserde_json = \"1\"\n"),
        ("crates/core/src/lib.rs", "pub fn f() { println!(\"x\"); }\n"),
        ("web/package.json", "{\"name\": \"web\", \"version\": \"1.0.0\", \"bin\": \"./cli.js\"}"),
        ("web/cli.js", "console.log(JSON.stringify({}));\n"),
        ("web/helper", "#!/usr/bin/env node\nprocess.exit(3);\n"),
    ]);
    let cli = facts(&folder.path().join("crates/cli"));
    assert_eq!(verdict("p2-src-stray-print", &cli, &[]).evidence.len(), 2);
    // A dependency in the workspace provides what the package itself lacks.
    let json = verdict("p2-src-json-library", &cli, &[]);
    assert_eq!((json.status, &*json.message), (Status::Pass, "the package depends on serde_json"));
    // A dependency outside of the workspace is not read and may provide it.
    let manifest = "[package]\nname = \"cli\"\n[dependencies]\ncore = { path = \"../../../core\" }\n";
    write(folder.path(), "crates/cli/Cargo.toml", manifest.as_bytes());
    let json = verdict("p2-src-json-library", &facts(&folder.path().join("crates/cli")), &[]);
    assert_eq!((json.status, json.message.contains("core")), (Status::Unverified, true), "{}", json.message);

    let whole = facts(folder.path());
    assert_eq!(whole.files.len(), 2, "a workspace without a root package is the code of all packages");
    let web = facts(&folder.path().join("web"));
    assert_eq!(web.files.keys().collect::<Vec<_>>(), [&Language::TypeScript]);
    assert_eq!(verdict("p2-src-json-library", &web, &[]).status, Status::Pass);
    assert_eq!(verdict("p2-src-exit-in-library", &web, &[]).status, Status::Pass);
}

#[test]
fn packages_of_the_workspace_that_a_target_depends_on_are_its_code() {
    let print = "pub fn f() { println!(\"x\"); }\n";
    let folder = package(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\"]\n[workspace.dependencies]\nshapes = { path = \"crates/shapes\" }\n",
        ),
        (
            "crates/cli/Cargo.toml",
            "[package]\nname = \"cli\"\n[dependencies]\ncore = { path = \"../core\" }\n[dev-dependencies]\nother = { path = \"../other\" }\n",
        ),
        ("crates/cli/src/main.rs", "fn main() {}\n"),
        (
            "crates/core/Cargo.toml",
            "[package]\nname = \"core\"\n[dependencies]\nshapes = { workspace = true }\n",
        ),
        ("crates/core/src/lib.rs", print),
        // Another program.
        ("crates/core/src/main.rs", print),
        ("crates/core/tests/a.rs", print),
        (
            "crates/shapes/Cargo.toml",
            "[package]\nname = \"shapes\"\n[dependencies]\ncore = { path = \"../core\" }\n",
        ),
        ("crates/shapes/src/lib.rs", "pub enum OutputFormat { Text, Json, Jsonl }\n"),
        ("crates/other/Cargo.toml", "[package]\nname = \"other\"\n"),
        ("crates/other/src/lib.rs", print),
    ]);
    let mut cli = facts(&folder.path().join("crates/cli"));
    cli.folder = "crates/cli/".to_owned();
    assert_eq!(cli.files[&Language::Rust], 3);
    let prints = verdict("p2-src-stray-print", &cli, &[]);
    let files: Vec<_> = prints.evidence.iter().map(|evidence| evidence.file.as_deref().unwrap()).collect();
    assert_eq!(files, ["crates/core/src/lib.rs"]);
    let formats = verdict("p2-src-output-format", &cli, &[]);
    assert_eq!(
        (formats.status, &*formats.message),
        (Status::Pass, "a set of the formats: crates/shapes/src/lib.rs:1")
    );
}

#[test]
fn source_checks_are_not_applicable_without_code() {
    let folder = package(&[("tool.sh", "echo hello\n"), ("README.md", "A tool.\n")]);
    let facts = facts(folder.path());
    for check in source_checks() {
        let result = verdict(check.id.as_str(), &facts, &[]);
        assert_eq!(result.status, Status::NotApplicable, "{}: {}", check.id, result.message);
    }
    assert!(scan(&folder.path().join("tool.sh"), &Rules::new(checks())).is_err());
}

#[test]
fn evidence_has_the_span_and_the_line() {
    let folder = package(&[("src/list.py", "def f():\n\té = print(\n        'x')\n")]);
    let result = verdict("p2-src-stray-print", &facts(folder.path()), &[]);
    let evidence = &result.evidence[0];
    assert_eq!((evidence.line, evidence.column), (Some(2), Some(6)));
    assert_eq!((evidence.end_line, evidence.end_column), (Some(3), Some(13)));
    assert_eq!(evidence.excerpt.as_deref(), Some("\té = print("));
    assert_eq!(evidence.caret, Some(5));
    let folder = package(&[("src/list.py", "def f():\r\n    print(1)\r\n")]);
    let crlf = verdict("p2-src-stray-print", &facts(folder.path()), &[]);
    assert_eq!(crlf.evidence[0].excerpt.as_deref(), Some("    print(1)"));
    let json = serde_json::to_value(evidence).unwrap();
    assert_eq!(json["file"], "src/list.py");
    assert!(json.get("probe").is_none() && json.get("variant").is_none());
}

#[test]
fn conforming_projects_pass_and_violating_ones_fail_every_check() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sources");
    let mut wrong = Vec::new();
    let mut count = 0;
    for language in fs::read_dir(&root).unwrap() {
        for project in fs::read_dir(language.unwrap().path()).unwrap() {
            let project = project.unwrap().path();
            let expected = if project.ends_with("conforming") { Status::Pass } else { Status::Warn };
            let facts = facts(&project);
            count += 1;
            for check in source_checks() {
                let result = verdict(check.id.as_str(), &facts, &[]);
                if result.status != expected {
                    let name = project.strip_prefix(&root).unwrap().display();
                    wrong.push(format!(
                        "{name}: {} {:?}: {} {:#?}",
                        check.id, result.status, result.message, result.evidence
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(count, 2 * Language::ALL.len());
}

/// Returns why the code of a package was not read. Each source check of its language reports the same reason.
fn not_read_reason(folder: &Path) -> String {
    let facts = facts(folder);
    let reasons = ["p2-src-stray-print", "p2-src-diagnostics", "p2-src-exit-in-library"].map(|id| {
        let result = verdict(id, &facts, &[]);
        assert_eq!(result.status, Status::Unverified, "{id}: {}", result.message);
        result.message.split_once("; ").unwrap().1.to_owned()
    });
    assert!(reasons.iter().all(|message| *message == reasons[0]), "{reasons:#?}");
    reasons[0].clone()
}

#[test]
fn build_products_of_a_package_are_not_its_code() {
    let built = "is a build product without source code";
    let manifest_with_bin =
        |bin: &str| format!("{{\"name\": \"tool\", \"version\": \"1.0.0\", \"bin\": \"{bin}\"}}");
    let manifest = manifest_with_bin("bin/tool.js");
    let code = "exports.run = () => console.log(JSON.stringify({}));\n";
    let with_main =
        r#"{"name": "tool", "version": "1.0.0", "bin": "bin/tool.js", "main": "./dist/index.js"}"#;
    for (files, expected) in [
        (
            vec![("package.json", with_main), ("bin/tool.js", "go();\n"), ("dist/index.js", code)],
            format!("the program starts in dist/index.js, which {built}"),
        ),
        (
            vec![
                ("package.json", &*manifest),
                ("bin/tool.js", "import { run } from '../dist/cli.js';\nrun();\n"),
                ("dist/cli.js", code),
            ],
            format!("bin/tool.js imports ../dist/cli.js, which {built}"),
        ),
        // A package that is not built.
        (
            vec![("package.json", &*manifest), ("bin/tool.js", "require( \"../dist\" ).run();\n")],
            format!("bin/tool.js imports ../dist, which {built}"),
        ),
        (
            vec![
                ("package.json", &*manifest),
                ("bin/tool.js", "import('./run.js');\n"),
                ("bin/run.js", "import '../build/cli.mjs';\n"),
            ],
            format!("bin/run.js imports ../build/cli.mjs, which {built}"),
        ),
        (
            vec![("package.json", &*manifest), ("bin/tool.js", "import './run.js';\n")],
            "bin/tool.js imports ./run.js, which is not a file of the program".to_owned(),
        ),
        (
            vec![
                ("package.json", &*manifest),
                ("bin/tool.js", "// @generated by a bundler\nconsole.log(1);\n"),
            ],
            "the program starts in bin/tool.js, which is generated".to_owned(),
        ),
    ] {
        let published = package(&files);
        assert_eq!(not_read_reason(published.path()), expected, "{files:?}");
        // The repository of the package contains the source.
        write(published.path(), "src/index.ts", code.as_bytes());
        let result = verdict("p2-src-stray-print", &facts(published.path()), &[]);
        assert_eq!((result.status, result.evidence[0].file.as_deref()), (Status::Warn, Some("src/index.ts")));
    }
    // Packages without any source code.
    for folder in ["build", "dist", "out"] {
        let published = package(&[
            ("package.json", &manifest_with_bin(&format!("{folder}/cli.js"))),
            (&format!("{folder}/cli.js"), code),
        ]);
        assert_eq!(
            not_read_reason(published.path()),
            format!("the program starts in {folder}/cli.js, which {built}")
        );
    }
    // Data and files of other packages are not code of the program.
    let complete = package(&[
        ("package.json", &manifest),
        (
            "bin/tool.js",
            "const { name } = require('../package.json');\nrequire('../lib/run');\nrequire('../node_modules/x/y.js');\n",
        ),
        ("lib/run/index.js", "exports.run = () => 1;\n"),
    ]);
    assert_eq!(verdict("p2-src-stray-print", &facts(complete.path()), &[]).status, Status::Pass);
}

#[test]
fn code_without_its_entry_point_is_unverified() {
    let python = "[project]\nname = 'tool'\n[project.scripts]\ntool = 'tool.cli:main'\n";
    let missing_entry_point =
        |name: &str| format!("the program starts in {name}, which is not a file of the program");
    for (files, expected) in [
        (
            vec![("pyproject.toml", python), ("tool/core.py", "def run():\n    return 1\n")],
            missing_entry_point("tool.cli:main"),
        ),
        (
            vec![
                ("setup.py", "setup(entry_points={'console_scripts': ['tool = tool.cli:main']})\n"),
                ("tool/core.py", "X = 1\n"),
            ],
            missing_entry_point("tool.cli:main"),
        ),
        (
            vec![("pyproject.toml", python), ("tool/cli.py", "from ._native import main\n")],
            "tool/cli.py imports ./_native, which is not a file of the program".to_owned(),
        ),
        (
            vec![
                ("pyproject.toml", python),
                ("tool/cli.py", "# Generated by a program. Do not edit.\nprint(1)\n"),
                ("tool/core.py", "X = 1\n"),
            ],
            "the program starts in tool.cli:main, which is generated".to_owned(),
        ),
        (
            vec![
                (
                    "Cargo.toml",
                    "[package]\nname = \"tool\"\n[[bin]]\nname = \"tool\"\npath = \"tools/main.rs\"\n",
                ),
                ("tools/main.rs", "fn main() { println!(\"x\"); }\n"),
                ("src/lib.rs", "pub fn f() {}\n"),
            ],
            missing_entry_point("tools/main.rs"),
        ),
    ] {
        let folder = package(&files);
        assert_eq!(not_read_reason(folder.path()), expected, "{files:?}");
    }
    let complete = package(&[
        ("pyproject.toml", python),
        ("src/tool/cli.py", "from ._version import version\nfrom .core import main\n"),
        ("src/tool/core/__init__.py", "def main():\n    return 1\n"),
    ]);
    assert_eq!(verdict("p2-src-stray-print", &facts(complete.path()), &[]).status, Status::Pass);
}

#[test]
fn main_blocks_of_modules_are_not_part_of_a_program_with_another_entry_point() {
    let files = [
        ("tool/cli.py", "def run():\n    pass\nif __name__ == '__main__':\n    print(1)\n"),
        ("tool/parse.py", "def parse():\n    print(2)\nif __name__ == '__main__':\n    print(parse())\n"),
    ];
    let folder = package(&files);
    let positions = || {
        let result = verdict("p2-src-stray-print", &facts(folder.path()), &[]);
        let position =
            |evidence: agentnative::model::Evidence| (evidence.file.unwrap(), evidence.line.unwrap());
        result.evidence.into_iter().map(position).collect::<Vec<_>>()
    };
    let at = |file: &str, line| (file.to_owned(), line);
    assert_eq!(positions(), [at("tool/cli.py", 4), at("tool/parse.py", 2), at("tool/parse.py", 4)]);
    write(
        folder.path(),
        "pyproject.toml",
        b"[project]\nname = 'tool'\n[project.scripts]\ntool = 'tool.cli:run'\n",
    );
    assert_eq!(positions(), [at("tool/cli.py", 4), at("tool/parse.py", 2)]);
}

#[test]
fn a_script_is_a_program_if_no_manifest_declares_an_entry_point() {
    const EXITS: &str = "import sys\n\n\ndef load():\n    sys.exit(1)\n";
    let hash_bang = format!("#!/usr/bin/env python3\n{EXITS}\n\nload()\n");
    let guarded = format!("{EXITS}\n\nif __name__ == \"__main__\":\n    load()\n");
    let with_late_hash_bang = format!("# A tool.\n#!/usr/bin/env python3\n{EXITS}");
    let manifest = ("pyproject.toml", "[project]\nname = 'tool'\n[project.scripts]\ntool = 'tool.cli:run'\n");
    let program = ("tool/cli.py", "def run():\n    pass\n");
    for (text, expected_alone) in [
        (&hash_bang, Status::Pass),
        (&guarded, Status::Pass),
        (&with_late_hash_bang, Status::Warn),
        (&EXITS.to_owned(), Status::Warn),
    ] {
        let exits = |files: &[(&str, &str)]| {
            let folder = package(files);
            verdict("p2-src-exit-in-library", &facts(folder.path()), &[]).status
        };
        assert_eq!(exits(&[("notes.py", text)]), expected_alone, "{text}");
        assert_eq!(exits(&[manifest, program, ("tool/load.py", text)]), Status::Warn, "{text}");
    }
}

#[test]
fn computed_exit_codes_without_names_are_unverified_with_a_remedy() {
    for (file, code, remedy) in [
        (
            "notes.py",
            "import sys\n\ntry:\n    run()\nexcept Fail as e:\n    sys.exit(e.code)\n",
            "class ExitCode(IntEnum)",
        ),
        ("notes.js", "run().catch((e) => { process.exit(e.code); });\n", "const ExitCode = {"),
        ("main.go", "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(run()) }\n", "const ("),
        ("src/main.rs", "fn main() { std::process::exit(run()); }\n", "enum ExitCode"),
        ("empty.py", "def run():\n    pass\n", "exit with it"),
    ] {
        let folder = package(&[(file, code)]);
        let result = verdict("p2-src-exit-codes", &facts(folder.path()), &[]);
        assert_eq!(result.status, Status::Unverified, "{}", result.message);
        assert!(result.message.contains(remedy), "{}", result.message);
    }
}

#[test]
fn exit_codes_of_a_tuple_assignment_in_python_are_named() {
    let named = |names: &str| {
        let code =
            format!("import sys\n\n{names}\n\ntry:\n    run()\nexcept Fail as e:\n    sys.exit(e.code)\n");
        verdict("p2-src-exit-codes", &facts(package(&[("notes.py", &code)]).path()), &[]).status
    };
    assert_eq!(named("EXIT_ERROR, EXIT_USAGE, EXIT_AUTH = 1, 2, 77"), Status::Pass);
    assert_eq!(named("EXIT_ERROR = 1\nEXIT_AUTH = 77"), Status::Pass);
    assert_eq!(named("LEFT, RIGHT = 1, 2"), Status::Unverified);
}

#[test]
fn a_manifest_with_invalid_path_patterns_is_tolerated() {
    let folder = package(&[
        ("Cargo.toml", "[package]\nname = \"tool\"\n[[bin]]\nname = \"a\"\npath = \"src/[a.rs\"\n"),
        ("src/[a.rs", "fn main() { println!(\"x\"); }\n"),
        ("package.json", "{\"version\": \"1\", \"bin\": {\"a\": \"b/{[.js\", \"c\": \"\"}}"),
    ]);
    assert_eq!(verdict("p2-src-stray-print", &facts(folder.path()), &[]).status, Status::Warn);
}

#[test]
fn a_go_program_with_imports_of_excluded_folders_is_unverified() {
    let module = ("go.mod", "module example.com/tool/v2 // the second\n\ngo 1.22\n");
    let main = |import: &str| {
        format!("package main\n\nimport (\n\t\"fmt\"\n\n\tcli {import}\n)\n\nfunc main() {{ cli.Run() }}\n")
    };
    let code = "package cli\n\nimport \"fmt\"\n\nfunc Run() { fmt.Println(1) }\n";
    let missing = "which is not a file of the program";
    for (files, expected) in [
        (
            vec![
                module,
                ("main.go", &*main("\"example.com/tool/v2/build/cli\"")),
                ("build/cli/run.go", code),
            ],
            format!("main.go imports build/cli, {missing}"),
        ),
        (
            vec![
                module,
                ("cmd/tool/main.go", &main("\"example.com/tool/v2/internal/app\"")),
                (
                    "internal/app/app.go",
                    "package app\n\nimport \"example.com/tool/v2/scripts/cli\"\n\nfunc Run() { cli.Run() }\n",
                ),
                ("scripts/cli/run.go", code),
            ],
            format!("internal/app/app.go imports scripts/cli, {missing}"),
        ),
        (
            vec![
                module,
                ("tools/tool/main.go", "// The tool.\npackage main\n\nfunc main() {}\n"),
                ("pkg/cli.go", "package pkg\n"),
            ],
            format!("the program starts in tools/tool, {missing}"),
        ),
    ] {
        assert_eq!(not_read_reason(package(&files).path()), expected, "{files:?}");
    }
    // Generated code, folders that no program imports, other modules and libraries do not count as missing.
    for files in [
        vec![
            module,
            ("main.go", &*main("\"example.com/tool/v2/docs\"")),
            ("docs/docs.go", "// Code generated by swag. DO NOT EDIT.\npackage docs\n"),
        ],
        vec![
            module,
            ("main.go", &main("\"example.com/toolbox/build/cli\"")),
            ("pkg/helper.go", "package pkg\n\nimport _ \"example.com/tool/v2/mocks\"\n"),
            ("mocks/mock.go", "package mocks\n"),
        ],
        vec![
            module,
            ("main.go", &main("\"example.com/tool/v2/app\"")),
            ("app/app.go", "package app\n\nfunc Run() {}\n"),
        ],
        vec![module, ("lib.go", "package tool\n")],
    ] {
        let result = verdict("p2-src-stray-print", &facts(package(&files).path()), &[]);
        assert_eq!(result.status, Status::Pass, "{files:?}: {}", result.message);
    }
}
