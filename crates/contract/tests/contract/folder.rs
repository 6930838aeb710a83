//! Tests of a user's contract: a folder or a schema file, read strictly and offline.

use agentnative_contract::error::{Error, ErrorKind};
use agentnative_contract::{
    Against, Contract, Framing, RunExit, Settings, Validation, Violation, contract_path,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Creates a temporary folder with these files.
pub(super) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

pub(super) fn load(files: &[(&str, &str)]) -> Result<Contract, Error> {
    Contract::load(folder(files).path())
}

/// Returns each issue as `file:line:column: message`, files without their folder.
pub(super) fn issues(error: &Error) -> Vec<String> {
    assert_eq!(error.kind, ErrorKind::Config);
    let place = |issue: &agentnative_contract::error::Issue| {
        let place = issue.place.as_ref().unwrap();
        let file = place.file.file_name().unwrap().display();
        format!("{file}:{}:{}: {}", place.line, place.column, issue.message)
    };
    error.issues.iter().map(place).collect()
}

const HEAD: &str = "name = \"mine\"\ntitle = \"Mine\"\nversion = \"1\"\norigin = \"me\"\n";

pub(super) fn document(rest: &str) -> String {
    format!("{HEAD}framing = \"document\"\nschema = \"s.json\"\n{rest}")
}

pub(super) fn lines(rest: &str) -> String {
    format!(
        "{HEAD}framing = \"lines\"\n[events]\ntype = \"/type\"\nunknown = \"reject\"\n\
         [events.schemas]\na = \"s.json\"\nb = \"s.json\"\n{rest}"
    )
}

#[test]
fn all_errors_are_reported_at_once() {
    let text = lines(
        "[[rule]]\nid = \"x\"\nwhat = \"w\"\non = \"c\"\nsame = \"id\"\n\
         [[rule]]\nid = \"x\"\nwhat = \"w\"\n\
         [[rule]]\nid = \"y\"\nwhat = \"\"\nstart = \"s\"\nend = \"z\"\nsteps = [{ from = \"s\", on = \"a\", to = \"t\", then = 1 }]\n\
         [[rule]]\nid = \"z\"\nwhat = \"w\"\ncompare = [\"/a\", \">=\", \"/b\"]\nkey = \"/a\"\n\
         [[condition]]\nname = \"n\"\nwhat = \"w\"\nexit = 256\nstdout = \"none\"\n",
    );
    let error = load(&[("contract.toml", &text), ("s.json", "{}")]).unwrap_err();
    let expected = [
        "contract.toml:15:6: unknown event type `c`: it is not in [events.schemas]; did you mean `a`?",
        "contract.toml:16:8: \"id\" is not a JSON pointer; expected one such as \"/ok\" (\"\" is the complete document)",
        "contract.toml:17:1: [[rule]] has no requirement; expected one of `uses`, `steps`, `compare`, `same`, `same_keys`, `one_of`",
        "contract.toml:18:6: duplicate rule `x`; each id must be unique",
        "contract.toml:22:8: the string is empty; expected text",
        "contract.toml:24:7: unknown state `z`; did you mean `s`?",
        "contract.toml:25:44: unknown key `then` in the step; did you mean `when`?",
        "contract.toml:29:18: element 2 of `compare` is \">=\"; expected \"=\" or \"<=\" or \"<\"",
        "contract.toml:30:1: unknown key `key` in [[rule]]; expected `id`, `what`, `on`, `when`, `finding`, `compare`",
        "contract.toml:34:8: `exit` is 256; expected an exit code from 0 to 255",
        "contract.toml:35:10: `stdout` is \"none\"; expected \"whole\" or \"part\" or \"nothing\" or \"any\"",
    ];
    let found = issues(&error);
    assert_eq!(found, expected, "{found:#?}");
}

#[test]
fn a_star_is_an_error_where_one_value_is_expected() {
    let text = lines(
        "[[rule]]\nid = \"x\"\nwhat = \"w\"\ncompare = [\"/*\", \"=\", { count = \"/a/*\" }]\n\
         [[rule]]\nid = \"y\"\nwhat = \"w\"\nsame_keys = \"/*\"\n\
         [[rule]]\nid = \"z\"\nwhat = \"w\"\nstart = \"s\"\nkey = \"/*/id\"\nsteps = [{ from = \"s\", on = \"a\", new = \"/*\", to = \"s\" }]\n",
    )
    .replace("type = \"/type\"", "type = [\"/type\", \"/*/kind\"]");
    let found = issues(&load(&[("contract.toml", &text), ("s.json", "{}")]).unwrap_err());
    let places = found.iter().map(|issue| issue.split(" refers to several values").next().unwrap());
    let expected = [
        "contract.toml:7:18: \"/*/kind\"",
        "contract.toml:15:12: \"/*\"",
        "contract.toml:15:33: \"/a/*\"",
        "contract.toml:19:13: \"/*\"",
        "contract.toml:24:7: \"/*/id\"",
        "contract.toml:25:40: \"/*\"",
    ];
    assert_eq!(places.collect::<Vec<_>>(), expected, "{found:#?}");
    let three = lines("").replace("type = \"/type\"", "type = [\"/a\", \"/b\", \"/c\"]");
    let found = issues(&load(&[("contract.toml", &three), ("s.json", "{}")]).unwrap_err());
    assert_eq!(
        found,
        ["contract.toml:7:8: expected one or two JSON pointers, such as [\"/type\", \"/subtype\"]"]
    );
}

#[test]
fn a_star_matches_each_element_and_member() {
    let text = lines(
        "[[rule]]\nid = \"call\"\nwhat = \"A result is of a call.\"\ndefines = { on = \"a\", at = \"/items/*/id\" }\n\
         uses = { on = \"b\", at = \"/items/*/of\" }\n\
         [[rule]]\nid = \"one\"\nwhat = \"One run.\"\nwhen = { \"/*/*/final\" = true }\nsame = \"/map/*\"\n\
         [[condition]]\nname = \"good\"\nwhat = \"w\"\nexit = 0\nnone = { when = { \"/items/*/bad\" = { present = true } } }\n",
    );
    let contract = load(&[("contract.toml", &text), ("s.json", "{}")]).unwrap();
    let mut judge = contract.validator();
    let mut push = |event| {
        let parts = |violation: Violation| (violation.rule, violation.pointer, violation.message);
        judge.push(1, &event).into_iter().map(parts).collect::<Vec<_>>()
    };
    assert_eq!(push(json!({"type": "a", "items": [{"id": "1"}, {}, {"id": 2}]})), []);
    assert_eq!(push(json!({"type": "b", "items": [{"of": 2}, {"of": "1"}]})), []);
    let undefined = |nth: usize, id: &str| {
        let message = format!("`{id}` is not defined by an earlier a: A result is of a call.");
        ("call".to_owned(), format!("/items/{nth}/of"), message)
    };
    assert_eq!(
        push(json!({"type": "b", "items": [{"of": "1"}, {"of": "x"}, 0, {"of": "y"}]})),
        [undefined(1, "x"), undefined(3, "y")]
    );
    // Without a matching element, the rule does not apply. A member of an object counts as an element.
    assert_eq!(push(json!({"type": "a", "map": {"x": 1}, "items": [{"final": false}]})), []);
    assert_eq!(push(json!({"type": "a", "map": {"x": 2, "y": 2}, "items": [{"final": true}]})), []);
    let differs = push(json!({"type": "a", "map": {"x": 2, "y/z": 3}, "items": [{}, {"final": true}]}));
    assert_eq!(
        differs,
        [("one".to_owned(), "/map/y~1z".to_owned(), "`3` differs from the first value: One run.".to_owned())]
    );
    assert_eq!(judge.finish(&RunExit::with_code(0)).violations, []);
    judge.push(1, &json!({"type": "a", "items": [{}, {"bad": null}]}));
    assert_eq!(judge.finish(&RunExit::with_code(0)).violations[0].rule, "exit-code");
}

#[test]
fn a_type_can_have_a_subtype() {
    let head = format!(
        "{HEAD}framing = \"lines\"\n[events]\ntype = [\"/type\", \"/sub\"]\nunknown = \"allow\"\nfirst = \"a/x\"\n\
         [events.schemas]\n\"a/x\" = \"x.json\"\na = \"a.json\"\n\"b/x\" = \"x.json\"\n"
    );
    let x = r#"{"required": ["x"]}"#;
    let files = [("contract.toml", head.as_str()), ("x.json", x), ("a.json", r#"{"required": ["a"]}"#)];
    let contract = load(&files).unwrap();
    let mut judge = contract.validator();
    let messages = |found: Vec<Violation>| found.into_iter().map(|found| found.message).collect::<Vec<_>>();
    assert_eq!(messages(judge.push(1, &json!({"type": "a", "sub": "x", "x": 1}))), [""; 0]);
    for (event, missing) in [
        (json!({"type": "a", "sub": "x"}), "x"),
        (json!({"type": "a", "sub": "other"}), "a"),
        (json!({"type": "a", "sub": 1}), "a"),
        (json!({"type": "a"}), "a"),
        (json!({"type": "b", "sub": "x"}), "x"),
    ] {
        let found = messages(judge.push(2, &event));
        assert!(matches!(&found[..], [only] if only.contains(&format!("`{missing}`"))), "{event}: {found:?}");
    }
    assert_eq!(messages(judge.push(3, &json!({"type": "b", "sub": "y"}))), [""; 0]);
    assert_eq!(messages(judge.push(4, &json!({"type": "c"}))), [""; 0]);
    let outcome = judge.finish(&RunExit::default());
    assert_eq!(outcome.unknown.into_iter().collect::<Vec<_>>(), [("b/y".to_owned(), 1), ("c".to_owned(), 1)]);
    let first = judge.push(1, &json!({"type": "a", "sub": "y", "a": 1}));
    assert_eq!(messages(first), ["expected the stream to begin with a/x, found `a`"]);
    let shown = contract.summary().rules[0].what.clone();
    assert_eq!(shown, "Each record has its type at /type and /sub.");
}

/// The elements of an array are events: each is judged at its place, and all together as a stream.
#[test]
fn an_array_is_a_stream_of_events() {
    let toml = lines("[[rule]]\nid = \"run\"\nwhat = \"All are of one run.\"\nsame = \"/run\"\n")
        .replace("framing = \"lines\"", "framing = \"array\"");
    let schema = r#"{"properties": {"id": {"type": "array", "items": {"type": "string"}}}}"#;
    let contract = load(&[("contract.toml", &toml), ("s.json", schema)]).unwrap();
    let settings =
        Settings { framing: contract.framing(), max_errors: 9, exit: RunExit::default(), threads: 2 };
    let validate = |text: &str| {
        let verdict = Validation::new(&contract, settings).validate(text.as_bytes(), &mut |_| ()).unwrap();
        let place = |v: &agentnative_contract::Violation| {
            (v.rule.clone(), v.event, v.line, v.column, v.pointer.clone())
        };
        (verdict.records, verdict.errors.iter().map(place).collect::<Vec<_>>())
    };
    let long = format!(r#"{{"type":"a","run":1,"text":"{}"}}"#, "x".repeat(200_000));
    assert_eq!(validate(&format!("[{long},\n {{\"type\":\"b\",\"id\":[\"[]\"]}}]\n")), (2, vec![]));
    assert_eq!(validate("[]"), (0, vec![]));
    let text = "[\n  {\"type\":\"a\",\"run\":1},\n  {\"type\":\"b\",\n   \"id\":[\"x\",7]}, {\"type\":\"a\",\"run\":2}]\n";
    let (records, found) = validate(text);
    assert_eq!(records, 3);
    let at = |rule: &str, event, line, column, pointer: &str| {
        (rule.to_owned(), Some(event), Some(line), Some(column), pointer.to_owned())
    };
    let expected = [at("s.json#/properties/id/items/type", 2, 4, 14, "/id/1"), at("run", 3, 4, 37, "/run")];
    assert_eq!(found, expected);
    for other in ["{\"type\":\"a\",\"x\":[{}]}", "\"text\"", "7"] {
        let (records, found) = validate(other);
        let expected = ("array".to_owned(), None, Some(1), Some(1), String::new());
        assert_eq!((records, found), (1, vec![expected]), "{other}");
        let mut values = contract.validator();
        assert_eq!(values.push_document(&serde_json::from_str(other).unwrap())[0].rule, "array");
    }
    // A truncated array is not JSON, and its end is not judged.
    assert_eq!(validate("[{\"type\":\"a\",\"run\":1},{\"type\"").1.len(), 1);
    let mut values = contract.validator();
    let found = values.push_document(&serde_json::from_str(text).unwrap());
    let from_values = found.iter().map(|v| (v.rule.as_str(), v.event, v.pointer.as_str()));
    let from_bytes =
        expected.iter().map(|(rule, event, .., pointer)| (rule.as_str(), *event, pointer.as_str()));
    assert!(from_values.eq(from_bytes));
}

/// Stderr is judged by the condition if it is known.
#[test]
fn a_condition_constrains_stderr() {
    let condition = |name: &str, exit: u8, stderr: &str| {
        format!(
            "[[condition]]\nname = \"{name}\"\nwhat = \"It is.\"\nexit = {exit}\nstdout = \"nothing\"\n{stderr}\n"
        )
    };
    let text = document(
        &[
            condition("silent", 0, "stderr = \"nothing\""),
            condition("usage", 2, "stderr = \"text\""),
            condition("failed", 1, "stderr = \"json\"\nstderr_schema = \"s.json\""),
            condition("refused", 2, "stderr = \"json\""),
            condition("open", 3, ""),
        ]
        .concat(),
    );
    let contract = load(&[("contract.toml", &text), ("s.json", r#"{"required": ["code"]}"#)]).unwrap();
    let judge = |exit: i32, condition, stderr| {
        let exit = RunExit { code: Some(exit), condition, stderr };
        let found = contract.validator().finish(&exit).violations;
        found.into_iter().map(|violation| violation.message).collect::<Vec<_>>().join("; ")
    };
    let mixed = b"Warning: old\n{ } never { \"code\": 1 }\n  { \"code\":\n 1 }\n at x (y)\n".as_slice();
    for (exit, name, stderr, found) in [
        (0, None, Some(b" \n".as_slice()), ""),
        (0, None, Some(b"deprecated\n"), "expected nothing on stderr"),
        (0, None, None, ""),
        (1, None, Some(mixed), ""),
        (
            1,
            None,
            Some(b"{\"kind\": 1}\n"),
            "no JSON object on stderr is valid; error in the last one: the document: missing key `code`",
        ),
        (1, None, Some(b"{\"code\": 1\n"), "stderr contains no JSON object"),
        (2, None, Some(b"wrong\n"), ""),
        (2, None, Some(b""), "the run does not match `usage` or `refused`"),
        (2, Some("refused"), Some(b"wrong\n"), "stderr contains no JSON object"),
        (2, Some("refused"), Some(b"{}"), ""),
        (3, None, Some(b"\xff\n"), ""),
    ] {
        let message = judge(exit, name, stderr);
        let is_expected = message.is_empty() == found.is_empty() && message.contains(found);
        assert!(is_expected, "{exit} {stderr:?}: {message}");
    }
    let wrong = text.replace("stderr = \"json\"\nstderr_schema", "stderr_schema");
    let found =
        issues(&load(&[("contract.toml", &wrong), ("s.json", "{\"type\": \"object\"}")]).unwrap_err());
    assert!(found.len() == 1 && found[0].contains("`stderr_schema` requires stderr = \"json\""), "{found:?}");
}

/// A number in an event can be compared with a total over all events before it.
#[test]
fn sums_and_last_values_of_a_stream_are_compared() {
    let rule = |id: &str, term: &str| {
        format!(
            "[[rule]]\nid = \"{id}\"\nwhat = \"It adds up.\"\non = \"b\"\ncompare = [\"/{id}\", \"=\", {term}]\n"
        )
    };
    let text = lines(
        &[
            rule("sum", "{ sum = \"/parts/*/cost\", on = \"a\", when = { \"/ok\" = true } }"),
            rule("last", "{ last = \"/total\", on = \"a\" }"),
            rule("events", "{ events = \"a\" }"),
        ]
        .concat(),
    );
    let contract = load(&[("contract.toml", &text), ("s.json", r#"{"type": "object"}"#)]).unwrap();
    let a = |cost: f64, ok: bool, total: u64| json!({"type": "a", "ok": ok, "total": total, "parts": [{"cost": cost}, {"cost": 0.1}]});
    let b =
        |sum: f64, last: u64, events: u64| json!({"type": "b", "sum": sum, "last": last, "events": events});
    let judge = |values: &[Value]| {
        let text: String = values.iter().map(|value| format!("{value}\n")).collect();
        let settings =
            |threads| Settings { framing: Framing::Lines, max_errors: 9, exit: RunExit::default(), threads };
        let found = [1, 2].map(|threads| {
            let verdict =
                Validation::new(&contract, settings(threads)).validate(text.as_bytes(), &mut |_| ()).unwrap();
            verdict.errors.into_iter().map(|v| (v.rule, v.event, v.message)).collect::<Vec<_>>()
        });
        assert_eq!(found[0], found[1]);
        found[0].clone()
    };
    assert_eq!(judge(&[a(0.2, true, 3), a(9.0, false, 5), b(0.3, 5, 2), a(0.1, true, 6), b(0.5, 6, 3)]), []);
    // Without events there is a sum, but no last value.
    assert_eq!(judge(&[b(0.0, 7, 0)]), []);
    assert_eq!(judge(&[a(0.2, true, 3), json!({"type": "b"})]), []);
    let found = judge(&[a(0.2, true, 3), b(0.4, 4, 2)]);
    let message =
        |rule: &str| found.iter().find(|found| found.0 == rule).map(|found| (found.1, found.2.as_str()));
    for (rule, expected) in [
        (
            "sum",
            "the sum of /parts/*/cost of all a with /ok true, found 0.4 and 0.30000000000000004: It adds up.",
        ),
        ("last", "the last /total of a, found 4 and 3: It adds up."),
        ("events", "the number of a, found 2 and 1: It adds up."),
    ] {
        assert_eq!(message(rule), Some((Some(2), &*format!("expected /{rule} = {expected}"))));
    }
    let wrong = text.replace("{ events = \"a\" }", "{ ratio = [\"/x\", { events = \"a\" }] }");
    let found = issues(&load(&[("contract.toml", &wrong), ("s.json", "{}")]).unwrap_err());
    assert!(found.len() == 1 && found[0].contains("a ratio has no `sum`"), "{found:?}");
}

/// A version replaces keys of the file, drops tables and adds others.
#[test]
fn a_contract_has_versions() {
    let rule = |id: &str, at: &str| format!("id = \"{id}\"\nwhat = \"{id} stays.\"\nsame = \"{at}\"\n");
    let text = lines(&format!("[[rule]]\n{}[[rule]]\n{}", rule("run", "/run"), rule("user", "/user")))
        + "[[versions]]\nversion = \"1\"\nrange = \">=1\"\n\
           [[versions]]\nversion = \"0.42\"\nrange = \">=0.40, <0.44\"\ndrift = \"`of` was `in`.\"\ndrops = [\"run\"]\n\
           ask = [\"--old\"]\n[[versions.rule]]\n"
        + &rule("in", "/in")
        + "[[versions]]\nversion = \"0.2\"\nrange = \"<0.3\"\nframing = \"document\"\n";
    let invalid = text.clone();
    let files = |text: &str| folder(&[("c/contract.toml", text), ("c/s.json", r#"{"type": "object"}"#)]);
    // A document cannot have events, and the last version does not replace them.
    let error = Contract::by_name(files(&invalid).path(), "./c").unwrap_err();
    let found = issues(&error);
    assert!(found.iter().any(|issue| issue.contains("`events` requires framing")), "{found:?}");
    let text = text.replace(
        "framing = \"document\"\n",
        "[versions.events]\ntype = \"/kind\"\nunknown = \"allow\"\nschemas = { a = \"s.json\" }\n",
    );
    let folder = files(&text);
    let load = |name: &str| Contract::by_name(folder.path(), name);
    let rules = |name: &str| {
        let rules = load(name).unwrap().summary().rules.into_iter().map(|rule| rule.id);
        rules.filter(|id| id != "event-type").collect::<Vec<_>>()
    };
    let base = load("./c").unwrap();
    assert_eq!(base.summary().versions.len(), 3);
    assert_eq!(rules("./c"), ["run", "user"]);
    assert_eq!(rules("./c@1"), rules("./c"));
    for old in ["./c@0.42", "./c@0.43.7"] {
        assert_eq!(rules(old), ["user", "in"]);
        let old = load(old).unwrap();
        assert_eq!((old.name(), old.format_args()), ("mine@0.42", Some(&["--old".to_owned()][..])));
        let push = |contract: &Contract, key: &str| {
            let mut values = contract.validator();
            [1, 2].map(|value| values.push(1, &json!({"type": "a", key: value})).len())
        };
        assert_eq!((push(&old, "in"), push(&old, "run")), ([0, 1], [0, 0]));
        assert_eq!((push(&base, "in"), push(&base, "run")), ([0, 0], [0, 1]));
    }
    assert_eq!(load("./c@0.2").unwrap().validator().push(1, &json!({"kind": "a"})), []);
    for (unknown, hint) in [("./c@0.35", "0.42 (>=0.40, <0.44)"), ("p2-error@3", "its only version is 1")] {
        let error = load(unknown).unwrap_err();
        assert!(error.kind == ErrorKind::Config && error.hint.clone().unwrap().contains(hint), "{error:?}");
    }
    let choice = |printed: &str| {
        let choice = base.version_for("mine", printed)?;
        Some((choice.version.version.clone(), choice.fits, choice.is_newer))
    };
    for (printed, version, fits, is_newer) in [
        ("tool 2.0.0\n", "1", true, true),
        ("tool 1.7.0\n", "1", true, false),
        ("v0.42.0-alpha.3 (build 7)", "0.42", true, false),
        ("tool-cli 0.44", "0.42", false, false),
        ("0.35.1", "0.2", false, false),
        ("0.0.1", "0.2", true, false),
    ] {
        assert_eq!(choice(printed), Some((version.to_owned(), fits, is_newer)), "{printed}");
    }
    assert_eq!((choice("unknown"), choice("build 7")), (None, None));
    let wrong = text.replace("\"run\"]", "\"ruin\"]").replace("\"<0.3\"", "\"old\"");
    let found = issues(&Contract::by_name(files(&wrong).path(), "./c").unwrap_err());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("unknown name `ruin`") && found[1].contains("expected a range of versions"),
        "{found:?}"
    );
}

#[test]
fn a_stream_is_judged_across_its_events() {
    let text = lines(
        "[[rule]]\nid = \"named\"\nwhat = \"b names an a.\"\ndefines = { on = \"a\", at = \"/id\" }\nuses = { on = \"b\", at = \"/of\" }\n\
         [[condition]]\nname = \"good\"\nwhat = \"All is well.\"\nexit = 0\nsome = { on = \"a\" }\n\
         [[condition]]\nname = \"bad\"\nwhat = \"Nothing is.\"\nexit = 1\nstdout = \"nothing\"\n",
    );
    let contract =
        load(&[("contract.toml", &text), ("s.json", r#"{"properties": {"id": {"type": "string"}}}"#)])
            .unwrap();
    let mut judge = contract.validator();
    assert_eq!(judge.push(1, &json!({"type": "a", "id": "1"})), []);
    assert_eq!(judge.push(2, &json!({"type": "b", "of": "1"})), []);
    let found = judge.push(3, &json!({"type": "b", "of": "2", "id": 7}));
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].against, found[0].event, found[0].line), (Against::Schema, Some(3), Some(3)));
    assert_eq!(
        (found[1].against, found[1].pointer.as_str(), found[1].rule.as_str()),
        (Against::Stream, "/of", "named")
    );
    assert_eq!(judge.push(5, &json!({"type": "c"}))[0].rule, "event-type");
    let outcome = judge.finish(&RunExit::with_code(1));
    assert_eq!(outcome.events, 4);
    assert_eq!(outcome.unknown.get("c"), Some(&1));
    let violation = &outcome.violations[0];
    assert_eq!((violation.against, violation.rule.as_str()), (Against::Exit, "exit-code"));
    let message = &violation.message;
    assert!(message.contains("exit code 1") && message.contains("0 (good)"), "{message}");
    // The validator is reset after a run.
    assert_eq!(judge.push(1, &json!({"type": "b", "of": "1"})).len(), 1);
    assert_eq!(judge.finish(&RunExit::with_code(7)).violations.len(), 1);
}

#[test]
fn names_and_paths_are_distinguished() {
    assert_eq!(contract_path(Path::new("/r"), "dexter-flat"), None);
    assert_eq!(contract_path(Path::new("/r"), "a.json").unwrap(), Path::new("/r/a.json"));
    let error = Contract::bundled("dexter-flatt").unwrap_err();
    assert_eq!(
        (error.kind, error.hint.unwrap().as_str()),
        (ErrorKind::Config, "did you mean `dexter-flat`?")
    );
    assert!(Contract::by_name(Path::new("."), "./none").is_err());
}
