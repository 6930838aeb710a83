//! That the tools stay in the workspace.

use crate::support::{Place, result, says, script};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SECRET: &str = "the secret of the outside";

fn place() -> Place {
    let place = Place::new();
    fs::write(place.outside("secret"), SECRET).unwrap();
    fs::create_dir(place.outside("folder")).unwrap();
    fs::write(place.outside("folder/secret"), SECRET).unwrap();
    symlink(place.outside("secret"), place.work().join("file-link")).unwrap();
    symlink("../folder", place.work().join("folder-link")).unwrap();
    symlink("folder-link", place.work().join("second-link")).unwrap();
    place
}

#[test]
fn no_path_leads_out_to_be_read() {
    let place = place();
    let outside = place.outside("secret").display().to_string();
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
            let result = result(&place, tool, args, &[]);
            assert!(!result.to_string().contains(SECRET), "{tool} {path}: {result}");
            let matches = result["result"]["matches"].as_array().map_or(0, Vec::len);
            assert!(result["ok"] == false || matches == 0, "{tool} {path}: {result}");
        }
    }
    for path in ["..", "folder-link", "/", "second-link"] {
        let listed = result(&place, "list_files", json!({"path": path}), &[]);
        assert_eq!(listed["ok"], false, "{path}: {listed}");
    }
    // A search of everything does not follow links.
    let all = result(&place, "search", json!({"pattern": "secret"}), &[]);
    assert_eq!(all["result"]["matches"], json!([]));
    assert_eq!(fs::read_to_string(place.outside("secret")).unwrap(), SECRET);
}

#[test]
fn no_path_leads_out_to_be_written() {
    let place = place();
    let new = place.outside("new").display().to_string();
    for path in ["../new", &new, "folder-link/new", "second-link/new", "sub/../../new", "..", "."] {
        let written = result(&place, "write_file", json!({"path": path, "content": "x"}), &[]);
        assert_eq!(written["ok"], false, "{path}: {written}");
    }
    assert!(!place.outside("new").exists() && !place.outside("folder/new").exists());
    // Neither what a link leads to nor the link itself is replaced.
    for link in ["file-link", "folder-link"] {
        let written = result(&place, "write_file", json!({"path": link, "content": "x"}), &[]);
        assert_eq!(written["error"]["code"], "TOOL_EXECUTION_ERROR", "{written}");
        let words = written["error"]["message"].as_str().unwrap();
        assert!(words.ends_with("leads outside the workspace"), "{words}");
        assert!(place.work().join(link).is_symlink());
    }
    assert_eq!(fs::read_to_string(place.outside("secret")).unwrap(), SECRET);
}

#[test]
fn a_link_that_stays_inside_is_replaced_by_the_file() {
    let place = place();
    place.file("old", "old");
    for (link, target, created) in [("to-file", "old", false), ("to-nothing", "absent", true)] {
        symlink(target, place.work().join(link)).unwrap();
        let written = result(&place, "write_file", json!({"path": link, "content": "new"}), &[]);
        assert_eq!(written["result"]["created"], created, "{link}: {written}");
        assert!(!place.work().join(link).is_symlink() && place.read(link) == "new", "{link}");
    }
    assert_eq!(place.read("old"), "old");
    assert!(!place.work().join("absent").exists());
}

#[test]
fn an_absolute_path_inside_is_taken() {
    let place = place();
    let inside = place.file("a", "inside").canonicalize().unwrap();
    let read = result(&place, "read_file", json!({"path": inside.display().to_string()}), &[]);
    assert_eq!(read["result"]["content"], "inside");
}

#[test]
fn a_race_does_not_lead_out() {
    let place = place();
    // A folder that is a link to the outside half of the time, while the agent reads through it.
    let (inside, flip) = (place.work().join("inside"), place.work().join("flip"));
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join("secret"), "inside").unwrap();
    let outside = place.outside("folder");
    fs::write(outside.join("only-outside"), "x").unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let flipper = std::thread::spawn({
        let (over, next, work) = (Arc::clone(&over), place.work().join("next"), place.work());
        move || {
            let mut flips = 0_u32;
            while !over.load(Ordering::Relaxed) {
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
    place.script(&script(&[json!({"calls": calls}), says("done")]));
    let ran = place.run(["--jsonl", "a query"]);
    over.store(true, Ordering::Relaxed);
    let flips = flipper.join().unwrap();
    let results = ran.of_type("tool-result");
    let good = results.iter().filter(|result| result["ok"] == true).count();
    assert!(!ran.stdout.contains(SECRET) && !ran.stdout.contains("only-outside"), "read from the outside");
    assert_eq!(fs::read_dir(place.outside("folder")).unwrap().count(), 2, "written to the outside");
    assert_eq!(fs::read_to_string(place.outside("folder/secret")).unwrap(), SECRET);
    assert!(results.len() == 600 && flips > 10, "{good} of {} went well, {flips} flips", results.len());
}

#[test]
fn pipes_and_devices_are_refused_without_waiting() {
    let place = place();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, place.work().join("pipe"), rustix::fs::FileType::Fifo, mode, 0)
        .unwrap();
    for (tool, args, code) in [
        ("read_file", json!({"path": "pipe"}), "TOOL_UNSUPPORTED_FILE_TYPE"),
        ("edit_file", json!({"path": "pipe", "old": "a", "new": "b"}), "TOOL_UNSUPPORTED_FILE_TYPE"),
        ("write_file", json!({"path": "pipe", "content": "x"}), "TOOL_EXECUTION_ERROR"),
    ] {
        let result = result(&place, tool, args, &["--timeout", "20"]);
        assert_eq!(result["error"]["code"], code, "{tool}");
    }
}

#[test]
fn a_workspace_that_is_not_there() {
    let place = place();
    let ran = place.run(["--json", "--workspace", "absent", "q"]);
    assert_eq!((ran.code, &ran.error()["kind"]), (78, &"config".into()));
    let elsewhere = place.run(["--workspace", "..", "--raw", "read secret"]);
    assert_eq!(elsewhere.stdout.trim(), SECRET, "{elsewhere:?}");
}
