//! `check --all`: several targets in one report, and partitions that are merged.

use super::support::{CliOutput, Folder};
use agentnative::check::{Fleet, FleetTarget};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Tools in separate folders, one with a missing program, and one with an invalid configuration.
fn tools() -> Folder {
    let folder = Folder::demo("list() { echo '[]'; }");
    let probe = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    for name in ["a", "b", "c", "d"] {
        fs::create_dir_all(folder.path().join(format!("tools/{name}"))).unwrap();
        let command = "[target]\ncommand = ['../../cli']\n";
        folder.write(&format!("tools/{name}/agentnative.toml"), format!("{command}{probe}"));
    }
    for name in ["gone", "faulty", "node_modules", ".hidden"] {
        fs::create_dir_all(folder.path().join(format!("tools/{name}"))).unwrap();
    }
    folder.write("tools/gone/agentnative.toml", "[target]\ncommand = ['no-such-program-anywhere']\n");
    for name in ["faulty", "node_modules", ".hidden"] {
        folder.write(&format!("tools/{name}/agentnative.toml"), "target = [\n");
    }
    let both = "[target.one]\ncommand = ['./cli']\n[target.two]\ncommand = ['./cli']\n";
    let probes = ["one", "two"]
        .map(|name| format!("{probe}target = '{name}'\n").replace("'list'\na", &format!("'{name}'\na")));
    folder.write("both.toml", format!("{both}{}", probes.concat()));
    folder
}

const CHECKS: [&str; 2] = ["--check", "p2-exit-success,p2-output-json"];

fn check_all(folder: &Folder, args: &[&str]) -> CliOutput {
    folder.run(&[&["check", "--all", "tools", "both.toml"], &CHECKS[..], args].concat())
}

/// Reports of the targets, without their times.
fn targets(output: &CliOutput) -> Vec<Value> {
    let mut targets = output.data()["targets"].as_array().unwrap().clone();
    targets.iter_mut().for_each(|target| drop(target.as_object_mut().unwrap().remove("time")));
    targets
}

