//! The library as tests of a command use it, and the code in `docs/library.md`. Here, the program of this package
//! replaces the `mycli` of the page.

use agentnative::catalogue::checks;
use agentnative::{Check, ErrorKind, Level, Status};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

// This code is compiled, not run: `.ci/run` checks the program.
#[allow(dead_code)]
mod page {
    // begin
    use agentnative::Check;

    fn programs_can_rely_on_the_output() {
        Check::command(env!("CARGO_BIN_EXE_agentnative"))
            .probe("list")
            .probe("1:show 7")
            .principle(2)
            .assert();
    }
    // end
}

#[test]
fn the_code_in_the_page_is_compiled() {
    let (_, code) = include_str!("library.rs").split_once("    // begin\n").unwrap();
    let code = code.split_once("    // end\n").unwrap().0;
    let code = code.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)));
    let code = code.collect::<String>().replace("EXE_agentnative", "EXE_mycli");
    let code = code.replace("fn programs", "#[test]\nfn programs");
    let page = include_str!("../docs/library.md");
    let shown = page.split_once("```rust\n").unwrap().1.split_once("```").unwrap().0;
    assert_eq!(shown, code);
}

/// Returns the panic message of a failed check, with its elapsed time replaced.
fn panic_message(check: &Check) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| check.assert())).unwrap_err();
    let time = regex::Regex::new(r" · [0-9.]+ s\n").unwrap();
    time.replace(panic.downcast_ref::<String>().unwrap(), " · TIME\n").into_owned()
}

#[test]
fn a_conforming_command_passes_and_a_failure_prints_the_text_report() {
    let report = Check::command("fixtures/clis/conforming/sh/cli").probe("list").principle(2).assert();
    assert!(report.conformant && !report.verified, "no run shows that it exits with 77");
    assert_eq!(report.summary.warn, 0, "{:?}", report.results);
    assert!(report.results.iter().all(|result| !result.id.as_str().starts_with("p2-src-")));

    let faulty = Check::command("fixtures/clis/violating/p2-output-json.bom/cli")
        .probe("list")
        .check("p2-output-json")
        .check("p2-exit-auth")
        .check("p2-exit-success")
        .strict(true);
    let message = panic_message(&faulty);
    assert_eq!(message, include_str!("snapshots/library-failure.txt").trim_end());
    let strict = panic_message(&faulty.clone().skip("p2-output-json"));
    assert!(
        strict.ends_with("\nerror: 1 MUST check unverified") && strict.contains("no probe exits with 77"),
        "{strict}"
    );
    let report = faulty.run().unwrap();
    let status = |id: &str| report.results.iter().find(|result| result.id.as_str() == id).unwrap().status;
    assert_eq!(status("p2-output-json"), Status::Fail);
    assert_eq!(status("p2-exit-success"), Status::Pass);
}

#[test]
fn runs_use_the_settings_of_a_test_and_a_configuration_only_if_it_is_named() {
    let script = r#"[ "$A" = "a b" ] && [ "$PWD" = /usr ]"#;
    let check = Check::command("sh").arg("-c").args([script, "mycli"]).probe("list").check("p2-exit-success");
    let check = check.jobs(2).timeout(Duration::from_secs(30)).fast(true);
    let with_variable = check.clone().env("A", "a b");
    with_variable.clone().current_dir("/usr").assert();
    assert!(!with_variable.run().unwrap().conformant && !check.current_dir("/usr").run().unwrap().conformant);

    // The parent folder has a configuration, which declares the same probe.
    let check = Check::command("fixtures/clis/conforming/sh/cli").probe("list").check("p2-exit-success");
    check.assert();
    let error = check.clone().config("fixtures/clis/agentnative.toml").run().unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Usage, "duplicate probe `list`"));
}

