//! Commands that run no target: their output in each format, and its schemas.

use super::support::{Folder, all_ids, keys, run};
use crate::playground::run_in;
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Output of a command as text, JSON and JSON Lines; the short and the long flags are equivalent.
fn all_formats(args: &[&str]) -> (String, Value, Vec<Value>) {
    let run_with = |flags: &[&str]| {
        let output = run(&[args, flags].concat());
        assert_eq!((output.code, output.err.as_str()), (Some(0), ""), "{args:?} {flags:?}");
        output
    };
    let (text, json, jsonl) = (run_with(&[]), run_with(&["--output", "json"]), run_with(&["--output=jsonl"]));
    assert_eq!(text, run_with(&["--output", "text"]));
    assert_eq!(json, run_with(&["--json"]));
    assert_eq!(jsonl, run_with(&["--jsonl"]));
    let document = json.json();
    assert_eq!(keys(&document), ["command", "data", "ok"]);
    assert_eq!((&document["ok"], document["command"].as_str()), (&Value::Bool(true), args.first().copied()));
    assert!(json.out.ends_with('\n') && json.out.matches('\n').count() == 1);
    assert!(jsonl.out.ends_with('\n'));
    (text.out, document["data"].clone(), jsonl.lines())
}

fn assert_valid(schema: &Value, instance: &Value) {
    let validator = jsonschema::draft202012::new(schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(instance).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{instance:#}");
}

fn printed_schema(name: &str) -> Value {
    let (text, json, jsonl) = all_formats(&["schema", name]);
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&schema, &[schema.clone()][..]), (&json, &jsonl[..]));
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name}");
    schema
}

#[test]
fn list_prints_all_checks() {
    let (text, json, jsonl) = all_formats(&["list"]);
    assert_eq!(json.as_array().unwrap(), &jsonl);
    let mut ids: Vec<&str> = jsonl.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    for (entry, line) in jsonl.iter().zip(text.lines().filter(|line| !line.starts_with(' '))) {
        assert_eq!(keys(entry), ["id", "layer", "level", "principle", "title"]);
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        assert_eq!(
            words,
            [&entry["id"], &entry["level"], &entry["layer"]].map(|word| word.as_str().unwrap())
        );
    }
    ids.sort_unstable();
    assert_eq!(ids, all_ids());
    let selected = run(&["list", "--principle", "2", "--layer", "behavioral", "--jsonl"]);
    assert!(selected.lines().iter().all(|entry| entry["layer"] == "behavioral" && entry["principle"] == 2));
}

