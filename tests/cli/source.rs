//! Checks of the layers `source` and `project`, with and without runs.

use super::support::{CliOutput, Folder, output_of};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// A copy of a project of `fixtures/sources` in a folder that no configuration applies to.
fn project(name: &str) -> Folder {
    let folder = Folder::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sources").join(name), folder.path());
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, path) = entry.map(|entry| (entry.file_name(), entry.path())).unwrap();
        if path.is_dir() {
            copy(&path, &to.join(entry))
        } else {
            fs::copy(&path, to.join(entry)).map(drop).unwrap()
        }
    }
}

fn write(folder: &Folder, files: &[(&str, &str)]) {
    for (file, text) in files {
        fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
        folder.write(file, text);
    }
}

fn results(output: &CliOutput) -> Vec<Value> {
    output.data()["results"].as_array().unwrap().clone()
}

/// `file:line` of the evidence of a check.
fn places(output: &CliOutput, id: &str) -> Vec<String> {
    let results = results(output);
    let result = results.iter().find(|result| result["id"] == id).unwrap();
    let places = result["evidence"].as_array().unwrap().iter();
    places.map(|place| format!("{}:{}", place["file"].as_str().unwrap(), place["line"])).collect()
}

const SOURCE: [&str; 5] = ["check", "--layer", "source", "--json", "."];
const STRAY_PRINT: [&str; 5] = ["check", "--check", "p2-src-stray-print", "--json", "."];

#[test]
fn source_checks_need_no_built_program() {
    for language in ["rust", "python", "go", "typescript"] {
        for (kind, status) in [("conforming", "pass"), ("violating", "warn")] {
            let output = project(&format!("{language}/{kind}")).run(&SOURCE);
            assert_eq!((output.code, output.err.as_str()), (Some(0), ""), "{language} {kind}");
            let results = results(&output);
            assert_eq!(results.len(), 7);
            for result in &results {
                assert_eq!(result["status"], status, "{language} {kind}: {result:#}");
                assert_eq!(result["layer"], "source");
            }
            let data = output.data();
            assert_eq!((&data["runs"], &data["target"]["command"]), (&json!(0), &json!([])));
        }
    }
}

#[test]
fn a_problem_in_code_is_printed_with_its_position() {
    let folder = project("go/violating");
    let output = folder.run(&["check", "--layer", "source", "--skip", "p2-src-output-format", "."]);
    assert_eq!((output.code, output.err.as_str()), (Some(0), ""));
    let expected = "\
! p2-src-stray-print  code outside the output module prints to stdout
    list/list.go:12:2
    Return data, and let one output module print it.   agentnative explain p2-src-stray-print
";
    assert!(output.out.contains(expected), "{}", output.out);
    let verbose = folder.run(&["check", "--check", "p2-src-stray-print", "--verbose", "."]);
    let line = "    12 │     fmt.Println(fmt.Sprintf(`{\"name\": \"%s\"}`, name))\n       │     ^ ";
    assert!(verbose.out.contains(line), "{}", verbose.out);
}

#[test]
fn a_project_that_is_not_built_is_checked_statically() {
    let folder = project("python/conforming");
    write(
        &folder,
        &[("README.md", "Exit codes: 0 success, 1 error, 2 usage, 77 permission, 78 configuration\n")],
    );
    let output = folder.run(&["check", "--layer", "source,project", "--json", "."]);
    assert_eq!((output.code, output.err.as_str()), (Some(0), ""));
    assert_eq!(
        (output.status("p2-src-stray-print"), output.status("p2-exit-documented")),
        ("pass".into(), "pass".into())
    );
    assert_eq!(output.data()["notes"], Value::Null);
    // Without the README the help would be needed.
    fs::remove_file(folder.path().join("README.md")).unwrap();
    let output = folder.run(&["check", "--check", "p2-exit-documented", "--strict", "--json", "."]);
    assert_eq!((output.code, output.status("p2-exit-documented")), (Some(1), "unverified".into()));
    let note = output.data()["notes"][0].as_str().unwrap().to_owned();
    assert!(note.starts_with("nothing was run: `conforming` is not built (run `"), "{note}");
    // Behavioral checks need the program.
    assert_eq!(folder.run(&["check", "."]).code, Some(78));
}

