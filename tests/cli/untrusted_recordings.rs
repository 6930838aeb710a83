//! Recordings from untrusted sources: they are self-contained, and their errors have positions.

use super::support::{CliOutput, Folder, within};
use agentnative::check::{Observation, Recording};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Map, Value, json};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

const CHECKS: [&str; 4] = ["--check", "p2-contract-*", "--check", "p2-output-stable"];
/// A value that no output may contain.
const SECRET: &str = "TOP-SECRET";

/// A folder with a target whose probes have a schema file and a contract folder, each of two files, and the output of
/// the check that wrote its recording `seen`.
fn folder_with_recording() -> (Arc<Folder>, CliOutput) {
    let folder = Folder::demo("show() { printf '{\"id\":\"7\"}\\n'; }");
    let name = json!({ "$defs": { "name": { "type": "integer" }, "id": { "type": "integer" } } }).to_string();
    fs::create_dir_all(folder.path().join("promise/parts")).unwrap();
    folder.write("parts.json", &name);
    folder.write("promise/parts/all.json", &name);
    let items =
        |file: &str, key: &str| json!({ "properties": { key: { "$ref": format!("{file}#/$defs/{key}") } } });
    folder.write("list.schema.json", json!({ "items": items("parts.json", "name") }).to_string());
    folder.write("promise/show.json", items("parts/all.json", "id").to_string());
    folder.write(
        "promise/contract.toml",
        "name = 'shown'\ntitle = 'T'\nversion = '1'\norigin = 'O'\nframing = 'document'\nschema = 'show.json'\n",
    );
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./cli']\n\
         [[probe]]\nname = 'list'\nargs = ['list']\ncontract.json = 'list.schema.json'\n\
         [[probe]]\nname = 'show'\nargs = ['show', '1']\ncontract.json = './promise'\n",
    );
    let live = folder.run(&[&["check", "--json", "--record", "seen"][..], &CHECKS].concat());
    assert_eq!(live.status("p2-contract-schema"), "fail", "{}", live.out);
    (Arc::new(folder), live)
}

