//! `check` of the code behind a program and of the files around it, without a run and with runs.

use super::support::{CliOutput, Folder, output_of};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// A copy of a project of `fixtures/sources`, where no configuration is above it.
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

fn results(said: &CliOutput) -> Vec<Value> {
    said.data()["results"].as_array().unwrap().clone()
}

/// `file:line` of what a check has found.
fn places(said: &CliOutput, id: &str) -> Vec<String> {
    let results = results(said);
    let result = results.iter().find(|result| result["id"] == id).unwrap();
    let places = result["evidence"].as_array().unwrap().iter();
    places.map(|seen| format!("{}:{}", seen["file"].as_str().unwrap(), seen["line"])).collect()
}

const SOURCE: [&str; 5] = ["check", "--layer", "source", "--json", "."];
const STRAY: [&str; 5] = ["check", "--check", "p2-src-stray-print", "--json", "."];

#[test]
fn code_needs_no_program_that_is_built() {
    for language in ["rust", "python", "go", "typescript"] {
        for (kind, status) in [("conforming", "pass"), ("violating", "warn")] {
            let said = project(&format!("{language}/{kind}")).run(&SOURCE);
            assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{language} {kind}");
            let results = results(&said);
            assert_eq!(results.len(), 7);
            for result in &results {
                assert_eq!(result["status"], status, "{language} {kind}: {result:#}");
                assert_eq!(result["layer"], "source");
            }
            let data = said.data();
            assert_eq!((&data["runs"], &data["target"]["command"]), (&json!(0), &json!([])));
        }
    }
}