#[test]
fn code_is_checked_if_nothing_can_be_run() {
    let folder = project("python/conforming");
    write(
        &folder,
        &[
            ("README.md", "Exit codes: 0 success, 1 error, 2 usage, 77 permission, 78 configuration\n"),
            ("agentnative.toml", "[target]\ncommand = [\"./run\"]\n"),
        ],
    );
    folder.script("run", "exit 0\n");
    // Without a folder for temporary files no helper and so no run can start.
    let check = |selection: [&str; 2]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentnative"));
        command.arg("check").args(selection).args(["--json", "."]).env("TMPDIR", folder.path().join("none"));
        output_of(command.current_dir(folder.path()))
    };
    let output = check(["--layer", "source,project"]);
    assert_eq!((output.code, output.status("p2-src-stray-print")), (Some(0), "pass".into()), "{output:?}");
    assert_eq!(output.status("p2-exit-documented"), "pass");
    assert_eq!(output.data()["notes"], Value::Null);
    let output = check(["--check", "p2-exit-documented"]);
    assert_eq!((output.code, output.status("p2-exit-documented")), (Some(0), "pass".into()), "{output:?}");
    let note = output.data()["notes"][0].as_str().unwrap().to_owned();
    assert!(note.starts_with("nothing was run: cannot create a temporary folder"), "{note}");
    assert_eq!(check(["--layer", "behavioral"]).code, Some(1));
}

#[test]
fn source_checks_do_not_apply_to_a_program_without_a_project() {
    let folder = Folder::demo("");
    for subject in [&["./cli"][..], &["--", "./cli"], &["--command", "sh"]] {
        let output = folder.run(&[&["check", "--layer", "source", "--json"], subject].concat());
        assert_eq!(output.code, Some(0), "{output:?}");
        for result in results(&output) {
            assert_eq!(result["status"], "not-applicable", "{subject:?}");
            assert!(result["message"].as_str().unwrap().contains("name the project's folder"));
        }
    }
    // If the help names no exit code, a README in an unknown folder may.
    const PROJECT: [&str; 5] = ["check", "--check", "p2-exit-documented,p2-schema-file", "--json", "./cli"];
    let output = folder.run(&PROJECT);
    assert_eq!(
        (output.status("p2-exit-documented"), output.status("p2-schema-file")),
        ("pass".into(), "not-applicable".into())
    );
    let silent = Folder::with("echo hello\n");
    let output = silent.run(&PROJECT);
    assert_eq!((output.code, output.status("p2-exit-documented")), (Some(0), "not-applicable".into()));
}

#[test]
fn documentation_and_schema_files_are_compared_with_the_output_of_the_target() {
    let folder = Folder::with(
        "case $1 in\n--help) echo 'exit codes: 0 success, 2 usage';;\nschema) echo '{\"type\":\"object\"}';;\n*) exit 2;;\nesac\n",
    );
    let config = "[target]\ncommand = ['./cli']\nschema = ['schema']\nexit_codes = [0, 2]\n";
    write(&folder, &[("agentnative.toml", config), ("schemas/a.schema.json", "{ \"type\": \"object\" }\n")]);
    let run = || folder.run(&["check", "--check", "p2-exit-documented,p2-schema-file", "--json", "."]);
    let output = run();
    assert_eq!(
        (output.status("p2-exit-documented"), output.status("p2-schema-file")),
        ("pass".into(), "pass".into())
    );
    assert_eq!(output.data()["runs"], 2, "the help and the schema, and no more");

    write(
        &folder,
        &[
            ("agentnative.toml", &config.replace("0, 2", "0, 2, 77")),
            ("schemas/a.schema.json", "{\"type\":\"array\"}"),
        ],
    );
    let output = run();
    assert_eq!((output.code, output.status("p2-exit-documented")), (Some(1), "fail".into()));
    let [_, schema] = &results(&output)[..] else { panic!("{output:?}") };
    assert_eq!(
        (&schema["status"], &schema["evidence"][0]["file"]),
        (&json!("warn"), &json!("schemas/a.schema.json"))
    );
    assert!(schema["message"].as_str().unwrap().contains("/type"), "{schema:#}");
}