/// The lines of the recording `seen`.
fn lines(folder: &Folder) -> Vec<Value> {
    folder.read("seen").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn write_lines(folder: &Folder, lines: &[Value]) {
    folder.write("seen", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
}

/// Calls the program and fails if it does not end in a minute.
fn run_in_time(folder: &Arc<Folder>, args: &[&'static str]) -> CliOutput {
    let (folder, args) = (Arc::clone(folder), args.to_vec());
    within("the end of a call", move || folder.run(&args))
}

/// Judges the recording `seen`.
fn replay(folder: &Arc<Folder>) -> CliOutput {
    run_in_time(folder, &[&["check", "--json", "--replay", "seen"][..], &CHECKS].concat())
}

fn make_fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

/// Asserts that a recording whose header is changed by `change` is a configuration error with `why` in its message.
fn assert_refused(folder: &Arc<Folder>, lines: &[Value], change: impl FnOnce(&mut Value), why: &str) {
    let mut lines = lines.to_vec();
    change(&mut lines[0]);
    write_lines(folder, &lines);
    let refused = replay(folder);
    assert_eq!((refused.code, refused.out.as_str()), (Some(78), ""), "{why}: {}", refused.err);
    assert!(refused.err.contains(why) && !refused.err.contains(SECRET), "{why}: {}", refused.err);
}

/// The contract with this main file in the header of a recording.
fn contract_of<'h>(head: &'h mut Value, main: &str) -> &'h mut Value {
    let mut contracts = head["contracts"].as_object_mut().unwrap().values_mut();
    contracts.find(|contract| contract["main"] == main).unwrap()
}

#[test]
fn a_recording_contains_its_contracts() {
    let (folder, live) = folder_with_recording();
    let diff = ["contract", "diff", "--json", "./seen", "./seen"];
    let same = run_in_time(&folder, &diff);
    assert_eq!(same.code, Some(0), "{}", same.err);
    // The files are replaced by pipes, which would block if they were read.
    for file in
        ["list.schema.json", "parts.json", "promise/contract.toml", "promise/show.json", "agentnative.toml"]
    {
        fs::remove_file(folder.path().join(file)).unwrap();
        make_fifo(&folder.path().join(file));
    }
    assert_eq!(replay(&folder), live);
    assert_eq!(run_in_time(&folder, &diff), same);
}

#[test]
fn files_that_a_recording_names_are_not_read() {
    let (folder, _) = folder_with_recording();
    let lines = lines(&folder);
    folder.write("secret.json", json!({ "const": SECRET }).to_string());
    make_fifo(&folder.path().join("pipe.json"));
    for (version, file) in [
        (2, "secret.json"),
        (2, "./pipe.json"),
        (3, "secret.json"),
        (3, "./pipe.json"),
        (3, "../../etc/passwd"),
    ] {
        let change = |head: &mut Value| {
            head["recording"] = version.into();
            head.as_object_mut().unwrap().remove("contracts");
            for probe in head["probes"].as_array_mut().unwrap() {
                probe["contract"]["json"] = file.into();
            }
        };
        assert_refused(&folder, &lines, change, &format!("does not contain the contract {file}"));
    }
}

#[test]
fn invalid_schemas_and_references_to_files_in_a_recording_are_errors() {
    let (folder, _) = folder_with_recording();
    let lines = lines(&folder);
    folder.write("secret.json", json!({ "const": SECRET }).to_string());
    let outside =
        ["secret.json", "../secret.json", "/secret.json", "file:///etc/passwd", "http://127.0.0.1:9/x"];
    let referring = outside.map(|file| json!({ "$ref": file }).to_string());
    let malformed = ["", "{\"type\":", "{\"type\":7}", "[\"\\ud800\"]"].map(str::to_owned);
    for schema in referring.into_iter().chain(malformed) {
        let change = |head: &mut Value| {
            contract_of(head, "list.schema.json")["files"]["list.schema.json"] = schema.into()
        };
        assert_refused(&folder, &lines, change, "list.schema.json of the recording cannot be used");
    }
    let broken =
        |head: &mut Value| contract_of(head, "contract.toml")["files"]["contract.toml"] = "name = 7".into();
    assert_refused(&folder, &lines, broken, "promise of the recording cannot be used");
    for (main, file) in [
        ("list.schema.json", "list.schema.json"),
        ("list.schema.json", "parts.json"),
        ("contract.toml", "contract.toml"),
        ("contract.toml", "parts/all.json"),
    ] {
        let without = |head: &mut Value| {
            contract_of(head, main)["files"].as_object_mut().unwrap().remove(file).unwrap();
        };
        assert_refused(&folder, &lines, without, &format!("`{file}` is not among the files of the contract"));
    }
}

#[test]
fn schemas_of_a_recording_have_a_budget() {
    let reference = |nth: usize| json!({ "$ref": format!("#/$defs/{}", nth - 1) });
    let definition = |nth: usize| match nth {
        0 => json!({ "type": "object" }),
        nth => json!({ "allOf": [reference(nth), reference(nth)] }),
    };
    let definitions: Map<String, Value> = (0..30).map(|nth| (nth.to_string(), definition(nth))).collect();
    let schema = json!({ "$defs": definitions, "items": { "$ref": "#/$defs/29" } }).to_string();
    let (folder, _) = folder_with_recording();
    let mut lines = lines(&folder);
    contract_of(&mut lines[0], "list.schema.json")["files"]["list.schema.json"] = schema.into();
    for line in &mut lines[1..] {
        line["stdout"]["bytes"] = json!({ "text": "[0]\n" });
    }
    write_lines(&folder, &lines);
    let report = replay(&folder);
    assert_eq!(report.status("p2-contract-schema"), "unverified", "{}", report.err);
    assert!(report.out.contains("judging was stopped"), "{}", report.out);
    assert_eq!(report.status("p2-output-stable"), "unverified");
}

/// Bytes of stdout and stderr of a run.
fn streams(run: &Observation) -> [Vec<u8>; 2] {
    [&run.stdout, &run.stderr].map(|captured| {
        let mut bytes = Vec::new();
        captured.bytes.reader().read_to_end(&mut bytes).unwrap();
        bytes
    })
}

#[test]
fn streams_of_any_length_are_restored_and_equal_ones_are_stored_once() {
    let folder = Folder::with("cat \"${0%/*}/out\"; cat \"${0%/*}/err\" >&2\n");
    // Characters, escapes and groups of base64 lie across the boundaries of the buffers.
    let text = "é\"\\\u{7}\u{1F600}\n".repeat(40_000);
    let binary = [b"x\xFF".repeat(100_000), b"\0".to_vec()].concat();
    folder.write("out", &text);
    folder.write("err", &binary);
    let checks = ["--check", "p2-output-json"];
    let record = ["check", "./cli", "--probe", "go", "--json", "--record", "seen"];
    let live = folder.run(&[&record[..], &checks].concat());
    let recording_text = folder.read("seen");
    assert!(
        recording_text.lines().count() > 4 && recording_text.len() < 3 * (text.len() + binary.len()),
        "{}",
        recording_text.len()
    );
    let recording = Recording::read(&folder.path().join("seen")).unwrap();
    let go = recording.named_observations().filter(|(name, _)| name.starts_with("go"));
    let mut runs = 0;
    for (_, run) in go {
        assert!(streams(run) == [text.as_bytes(), &binary], "{:?}", run.key);
        runs += 1;
    }
    assert!(runs > 1);
    // Older versions wrote each stream in full; here with other escapes.
    let recorded_lines: Vec<String> = recording_text.lines().map(str::to_owned).collect();
    let whole: Value =
        serde_json::from_str(recorded_lines.iter().find(|line| line.contains("\"base64\"")).unwrap())
            .unwrap();
    let old = recorded_lines.iter().enumerate().map(|(nth, line)| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        for stream in ["stdout", "stderr"] {
            if line[stream]["bytes"].get("same_as").is_some() {
                line[stream]["bytes"] = whole[stream]["bytes"].clone();
            }
        }
        if nth == 0 {
            line["recording"] = 2.into();
        }
        line.to_string().replace('é', "\\u00e9").replace('\u{1F600}', "\\ud83d\\ude00").replace('/', "\\/")
            + "\n"
    });
    folder.write("seen", old.collect::<String>());
    let replay = ["check", "--json", "--replay", "seen"];
    assert_eq!(folder.run(&[&replay[..], &checks].concat()), live);
}

