//! The tools do not leave the workspace.

use crate::support::{TestEnv, script, text_turn, tool_result};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SECRET: &str = "the secret of the outside";

fn env_with_outside_files() -> TestEnv {
    let env = TestEnv::new();
    fs::write(env.outside("secret"), SECRET).unwrap();
    fs::create_dir(env.outside("folder")).unwrap();
    fs::write(env.outside("folder/secret"), SECRET).unwrap();
    symlink(env.outside("secret"), env.work().join("file-link")).unwrap();
    symlink("../folder", env.work().join("folder-link")).unwrap();
    symlink("folder-link", env.work().join("second-link")).unwrap();
    env
}

#[test]
fn no_path_outside_the_workspace_is_read() {
    let env = env_with_outside_files();
    let outside = env.outside("secret").display().to_string();
    for path in [
        "../secret",
        "sub/../../secret",
        &outside,
        "/etc/passwd",
        "file-link",
        "folder-link/secret",
        "second-link/secret",
        "/proc/self/environ",
        "./../secret",
    ] {
        for (tool, args) in [
            ("read_file", json!({"path": path})),
            ("search", json!({"pattern": ".", "path": path})),
            ("edit_file", json!({"path": path, "old": "secret", "new": "x"})),
        ] {
            let result = tool_result(&env, tool, args, &[]);
            assert!(!result.to_string().contains(SECRET), "{tool} {path}: {result}");
            let matches = result["result"]["matches"].as_array().map_or(0, Vec::len);
            assert!(result["ok"] == false || matches == 0, "{tool} {path}: {result}");
        }
    }
    for path in ["..", "folder-link", "/", "second-link"] {
        let listed = tool_result(&env, "list_files", json!({"path": path}), &[]);
        assert_eq!(listed["ok"], false, "{path}: {listed}");
    }
    // A search of everything does not follow links.
    let all = tool_result(&env, "search", json!({"pattern": "secret"}), &[]);
    assert_eq!(all["result"]["matches"], json!([]));
    assert_eq!(fs::read_to_string(env.outside("secret")).unwrap(), SECRET);
}

#[test]
fn no_path_outside_the_workspace_is_written() {
    let env = env_with_outside_files();
    let new = env.outside("new").display().to_string();
    for path in ["../new", &new, "folder-link/new", "second-link/new", "sub/../../new", "..", "."] {
        let written = tool_result(&env, "write_file", json!({"path": path, "content": "x"}), &[]);
        assert_eq!(written["ok"], false, "{path}: {written}");
    }
    assert!(!env.outside("new").exists() && !env.outside("folder/new").exists());
    // Neither the link nor its target is replaced.
    for link in ["file-link", "folder-link"] {
        let written = tool_result(&env, "write_file", json!({"path": link, "content": "x"}), &[]);
        assert_eq!(written["error"]["code"], "TOOL_EXECUTION_ERROR", "{written}");
        let message = written["error"]["message"].as_str().unwrap();
        assert!(message.ends_with("leads outside the workspace"), "{message}");
        assert!(env.work().join(link).is_symlink());
    }
    assert_eq!(fs::read_to_string(env.outside("secret")).unwrap(), SECRET);
}

#[test]
fn a_link_inside_the_workspace_is_replaced_by_the_file() {
    let env = env_with_outside_files();
    env.file("old", "old");
    for (link, target, created) in [("to-file", "old", false), ("to-nothing", "absent", true)] {
        symlink(target, env.work().join(link)).unwrap();
        let written = tool_result(&env, "write_file", json!({"path": link, "content": "new"}), &[]);
        assert_eq!(written["result"]["created"], created, "{link}: {written}");
        assert!(!env.work().join(link).is_symlink() && env.read(link) == "new", "{link}");
    }
    assert_eq!(env.read("old"), "old");
    assert!(!env.work().join("absent").exists());
}