#[test]
fn a_place_in_the_code_for_people() {
    let folder = project("go/violating");
    let said = folder.run(&["check", "--layer", "source", "--skip", "p2-src-output-format", "."]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let expected = "\
! p2-src-stray-print  prints to stdout outside the output module
    list/list.go:12:2
    Return data, and let one output module print it.   agentnative explain p2-src-stray-print
";
    assert!(said.out.contains(expected), "{}", said.out);
    let verbose = folder.run(&["check", "--check", "p2-src-stray-print", "--verbose", "."]);
    let line = "    12 │     fmt.Println(fmt.Sprintf(`{\"name\": \"%s\"}`, name))\n       │     ^ ";
    assert!(verbose.out.contains(line), "{}", verbose.out);
}

#[test]
fn what_is_not_built_is_read_all_the_same() {
    let folder = project("python/conforming");
    write(
        &folder,
        &[("README.md", "Exit codes: 0 success, 1 error, 2 usage, 77 permission, 78 configuration\n")],
    );
    let said = folder.run(&["check", "--layer", "source,project", "--json", "."]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert_eq!(
        (said.status("p2-src-stray-print"), said.status("p2-exit-documented")),
        ("pass".into(), "pass".into())
    );
    assert_eq!(said.data()["notes"], Value::Null);
    // Without the README the help would have to be seen.
    fs::remove_file(folder.path().join("README.md")).unwrap();
    let said = folder.run(&["check", "--check", "p2-exit-documented", "--strict", "--json", "."]);
    assert_eq!((said.code, said.status("p2-exit-documented")), (Some(1), "unverified".into()));
    let note = said.data()["notes"][0].as_str().unwrap().to_owned();
    assert!(note.starts_with("nothing was run: `conforming` is not built (run `"), "{note}");
    // A check of what the program does needs the program.
    assert_eq!(folder.run(&["check", "."]).code, Some(78));
}

#[test]
fn code_is_read_where_nothing_can_be_run() {
    let folder = project("python/conforming");
    write(
        &folder,
        &[
            ("README.md", "Exit codes: 0 success, 1 error, 2 usage, 77 permission, 78 configuration\n"),
            ("agentnative.toml", "[target]\ncommand = [\"./run\"]\n"),
        ],
    );
    folder.script("run", "exit 0\n");
    // Without a folder for temporary files no helper starts, and so no run.
    let check = |selection: [&str; 2]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentnative"));
        command.arg("check").args(selection).args(["--json", "."]).env("TMPDIR", folder.path().join("none"));
        output_of(command.current_dir(folder.path()))
    };
    let said = check(["--layer", "source,project"]);
    assert_eq!((said.code, said.status("p2-src-stray-print")), (Some(0), "pass".into()), "{said:?}");
    assert_eq!(said.status("p2-exit-documented"), "pass");
    assert_eq!(said.data()["notes"], Value::Null);
    let said = check(["--check", "p2-exit-documented"]);
    assert_eq!((said.code, said.status("p2-exit-documented")), (Some(0), "pass".into()), "{said:?}");
    let note = said.data()["notes"][0].as_str().unwrap().to_owned();
    assert!(note.starts_with("nothing was run: cannot make a temporary folder"), "{note}");
    assert_eq!(check(["--layer", "behavioral"]).code, Some(1));
}

#[test]
fn a_program_alone_has_no_code() {
    let folder = Folder::demo("");
    for subject in [&["./cli"][..], &["--", "./cli"], &["--command", "sh"]] {
        let said = folder.run(&[&["check", "--layer", "source", "--json"], subject].concat());
        assert_eq!(said.code, Some(0), "{said:?}");
        for result in results(&said) {
            assert_eq!(result["status"], "not-applicable", "{subject:?}");
            assert!(result["message"].as_str().unwrap().contains("name the project's folder"));
        }
    }
    // A help that names no exit code cannot show that no README elsewhere does.
    const PROJECT: [&str; 5] = ["check", "--check", "p2-exit-documented,p2-schema-file", "--json", "./cli"];
    let said = folder.run(&PROJECT);
    assert_eq!(
        (said.status("p2-exit-documented"), said.status("p2-schema-file")),
        ("pass".into(), "not-applicable".into())
    );
    let silent = Folder::with("echo hello\n");
    let said = silent.run(&PROJECT);
    assert_eq!((said.code, said.status("p2-exit-documented")), (Some(0), "not-applicable".into()));
}

#[test]
fn help_and_schema_are_those_that_the_target_prints() {
    let folder = Folder::with(
        "case $1 in\n--help) echo 'exit codes: 0 success, 2 usage';;\nschema) echo '{\"type\":\"object\"}';;\n*) exit 2;;\nesac\n",
    );
    let config = "[target]\ncommand = ['./cli']\nschema = ['schema']\nexit_codes = [0, 2]\n";
    write(&folder, &[("agentnative.toml", config), ("schemas/a.schema.json", "{ \"type\": \"object\" }\n")]);
    let run = || folder.run(&["check", "--check", "p2-exit-documented,p2-schema-file", "--json", "."]);
    let said = run();
    assert_eq!(
        (said.status("p2-exit-documented"), said.status("p2-schema-file")),
        ("pass".into(), "pass".into())
    );
    assert_eq!(said.data()["runs"], 2, "the help and the schema, and no more");

    write(
        &folder,
        &[
            ("agentnative.toml", &config.replace("0, 2", "0, 2, 77")),
            ("schemas/a.schema.json", "{\"type\":\"array\"}"),
        ],
    );
    let said = run();
    assert_eq!((said.code, said.status("p2-exit-documented")), (Some(1), "fail".into()));
    let [_, schema] = &results(&said)[..] else { panic!("{said:?}") };
    assert_eq!(
        (&schema["status"], &schema["evidence"][0]["file"]),
        (&json!("warn"), &json!("schemas/a.schema.json"))
    );
    assert!(schema["message"].as_str().unwrap().contains("/type"), "{schema:#}");
}

#[test]
fn the_configuration_names_the_output_modules() {
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
    assert_eq!(places(&folder.run(&STRAY), "p2-src-stray-print"), ["src/pages.rs:1", "src/shape/a.rs:1"]);
    write(
        &folder,
        &[("agentnative.toml", "[target]\noutput_modules = [\"./src/pages.rs\", \"src/shape/\"]\n")],
    );
    assert_eq!(places(&folder.run(&STRAY), "p2-src-stray-print"), ["src/output.rs:1"]);
    for (value, words) in [
        ("[\"src/none\"]", "cannot read `src/none`"),
        ("[\"../elsewhere\"]", "is not below this file"),
        ("[\"\"]", "is not below this file"),
        ("\"src\"", "expected an array of paths below the configuration file"),
        ("[1]", "expected a path below the configuration file"),
    ] {
        write(&folder, &[("agentnative.toml", &format!("[target]\noutput_modules = {value}\n"))]);
        let said = folder.run(&STRAY);
        assert_eq!(said.code, Some(78));
        let issue = said.error()["issues"][0]["message"].as_str().unwrap().to_owned();
        assert!(issue.contains(words), "{issue}");
        assert_eq!(said.error()["issues"][0]["line"], 2);
    }
}

#[test]
fn the_package_that_builds_the_target_is_looked_at() {
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
    let said = folder.run(&STRAY);
    assert_eq!(
        (said.code, said.error()["message"].as_str()),
        (Some(78), Some("the project has several programs: `one`, `two`"))
    );
    let said = folder.run(&[&STRAY[..], &["--bin", "two"]].concat());
    assert_eq!(places(&said, "p2-src-stray-print"), ["crates/two/src/main.rs:2"]);
    assert_eq!(said.data()["target"], json!({ "name": "two", "command": [], "project": "." }));
    let said = folder.run(&["check", "--check", "p2-src-stray-print", "--json", "crates/one"]);
    assert_eq!(places(&said, "p2-src-stray-print"), ["src/main.rs:2"]);
    // Code can be read where cargo cannot go.
    write(&folder, &[("crates/one/rust-toolchain.toml", "[toolchain]\nchannel = \"0.1\"\n")]);
    write(&folder, &[("crates/one/Cargo.toml", "[package]\nname = \"one\"\nedition = \"1900\"\n")]);
    let said = folder.run(&["check", "--check", "p2-src-stray-print", "--json", "crates/one"]);
    assert_eq!(places(&said, "p2-src-stray-print"), ["src/main.rs:2"]);
    fs::remove_file(folder.path().join("crates/one/rust-toolchain.toml")).unwrap();
    write(&folder, &[("crates/one/Cargo.toml", "[package]\nname = \"one\"\nedition = \"2024\"\n")]);
    // A configured command is built by the package that declares it.
    write(&folder, &[("agentnative.toml", "[target]\ncommand = ['./target/debug/one']\n")]);
    assert_eq!(places(&folder.run(&STRAY), "p2-src-stray-print"), ["crates/one/src/main.rs:2"]);
}

#[test]
fn a_library_of_the_workspace_may_be_the_output_module() {
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
    assert_eq!(places(&folder.run(&STRAY), "p2-src-stray-print"), ["crates/shape/src/lib.rs:1"]);
    write(&folder, &[("agentnative.toml", "[target]\noutput_modules = [\"crates/shape/src\"]\n")]);
    let said = folder.run(&STRAY);
    assert_eq!((said.status("p2-src-stray-print"), &said.data()["notes"]), ("pass".into(), &Value::Null));
    // What is not read cannot be it.
    write(
        &folder,
        &[("elsewhere/a.rs", ""), ("agentnative.toml", "[target]\noutput_modules = [\"elsewhere\"]\n")],
    );
    assert_eq!(places(&folder.run(&STRAY), "p2-src-stray-print"), ["crates/shape/src/lib.rs:1"]);
}

#[test]
fn waivers_in_the_code_are_told() {
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
    let said = folder.run(&STRAY);
    assert_eq!(places(&said, "p2-src-stray-print"), ["tool/more.py:2"]);
    let notes = said.data()["notes"].to_string();
    assert_eq!(said.data()["notes"].as_array().map(Vec::len), Some(2), "{notes}");
    assert!(
        notes.contains("tool/listing.py:2: p2-src-stray-print is waived: the banner, asked for"),
        "{notes}"
    );
    assert!(
        notes.contains("tool/more.py:2: the waiver of p2-src-exit-codes is ignored because it has no reason"),
        "{notes}"
    );
    fs::remove_file(folder.path().join("tool/more.py")).unwrap();
    assert_eq!(folder.run(&STRAY).status("p2-src-stray-print"), "waived");
    write(
        &folder,
        &[
            ("tool/listing.py", "print(1)\n"),
            ("agentnative.toml", "[[waiver]]\ncheck = 'p2-src-stray-print'\nreason = 'to be mended'\n"),
        ],
    );
    assert_eq!(folder.run(&STRAY).status("p2-src-stray-print"), "waived");
}

#[test]
fn what_may_not_be_read_is_told_and_no_check_passes() {
    let folder = Folder::new();
    write(&folder, &[("tool/a.py", "print(1)\n"), ("tool/b.py", "x = 1\n"), ("tool/shut/c.py", "x = 1\n")]);
    let mode = |name: &str, mode| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    // Who may read everything becomes somebody else, who may not even reach the program where it is built.
    mode("", 0o755);
    fs::copy(env!("CARGO_BIN_EXE_agentnative"), folder.path().join("agentnative")).unwrap();
    let run = || {
        let mut command = Command::new(folder.path().join("agentnative"));
        if rustix::process::geteuid().is_root() {
            command.uid(65534).gid(65534);
        }
        output_of(command.args(STRAY).current_dir(folder.path()))
    };
    mode("tool/a.py", 0o000);
    let file = run();
    mode("tool/a.py", 0o644);
    mode("tool/shut", 0o000);
    fs::remove_file(folder.path().join("tool/a.py")).unwrap();
    let shut = run();
    mode("tool/shut", 0o755);
    for (said, words, note) in [
        (&file, "; skipped: tool/a.py (unreadable: ", "source files skipped: tool/a.py"),
        (&shut, "; folders that could not be entered: 1", "source folders that could not be entered: 1"),
    ] {
        assert_eq!((said.code, said.status("p2-src-stray-print")), (Some(0), "unverified".into()));
        let message = results(said)[0]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(words), "{message}");
        assert!(said.data()["notes"].to_string().contains(note), "{said:?}");
    }
}