#[test]
fn a_damaged_run_is_an_error_with_its_position() {
    let folder = Folder::demo("");
    let check = ["check", "./cli", "--check", "p2-exit-success", "--probe", "list", "--record", "seen"];
    assert_eq!(folder.run(&check).code, Some(0));
    let lines = lines(&folder);
    let line = json!({
        "run": lines[1]["run"], "argv": ["cli"], "end": { "Exited": 0 }, "duration": { "secs": 0, "nanos": 1 },
        "stdout": { "bytes": "OUT", "chunks": [] }, "stderr": { "bytes": { "text": "" }, "chunks": [] },
        "left_behind": [], "held_open": false, "waiting": null,
    })
    .to_string();
    let line_with = |bytes: &str| line.replace("\"OUT\"", bytes).into_bytes();
    let long = "x".repeat(100_000);
    let cases: [(Vec<u8>, &str); 24] = [
        (line_with("{\"text\":\"a"), "damaged"),
        (line_with("{\"text\":\"a\tb\"}"), "the end of a string"),
        (line_with(&format!("{{\"text\":\"{long}\n")), "the end of a string"),
        (line_with("{\"text\":\"\\x\"}"), "JSON escape"),
        (line_with("{\"text\":\"\\u12G4\"}"), "hexadecimal"),
        (line_with("{\"text\":\"\\ud800\"}"), "surrogate"),
        (line_with("{\"text\":\"\\udc00\"}"), "surrogate"),
        (line_with("{\"text\":\"\\ud800\\u0041\"}"), "surrogate"),
        ([b"{\"text\":\"\xFF".as_slice(), long.as_bytes(), b"\"}"].concat(), "UTF-8"),
        (b"{\"text\":\"\xC3\"}".to_vec(), "UTF-8"),
        (line_with("{\"base64\":\"a\"}"), "base64"),
        (line_with("{\"base64\":\"*===\"}"), "base64"),
        (line_with(&format!("{{\"base64\":\"{}AA==AAAA\"}}", "A".repeat(65_532))), "base64"),
        (line_with("{\"text\":0}"), "as a string"),
        (line_with("{\"base64\":7}"), "as a string"),
        (line_with("{\"text\":\"\",\"text\":\"\"}"), "2 streams"),
        (line_with("{\"text\":\"\",\"chunks\":\"\"}"), "format of this version"),
        (
            line_with("{\"same_as\":{\"line\":2,\"stream\":\"stderr\"}}"),
            "stderr of line 2; expected an earlier stream",
        ),
        (line_with("{\"same_as\":{\"line\":99,\"stream\":\"stdout\"}}"), "stdout of line 99"),
        (line_with("{\"text\":\"\"}").strip_suffix(b"}").unwrap().to_vec(), "damaged"),
        (line_with("{\"text\":\"\"}").replace_once("\"cli\"", "\"text\":\"\""), "damaged"),
        (
            line_with("{\"text\":\"\"}").replace_once("\"Exited\":0", "\"Exited\":{\"text\":\"\"}"),
            "2 streams",
        ),
        (
            line_with("{\"text\":\"\"}").replace_once("\"held_open\":", "\"wrote\":true,\"wrote\":"),
            "format of this version",
        ),
        (line_with("{\"text\":\"\"}").replace_once(",\"held_open\":false", ""), "format of this version"),
    ];
    for (bad, why) in cases {
        folder.write("bad", [lines[0].to_string().as_bytes(), b"\n", &bad, b"\n"].concat());
        let refused = folder.run(&["check", "--replay", "bad"]);
        let bad = String::from_utf8_lossy(&bad[..bad.len().min(1_000)]).into_owned();
        assert_eq!((refused.code, refused.out.as_str()), (Some(78), ""), "{bad}: {}", refused.err);
        assert!(refused.err.contains("bad:2:") && refused.err.contains(why), "{why}: {bad}: {}", refused.err);
    }
}

/// Replaces the first occurrence of a string, which must exist.
trait ReplaceOnce {
    fn replace_once(&self, old: &str, new: &str) -> Vec<u8>;
}

impl ReplaceOnce for Vec<u8> {
    fn replace_once(&self, old: &str, new: &str) -> Vec<u8> {
        let text = std::str::from_utf8(self).unwrap();
        assert!(text.contains(old), "{old}");
        text.replacen(old, new, 1).into_bytes()
    }
}

#[test]
fn an_endless_recording_is_an_error() {
    let folder = Folder::new();
    let endless = within("the end", move || folder.run(&["check", "--replay", "/dev/zero"]));
    assert_eq!((endless.code, endless.out.as_str()), (Some(78), ""), "{}", endless.err);
    assert!(endless.err.contains("/dev/zero:1:") && endless.err.contains("more than"), "{}", endless.err);
}