#[test]
fn calls_that_change_something_run_in_copies_of_the_workspace() {
    let workspace = tempfile::tempdir().unwrap();
    let list = workspace.path().join("list");
    std::fs::write(&list, "a\n").unwrap();
    let script = r#"[ -e list ] && case "$*" in *add*) echo b >>list ;; esac"#;
    let check = Check::command("sh").args(["-c", script, "mycli"]).probe("list").check("p2-exit-success");
    assert!(!check.run().unwrap().conformant, "without a workspace, there is no file `list`");
    let check = check.workspace(workspace.path()).changes("add").check("p5-read-only").check("p5-idempotent");
    let report = check.assert();
    let status = |id: &str| report.results.iter().find(|result| result.id.as_str() == id).unwrap().status;
    assert_eq!(["p2-exit-success", "p5-read-only"].map(status), [Status::Pass; 2]);
    assert_ne!(status("p5-idempotent"), Status::NotApplicable, "`add` changes something");
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "a\n");
    let error = check.workspace("/nonexistent").run().unwrap_err();
    assert_eq!(error.message, "workspace: no such folder: /nonexistent");
}

#[test]
fn an_invalid_setting_is_an_error_with_the_expectation() {
    let check = || Check::command("fixtures/clis/conforming/sh/cli").probe("list");
    let cases = [
        (
            check().check("p2-output-jsn"),
            "unknown check `p2-output-jsn`\nhint: did you mean `p2-output-json`?",
        ),
        (check().check("p9-*"), "no check matches `p9-*`\nhint: did you mean `p1-*`?"),
        (
            check().skip("p2-output-jsn"),
            "unknown check `p2-output-jsn`\nhint: did you mean `p2-output-json`?",
        ),
        (
            check().check("p2-src-stray-print"),
            "`p2-src-stray-print` reads source code, but a command has none\nhint: check the project: agentnative check --layer source .",
        ),
        (
            check().principle(9),
            "no checks for principle 9; expected PRINCIPLES\nhint: list all checks with `agentnative list`",
        ),
        (
            check().contract("dexter-falt"),
            "unknown contract `dexter-falt`\nhint: did you mean `dexter-flat`?",
        ),
        (
            check().contract("schemas/none.schema.json"),
            "cannot read ROOT/schemas/none.schema.json: No such file or directory (os error 2)",
        ),
        (check().config("none.toml"), "cannot read none.toml: No such file or directory (os error 2)"),
        (
            check().probe("show 'x"),
            "probe \"show 'x\": an unclosed quote, or a backslash at the end\nhint: expected \"[EXIT:]ARGS\", such as \"list\" or \"77:whoami\"",
        ),
        (
            check().probe("256:show"),
            "probe \"256:show\": exit code 256 is greater than 255\nhint: expected \"[EXIT:]ARGS\", such as \"list\" or \"77:whoami\"",
        ),
        (check().jobs(0), "the number of parallel runs is 0; expected at least 1"),
        (check().timeout(Duration::ZERO), "the time limit is 0; expected a duration above 0"),
        (
            check().deny(Level::Must),
            "deny(Must) has no effect; expected deny(Should)\nhint: an unmet MUST fails without it, and a MAY never does",
        ),
        (Check::command(""), "the program is empty; expected its path, or its name on PATH"),
        (
            Check::command("no-such-mycli"),
            "no program no-such-mycli on PATH\nhint: pass its path, such as ./target/debug/NAME",
        ),
        (Check::command("target/no-such-mycli"), "no such file: ROOT/target/no-such-mycli"),
        (
            Check::command("Cargo.toml"),
            "no program Cargo.toml on PATH\nhint: pass its path, such as ./target/debug/NAME",
        ),
        (
            Check::command("./Cargo.toml"),
            "ROOT/Cargo.toml cannot be executed: it is not executable\nhint: chmod +x ROOT/Cargo.toml",
        ),
    ];
    let principles: BTreeSet<u8> = checks().iter().map(|check| check.principle).collect();
    let principles = Vec::from_iter(principles.iter().map(u8::to_string)).join(", ");
    for (check, expected) in cases {
        let expected =
            expected.replace("ROOT", env!("CARGO_MANIFEST_DIR")).replace("PRINCIPLES", &principles);
        assert_eq!(panic_message(&check), format!("error: {expected}"));
        assert!(check.run().is_err());
    }
}
