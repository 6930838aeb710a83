//! Locks compared with other data: gaps in the data are no breaking changes, lost guarantees are.

use agentnative_contract::OutputFormat;
use agentnative_diff::lock::{Lock, OutputInference, lock_path};
use agentnative_diff::{ChangeSeverity, compare};
use std::io::Read;
use std::path::Path;

/// Returns the lock of one probe whose runs printed these texts.
fn lock(format: OutputFormat, runs: &[&str]) -> Lock {
    let mut learner = OutputInference::new("list", format);
    for text in runs {
        let stdout = || Box::new(text.as_bytes()) as Box<dyn Read + Send>;
        let nothing = || Box::new(std::io::empty()) as Box<dyn Read + Send>;
        learner.add_run(0, &stdout, &nothing).unwrap();
    }
    Lock::new("demo", None, vec![learner.spec()])
}

/// Returns the rules of the breaking or undecided changes between two outputs.
fn breaking_rules(format: OutputFormat, old: &str, new: &str) -> Vec<String> {
    let (old, new) = (lock(format, &[old]), lock(format, &[new]));
    let changes = compare(&old.comparable(), &new.comparable_with(&old));
    let bad = changes.into_iter().filter(|change| change.class <= ChangeSeverity::Undecided);
    bad.map(|change| change.rule).collect()
}