fn names(output: &CliOutput) -> Vec<String> {
    targets(output).iter().map(|target| target["target"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn all_targets_are_in_one_report_and_those_that_cannot_be_checked_are_named() {
    let folder = tools();
    let output = check_all(&folder, &["--json"]);
    let expected = ["one", "two", "tools/a", "tools/b", "tools/c", "tools/d", "tools/faulty", "tools/gone"];
    assert_eq!((output.code, names(&output)), (Some(1), expected.map(str::to_owned).to_vec()));
    assert_eq!(output.error()["message"], "2 of 8 targets failed: tools/faulty, tools/gone");
    for target in targets(&output) {
        let name = target["target"]["name"].as_str().unwrap();
        match target.get("error") {
            None => {
                assert_eq!(
                    (&target["conformant"], &target["summary"]["pass"]),
                    (&json!(true), &json!(2)),
                    "{name}"
                );
            }
            Some(error) => {
                assert_eq!((&target["conformant"], &target["verified"]), (&json!(false), &json!(false)));
                assert_eq!((&error["kind"], &target["results"]), (&json!("config"), &json!([])), "{name}");
            }
        }
    }
    let text = check_all(&folder, &["--quiet"]);
    assert!(text.out.contains("tools/a       conformant   2 passed\n"), "{}", text.out);
    assert!(text.out.contains("tools/gone    not checked  no program no-such-program-anywhere on PATH\n"));
    // Each format names the targets that could not be checked.
    let formats = ["sarif", "junit", "gitlab", "markdown", "github", "html", "text", "jsonl"];
    let files = formats.map(|format| format!("{format}=out.{format}"));
    let files: Vec<&str> = files.iter().flat_map(|file| ["--report", file]).collect();
    assert_eq!(check_all(&folder, &files).code, Some(1));
    for format in ["jsonl", "markdown", "html", "text"] {
        let report = folder.read(&format!("out.{format}"));
        assert!(report.contains("the target could not be checked: no program"), "{format}: {report}");
    }
    let good = folder.run(&[&["check", "--all", "both.toml", "tools/a", "--json"], &CHECKS[..]].concat());
    assert_eq!((good.code, names(&good).len()), (Some(0), 3));
}

#[test]
fn merged_parts_contain_each_target_once() {
    let folder = tools();
    let files: Vec<String> = (1..=5).map(|part| format!("part-{part}.json")).collect();
    for (file, part) in files.iter().zip(1..) {
        let part = format!("{part}/5");
        let output =
            check_all(&folder, &["--json", "--partition", &part, "--report", &format!("json={file}")]);
        assert_eq!(output.data()["fleet"]["targets"], 8);
        // A part may be empty.
        let failed = targets(&output).iter().any(|target| target["conformant"] == false);
        assert_eq!(output.code, Some(i32::from(failed)), "{output:?}");
    }
    let merge = |files: &[String]| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        folder.run(&[&["report", "merge", "--json"], &files[..]].concat())
    };
    let whole = check_all(&folder, &["--json"]);
    let sorted = |output: &CliOutput| {
        let mut targets = targets(output);
        targets.sort_by_key(|target| target["target"]["name"].to_string());
        targets
    };
    let mut reversed = files.clone();
    reversed.reverse();
    for order in [&files, &reversed] {
        let merged = merge(order);
        assert_eq!((merged.code, targets(&merged)), (Some(1), sorted(&whole)));
        assert_eq!(merged.data()["fleet"]["parts"], json!([1, 2, 3, 4, 5]));
    }
    // A merged report can be merged again.
    let some = merge(&files[..2]);
    folder.write("some.json", &some.out);
    let merged = merge(&["some.json".to_owned(), files[2].clone(), files[3].clone(), files[4].clone()]);
    assert_eq!(targets(&merged), sorted(&whole));

    // A complete report is not a part: it can be merged with other complete reports.
    folder.write("whole.json", &whole.out);
    let two = merge(&["whole.json".to_owned(), "whole.json".to_owned()]);
    assert_eq!(targets(&two).len(), 16);
    let both = merge(&["whole.json".to_owned(), files[0].clone()]);
    assert_eq!(both.code, Some(78), "{both:?}");

    // Missing parts are named, and duplicate parts are errors.
    assert_eq!(some.code, Some(1));
    assert!(some.err.contains("3 parts missing: 3/5, 4/5, 5/5"), "{}", some.err);
    let duplicate = merge(&["some.json".to_owned(), files[1].clone()]);
    assert_eq!((duplicate.code, duplicate.out.as_str()), (Some(78), ""));
    assert_eq!(duplicate.error()["message"], "part 2/5 is in some.json and in part-2.json");
    // Parts of different checks cannot be merged.
    let other = ["check", "--all", "tools", "both.toml", "--check", "p2-exit-success", "--partition", "2/5"];
    folder.run(&[&other[..], &["--quiet", "--report", "json=other.json"]].concat());
    let one = ["check", "./cli", "--probe", "list", "--check", "p2-exit-success", "--quiet"];
    folder.run(&[&one[..], &["--report", "json=one.json"]].concat());
    for (file, why) in [
        ("other.json", "the version, checks, options, targets, configurations or number of parts differ"),
        ("one.json", "it is not a part of a check with --partition"),
    ] {
        let foreign = merge(&[files[0].clone(), file.to_owned()]);
        assert_eq!((foreign.code, foreign.out.as_str()), (Some(78), ""));
        let message = format!("cannot merge {file} with part-1.json: {why}");
        assert_eq!(foreign.error()["message"], message);
    }
    let foreign = merge(&["one.json".to_owned(), files[0].clone()]);
    assert!(foreign.err.contains("only one of the reports is a part"), "{}", foreign.err);
    check_all(&folder, &["--quiet", "--fast", "--partition", "2/5", "--report", "json=fast.json"]);
    assert_eq!(merge(&[files[0].clone(), "fast.json".to_owned()]).code, Some(78));
    let duplicate = ["check", "--all", "tools/a", "./tools/a/agentnative.toml", "./tools/a", "--json"];
    assert_eq!(names(&folder.run(&[&duplicate[..], &CHECKS].concat())), ["tools/a"]);
    folder.write("both.toml", "[target.one]\ncommand = ['./cli']\n");
    check_all(&folder, &["--quiet", "--partition", "2/5", "--report", "json=later.json"]);
    assert_eq!(merge(&[files[0].clone(), "later.json".to_owned()]).code, Some(78));
}

#[test]
fn options_for_one_target_are_usage_errors_with_all() {
    let folder = tools();
    for (args, words) in [
        (&["check", "--all", "tools", "--partition", "6/5"][..], "expected PART/PARTS, such as 2/5"),
        (&["check", "--all", "tools", "--partition", "0/5"], "expected PART/PARTS"),
        (&["check", "--partition", "1/5"], "--all"),
        (&["check", "--all", "tools", "--command", "ls"], "cannot be used with"),
        (&["check", "--all", "tools", "--record", "x"], "cannot be used with"),
    ] {
        let output = folder.run(args);
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.err.contains(words), "{output:?}");
    }
    fs::create_dir(folder.path().join("empty")).unwrap();
    for (args, words) in [
        (["check", "--all", "empty"], "no agentnative.toml in empty or below"),
        (["check", "--all", "missing.toml"], "the target could not be checked: cannot read missing.toml"),
    ] {
        let output = folder.run(&args);
        assert_ne!(output.code, Some(0), "{output:?}");
        assert!(output.err.contains(words), "{output:?}");
    }
}

/// Builds and configurations that a run changes are not executed in the same session.
#[test]
fn all_targets_are_read_and_built_before_the_first_run() {
    let folder = Folder::with(
        "for name in a z; do\n\
         printf 'touch ../evil' >$name/build.sh\n\
         printf \"[target]\\ncommand = ['../cli']\\nbuild = ['touch', '../evil']\\n\" >$name/agentnative.toml\n\
         done; echo '{}'\n",
    );
    let probe = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    folder.write("agentnative.toml", format!("[target]\ncommand = ['./cli']\n{probe}"));
    for name in ["a", "z"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        folder.write(&format!("{name}/build.sh"), "echo built >>built\n");
        let build = "[target]\ncommand = ['../tool']\nbuild = ['sh', './build.sh']\n";
        folder.write(&format!("{name}/agentnative.toml"), format!("{build}{probe}"));
    }
    folder.script("tool", "echo '{}'\n");
    let args =
        ["check", "--all", "--jobs", "1", "--isolation", "none", "--check", "p2-output-json", "--json"];
    let output = folder.run(&args);
    assert_eq!(output.code, Some(0), "{output:?}");
    let commands: Vec<Value> =
        targets(&output).iter().map(|target| target["target"]["command"].clone()).collect();
    assert!(
        commands.iter().filter(|command| command[0].as_str().unwrap().ends_with("/tool")).count() == 2,
        "{commands:?}"
    );
    assert_eq!((folder.read("a/built"), folder.read("z/built")), ("built\n".into(), "built\n".into()));
    assert!(folder.read("z/build.sh").contains("evil") && !folder.path().join("evil").exists());
}

#[test]
fn the_fleet_examples_can_be_loaded() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet");
    let tools = Fleet::find(&[examples.join("tools.toml")]).unwrap();
    let names: Vec<String> = tools.targets.iter().map(FleetTarget::name).collect();
    assert_eq!(names, ["cargo", "git", "grep", "node", "python", "tar"]);
    for target in &tools.targets {
        assert!(target.config.is_ok(), "{target}");
    }
    let parse = ["-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"];
    let python = Command::new("python3").args(parse).arg(examples.join("fleet.py")).output().unwrap();
    assert!(python.status.success(), "{python:?}");
}
