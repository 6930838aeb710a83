//! `contract diff`: sides, formats, exit codes.

use agentnative_contract::Schema;
use agentnative_diff::change_rules;
use assert_cmd::Command;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tempfile::TempDir;

fn agentnative(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("agentnative").unwrap().current_dir(folder).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn write(folder: &TempDir, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).unwrap();
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let schema = |required: Value| {
        json!({ "type": "object", "required": required,
        "properties": { "id": { "type": "string" }, "size": { "type": "integer" } } })
    };
    write(&folder, "old.json", &schema(json!(["id", "size"])).to_string());
    write(&folder, "new.json", &schema(json!(["id"])).to_string());
    folder
}

#[test]
fn a_breaking_change_is_printed_like_a_compiler_diagnostic() {
    let folder = folder();
    let (code, out, err) = agentnative(folder.path(), &["contract", "diff", "old.json", "new.json"]);
    assert_eq!(code, 1, "{out}{err}");
    for line in [
        "breaking[diff-key-optional]: the required key `size` became optional",
        "  --> /size",
        "    = now possible: {\"id\":\"text\"}",
        "    = old consumers: missing key `size`",
        "1 breaking",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
    assert_eq!(err, "error: 1 breaking change\n");
    let (code, out, err) = agentnative(folder.path(), &["contract", "diff", "new.json", "old.json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("compatible[diff-key-required]") && out.ends_with("1 compatible\n"), "{out}");
    let (code, out, _) = agentnative(folder.path(), &["contract", "diff", "old.json", "old.json"]);
    assert_eq!((code, out.as_str()), (0, "no difference\n"));
}

#[test]
fn json_is_one_envelope_that_meets_its_schema() {
    let folder = folder();
    let (_, schema, _) = agentnative(folder.path(), &["schema", "output"]);
    let schema = Schema::compile(&serde_json::from_str(&schema).unwrap()).unwrap();
    for (sides, code, ok) in [(["old.json", "new.json"], 1, false), (["new.json", "old.json"], 0, true)] {
        let (found, out, err) =
            agentnative(folder.path(), &["contract", "diff", sides[0], sides[1], "--json"]);
        let document: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(
            (found, &document["ok"], &document["command"]),
            (code, &json!(ok), &json!("contract diff"))
        );
        assert_eq!(schema.violations(&document), Vec::new());
        assert_eq!(document["data"]["changes"].as_array().unwrap().len(), 1);
        assert_eq!(err.lines().count(), usize::from(!ok));
        let (_, out, _) = agentnative(folder.path(), &["contract", "diff", sides[0], sides[1], "--jsonl"]);
        let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["type"], json!("change"));
        assert_eq!(lines[0]["rule"], document["data"]["changes"][0]["rule"]);
        assert_eq!((&lines[1]["type"], lines.len()), (&json!("summary"), 2));
    }
}

#[test]
fn versions_of_a_contract_are_compared() {
    let folder = folder();
    let diff = |old, new| agentnative(folder.path(), &["contract", "diff", old, new]);
    let (code, out, _) = diff("codex-exec@0.42", "codex-exec@0.45");
    assert_eq!(code, 1);
    for change in [
        "breaking[diff-exit-changed]: the exit code when `failed` changed from 0 to 1",
        "breaking[diff-discriminator-changed]: the event type moved from /msg/type to /type",
        "breaking[diff-event-removed]: the event type `(none)` was removed; a stream could begin with it",
    ] {
        assert!(out.contains(change), "{change}\n{out}");
    }
    assert_eq!(diff("codex-exec", "codex-exec@0.45").1, "no difference\n");
    let (code, _, err) = diff("codex-exec@0.1", "codex-exec");
    assert!(code == 78 && err.contains("the contract codex-exec has no version 0.1"), "{err}");
}

#[test]
fn an_undecided_change_is_reported_and_is_not_breaking() {
    let folder = folder();
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts/codex-exec");
    let copy = folder.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    std::fs::copy(contract.join("event.schema.json"), copy.join("event.schema.json")).unwrap();
    let text = std::fs::read_to_string(contract.join("contract.toml")).unwrap();
    let changed = text.replace("{ from = \"open\", on = \"item.updated\", to = \"open\" },\n", "");
    assert_ne!(text, changed);
    std::fs::write(copy.join("contract.toml"), changed).unwrap();
    let (code, out, err) = agentnative(folder.path(), &["contract", "diff", "codex-exec", "./copy"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(
        out.starts_with("undecided[diff-undecided]: the rule `item`") && out.ends_with("1 undecided\n"),
        "{out}"
    );
}

#[test]
fn an_invalid_schema_is_a_configuration_error_with_its_position() {
    let folder = folder();
    write(&folder, "bad.json", "{\"type\": \"object\",\n \"properties\": {\"a\": {\"type\": \"strin\"}}}");
    let (code, out, err) = agentnative(folder.path(), &["contract", "diff", "old.json", "bad.json"]);
    assert_eq!((code, out.as_str()), (78, ""));
    assert!(err.contains("bad.json:2:"), "{err}");
    write(&folder, "torn.json", "{\"type\": \"object\"");
    let (code, _, err) = agentnative(folder.path(), &["contract", "diff", "old.json", "torn.json"]);
    assert!(code == 78 && err.contains("torn.json:1:"), "{code} {err}");
    let (code, _, err) = agentnative(folder.path(), &["contract", "diff", "old.json", "dexter-fla"]);
    assert!(code == 78 && err.contains("did you mean `dexter-flat`?"), "{err}");
    for sides in [&["old.json"][..], &[]] {
        let (code, _, err) = agentnative(folder.path(), &[&["contract", "diff"], sides].concat());
        assert!(code == 2 && err.contains("fewer than two sides"), "{err}");
    }
}

#[test]
fn samples_can_be_compared() {
    let folder = folder();
    write(&folder, "old.jsonl", "{\"type\":\"a\",\"n\":1}\n{\"type\":\"b\",\"text\":\"x\"}\n");
    write(&folder, "new.jsonl", "{\"type\":\"a\",\"n\":1.5}\n{\"type\":\"c\",\"text\":\"x\"}\n");
    write(&folder, "one.json", "{\"type\":\"result\",\"text\":\"x\"}");
    write(&folder, "many.json", "[{\"type\":\"result\",\"text\":\"x\"}]");
    let (code, out, _) = agentnative(folder.path(), &["contract", "diff", "old.jsonl", "new.jsonl"]);
    assert_eq!(code, 1, "{out}");
    for rule in ["diff-integer-became-number", "diff-event-added", "diff-event-removed"] {
        assert!(out.contains(rule), "{rule}\n{out}");
    }
    let (code, out, _) = agentnative(folder.path(), &["contract", "diff", "one.json", "many.json"]);
    assert!(code == 1 && out.contains("diff-object-became-array"), "{out}");
    let (code, out, _) = agentnative(folder.path(), &["contract", "diff", "one.json", "old.jsonl"]);
    assert!(code == 1 && out.contains("diff-framing-changed"), "{out}");
}

/// Each example document is printed once, above the changes of its variant.
#[test]
fn the_changes_of_a_union_are_grouped_by_variant() {
    let folder = folder();
    let (code, out, err) = agentnative(folder.path(), &["contract", "diff", "dexter-flat", "dexter-nested"]);
    assert_eq!((code, err.as_str()), (1, "error: 4 breaking changes\n"), "{out}");
    let documents: Vec<&str> = out.lines().filter(|line| line.contains("now possible: ")).collect();
    assert_eq!(documents.len(), 2, "{out}");
    let (success, failure) = (
        out.split_once("in the variant with `status` \"success\":\n").unwrap().1,
        out.split_once("in the variant with `status` \"error\":\n").unwrap().1,
    );
    let (success, _) = success.split_once("in the variant with").unwrap();
    for (variant, document, changes) in [
        (
            success,
            "\"status\":\"success\"",
            ["the required key `error` was removed", "`success` was removed"],
        ),
        (
            failure,
            "\"status\":\"error\"",
            ["the type changed from a string to an object", "`success` was removed"],
        ),
    ] {
        let (above, below) = variant.split_once("breaking[").unwrap();
        assert!(above.starts_with("  = now possible: {") && above.contains(document), "{out}");
        assert!(above.contains("  = old consumers: missing key `success`\n"), "{out}");
        for change in changes {
            assert!(below.contains(change), "{change}\n{out}");
        }
        assert!(!below.contains("old consumers"), "{out}");
    }

    let (_, out, _) =
        agentnative(folder.path(), &["contract", "diff", "dexter-flat", "dexter-nested", "--json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    let variants_at = |pointer: &str| -> Vec<Value> {
        let changes = document["data"]["changes"].as_array().unwrap().iter();
        changes
            .filter(|change| change["pointer"] == pointer)
            .map(|change| change["variant"].clone())
            .collect()
    };
    assert_eq!(variants_at("/success"), [json!(["`status` \"success\""]), json!(["`status` \"error\""])]);
    assert_eq!(variants_at("/query"), [json!(["`status` \"success\""])]);
}

#[test]
fn a_document_that_shows_several_changes_is_printed_once() {
    let folder = folder();
    let schema = |keys: &[&str]| {
        let keys: serde_json::Map<String, Value> =
            keys.iter().map(|key| ((*key).to_owned(), json!({}))).collect();
        json!({ "type": "object", "required": keys.keys().collect::<Vec<_>>(), "properties": keys,
            "additionalProperties": false })
    };
    write(&folder, "closed.json", &schema(&["a"]).to_string());
    write(&folder, "more.json", &schema(&["a", "b", "c"]).to_string());
    let (code, out, _) = agentnative(folder.path(), &["contract", "diff", "closed.json", "more.json"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.starts_with("= now possible: {"), "{out}");
    assert_eq!(out.matches("now possible").count(), 1, "{out}");
    assert_eq!(out.matches("old consumers: unexpected keys `b`, `c`").count(), 1, "{out}");
    assert_eq!(out.matches("risky[diff-key-added-to-closed]").count(), 2, "{out}");
}

fn script(folder: &TempDir, name: &str, document: &str, failure: i32) {
    let text = format!(
        "#!/bin/sh\ncase \"$1\" in\nlist) echo '{document}';;\n*) echo '{{\"error\":\"e\",\"kind\":\"usage\",\"message\":\"m\"}}' >&2; exit {failure};;\nesac\n"
    );
    write(folder, name, &text);
    let path = folder.path().join(name);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn commands_and_recordings_can_be_compared() {
    let folder = folder();
    script(&folder, "old", r#"{"id":"a","size":1}"#, 2);
    script(&folder, "new", r#"{"id":"a","size":"1"}"#, 3);
    write(
        &folder,
        "agentnative.toml",
        "[target]\ncommand = [\"./old\"]\n[[probe]]\nname = \"list\"\nargs = [\"list\"]\nformats = [\"json\"]\n\
         [[probe]]\nname = \"wrong\"\nargs = [\"wrong\"]\nexit = 2\nformats = [\"json\"]\n",
    );
    let assert_reported = |out: &str| {
        for part in
            ["diff-type-changed", "--> /size (probe list, json)", "diff-exit-changed", "(probe wrong, json)"]
        {
            assert!(out.contains(part), "{part}\n{out}");
        }
    };
    let sides = ["contract", "diff", "--old-command", "./old", "--new-command", "./new"];
    let (code, out, err) = agentnative(folder.path(), &sides);
    assert_eq!(code, 1, "{out}{err}");
    assert_reported(&out);
    let sides = ["contract", "diff", "--old-command", "./old", "--new-command", "./old"];
    let (code, out, err) = agentnative(folder.path(), &sides);
    assert_eq!((code, out.as_str()), (0, "no difference in any output\n"), "{err}");

    // A command that does not exit as declared is named with its stderr, and its output is not compared.
    let program = |name: &str, lines: &str| {
        write(&folder, name, &format!("#!/bin/sh\n{lines}\n"));
        let path = folder.path().join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("broken", "echo 'libx.so.1: cannot open' >&2\nexit 127");
    let sides = ["contract", "diff", "--old-command", "./broken", "--new-command", "./old"];
    let (code, out, err) = agentnative(folder.path(), &sides);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for part in [
        "undecided[diff-undecided]: nothing was compared: the old side: list · json exited with 127",
        "cannot open",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    assert!(out.ends_with("\n2 undecided\n"), "{out}");
    // A missing document is a breaking change, for the lock as well.
    program("gone", "exec ./old \"$@\" >/dev/null");
    let sides = ["contract", "diff", "--old-command", "./old", "--new-command", "./gone"];
    let (code, out, _) = agentnative(folder.path(), &sides);
    assert!(code == 1 && out.contains("breaking[diff-stdout-changed]"), "{out}");
    let (code, out, err) = agentnative(folder.path(), &["contract", "lock", "."]);
    assert!(code == 0 && out.starts_with("2 outputs of old written to"), "{out}{err}");
    std::fs::rename(folder.path().join("old"), folder.path().join("kept")).unwrap();
    program("old", "exit 0");
    let (code, out, _) = agentnative(folder.path(), &["contract", "lock", "--check", "."]);
    assert!(code == 1 && out.contains("breaking[diff-stdout-changed]: stdout contains nothing"), "{out}");
    std::fs::rename(folder.path().join("kept"), folder.path().join("old")).unwrap();
    std::fs::remove_dir_all(folder.path().join("agentnative.lock")).unwrap();

    for name in ["old", "new"] {
        let record = format!("{name}.recording");
        let args =
            ["check", "--check", "p2-contract-locked", "--record", &record, "--", &format!("./{name}")];
        let (_, out, err) = agentnative(folder.path(), &args);
        assert!(folder.path().join(&record).is_file(), "{out}{err}");
    }
    let (code, out, err) =
        agentnative(folder.path(), &["contract", "diff", "old.recording", "new.recording"]);
    assert_eq!(code, 1, "{out}{err}");
    assert_reported(&out);
}

/// A format that was not requested from a version may still exist.
#[test]
fn an_output_that_was_not_requested_from_one_side_is_undecided() {
    let folder = folder();
    let program = |name: &str, help: &str| {
        // For an unknown format, `--output` names a file.
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in\n*--help*) echo '{help}';;\nlist) echo a;;\n*json|*jsonl) echo '{{\"id\":1}}';;\n\
             *--output*unknown*) echo a > \"$3\";;\n*) echo a;;\nesac\n"
        );
        write(&folder, name, &text);
        let path = folder.path().join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("asked", "  --output <FORMAT>  Output format: text, json or jsonl");
    program("unasked", "  --output <FILE>  Writes to a file");
    write(
        &folder,
        "agentnative.toml",
        "[target]\ncommand = [\"./asked\"]\n[[probe]]\nname = \"list\"\nargs = [\"list\"]\n",
    );
    let diff = |old: &str, new: &str| {
        agentnative(folder.path(), &["contract", "diff", "--old-command", old, "--new-command", new])
    };
    for (old, new, side) in [("./asked", "./unasked", "new"), ("./unasked", "./asked", "old")] {
        let (code, out, err) = diff(old, new);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        for format in ["json", "jsonl"] {
            let expected = format!(
                "undecided[diff-undecided]: nothing was compared: the {side} side: list was not run in {format}"
            );
            assert!(out.contains(&expected), "{out}");
        }
        // The descriptions of `--output` differ.
        assert!(out.ends_with("\n2 undecided, 1 compatible\n"), "{out}");
    }
    let (code, out, _) = diff("./unasked", "./unasked");
    assert_eq!((code, out.as_str()), (0, "no difference\n"));
    let (code, out, err) = agentnative(folder.path(), &["contract", "lock", "."]);
    assert!(code == 0 && out.starts_with("3 outputs"), "{out}{err}");
    std::fs::rename(folder.path().join("unasked"), folder.path().join("asked")).unwrap();
    let (code, out, err) = agentnative(folder.path(), &["contract", "lock", "--check", "."]);
    assert!(code == 0 && out.contains("list was not run in jsonl"), "{out}{err}");
}

/// A changed exit code is a breaking change, and the rest is named as not compared.
#[test]
fn outputs_that_were_not_compared_are_named_next_to_a_breaking_change() {
    let folder = folder();
    let program = |name: &str, lines: &str| {
        write(&folder, name, &format!("#!/bin/sh\n{lines}\n"));
        let path = folder.path().join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("old", "echo '{\"id\":1}'");
    program("new", "echo '{\"name\":1}'\necho 'no such table' >&2\nexit 3");
    write(
        &folder,
        "agentnative.toml",
        "[target]\ncommand = [\"./old\"]\n[[probe]]\nname = \"list\"\nargs = [\"list\"]\nformats = [\"json\", \"jsonl\"]\n",
    );
    let sides = ["contract", "diff", "--old-command", "./old", "--new-command", "./new"];
    let (code, out, _) = agentnative(folder.path(), &sides);
    assert_eq!(code, 1, "{out}");
    let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "breaking[diff-exit-changed]: the exit code changed from 0 to 3",
        "= note: nothing else was compared: the new side: list · json exited with 3, expected 0: see p2-exit-success; stderr: no such table",
        "= also in: probe list, jsonl",
        "1 breaking",
    ] {
        assert!(text.contains(part), "{part}\n{out}");
    }
}

#[test]
fn every_rule_is_explained() {
    let folder = folder();
    let (_, schema, _) = agentnative(folder.path(), &["schema", "output"]);
    let schema = Schema::compile(&serde_json::from_str(&schema).unwrap()).unwrap();
    for rule in change_rules().iter().step_by(9) {
        let (code, out, err) = agentnative(folder.path(), &["explain", &rule.id]);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(
            out.starts_with(&format!("{}: {}", rule.id, rule.title)) && out.contains("Who breaks"),
            "{out}"
        );
        let (_, out, _) = agentnative(folder.path(), &["explain", &rule.id, "--json"]);
        assert_eq!(schema.violations(&serde_json::from_str(&out).unwrap()), Vec::new());
    }
    let (code, _, err) = agentnative(folder.path(), &["explain", "diff-key-remove"]);
    assert!(code == 2 && err.contains("did you mean `diff-key-removed`?"), "{err}");
}

#[test]
fn an_undecided_change_fails_only_the_strict_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let side = |kind: &str, required: Value| {
        let schema = json!({ "$defs": { "n": { "$dynamicAnchor": "n", "type": kind }, "m": { "$id": "m", "$dynamicAnchor": "n" } },
            "type": "object", "properties": { "a": { "$dynamicRef": "#n" }, "b": {} }, "required": required });
        schema.to_string()
    };
    write(&folder, "old.json", &side("string", json!(["a", "b"])));
    write(&folder, "unclear.json", &side("integer", json!(["a", "b"])));
    write(&folder, "new.json", &side("integer", json!(["a"])));
    let diff = |args: &[&str]| agentnative(folder.path(), &[&["contract", "diff", "--json"], args].concat());
    let (code, out, err) = diff(&["old.json", "unclear.json"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("\"undecided\":1") && out.starts_with("{\"ok\":true"), "{out}");
    for (new, message) in
        [("unclear.json", "1 undecided change"), ("new.json", "1 breaking and 1 undecided changes")]
    {
        let (code, out, err) = diff(&["--strict", "old.json", new]);
        assert!(code == 1 && out.starts_with("{\"ok\":false"), "{code} {out}");
        let error: Value = serde_json::from_str(&err).unwrap();
        assert_eq!((&error["kind"], &error["message"]), (&json!("findings"), &json!(message)));
    }
    assert_eq!(diff(&["--strict", "old.json", "old.json"]).0, 0);
}
