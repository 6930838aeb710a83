//! `report merge`: several reports become one, in each format.

use super::support::{Folder, output_of, program};
use serde_json::{Value, json};
use std::fs::File;

#[test]
fn reports_of_several_checks_become_one() {
    let folder = Folder::demo("list() { echo 'not json'; }");
    let args = ["check", "./cli", "--probe", "list", "--check", "p2-output-json,p2-exit-success", "--quiet"];
    let done = folder.run(&[&args[..], &["--report", "json=bad.json", "--report", "html=bad.html"]].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    let page = folder.read("bad.html");
    // The page shows the first byte in hexadecimal and as text, and the output of the run.
    assert!(page.contains("<mark>6e </mark>") && page.contains("<mark>n</mark>ot json"), "{page}");
    assert!(page.contains("<pre tabindex=\"0\">not json\n</pre>"), "{page}");
    assert!(page.contains("<svg class=\"timeline\"") && page.contains("<table class=\"matrix\">"));
    let good =
        folder.run(&["check", "./cli", "--check", "p2-exit-usage", "--quiet", "--report", "json=good.json"]);
    assert_eq!(good.code, Some(0), "{good:?}");

    let merged =
        folder.run(&["report", "merge", "bad.json", "good.json", "--json", "--report", "json=both.json"]);
    assert_eq!(merged.code, Some(1));
    assert_eq!(merged.error()["message"], "1 of 2 targets failed: cli");
    assert_eq!(folder.read("both.json"), merged.out);
    let (data, part) = (merged.data(), |name: &str| -> Value {
        serde_json::from_str::<Value>(&folder.read(name)).unwrap()["data"].take()
    });
    assert_eq!(data["targets"], json!([part("bad.json"), part("good.json")]));
    let sum = |key: &str| {
        part("bad.json")["summary"][key].as_u64().unwrap()
            + part("good.json")["summary"][key].as_u64().unwrap()
    };
    assert_eq!(data["summary"]["pass"], sum("pass"));
    assert_eq!(
        (merged.json()["ok"].clone(), merged.json()["command"].clone()),
        (json!(false), json!("check"))
    );

    // A merged report can be merged again, and a report can be read from stdin.
    let mut again = program();
    again.args(["report", "merge", "-", "both.json", "--jsonl"]).current_dir(folder.path());
    let again = output_of(again.stdin(File::open(folder.path().join("good.json")).unwrap()));
    let types: Vec<Value> = again.lines().iter_mut().map(|line| line["type"].take()).collect();
    assert_eq!(types.iter().filter(|kind| *kind == "start").count(), 3);
    assert_eq!((&types[0], types.last().unwrap()), (&json!("start"), &json!("summary")));
    let one = folder.run(&["report", "merge", "good.json", "--jsonl"]);
    assert_eq!((one.code, &one.lines()[0]["type"]), (Some(0), &json!("start")));
    assert_eq!(folder.run(&["report", "merge", "good.json", "--json"]).data(), part("good.json"));
    let text = folder.run(&["report", "merge", "bad.json", "good.json"]);
    assert!(text.out.contains("not conformant") && text.out.contains("conformant:"), "{}", text.out);
    let formats = ["sarif", "junit", "gitlab", "markdown", "github", "html", "text", "jsonl"];
    let files: Vec<String> = formats.iter().map(|format| format!("{format}=out.{format}")).collect();
    let files: Vec<&str> = files.iter().flat_map(|file| ["--report", file]).collect();
    assert_eq!(
        folder.run(&[&["report", "merge", "both.json", "--quiet"][..], &files].concat()).code,
        Some(1)
    );
    assert!(formats.iter().all(|format| !folder.read(&format!("out.{format}")).is_empty()));
}

#[test]
fn an_invalid_report_is_an_error_with_its_position() {
    let folder = Folder::new();
    for (text, message) in [
        (
            "{\"ok\":true,\n \"command\":\"check\"}",
            "missing field `data`; expected the report of a target, or of several, in `data`",
        ),
        ("{\"ok\":true,\"command\":\"list\",\"data\":[]}", ""),
        ("{\"ok\":\n", "EOF while parsing a value; expected one JSON document"),
        ("", "EOF while parsing a value; expected one JSON document"),
    ] {
        folder.write("x.json", text);
        let done = folder.run(&["report", "merge", "x.json", "--json", "--report", "html=never.html"]);
        assert_eq!((done.code, done.out.as_str()), (Some(78), ""), "{text}: {done:?}");
        let error = done.error();
        assert_eq!(error["message"], "x.json is not a report of `agentnative check --json`");
        assert!(error["issues"][0]["line"].as_u64() >= Some(1), "{error}");
        let words = error["issues"][0]["message"].as_str().unwrap();
        assert!(words == message || message.is_empty(), "{words}");
        assert!(!folder.path().join("never.html").exists());
    }
    assert_eq!(folder.run(&["report", "merge", "none.json"]).code, Some(2));
    assert_eq!(folder.run(&["report", "merge"]).code, Some(2));
}

#[test]
fn a_finding_that_the_contract_names_is_a_warning_and_the_report_is_conformant() {
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/clis/violating/answer-contract/p2-contract-exit.known"
    );
    let check = |flags: &[&str]| {
        let mut command = program();
        command.args(["check", "./cli", "--check", "p2-contract-exit", "--strict"]).args(flags);
        output_of(command.current_dir(fixture))
    };
    let output = check(&["--json", "--deny", "should"]);
    assert_eq!((output.code, output.status("p2-contract-exit").as_str()), (Some(0), "warn"));
    assert_eq!(output.data()["conformant"], true);
    let evidence = &output.data()["results"][0]["evidence"][0];
    assert_eq!(evidence["kind"], "known");
    let detail = evidence["detail"].as_str().unwrap();
    assert!(detail.starts_with("a known finding of the contract "), "{detail}");
    assert!(detail.ends_with(": An answer that comes too late exits with 0 (demo 12)"), "{detail}");
    assert_eq!(check(&[]).code, Some(0));
}
