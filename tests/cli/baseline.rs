//! `check --baseline` and `--write-baseline`: files, exit codes and the output in each format.

use super::support::Folder;
use serde_json::Value;

const CHECKS: [&str; 10] = [
    "--check",
    "p2-output-json",
    "--check",
    "p2-jsonl-newline",
    "--check",
    "p2-output-parity",
    "--check",
    "p2-json-strict",
    "--check",
    "p2-exit-success",
];

/// A target whose `list` has a problem in json and a warning in jsonl, with its recording `seen`.
fn folder_with_recording() -> Folder {
    let folder = Folder::demo("before() { if [ \"$format\" = json ]; then echo loading; fi; }");
    let check = ["check", "./cli", "--probe", "list", "--record", "seen", "--json"];
    let output = folder.run(&[&check[..], &CHECKS].concat());
    assert_eq!((output.code, output.status("p2-output-json").as_str()), (Some(1), "fail"));
    folder
}

#[test]
fn a_baseline_is_written_and_accepted() {
    let folder = folder_with_recording();
    let replay = |flags: &[&str]| folder.run(&[&["check", "--replay", "seen"], flags, &CHECKS].concat());
    let first = replay(&["--write-baseline", "known.json"]);
    assert_eq!(first.code, Some(1), "writing a baseline changes no verdict");
    assert!(
        first.err.contains("known.json: 1 entry written; accept it with --baseline known.json"),
        "{}",
        first.err
    );
    let text = folder.read("known.json");
    assert_eq!(
        text,
        "{\n  \"version\": 1,\n  \"entries\": [\n    {\"target\": \"cli\", \"check\": \"p2-output-json\", \
         \"probe\": \"list\", \"format\": \"json\", \"kind\": \"syntax\"}\n  ]\n}\n"
    );

    let reports = ["sarif", "junit", "github", "gitlab", "markdown", "jsonl", "text"];
    let files: Vec<String> =
        reports.iter().flat_map(|name| ["--report".into(), format!("{name}={name}")]).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let known = replay(&[&["--baseline", "known.json", "--strict", "--json"], &files[..]].concat());
    assert_eq!((known.code, known.status("p2-output-json").as_str()), (Some(0), "waived"), "{}", known.out);
    assert_eq!(known.status("p2-output-parity"), "waived");
    assert_eq!(known.data().get("notes"), None);
    let assert_contains =
        |name: &str, words: &str| assert!(folder.read(name).contains(words), "{name}: {}", folder.read(name));
    assert_contains("sarif", r#""kind":"external""#);
    assert_contains("sarif", "waived: in the baseline (");
    assert_contains("junit", "failures=\"0\"");
    assert_contains("junit", "<skipped message=\"waived: in the baseline (");
    assert_contains("github", "::notice title=cli%3A p2-output-json::waived: in the baseline (");
    assert_contains("gitlab", r#""severity":"info""#);
    assert_contains("markdown", "waived");
    assert_contains("jsonl", r#""status":"waived""#);
    assert_contains("text", "conformant: ");

    // One call can read and write the same file; the same problems give the same bytes.
    let both = replay(&["--baseline", "known.json", "--write-baseline", "known.json"]);
    assert_eq!((both.code, folder.read("known.json")), (Some(0), text.clone()), "{}", both.err);
    // Entries of checks that did not run are kept, also without `--baseline`.
    let other = ["check", "--replay", "seen", "--check", "p2-exit-success", "--write-baseline", "known.json"];
    assert_eq!((folder.run(&other).code, folder.read("known.json")), (Some(0), text.clone()));
    // The printed schema accepts the file.
    let schema = folder.run(&["schema", "baseline", "--json"]).data();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    assert!(schema.is_valid(&serde_json::from_str(&text).unwrap()));
    assert!(!schema.is_valid(&serde_json::from_str(&text.replace("\"kind\"", "\"sort\"")).unwrap()));
}

#[test]
fn a_fixed_problem_is_noted() {
    let folder = folder_with_recording();
    let replay = |flags: &[&str]| folder.run(&[&["check", "--replay", "seen"], flags, &CHECKS].concat());
    replay(&["--write-baseline", "known.json"]);
    let known = folder.read("known.json");
    let more = known.replace(
        "\"syntax\"}",
        "\"syntax\"},\n{\"target\":\"cli\",\"check\":\"p2-jsonl-newline\",\"probe\":\"list\",\"format\":\"jsonl\",\
         \"kind\":\"no-final-newline\"},\n{\"target\":\"other\",\"check\":\"p2-raw\",\"kind\":\"x\"}",
    );
    folder.write("known.json", &more);
    let output = replay(&["--baseline", "known.json", "--json"]);
    let note = "1 entry of the baseline is fixed: p2-jsonl-newline (list · jsonl); run --write-baseline to remove it";
    assert_eq!((output.code, output.data()["notes"].clone()), (Some(0), serde_json::json!([note])));
    assert_eq!(folder.read("known.json"), more, "only --write-baseline changes the file");
    replay(&["--baseline", "known.json", "--write-baseline", "next.json"]);
    let next = folder.read("next.json");
    assert!(next.contains("\"other\"") && !next.contains("p2-jsonl-newline"), "{next}");
}

#[test]
fn an_invalid_baseline_is_an_error_with_its_position() {
    let folder = folder_with_recording();
    let missing = folder.run(&["check", "./cli", "--baseline", "none.json", "--json"]);
    assert_eq!((missing.code, missing.error()["kind"].as_str()), (Some(2), Some("usage")));
    let hint = missing.error()["hint"].clone();
    assert!(hint.as_str().unwrap().contains("--write-baseline"), "{hint}");
    let good =
        "{\"version\": 1, \"entries\": [\n{\"target\": \"cli\", \"check\": \"p2-raw\", \"kind\": \"x\"}\n]}";
    for (text, expected) in [
        ("", "bad:1:1: "),
        ("<<<<<<< ours\n{}", "bad:1:1: expected value"),
        ("{\n}", "bad:2:1: missing field `version`; expected `version` and `entries`"),
        (&good.replace(": 1,", ": 2,"), "bad is a baseline of version 2; expected version 1"),
        (
            &good.replace("\"kind\"", "\"sort\""),
            "bad:2:43: unknown field `sort`, expected one of `target`, `check`",
        ),
        (&good.replace("p2-raw", "p2-row"), "unknown variant `p2-row`, expected one of"),
        (&good.replace("\"x\"", "7"), "bad:2:46: invalid type: integer `7`, expected a string"),
        (&good[..40], "bad:2:"),
        ("\u{0}\u{1}", "bad:1:1: "),
    ] {
        folder.write("bad", text);
        for option in ["--baseline", "--write-baseline"] {
            let refused = folder.run(&["check", "--replay", "seen", option, "bad"]);
            assert_eq!((refused.code, refused.out.as_str()), (Some(78), ""), "{text}");
            assert!(refused.err.contains(expected), "{expected}\n{}", refused.err);
            assert_eq!(folder.read("bad"), text);
        }
    }
    let twice = ["check", "--replay", "seen", "--write-baseline", "same", "--report", "json=same"];
    assert_eq!(folder.run(&twice).code, Some(2));
}

#[test]
fn problems_in_code_are_matched_by_the_text_of_their_lines() {
    let folder = Folder::new();
    folder.write(
        "pyproject.toml",
        "[project]\nname = \"demo\"\nversion = \"1\"\n[project.scripts]\ndemo = \"demo:main\"\n",
    );
    let code =
        "import sys\n\n\ndef helper():\n    print('one')\n\n\ndef main():\n    helper()\n    sys.exit(0)\n";
    folder.write("demo.py", code);
    let check = |flags: &[&str]| {
        let check = ["check", ".", "--check", "p2-src-stray-print", "--deny", "should", "--json"];
        folder.run(&[&check[..], flags].concat())
    };
    assert_eq!(check(&["--write-baseline", "known"]).code, Some(1));
    let known: Value = serde_json::from_str(&folder.read("known")).unwrap();
    assert_eq!(
        (&known["entries"][0]["file"], &known["entries"][0]["text"]),
        (&"demo.py".into(), &"print('one')".into())
    );
    // Lines that moved still match.
    folder.write("demo.py", format!("# A comment\n\n{code}"));
    let moved = check(&["--baseline", "known"]);
    assert_eq!(
        (moved.code, moved.status("p2-src-stray-print").as_str()),
        (Some(0), "waived"),
        "{}",
        moved.out
    );
    // One more line with the same text is new, and so is a line with another text.
    for more in ["print('one')", "print('two')"] {
        folder.write("demo.py", code.replace("    helper()\n", &format!("    {more}\n")));
        let new = check(&["--baseline", "known"]);
        let evidence = new.data()["results"][0]["evidence"].take();
        let lines: Vec<&Value> = evidence.as_array().unwrap().iter().map(|entry| &entry["line"]).collect();
        assert_eq!((new.code, lines), (Some(1), vec![&Value::from(9)]), "{}", new.out);
    }
    // The entries of a file that cannot be parsed are kept.
    folder.write("demo.py", "def main(:\n    print('one')\n");
    let unparsable = check(&["--baseline", "known", "--write-baseline", "next"]);
    assert_eq!(folder.read("next"), folder.read("known"), "{}", unparsable.out);
    // A report contains its time, the version of the program and the configuration.
    folder.write("demo.py", code);
    folder.write("agentnative.toml", "[check]\nskip = [\"p2-raw\"]\n");
    let data = check(&["--timeout", "5"]).data();
    assert_eq!(data["version"], env!("CARGO_PKG_VERSION"));
    let time = data["time"].as_str().unwrap();
    assert!(time.len() == 20 && time.starts_with("20") && time.ends_with('Z'), "{time}");
    // The output of `xxh128sum` for these bytes.
    let digest = "xxh128:674a8103eea81138e86914f6f9beca72";
    let config =
        serde_json::json!({ "file": "agentnative.toml", "digest": digest, "overrides": ["--timeout 5"] });
    assert_eq!(data["config"], config);
}