#[test]
fn an_absolute_path_inside_the_workspace_is_accepted() {
    let env = env_with_outside_files();
    let inside = env.file("a", "inside").canonicalize().unwrap();
    let read = tool_result(&env, "read_file", json!({"path": inside.display().to_string()}), &[]);
    assert_eq!(read["result"]["content"], "inside");
}

#[test]
fn a_race_with_a_link_does_not_lead_outside() {
    let env = env_with_outside_files();
    // While the agent uses the link `flip`, its target alternates between a folder inside and one outside.
    let (inside, flip) = (env.work().join("inside"), env.work().join("flip"));
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join("secret"), "inside").unwrap();
    let outside = env.outside("folder");
    fs::write(outside.join("only-outside"), "x").unwrap();
    let stopped = Arc::new(AtomicBool::new(false));
    let flipper = std::thread::spawn({
        let (stopped, next, work) = (Arc::clone(&stopped), env.work().join("next"), env.work());
        move || {
            let mut flips = 0_u32;
            while !stopped.load(Ordering::Relaxed) {
                for target in [work.join("inside"), outside.clone()] {
                    symlink(if target.ends_with("inside") { "inside".into() } else { target }, &next)
                        .unwrap();
                    fs::rename(&next, &flip).unwrap();
                    flips += 1;
                }
            }
            flips
        }
    });
    let calls: Vec<_> = (0..100)
        .flat_map(|n| {
            [
                json!({"tool": "read_file", "args": {"path": "flip/secret"}}),
                json!({"tool": "write_file", "args": {"path": format!("flip/new-{n}"), "content": "x"}}),
                json!({"tool": "write_file", "args": {"path": format!("flip/deep-{n}/new"), "content": "x"}}),
                json!({"tool": "list_files", "args": {"path": "flip"}}),
                json!({"tool": "edit_file", "args": {"path": "flip/secret", "old": "side", "new": "side"}}),
                json!({"tool": "search", "args": {"path": "flip", "pattern": "the secret"}}),
            ]
        })
        .collect();
    env.script(&script(&[json!({"calls": calls}), text_turn("done")]));
    let output = env.run(["--jsonl", "a query"]);
    stopped.store(true, Ordering::Relaxed);
    let flips = flipper.join().unwrap();
    let results = output.of_type("tool-result");
    let good = results.iter().filter(|result| result["ok"] == true).count();
    assert!(
        !output.stdout.contains(SECRET) && !output.stdout.contains("only-outside"),
        "read from the outside"
    );
    assert_eq!(fs::read_dir(env.outside("folder")).unwrap().count(), 2, "written to the outside");
    assert_eq!(fs::read_to_string(env.outside("folder/secret")).unwrap(), SECRET);
    assert!(results.len() == 600 && flips > 10, "{good} of {} went well, {flips} flips", results.len());
}

#[test]
fn pipes_and_devices_are_rejected_without_blocking() {
    let env = env_with_outside_files();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, env.work().join("pipe"), rustix::fs::FileType::Fifo, mode, 0)
        .unwrap();
    for (tool, args, code) in [
        ("read_file", json!({"path": "pipe"}), "TOOL_UNSUPPORTED_FILE_TYPE"),
        ("edit_file", json!({"path": "pipe", "old": "a", "new": "b"}), "TOOL_UNSUPPORTED_FILE_TYPE"),
        ("write_file", json!({"path": "pipe", "content": "x"}), "TOOL_EXECUTION_ERROR"),
    ] {
        let result = tool_result(&env, tool, args, &["--timeout", "20"]);
        assert_eq!(result["error"]["code"], code, "{tool}");
    }
}

#[test]
fn a_missing_workspace_is_a_configuration_error() {
    let env = env_with_outside_files();
    let output = env.run(["--json", "--workspace", "absent", "q"]);
    assert_eq!((output.code, &output.error()["kind"]), (78, &"config".into()));
    let elsewhere = env.run(["--workspace", "..", "--raw", "read secret"]);
    assert_eq!(elsewhere.stdout.trim(), SECRET, "{elsewhere:?}");
}
