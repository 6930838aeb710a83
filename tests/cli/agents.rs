//! Contracts that the name and the version of a known agent select.

use super::support::{Folder, output_of};
use agentnative::check::load_config;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Checks one probe of a program with this name and this output of `--version`.
fn check_program(name: &str, printed: &str, args: &[&str]) -> super::support::CliOutput {
    let folder = Folder::new();
    let script = format!(
        "#!/bin/sh\ncase $* in --version) echo '{printed}'; exit;; --help) exit;; esac\necho \"{{\\\"type\\\":\\\"$*\\\"}}\"\n"
    );
    folder.write(name, &script);
    let path = folder.path().join(name);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let mut command = folder.command();
    command.env("PATH", path).args([
        "check",
        "--command",
        name,
        "--check",
        "p2-contract-stream",
        "--probe",
        "say",
    ]);
    output_of(command.args(["--json"]).args(args))
}

#[test]
fn name_and_version_of_an_agent_select_its_contract() {
    for (name, printed, args, contract) in [
        ("codex", "codex-cli 0.169.0", &[][..], Some("codex-exec")),
        ("codex", "codex-cli 0.42.0", &[], Some("codex-exec@0.42")),
        // Another program with this name, and versions that the contract does not cover.
        ("codex", "codex 0.169.0", &[], None),
        ("codex", "codex-cli", &[], None),
        ("other", "codex-cli 0.169.0", &[], None),
        ("codex", "codex-cli 0.169.0", &["--contract", "none"], None),
        ("claude", "2.1.332 (Claude Code)", &["--contract", "auto"], Some("claude-stream")),
        ("claude", "2.1.197 (Claude Code)", &["--contract", "auto"], Some("claude-stream@2.1.197")),
        ("kilo", "7.7.7", &[], Some("opencode-run@7.7.7")),
        ("kimi", "2.1.0", &[], Some("kimi-stream")),
        ("droid", "0.215.0", &[], Some("droid-stream")),
        ("copilot", "GitHub Copilot CLI 1.0.102.", &[], Some("copilot-json")),
    ] {
        let data = check_program(name, printed, args).data();
        let notes = data["notes"].as_array().cloned().unwrap_or_default();
        let note = contract.map(|contract| {
            json!(format!("the contract {contract} applies, since `--version` prints {printed:?}; --contract none disables it"))
        });
        assert_eq!(notes.first(), note.as_ref(), "{name} {printed} {args:?}: {notes:?}");
        let result = &data["results"][0];
        // The older version of the contract accepts lines before the events.
        let expected = match contract {
            None => "not-applicable",
            Some("codex-exec@0.42") => "pass",
            Some(_) => "fail",
        };
        assert_eq!(result["status"], expected, "{name} {printed} {args:?}: {result}");
    }
    for (name, printed, message) in [
        ("other", "1.0", "no bundled contract describes the program other"),
        (
            "codex",
            "codex 1",
            "no contract applies: codex-exec is for codex (`codex-cli`) >=0.44 or >=0.40, <0.43; `--version` prints \"codex 1\"",
        ),
    ] {
        let error = check_program(name, printed, &["--contract", "auto"]);
        assert_eq!((error.code, &error.error()["message"]), (Some(78), &json!(message)));
    }
}

/// A version that was not checked is judged by the contract; one outside of all ranges is not.
#[test]
fn a_version_that_was_not_checked_is_noted() {
    let data = check_program("claude", "2.2.0 (Claude Code)", &[]).data();
    let note = "2.2.0 is newer than 2.1.332, the last version that was checked";
    assert_eq!(data["notes"][1], note);
    let message = data["results"][0]["message"].as_str().unwrap();
    assert!(message.contains(&format!("({note})")), "{message}");
    // kilo has version numbers of its own.
    let data = check_program("opencode", "7.7.7", &[]).data();
    assert_eq!(data["notes"][1], "7.7.7 is newer than 1.18.33, the last version that was checked");

    let data = check_program("codex", "codex-cli 0.1.0", &[]).data();
    let note = "no contract applies: codex-exec is for codex (`codex-cli`) >=0.44 or >=0.40, <0.43; `--version` prints \"codex-cli 0.1.0\"";
    assert_eq!(data["notes"][0], note);
    assert_eq!(data["results"][0]["status"], "not-applicable");
}