#[test]
fn a_recording_holds_what_was_found_in_the_code() {
    let folder = project("rust/violating");
    let with = |flags: &[&str]| folder.run(&[&["check", "--json"], flags].concat());
    let live = with(&["--layer", "source,project", "--record", "seen", "."]);
    fs::remove_dir_all(folder.path().join("src")).unwrap();
    assert_eq!(with(&["--layer", "source,project", "--replay", "seen"]), live);
    assert_eq!(results(&live).len(), 11);

    // Of other rules than those of now, nothing is said.
    let text = folder.read("seen");
    let mut head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    head["facts"]["rules"]["p2-src-stray-print"] = json!(1);
    folder.write("older", format!("{head}\n"));
    let older = with(&["--layer", "source", "--replay", "older"]);
    assert!(results(&older).iter().all(|result| result["status"] == "unverified"), "{older:?}");

    // A recording without code says so, and is no pass.
    let demo = Folder::demo("");
    demo.write("agentnative.toml", "[target]\ncommand = ['./cli']\n");
    demo.run(&["check", "--check", "p2-exit-usage", "--record", "seen", "."]);
    let said = demo.run(&["check", "--replay", "seen", "--json", "--layer", "source"]);
    for result in results(&said) {
        assert_eq!(result["status"], "unverified");
        assert!(result["message"].as_str().unwrap().contains("the recording contains no code"));
    }
}

#[test]
fn explain_shows_the_snippets_of_each_language() {
    let said = super::support::run(&["explain", "p2-src-stray-print"]);
    for words in [
        "\nRust\n",
        "\nGo\n",
        "  Conforms  src/output.rs\n",
        "  Warns  src/list.rs\n",
        "println!(\"{name}\");\n",
        "Not covered: ",
    ] {
        assert!(said.out.contains(words), "{words:?} in\n{}", said.out);
    }
}
