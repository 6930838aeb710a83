//! Data files as arguments: lists of files, compressed files, many files and unreadable files.

use super::support::{CliOutput, Folder, cli_output, output_of};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

const LINES: &str = "{\"id\":1}\n{\"id\":2}\n";
/// [`LINES`] as `gzip -n` writes them.
const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\x56\xca\x4c\x51\xb2\x32\xac\xe5\xaa\x06\x33\x8c\x6a\xb9\x00\x06\x2c\xa5\x04\x12\x00\x00\x00";
/// [`LINES`] as `zstd --check` writes them.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\x91\x00\x00{\"id\":1}\n{\"id\":2}\n\xe8\x23\x85\x18";
/// A skippable frame of Zstandard.
const SKIPPABLE: &[u8] = b"\x5a\x2a\x4d\x18\x03\x00\x00\x00abc";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write(
        "id.schema.json",
        r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}"#,
    );
    folder
}

fn validate(folder: &Folder, args: &[&str]) -> CliOutput {
    folder.run(&[&["validate", "--json", "--contract", "id.schema.json"], args].concat())
}

fn run_with_stdin(folder: &Folder, args: &[&str], stdin: &[u8]) -> CliOutput {
    let mut command = assert_cmd::Command::from_std(folder.command());
    cli_output(command.args(args).write_stdin(stdin).output().unwrap())
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn file_names(output: &CliOutput, list: &str) -> Vec<String> {
    let files = output.data()[list].as_array().unwrap().clone();
    files.iter().map(|file| file["file"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn compressed_data_is_recognized_by_its_contents() {
    let folder = folder();
    let compressed = [
        GZIP.to_vec(),
        ZSTD.to_vec(),
        [GZIP, GZIP].concat(),
        [ZSTD, SKIPPABLE, ZSTD].concat(),
        [SKIPPABLE, ZSTD].concat(),
    ];
    for (bytes, records) in compressed.iter().zip([2, 2, 4, 4, 2]) {
        for name in ["data.jsonl.gz", "data.jsonl.zst", "data.jsonl", "data"] {
            let path = folder.write(name, bytes);
            let output = validate(&folder, &["--framing", "lines", name]);
            assert_eq!(
                (output.code, &output.data()["files"][0]["records"]),
                (Some(0), &json!(records)),
                "{name}: {output:?}"
            );
            let inferred = folder.run(&["contract", "infer", "--json", name]);
            assert_eq!(inferred.data()["records"], records, "{name}: {inferred:?}");
            fs::remove_file(path).unwrap();
        }
        let output = run_with_stdin(
            &folder,
            &["validate", "--json", "--contract", "id.schema.json", "--framing", "lines", "-"],
            bytes,
        );
        assert_eq!(
            (output.code, &output.data()["files"][0]["bytes"]),
            (Some(0), &json!(LINES.len() * records / 2))
        );
    }
    // The name determines the framing as it does for uncompressed data.
    folder.write("data.jsonl.gz", GZIP);
    let output = validate(&folder, &["data.jsonl.gz"]);
    assert_eq!(output.data()["files"][0]["records"], 2, "{output:?}");
}

#[test]
fn large_data_events_and_diff_samples_can_be_compressed() {
    let folder = folder();
    let lines: String =
        (0..40_000).map(|id| format!("{{\"id\":{id},\"text\":\"{}\"}}\n", id * 7919)).collect();
    folder.write("gz.jsonl.gz", gzipped(lines.as_bytes()));
    folder.write("zst.jsonl.zst", compress_to_vec(lines.as_bytes(), CompressionLevel::Fastest));
    folder.write("plain.jsonl", &lines);
    let output = validate(&folder, &["--jobs", "2", "gz.jsonl.gz", "zst.jsonl.zst", "plain.jsonl"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    for file in output.data()["files"].as_array().unwrap() {
        assert_eq!((&file["records"], &file["bytes"]), (&json!(40_000), &json!(lines.len())), "{file}");
    }
    let same = folder.run(&["contract", "diff", "--json", "plain.jsonl", "gz.jsonl.gz"]);
    assert_eq!((same.code, &same.data()["changes"]), (Some(0), &json!([])), "{same:?}");
    let events = folder.write("events.jsonl", "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n{\"type\":\"item.completed\",\"item\":{\"id\":\"1\",\"type\":\"agent_message\",\"text\":\"Done.\"}}\n{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1,\"cached_input_tokens\":0,\"output_tokens\":1}}\n");
    folder.write(
        "events.zst",
        compress_to_vec(fs::read(events).unwrap().as_slice(), CompressionLevel::Fastest),
    );
    let [plain, packed] = ["events.jsonl", "events.zst"].map(|name| folder.run(&["outcome", "--json", name]));
    assert_eq!((packed.code, &packed.out), (Some(0), &plain.out));
    assert_eq!(packed.data()["message"], "Done.");
}

#[test]
fn truncated_or_corrupt_compressed_data_is_an_error() {
    let folder = folder();
    let changed = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    let rows: [(Vec<u8>, &str); 6] = [
        (GZIP[..GZIP.len() - 9].to_vec(), "invalid gzip data"),
        (changed(GZIP, GZIP.len() - 6), "invalid gzip data"),
        ([GZIP, b"rest"].concat(), "invalid gzip data"),
        (ZSTD[..ZSTD.len() - 5].to_vec(), "invalid Zstandard data"),
        (changed(ZSTD, ZSTD.len() - 1), "invalid Zstandard data: the checksum does not match"),
        ([ZSTD, b"rest"].concat(), "invalid Zstandard data"),
    ];
    for (bytes, reason) in rows {
        folder.write("data.jsonl", &bytes);
        for args in [
            &["validate", "--json", "--contract", "id.schema.json", "data.jsonl"][..],
            &["contract", "infer", "--json", "data.jsonl"],
            &["outcome", "--json", "data.jsonl"],
        ] {
            let output = folder.run(args);
            assert_eq!((output.code, output.out.as_str()), (Some(1), ""), "{args:?} {output:?}");
            let message = output.error()["message"].as_str().unwrap().to_owned();
            assert!(
                message.starts_with("cannot read data.jsonl: ") && message.contains(reason),
                "{args:?}: {message}"
            );
        }
    }
}

#[test]
fn a_list_of_files_can_name_folders() {
    let folder = folder();
    fs::create_dir(folder.path().join("runs")).unwrap();
    folder.write("runs/b.jsonl.zst", ZSTD);
    folder.write("runs/a.jsonl", LINES);
    folder.write("runs/notes.txt", "none of it");
    folder.write("a b\n.json", "{\"id\":1}");
    folder.write("last.json", "{\"id\":1}");
    let expected = ["last.json", "runs/a.jsonl", "runs/b.jsonl.zst"];
    folder.write("list", "last.json\n\nruns\n");
    folder.write("list0", "last.json\0runs\0a b\n.json\0");
    assert_eq!(file_names(&validate(&folder, &["--files-from", "list"]), "files"), expected);
    let with_odd_name = [&expected[..], &["a b\n.json"]].concat();
    assert_eq!(file_names(&validate(&folder, &["--files-from", "list0"]), "files"), with_odd_name);
    // Files on the command line come first.
    let both = validate(&folder, &["runs/b.jsonl.zst", "--files-from", "list"]);
    assert_eq!(file_names(&both, "files"), [&["runs/b.jsonl.zst"], &expected[..]].concat());
    let from_stdin =
        run_with_stdin(&folder, &["contract", "infer", "--json", "--files-from", "-"], b"last.json\nruns");
    assert_eq!((&from_stdin.data()["files"], &from_stdin.data()["records"]), (&json!(3), &json!(5)));
    folder.write("empty", "\n");
    let empty = validate(&folder, &["--files-from", "empty"]);
    assert_eq!((empty.code, &empty.error()["message"]), (Some(2), &json!("empty lists no files")));
    let missing = validate(&folder, &["--files-from", "gone"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    let conflicting =
        run_with_stdin(&folder, &["contract", "infer", "--json", "--files-from", "-", "-"], b"last.json");
    assert_eq!(
        (conflicting.code, &conflicting.error()["message"]),
        (Some(2), &json!("stdin cannot be both the list of files and data"))
    );
}

#[test]
fn unreadable_files_are_named_and_the_others_are_read() {
    let folder = folder();
    folder.write("good.json", "{\"id\":1}");
    folder.write("bad.json", "{\"id\":true}");
    folder.write("cut.jsonl.gz", &GZIP[..20]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    let args = ["cut.jsonl.gz", "good.json", "empty", "gone.json", "bad.json"];
    let output = validate(&folder, &args);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert_eq!(file_names(&output, "files"), ["good.json", "bad.json"]);
    assert_eq!(file_names(&output, "unreadable"), ["cut.jsonl.gz", "empty", "gone.json"]);
    assert_eq!(output.data()["valid"], false);
    let error = output.error();
    assert_eq!(
        (&error["message"], error["issues"].as_array().unwrap().len()),
        (&json!("3 of 5 files cannot be read"), 3)
    );
    let lines =
        folder.run(&[&["validate", "--jsonl", "--contract", "id.schema.json"][..], &args].concat()).lines();
    let of_type = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    assert_eq!((of_type("file").len(), of_type("unreadable").len()), (2, 3));
    let summary = of_type("summary")[0];
    assert_eq!(
        (&summary["files"], &summary["invalid"], &summary["unreadable"]),
        (&json!(2), &json!(1), &json!(3))
    );
    let text = folder.run(&[&["validate", "--contract", "id.schema.json"][..], &args].concat());
    assert!(text.out.ends_with("5 files, 1 invalid, 3 unreadable\n"), "{}", text.out);
    assert!(text.err.contains("cannot read gone.json: No such file"), "{}", text.err);
    // Without an invalid file the first unreadable file determines the exit code.
    let one = validate(&folder, &["good.json", "gone.json"]);
    assert_eq!((one.code, &one.error()["kind"]), (Some(2), &json!("usage")));
    let inferred = folder.run(&["contract", "infer", "--json", "good.json", "gone.json"]);
    assert_eq!((inferred.code, &inferred.json()["ok"]), (Some(2), &json!(false)));
    assert_eq!(
        (file_names(&inferred, "unreadable"), &inferred.data()["files"]),
        (vec!["gone.json".to_owned()], &json!(1))
    );
    assert_eq!(inferred.data()["schema"]["required"], json!(["id"]));
}

#[test]
fn the_output_does_not_depend_on_the_number_of_jobs() {
    let folder = folder();
    fs::create_dir(folder.path().join("many")).unwrap();
    for nth in 0..300 {
        let id: Value = if nth % 7 == 0 { json!("seven") } else { json!(nth) };
        folder.write(
            &format!("many/{nth:03}.json"),
            json!({ "id": id, format!("key{}", nth % 5): nth }).to_string(),
        );
    }
    folder.write("many/150.json", "{\"id\":");
    // A long file, which all threads share.
    folder.write("many/200.jsonl", format!("{{\"id\":1,\"text\":\"{}\"}}\n", "x".repeat(2000)).repeat(1500));
    for args in [
        &["validate", "--contract", "id.schema.json"][..],
        &["validate", "--jsonl", "--contract", "id.schema.json"],
        &["contract", "infer"],
    ] {
        let [sequential, parallel] =
            ["1", "5"].map(|jobs| folder.run(&[args, &["--jobs", jobs, "many"]].concat()));
        assert_eq!(sequential, parallel);
        assert_eq!(sequential.code, Some(1));
    }
    fs::remove_file(folder.path().join("many/150.json")).unwrap();
    let [sequential, parallel] =
        ["1", "5"].map(|jobs| folder.run(&["contract", "infer", "--json", "--jobs", jobs, "many"]));
    assert_eq!((sequential.code, &sequential.out), (Some(0), &parallel.out));
    assert_eq!(sequential.data()["files"], 300);
    let to_full_device = output_of(
        folder
            .command()
            .args(["validate", "--contract", "id.schema.json", "--jobs", "5", "many"])
            .stdout(Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap())),
    );
    assert_eq!(to_full_device.code, Some(1), "{to_full_device:?}");
}

#[test]
fn merged_states_give_the_result_of_one_call() {
    let folder = folder();
    let corpora = [
        "fixtures/outcome",
        "contracts/opencode-events/examples",
        "contracts/claude-stream/examples",
        "contracts/p2-error/examples",
    ];
    let root = crate::programs::repository();
    let mut files: Vec<String> = corpora
        .iter()
        .flat_map(|name| walkdir::WalkDir::new(root.join(name)).sort_by_file_name())
        .map(|entry| entry.unwrap().path().display().to_string())
        .filter(|name| name.ends_with(".json") || name.ends_with(".jsonl"))
        .filter(|name| folder.run(&["contract", "infer", "--quiet", name]).code == Some(0))
        .collect();
    // A map with data as keys, an enum, a tuple, too many values of a tag, and nesting that is too deep.
    let many: String = (0..600).map(|nth| format!("{{\"by\":{{\"key{nth}\":{nth}}},\"type\":\"t{nth}\",\"role\":\"{}\",\"pair\":[\"a\",{nth}]}}\n", ["a", "b"][nth % 2])).collect();
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    files.push(folder.write("many.jsonl", many).display().to_string());
    files.push(folder.write("deep.json", deep).display().to_string());
    assert!(files.len() > 20, "{}", files.len());
    let call = |before: &[&str], files: &[String]| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        folder.run(&[&["contract", "infer", "--json"], before, &files].concat())
    };
    let whole = call(&[], &files);
    let mut states = Vec::new();
    for (nth, part) in files.chunks(7).enumerate() {
        states.push(format!("{nth}.state"));
        assert_eq!(call(&["--state", &states[nth]], part).code, Some(0));
    }
    // States can be merged in any order, in steps, and together with files.
    states.reverse();
    assert_eq!(call(&["--merge"], &states), whole);
    assert_eq!(call(&["--state", "half.state", "--merge"], &states[1..]).code, Some(0));
    assert_eq!(call(&["--merge", "half.state"], &["--merge".to_owned(), states[0].clone()]), whole);
    let first = &files[files.chunks(7).count() * 7 - 7..];
    assert_eq!(call(&["--merge", "half.state", "--"], first), whole);
    // The state of a merged state is the same.
    call(&["--state", "again.state", "--merge", "half.state"], &[]);
    assert_eq!(folder.read("again.state"), folder.read("half.state"));
}

#[test]
fn an_invalid_state_is_an_error_with_its_line() {
    let folder = folder();
    folder.write("data.json", "{\"id\":[1,\"a\"]}");
    folder.run(&["contract", "infer", "--state", "good.state", "data.json"]);
    let good = folder.read("good.state");
    let lines: Vec<&str> = good.lines().collect();
    let without = |at: usize| {
        let mut lines = lines.clone();
        lines.remove(at);
        lines.join("\n")
    };
    let rows = [
        (String::new(), 1, "incomplete"),
        ("{}".to_owned(), 1, "missing field"),
        (good.replace("\"inference\":1", "\"inference\":2"), 1, "unknown version 2"),
        (without(1), 3, "shape 1 is not on an earlier line"),
        (without(lines.len() - 1), lines.len() - 1, "the file is incomplete"),
        (format!("{good}{}\n", lines[1]), lines.len() + 1, "the file is incomplete"),
        (good.replace("\"list\":", "\"lists\":").replace("\"tuple\":", "\"tuples\":"), 4, "unknown variant"),
        (good.replacen("\"integers\":1", "\"integers\":9999999999999999999", 1), 2, "exceeds the maximum"),
        (good.replacen("\"loose\":[]", "\"loose\":[\"id\"]", 1), lines.len(), "`id` is not a tag key"),
    ];
    for (text, line, reason) in rows {
        folder.write("wrong.state", &text);
        let output = folder.run(&["contract", "infer", "--json", "--merge", "wrong.state"]);
        assert_eq!((output.code, output.out.as_str()), (Some(78), ""), "{reason}: {output:?}");
        let issue = &output.error()["issues"][0];
        let message = issue["message"].as_str().unwrap();
        assert!(message.contains(reason), "{reason}: {message}");
        assert_eq!(issue["line"], line, "{reason}: {issue}");
    }
    // Nested shapes, one per line.
    let mut chain = "{\"inference\":1,\"shapes\":100001,\"inputs\":1,\"records\":1,\"bytes\":1}\n{\"nulls\":1,\"bools\":0,\"integers\":0,\"numbers\":0,\"deep\":false}\n".to_owned();
    for nth in 0..100_000 {
        chain.push_str(&format!("{{\"nulls\":0,\"bools\":0,\"integers\":0,\"numbers\":0,\"deep\":false,\"arrays\":{{\"count\":1,\"elements\":{{\"list\":{nth}}}}}}}\n"));
    }
    folder.write("chain.state", chain);
    let output = folder.run(&["contract", "infer", "--json", "--merge", "chain.state"]);
    assert_eq!(output.code, Some(78), "{output:?}");
    let missing = folder.run(&["contract", "infer", "--json", "--merge", "gone.state"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    let unwritable = folder.run(&["contract", "infer", "--json", "--state", "gone/x.state", "data.json"]);
    assert_eq!((unwritable.code, &unwritable.error()["kind"]), (Some(1), &json!("write")));
}

/// Events of a run of codex, which ends with a failure if `fails`.
fn codex_events(tokens: u64, fails: bool) -> String {
    let end = match fails {
        true => json!({"type": "turn.failed", "error": {"message": "no quota"}}),
        false => {
            json!({"type": "turn.completed", "usage": {"input_tokens": tokens, "cached_input_tokens": 0, "output_tokens": 1}})
        }
    };
    let events = [
        json!({"type": "thread.started", "thread_id": format!("t{tokens}")}),
        json!({"type": "turn.started"}),
        json!({"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": "Done."}}),
        end,
    ];
    events.iter().map(|event| format!("{event}\n")).collect()
}

#[test]
fn runs_of_several_files_are_summarized_together() {
    let folder = folder();
    fs::create_dir(folder.path().join("runs")).unwrap();
    folder.write("runs/a.jsonl", codex_events(5, false));
    folder.write("runs/b.jsonl.gz", gzipped(codex_events(7, false).as_bytes()));
    folder.write("runs/c.jsonl", codex_events(9, true));
    folder.write("runs/d.jsonl.gz", &GZIP[..20]);
    folder.write("list", "runs\n");
    let output = folder.run(&["outcome", "--json", "runs"]);
    assert_eq!((output.code, output.json()["ok"].clone()), (Some(1), json!(false)), "{output:?}");
    assert_eq!(file_names(&output, "runs"), ["runs/a.jsonl", "runs/b.jsonl.gz", "runs/c.jsonl"]);
    assert_eq!(file_names(&output, "unreadable"), ["runs/d.jsonl.gz"]);
    let data = output.data();
    assert_eq!(
        data["summary"],
        json!({
            "runs": 3, "succeeded": 2, "failed": 1, "unreadable": 1, "tool_calls": 0,
            "input_tokens": {"sum": 12, "runs": 2}, "output_tokens": {"sum": 2, "runs": 2},
        })
    );
    // Each outcome is that of the file alone.
    for run in data["runs"].as_array().unwrap() {
        let alone = folder.run(&["outcome", "--json", run["file"].as_str().unwrap()]);
        assert_eq!(alone.data(), run["outcome"]);
    }
    assert_eq!(folder.run(&["outcome", "--json", "--files-from", "list"]).out, output.out);
    assert_eq!(folder.run(&["outcome", "--json", "--jobs", "1", "runs"]), output);
    let lines = folder.run(&["outcome", "--jsonl", "runs"]).lines();
    let types: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["run", "run", "run", "unreadable", "summary"]);
    assert_eq!(lines[0]["outcome"], data["runs"][0]["outcome"]);
    let text = folder.run(&["outcome", "--each", "runs/a.jsonl", "runs/c.jsonl"]);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.out.contains("failure  runs/c.jsonl  no quota\n"), "{}", text.out);
    assert!(text.out.ends_with("2 runs: 1 succeeded, 1 failed\n"), "{}", text.out);
    // Without `--each`, several named files are one run.
    assert_eq!(folder.run(&["outcome", "--json", "runs/a.jsonl", "runs/c.jsonl"]).data()["success"], false);
    for option in [
        &["--exit-code", "1"][..],
        &["--stderr", "list"],
        &["--format", "atif"],
        &["--follow"],
        &["--attempt", "2"],
        &["--initial-prompt", "x"],
    ] {
        let output = folder.run(&[&["outcome", "--json", "--each"], option, &["runs/a.jsonl"]].concat());
        assert_eq!(output.code, Some(2), "{option:?}: {output:?}");
        assert!(output.error()["message"].as_str().unwrap().starts_with(option[0]), "{output:?}");
    }
}