#[test]
fn the_automatic_updates_of_a_known_agent_are_disabled() {
    let folder = Folder::new();
    let script = "#!/bin/sh\ncase $* in --version) echo '2.1.197 (Claude Code)'; exit;; --help) exit;; esac\necho \"updates=${DISABLE_AUTOUPDATER:-on}.\"\n";
    folder.write("claude", script);
    let path = folder.path().join("claude");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    for (args, printed) in [(&[][..], "updates=1."), (&["--contract", "none"], "updates=on.")] {
        let mut command = folder.command();
        command.env("PATH", &path).args(["check", "--command", "claude", "--check", "p2-contract-stream"]);
        command.args(["--check", "p2-output-json", "--probe", "say", "--record", "it.rec", "--json"]);
        let output = output_of(command.args(args));
        assert!(folder.path().join("it.rec").exists(), "{output:?}");
        let recording = std::fs::read_to_string(folder.path().join("it.rec")).unwrap();
        assert!(recording.contains(printed), "{args:?}: {recording}");
        std::fs::remove_file(folder.path().join("it.rec")).unwrap();
    }
}

#[test]
fn a_named_contract_uses_the_version_of_the_program() {
    for (printed, note) in [
        ("codex-cli 0.42.1", "the contract codex-exec@0.42 applies to 0.42.1"),
        (
            "codex-cli 0.43.0",
            "the contract codex-exec is for >=0.44 or >=0.40, <0.43, not for 0.43.0: the nearest, 0.42, applies",
        ),
        ("codex-cli", "`--version` prints no version number: the newest version of the contract applies"),
    ] {
        let data = check_program("tool", printed, &["--contract", "codex-exec"]).data();
        assert_eq!(data["notes"][0], note);
    }
    // An explicit version of the contract, and a program that is not the agent.
    for (printed, contract) in [("codex-cli 0.42.1", "codex-exec@0.171.0"), ("tool 0.42.1", "codex-exec")] {
        let data = check_program("tool", printed, &["--contract", contract]).data();
        assert_eq!(data.get("notes"), None);
        assert_eq!(data["results"][0]["status"], "fail");
    }
}

#[test]
fn the_example_configurations_of_agents_can_be_loaded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/agents");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let configs: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    assert!(configs.len() >= 4, "{configs:?}");
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("xtask/agents/agents.toml");
    let recorded = std::fs::read_to_string(table).unwrap();
    for path in configs {
        let config = load_config(&path).unwrap();
        assert!(!config.probes.is_empty() && config.services.len() == 1, "{}", path.display());
        let name = path.file_stem().unwrap().to_string_lossy();
        assert!(recorded.contains(&format!("{{ name = \"{name}\", ")), "{name} is not recorded");
    }
}

#[test]
fn an_unexpected_exit_code_under_a_contract_is_not_blocked_by_a_check_that_does_not_apply() {
    let folder = Folder::new();
    let config = "[target]\ncommand = [\"false\"]\ncontract = \"vibe-streaming\"\n\n[[probe]]\nname = \"wrong\"\nargs = [\"--no\"]\nexit = 2\n";
    folder.write("agentnative.toml", config);
    let data =
        output_of(folder.command().args(["check", "--check", "p2-contract-exit", "--json", "."])).data();
    let result = &data["results"][0];
    assert_eq!(result["status"], "unverified");
    let message = result["message"].as_str().unwrap();
    assert_eq!(
        message,
        "wrong · jsonl exited with 1, expected 2: correct the program, or `exit` of the probe"
    );
    assert_eq!(result.get("blocked_by"), None, "{result}");
}