#[test]
fn the_requirements_of_the_standard_are_listed_with_their_checks() {
    let (text, json, jsonl) = all_formats(&["list", "--standard"]);
    assert_eq!((jsonl.len(), json.as_array().unwrap()), (60, &jsonl));
    let requirement = |id: &str| jsonl.iter().find(|entry| entry["id"] == id).unwrap();
    let codes = requirement("p2-may-more-formats");
    assert_eq!((&codes["principle"], &codes["level"]), (&2.into(), &"may".into()));
    assert_eq!(codes["checks"], serde_json::json!([{ "id": "p2-more-formats" }]));
    let parts = requirement("p1-must-no-interactive")["checks"].as_array().unwrap();
    let ids: Vec<&str> = parts.iter().map(|part| part["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["p1-no-prompt", "p1-no-input", "p2-completes"]);
    assert!(parts.iter().all(|part| part["part"].is_string()), "{parts:?}");
    let none = requirement("p8-may-install-all");
    assert!(none["checks"] == serde_json::json!([]) && none["without"].is_string(), "{none}");
    assert!(text.contains("p2-may-raw-flag ") && text.contains("a permission, which requires nothing"));
    let of_principle = run(&["list", "--standard", "--principle", "8", "--jsonl"]).lines();
    assert_eq!(of_principle.len(), 4);
    assert_eq!(run(&["list", "--standard", "--principle", "9"]).code, Some(2));
    // Only the requirements of the edition are listed, with the edition that added them.
    let of_edition = |edition: &str| run(&["list", "--standard", "--edition", edition, "--jsonl"]).lines();
    let (older, newer) = (of_edition("0.5"), of_edition("0.6"));
    let added: Vec<&Value> = newer.iter().filter(|requirement| requirement["since"] != "0.5").collect();
    assert_eq!((older.len() + 1, added.len()), (newer.len(), 1));
    assert_eq!(added[0]["id"], "p3-should-unprefixed-command-list");
    assert!(!older.contains(added[0]) && text.lines().any(|line| line.ends_with("  since 0.6")), "{text}");
    assert_eq!(run(&["list", "--edition", "0.4"]).code, Some(2));
}

#[test]
fn explain_describes_each_check() {
    for id in all_ids() {
        let (text, json, jsonl) = all_formats(&["explain", &id]);
        assert_eq!(jsonl, std::slice::from_ref(&json));
        let mut expected = vec![
            "derived",
            "example",
            "fix",
            "help",
            "id",
            "layer",
            "level",
            "order",
            "principle",
            "runs",
            "standard",
            "title",
            "kinds",
            "what",
            "why",
        ];
        // Source checks have snippets for each language.
        expected.extend((json["layer"] == "source").then_some("source"));
        expected.extend(["standard_part", "explored"].into_iter().filter(|key| json.get(key).is_some()));
        expected.sort_unstable();
        assert_eq!(keys(&json), expected);
        assert!(text.starts_with(&format!("{id}: ")), "{text}");
        for (kind, what) in json["kinds"].as_object().unwrap() {
            assert!(!what.as_str().unwrap().contains('$'), "{id} {kind}: {what}");
        }
        for heading in ["\nWhat\n", "\nWhy\n", "\nFix\n", "Conforms"] {
            assert!(text.contains(heading), "{id}: {heading:?}");
        }
    }
}

#[test]
fn completions_offer_the_known_values() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (text, json, jsonl) = all_formats(&["completions", shell]);
        assert_eq!(jsonl, std::slice::from_ref(&json));
        assert_eq!((json["shell"].as_str(), json["script"].as_str()), (Some(shell), Some(text.as_str())));
        for word in ["agentnative", "AGENTNATIVE_COMPLETE"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(run(&["completions", "bash"]).out.as_bytes()).unwrap();
    assert!(bash.wait().unwrap().success());
    // IDs are offered; patterns are accepted as well.
    let folder = Folder::new();
    folder.write("completions", run(&["completions", "bash"]).out);
    let offered = |words: &[&str], last: &str| {
        let script = format!(
            ". ./completions; COMP_WORDS=(agentnative {} {last}); COMP_CWORD={}; \
             _clap_complete_agentnative agentnative '{last}' {}; echo \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() + 1,
            words.last().unwrap(),
        );
        folder.write("offer", script);
        let output = run_in(folder.path(), "bash offer");
        assert!(output.stderr.is_empty(), "{words:?} {last}: {output:?}");
        String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let json = "p2-json-alias p2-json-interop p2-json-strict";
    let sorted = |offered: String| {
        let mut words: Vec<&str> = offered.split(' ').collect();
        words.sort_unstable();
        words.join(" ")
    };
    assert_eq!(sorted(offered(&["check", "--check"], "p2-json-")), json);
    assert_eq!(sorted(offered(&["check", "--skip"], "p2-json-")), json);
    assert_eq!(sorted(offered(&["explain"], "p2-json-")), json);
    assert!(offered(&["explain"], "diff-key-").contains("diff-key-removed"));
    // Several values in one word, numbers, names of contracts and files, formats of reports.
    assert_eq!(offered(&["check", "--skip"], "p2-raw,p2-json-al"), "p2-raw,p2-json-alias");
    assert_eq!(offered(&["check", "--principle"], "2"), "2");
    folder.write("dexter.schema.json", "{}");
    assert_eq!(
        offered(&["validate", "--contract"], "dexter"),
        "dexter-flat dexter-nested dexter.schema.json"
    );
    assert_eq!(offered(&["contract", "show"], "opencode"), "opencode-events opencode-run");
    assert_eq!(offered(&["check", "--report"], "g"), "github= gitlab=");
    assert_eq!(offered(&["report", "merge", "--report"], "html=dex"), "html=dexter.schema.json");
    // Versions of a contract after its name; keys of the configuration by path, otherwise by name.
    assert_eq!(offered(&["contract", "show"], "codex-exec@"), "codex-exec@0.171.0 codex-exec@0.42");
    assert_eq!(offered(&["validate", "--contract"], "codex-exec@0.1"), "codex-exec@0.171.0");
    assert_eq!(offered(&["contract", "diff"], "codex-exec@0.42"), "codex-exec@0.42");
    assert_eq!(offered(&["contract", "show"], "no-such@"), "");
    assert_eq!(offered(&["explain", "config"], "target.time"), "target.timeout");
    assert_eq!(offered(&["explain", "config"], "timeo"), "timeout");
    let keys = offered(&["explain", "config"], "");
    assert!(keys.contains("target.exit_codes") && keys.contains("probe.args"), "{keys}");
    // bash splits words at `=` and `@`, and replaces the text after the last of them.
    let split = |line: &str, words: &str| {
        let script = format!(
            ". ./completions; COMP_LINE={line:?}; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({words}); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _whole_words_agentnative agentnative '' ''; echo \"${{COMPREPLY[@]}}\"",
        );
        folder.write("offer", script);
        let output = run_in(folder.path(), "bash offer");
        assert!(output.stderr.is_empty(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(
        split("agentnative contract show codex-exec@", "agentnative contract show codex-exec @"),
        "0.171.0 0.42"
    );
    assert_eq!(
        split("agentnative  contract show codex-exec@0.4", "agentnative contract show codex-exec @ 0.4"),
        "0.42"
    );
    assert_eq!(
        split("agentnative check --report html=dex", "agentnative check --report html = dex"),
        "dexter.schema.json"
    );
    assert_eq!(split("agentnative check --check p2-ra", "agentnative check --check p2-ra"), "p2-raw");
    assert_eq!(split("agentnative check --bin ", "agentnative check --bin ''"), "");
    // Targets of the configuration; an invalid configuration offers none and prints nothing.
    let target = |name: &str| format!("[target.{name}]\ncommand = [\"./{name}\"]\n");
    folder.write("agentnative.toml", target("one") + &target("two"));
    assert_eq!(offered(&["check", "--bin"], ""), "one two");
    let probe = "[[probe]]\nname = \"first\"\nargs = [\"show\", \"1\"]\nexit = 77\n";
    folder.write("agentnative.toml", format!("[target]\ncommand = [\"./one\"]\n{probe}"));
    assert_eq!(offered(&["check", "--probe"], ""), "'77:show 1'");
    folder.write("agentnative.toml", target("one") + "[");
    assert_eq!(offered(&["check", "--bin"], ""), "");
}

#[test]
fn outputs_are_valid_against_the_printed_schemas() {
    let (output, report, events, error) = (
        printed_schema("output"),
        printed_schema("report"),
        printed_schema("events"),
        printed_schema("error"),
    );
    assert_eq!(output.to_string(), run(&["schema"]).out.parse::<Value>().unwrap().to_string());
    let folder = Folder::demo("before() { if [ \"$format\" = json ]; then echo loading; fi; }");
    let check = ["check", "./cli", "--probe", "list", "--probe", "77:whoami", "--check", "p2-output-json"];
    let init = ["init", "--print", "./cli"];
    for args in [&["list"][..], &["explain", "p2-raw"], &["completions", "zsh"], &["schema"], &init, &check] {
        let printed = folder.run(&[args, &["--json"]].concat());
        assert_valid(&output, &printed.json());
        let mut other = printed.json();
        other["data"] = Value::String("something else".into());
        assert!(!jsonschema::is_valid(&output, &other), "{args:?}");
        other = printed.json();
        other["more"] = Value::Null;
        assert!(!jsonschema::is_valid(&output, &other), "{args:?}");
    }
    assert_valid(&report, &folder.run(&[&check[..], &["--json"]].concat()).json());
    let stream = folder.run(&[&check[..], &["--jsonl"]].concat());
    stream.lines().iter().for_each(|event| assert_valid(&events, event));
    assert_valid(&error, &stream.error());
    assert_valid(&error, &folder.run(&["check", "--json", "nothing-here"]).error());
    folder.write("bad.toml", "[target]\ncommand = 7\n");
    assert_valid(&error, &folder.run(&["check", "--json", "--config", "bad.toml"]).error());
}

#[test]
fn init_writes_a_usable_skeleton() {
    let folder = Folder::demo("");
    let printed = folder.run(&["init", "--print", "./cli"]);
    assert_eq!((printed.code, printed.err.as_str()), (Some(0), ""));
    assert!(!folder.path().join("agentnative.toml").exists());
    // The file is to be committed, so it contains no path of this machine.
    assert!(printed.out.contains("\ncommand = [\"./cli\"]\n"), "{}", printed.out);
    let absolute = folder.path().join("cli").display().to_string();
    for args in [&["init", "--print", &absolute][..], &["init", "--print", "--", &absolute]] {
        assert_eq!(folder.run(args).out, printed.out, "{args:?}");
    }
    let script = folder.run(&["init", "--print", "--", "/bin/sh", &absolute]).out;
    assert!(
        script.contains("\ncommand = [\"sh\", \"./cli\"]\n") || script.contains("\", \"./cli\"]\n"),
        "{script}"
    );

    let output = folder.run(&["init", "./cli", "--json"]);
    let data = output.data();
    assert_eq!(keys(&data), ["commands", "file", "next", "probes", "text", "unread"]);
    let commands = [
        "list", "show", "empty", "dump", "status", "watch", "history", "add", "remove", "backup", "ping",
        "whoami", "sync", "schema",
    ];
    assert_eq!(data["commands"], Value::from(commands.to_vec()));
    assert_eq!(data["text"], printed.out.as_str());
    assert_eq!(folder.read("agentnative.toml"), printed.out);
    assert_eq!(data["file"], "agentnative.toml");
    assert!(printed.out.contains("\nschema = [\"schema\"]    # from its help\n"), "{}", printed.out);
    for command in commands.iter().filter(|command| **command != "schema") {
        assert!(printed.out.contains(&format!("#name = \"{command}\"\n")), "{command}: {}", printed.out);
    }

    // The file can be read, and one enabled probe makes it usable.
    let confirmed = printed.out.replace(
        "#[[probe]]\n#name = \"list\"\n#args = [\"list\"]",
        "[[probe]]\nname = \"list\"\nargs = [\"list\"]",
    );
    assert_ne!(confirmed, printed.out);
    folder.write("agentnative.toml", confirmed);
    assert_eq!(
        folder.run(&["check", ".", "--json", "--check", "p2-output-json"]).status("p2-output-json"),
        "pass"
    );
}

#[test]
fn init_overwrites_only_with_force() {
    let folder = Folder::demo("");
    folder.write("agentnative.toml", "[target]\ncommand = [\"./cli\"]\n");
    let refused = folder.run(&["init", "./cli"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(78), ""));
    assert!(refused.err.contains("File exists") && refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(folder.read("agentnative.toml"), "[target]\ncommand = [\"./cli\"]\n");

    let output = folder.run(&["init", "./cli", "--force"]);
    assert_eq!(output.code, Some(0));
    assert!(
        output.out.starts_with("wrote ")
            && output.out.contains("14 commands found in the help, 0 probes declared"),
        "{}",
        output.out
    );
    assert!(folder.read("agentnative.toml").contains("#[[probe]]"));
    assert_eq!(folder.run(&["init", "./cli", "--print", "--jsonl"]).lines().len(), 1);
}