#[test]
fn the_configuration_can_name_the_output_modules() {
    let folder = Folder::new();
    write(
        &folder,
        &[
            ("Cargo.toml", "[package]\nname = \"tool\"\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("src/pages.rs", "pub fn show() { println!(\"x\"); }\n"),
            ("src/shape/a.rs", "pub fn show() { println!(\"x\"); }\n"),
            ("src/output.rs", "pub fn show() { println!(\"x\"); }\n"),
        ],
    );
    assert_eq!(
        places(&folder.run(&STRAY_PRINT), "p2-src-stray-print"),
        ["src/pages.rs:1", "src/shape/a.rs:1"]
    );
    write(
        &folder,
        &[("agentnative.toml", "[target]\noutput_modules = [\"./src/pages.rs\", \"src/shape/\"]\n")],
    );
    assert_eq!(places(&folder.run(&STRAY_PRINT), "p2-src-stray-print"), ["src/output.rs:1"]);
    for (value, words) in [
        ("[\"src/none\"]", "cannot read `src/none`"),
        ("[\"../elsewhere\"]", "is outside the folder of this file"),
        ("[\"\"]", "is outside the folder of this file"),
        ("\"src\"", "expected an array of paths below the configuration file"),
        ("[1]", "expected a path below the configuration file"),
    ] {
        write(&folder, &[("agentnative.toml", &format!("[target]\noutput_modules = {value}\n"))]);
        let output = folder.run(&STRAY_PRINT);
        assert_eq!(output.code, Some(78));
        let issue = output.error()["issues"][0]["message"].as_str().unwrap().to_owned();
        assert!(issue.contains(words), "{issue}");
        assert_eq!(output.error()["issues"][0]["line"], 2);
    }
}

#[test]
fn the_package_that_builds_the_target_is_checked() {
    let folder = Folder::new();
    let print = "fn main() { run(); }\nfn run() { println!(\"x\"); }\n";
    write(
        &folder,
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n"),
            ("crates/one/Cargo.toml", "[package]\nname = \"one\"\nedition = \"2024\"\n"),
            ("crates/one/src/main.rs", print),
            ("crates/two/Cargo.toml", "[package]\nname = \"two\"\nedition = \"2024\"\n"),
            ("crates/two/src/main.rs", print),
        ],
    );
    let output = folder.run(&STRAY_PRINT);
    assert_eq!(
        (output.code, output.error()["message"].as_str()),
        (Some(78), Some("the project has several programs: `one`, `two`"))
    );
    let output = folder.run(&[&STRAY_PRINT[..], &["--bin", "two"]].concat());
    assert_eq!(places(&output, "p2-src-stray-print"), ["crates/two/src/main.rs:2"]);
    assert_eq!(output.data()["target"], json!({ "name": "two", "command": [], "project": "." }));
    let output = folder.run(&["check", "--check", "p2-src-stray-print", "--json", "crates/one"]);
    assert_eq!(places(&output, "p2-src-stray-print"), ["src/main.rs:2"]);
    // Code can be read even if cargo rejects the package.
    write(&folder, &[("crates/one/rust-toolchain.toml", "[toolchain]\nchannel = \"0.1\"\n")]);
    write(&folder, &[("crates/one/Cargo.toml", "[package]\nname = \"one\"\nedition = \"1900\"\n")]);
    let output = folder.run(&["check", "--check", "p2-src-stray-print", "--json", "crates/one"]);
    assert_eq!(places(&output, "p2-src-stray-print"), ["src/main.rs:2"]);
    fs::remove_file(folder.path().join("crates/one/rust-toolchain.toml")).unwrap();
    write(&folder, &[("crates/one/Cargo.toml", "[package]\nname = \"one\"\nedition = \"2024\"\n")]);
    // The package that declares a configured command builds it.
    write(&folder, &[("agentnative.toml", "[target]\ncommand = ['./target/debug/one']\n")]);
    assert_eq!(places(&folder.run(&STRAY_PRINT), "p2-src-stray-print"), ["crates/one/src/main.rs:2"]);
}

#[test]
fn a_library_of_the_workspace_can_be_the_output_module() {
    let folder = Folder::new();
    let manifest =
        "[package]\nname = \"cli\"\nedition = \"2024\"\n[dependencies]\nshape = { path = \"../shape\" }\n";
    write(
        &folder,
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n"),
            ("crates/cli/Cargo.toml", manifest),
            ("crates/cli/src/main.rs", "fn main() {}\n"),
            ("crates/shape/Cargo.toml", "[package]\nname = \"shape\"\nedition = \"2024\"\n"),
            ("crates/shape/src/lib.rs", "pub fn show() { println!(\"x\"); }\n"),
        ],
    );
    assert_eq!(places(&folder.run(&STRAY_PRINT), "p2-src-stray-print"), ["crates/shape/src/lib.rs:1"]);
    write(&folder, &[("agentnative.toml", "[target]\noutput_modules = [\"crates/shape/src\"]\n")]);
    let output = folder.run(&STRAY_PRINT);
    assert_eq!((output.status("p2-src-stray-print"), &output.data()["notes"]), ("pass".into(), &Value::Null));
    // A folder that is not part of the project cannot be the output module.
    write(
        &folder,
        &[("elsewhere/a.rs", ""), ("agentnative.toml", "[target]\noutput_modules = [\"elsewhere\"]\n")],
    );
    assert_eq!(places(&folder.run(&STRAY_PRINT), "p2-src-stray-print"), ["crates/shape/src/lib.rs:1"]);
}