#[test]
fn other_data_of_the_same_shape_satisfies_a_lock() {
    use OutputFormat::{Json, Jsonl};
    for (format, old, new) in [
        (Json, r#"{"a":[1]}"#, r#"{"a":[]}"#),
        (Json, r#"{"a":[]}"#, r#"{"a":[1]}"#),
        (Json, r#"{"a":[{"b":[1]}]}"#, r#"{"a":[{"b":[]}]}"#),
        (Json, r#"{"a":null}"#, r#"{"a":"x"}"#),
        (Json, r#"{"a":[1,null]}"#, r#"{"a":[null]}"#),
        (Json, r#"{"files":{"a/b":1}}"#, r#"{"files":{"c/d":2,"e/f":3}}"#),
        (Json, r#"{"files":{"a/b":1}}"#, r#"{"files":{}}"#),
        (Json, r#"{"files":{"a/b":1}}"#, r#"{"files":{"readme":1}}"#),
        (Json, r#"{"at":"https://example.org/a"}"#, r#"{"at":"a path"}"#),
        (Json, r#"{"a":["x",1]}"#, r#"{"a":["x",1,2,"y"]}"#),
        (Json, r#"{"a":[{"type":"x","b":1},{"type":"y","c":1}]}"#, r#"{"a":[{"type":"z","d":1}]}"#),
        (Json, r#"{"status":"done"}"#, r#"{"status":"failed"}"#),
        (Jsonl, "{\"a\":1}\n{\"a\":2,\"b\":1}\n", "{\"a\":1}\n"),
        (Jsonl, "{\"a\":1}\n", ""),
        (Jsonl, "", "{\"a\":1}\n"),
        (
            Jsonl,
            "{\"type\":\"start\"}\n{\"type\":\"text\",\"a\":[1]}\n{\"type\":\"end\"}\n",
            "{\"type\":\"start\"}\n{\"type\":\"tool\"}\n{\"type\":\"text\",\"a\":[]}\n{\"type\":\"end\"}\n",
        ),
    ] {
        assert_eq!(breaking_rules(format, old, new), [""; 0], "{old} {new}");
    }
}

#[test]
fn a_lost_guarantee_is_reported() {
    use OutputFormat::{Json, Jsonl};
    for (format, old, new, rule) in [
        (Json, r#"{"a":"x"}"#, r#"{"a":null}"#, "diff-type-changed"),
        (Json, r#"{"a":["x"]}"#, r#"{"a":["x",null]}"#, "diff-null-added"),
        (Json, r#"{"a":[{"b":1}]}"#, r#"{"a":[{"b":1},{}]}"#, "diff-key-optional"),
        (Json, r#"{"files":{"a/b":1}}"#, r#"{"files":{"c/d":"x"}}"#, "diff-type-changed"),
        (Json, r#"{"at":"2026-03-01T10:00:00Z"}"#, r#"{"at":"yesterday"}"#, "diff-format-loosened"),
        (Jsonl, "{\"type\":\"a\"}\n{\"type\":\"b\"}\n", "{\"type\":\"a\"}\n", "diff-event-removed"),
    ] {
        assert!(
            breaking_rules(format, old, new).contains(&rule.to_owned()),
            "{new}: {:?}",
            breaking_rules(format, old, new)
        );
    }
}

#[test]
fn a_lock_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = lock_path(folder.path(), "a/../b");
    assert_eq!(path.parent().unwrap(), folder.path().join("agentnative.lock"));
    let json = |value: &serde_json::Value| Ok(format!("{value:#}\n"));
    let first = lock(OutputFormat::Json, &["{\"a\":1}", "{\"a\":1,\"b\":2}"]);
    let write = |lock: &Lock| {
        std::fs::create_dir_all(&path).unwrap();
        lock.files(json)
            .unwrap()
            .iter()
            .for_each(|(name, text)| std::fs::write(path.join(name), text).unwrap());
    };
    write(&first);
    assert_eq!(Lock::read(&path).unwrap(), first);
    assert_eq!(Lock::read(&folder.path().join("agentnative.lock")).unwrap(), first);
    std::fs::remove_file(path.join("list.json.json")).unwrap();
    let second = lock(OutputFormat::Jsonl, &["{\"a\":1}\n"]);
    write(&second);
    assert_eq!(Lock::read(&path).unwrap(), second);
    std::fs::write(path.join("list.jsonl.json"), "{\"probe\":1}").unwrap();
    let error = Lock::read(&path).unwrap_err();
    assert!(error.issues[0].place.as_ref().is_some_and(|place| place.line == 1), "{error:?}");
    assert!(Lock::read(Path::new("/nowhere")).is_err());
}

/// Removed event types and removed values of a nested type key are reported.
#[test]
fn removed_types_are_reported() {
    let old = "{\"type\":\"start\",\"id\":\"x\"}\n{\"type\":\"item\",\"item\":{\"type\":\"assistant_message\"}}\n{\"type\":\"end\"}\n";
    let new = "{\"type\":\"item\",\"item\":{\"type\":\"agent_message\"}}\n{\"type\":\"end\"}\n";
    let folder = tempfile::tempdir().unwrap();
    let sample = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        agentnative_diff::infer_spec(&path).unwrap()
    };
    let (before, now) = (lock(OutputFormat::Jsonl, &[old]), lock(OutputFormat::Jsonl, &[new]));
    for changes in [
        compare(&before.comparable(), &now.comparable_with(&before)),
        compare(&[sample("old.jsonl", old)], &[sample("new.jsonl", new)]),
    ] {
        let class = |rule: &str, old: &str| {
            let found = changes.iter().find(|change| {
                change.rule == rule && change.old.as_ref().is_some_and(|value| value.as_str() == Some(old))
            });
            found.map(|change| (change.class, change.pointer.as_str()))
        };
        assert_eq!(
            class("diff-event-removed", "start"),
            Some((ChangeSeverity::Breaking, "/type")),
            "{changes:#?}"
        );
        let kind = class("diff-kind-removed", "assistant_message");
        assert_eq!(kind, Some((ChangeSeverity::Risky, "/item/type")), "{changes:#?}");
    }
}

/// Names of models are keys of a map, even if each sample has only one of them.
#[test]
fn a_map_by_model_name_is_not_a_record() {
    let usage = |model: &str| format!("{{\"usage\":{{\"{model}\":{{\"in\":1,\"out\":2}}}}}}");
    for (old, new) in [("gpt-4o", "claude-sonnet-4"), ("gemini-2.5-pro", "claude-opus-4-20250514")] {
        assert_eq!(breaking_rules(OutputFormat::Json, &usage(old), &usage(new)), [""; 0], "{old} {new}");
    }
    // A key without digits is a name.
    assert_eq!(
        breaking_rules(OutputFormat::Json, &usage("total-cost"), &usage("cost")),
        ["diff-key-removed"]
    );
}

/// A change of several outputs is reported once, with its other places.
#[test]
fn a_change_of_several_formats_and_probes_is_reported_once() {
    let specs = |records: [&str; 2]| {
        let spec = |(probe, format)| {
            let document = format!("[{}]", records.join(","));
            let lines = records.map(|record| format!("{record}\n")).concat();
            let text = if format == OutputFormat::Json { document } else { lines };
            let mut learner = OutputInference::new(probe, format);
            let stdout = || Box::new(text.as_bytes()) as Box<dyn Read + Send>;
            learner.add_run(0, &stdout, &|| Box::new(std::io::empty())).unwrap();
            learner.spec()
        };
        let outputs =
            ["all", "list"].map(|probe| [(probe, OutputFormat::Json), (probe, OutputFormat::Jsonl)]);
        outputs.into_iter().flatten().map(spec).collect::<Vec<_>>()
    };
    let changes = compare(&specs([r#"{"id":1}"#; 2]), &specs([r#"{"id":"1"}"#; 2]));
    let [change] = changes.as_slice() else { panic!("{changes:#?}") };
    assert_eq!((change.probe.as_deref(), change.pointer.as_str()), (Some("all"), "/*/id"));
    let also: Vec<_> =
        change.also.iter().map(|other| (other.probe.as_deref(), other.pointer.as_deref())).collect();
    assert_eq!(also, [(Some("all"), Some("/id")), (Some("list"), None), (Some("list"), Some("/id"))]);
}