#[test]
fn waivers_in_the_code_are_noted() {
    let folder = Folder::new();
    let code = "def f():\n    print(1)  # agentnative-ignore p2-src-stray-print: the banner, asked for\n";
    write(
        &folder,
        &[
            ("tool/listing.py", code),
            (
                "tool/more.py",
                "# Not agentnative-ignore ID: it only speaks of it.\nprint(1)  # agentnative-ignore p2-src-exit-codes:\n",
            ),
        ],
    );
    let output = folder.run(&STRAY_PRINT);
    assert_eq!(places(&output, "p2-src-stray-print"), ["tool/more.py:2"]);
    let notes = output.data()["notes"].to_string();
    assert_eq!(output.data()["notes"].as_array().map(Vec::len), Some(2), "{notes}");
    assert!(
        notes.contains("tool/listing.py:2: p2-src-stray-print is waived: the banner, asked for"),
        "{notes}"
    );
    assert!(
        notes.contains("tool/more.py:2: the waiver of p2-src-exit-codes is ignored because it has no reason"),
        "{notes}"
    );
    fs::remove_file(folder.path().join("tool/more.py")).unwrap();
    assert_eq!(folder.run(&STRAY_PRINT).status("p2-src-stray-print"), "waived");
    write(
        &folder,
        &[
            ("tool/listing.py", "print(1)\n"),
            ("agentnative.toml", "[[waiver]]\ncheck = 'p2-src-stray-print'\nreason = 'to be mended'\n"),
        ],
    );
    assert_eq!(folder.run(&STRAY_PRINT).status("p2-src-stray-print"), "waived");
}

#[test]
fn unreadable_source_files_are_noted_and_no_check_passes() {
    let folder = Folder::new();
    write(&folder, &[("tool/a.py", "print(1)\n"), ("tool/b.py", "x = 1\n"), ("tool/shut/c.py", "x = 1\n")]);
    let set_mode = |name: &str, set_mode| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(set_mode)).unwrap();
    };
    // Root becomes another user, who may be unable to reach the program in the target folder.
    set_mode("", 0o755);
    fs::copy(env!("CARGO_BIN_EXE_agentnative"), folder.path().join("agentnative")).unwrap();
    let run = || {
        let mut command = Command::new(folder.path().join("agentnative"));
        if rustix::process::geteuid().is_root() {
            command.uid(65534).gid(65534);
        }
        output_of(command.args(STRAY_PRINT).current_dir(folder.path()))
    };
    set_mode("tool/a.py", 0o000);
    let unreadable_file = run();
    set_mode("tool/a.py", 0o644);
    set_mode("tool/shut", 0o000);
    fs::remove_file(folder.path().join("tool/a.py")).unwrap();
    let unreadable_folder = run();
    set_mode("tool/shut", 0o755);
    for (output, words, note) in [
        (&unreadable_file, "; skipped: tool/a.py (unreadable: ", "source files skipped: tool/a.py"),
        (
            &unreadable_folder,
            "; folders that could not be read: 1",
            "source folders that could not be read: 1",
        ),
    ] {
        assert_eq!((output.code, output.status("p2-src-stray-print")), (Some(0), "unverified".into()));
        let message = results(output)[0]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(words), "{message}");
        assert!(output.data()["notes"].to_string().contains(note), "{output:?}");
    }
}

#[test]
fn a_recording_contains_the_findings_in_the_code() {
    let folder = project("rust/violating");
    let check_with = |flags: &[&str]| folder.run(&[&["check", "--json"], flags].concat());
    let live = check_with(&["--layer", "source,project", "--record", "seen", "."]);
    fs::remove_dir_all(folder.path().join("src")).unwrap();
    assert_eq!(check_with(&["--layer", "source,project", "--replay", "seen"]), live);
    assert_eq!(results(&live).len(), 11);

    // Facts of other versions of the rules are not judged.
    let text = folder.read("seen");
    let mut head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    head["facts"]["rules"]["p2-src-stray-print"] = json!(1);
    folder.write("older", format!("{head}\n"));
    let older = check_with(&["--layer", "source", "--replay", "older"]);
    assert!(results(&older).iter().all(|result| result["status"] == "unverified"), "{older:?}");

    // A recording without code passes no source check.
    let demo = Folder::demo("");
    demo.write("agentnative.toml", "[target]\ncommand = ['./cli']\n");
    demo.run(&["check", "--check", "p2-exit-usage", "--record", "seen", "."]);
    let output = demo.run(&["check", "--replay", "seen", "--json", "--layer", "source"]);
    for result in results(&output) {
        assert_eq!(result["status"], "unverified");
        assert!(result["message"].as_str().unwrap().contains("the recording contains no code"));
    }
}

#[test]
fn explain_shows_the_snippets_of_each_language() {
    let output = super::support::run(&["explain", "p2-src-stray-print"]);
    for words in [
        "\nRust\n",
        "\nGo\n",
        "  Conforms  src/output.rs\n",
        "  Warns  src/list.rs\n",
        "println!(\"{name}\");\n",
        "Not covered: ",
    ] {
        assert!(output.out.contains(words), "{words:?} in\n{}", output.out);
    }
}
