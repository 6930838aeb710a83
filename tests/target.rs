//! Finding the target: commands, files, and projects of each kind.

use agentnative::config::{Config, Date, Known};
use agentnative::manifest::Manifest;
use agentnative::targets::{Finder, Target, TargetSelector};
use agentnative_contract::error::{Error, ErrorKind, Result};
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const KNOWN: Known<'static> =
    Known { checks: &[], contracts: &[], today: Date { year: 2026, month: 1, day: 1 } };

/// A folder that is a repository, so that nothing above it is looked at.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        assert!(!path.starts_with('/'));
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// An executable script.
    fn program(&self, path: &str) -> PathBuf {
        let path = self.write(path, "#!/bin/sh\necho hi\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Dates the file back.
    fn aged(path: &Path, seconds: u64) {
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 - seconds);
        fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    }

    fn config(&self, text: &str) -> Config {
        let path = self.write("agentnative.toml", text);
        Config::load(&path, &KNOWN).unwrap()
    }

    /// Finds with these functions: names are found in `path-bin`, and no variable is set.
    fn find(
        &self,
        selector: TargetSelector,
        config: Option<&Config>,
        bin: Option<&str>,
    ) -> Result<Vec<Target>> {
        let resolve = |name: &OsStr| resolve(name, &self.path().join("path-bin"));
        Finder { cwd: self.path(), bin, named: false, resolve: &resolve, env: &|_| None }
            .find(&selector, config)
    }

    fn folder(&self, bin: Option<&str>) -> Result<Target> {
        let mut targets = self.find(path("."), None, bin)?;
        assert_eq!(targets.len(), 1);
        Ok(targets.remove(0))
    }

    /// Writes packages of Cargo that are built in `elsewhere`: the folder, name, programs and default of each. One
    /// in the folder itself is the root of the others.
    fn cargo(&self, packages: &[(&str, &str, &[&str], Option<&str>)]) {
        self.write(".cargo/config.toml", "[build]\ntarget-dir = 'elsewhere'\n");
        let members: Vec<&str> =
            packages.iter().map(|(folder, ..)| *folder).filter(|folder| !folder.is_empty()).collect();
        let workspace = format!("[workspace]\nmembers = {members:?}\n");
        self.write("Cargo.toml", &workspace);
        for (folder, name, bins, default) in packages {
            let default = default.map(|bin| format!("default-run = '{bin}'\n")).unwrap_or_default();
            let package =
                format!("[package]\nname = '{name}'\nedition = '2024'\nautobins = false\n{default}");
            let bins = bins.iter().map(|bin| format!("[[bin]]\nname = '{bin}'\npath = '{bin}.rs'\n"));
            let workspace = if folder.is_empty() { &*workspace } else { "" };
            self.write(
                Path::new(folder).join("Cargo.toml").to_str().unwrap(),
                &[&package, &*bins.collect::<String>(), workspace].concat(),
            );
        }
    }
}

fn path(path: &str) -> TargetSelector {
    TargetSelector::Path(path.into())
}

/// Finds a program as `run` does, with one folder on PATH.
fn resolve(name: &OsStr, folder: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(folder.join(name)).unwrap();
    match path.metadata() {
        Ok(found) if found.is_file() && found.permissions().mode() & 0o111 != 0 => Ok(path),
        Ok(_) => Err(Error::auth(format!("{} may not be executed", path.display()))),
        Err(_) => Err(Error::config(format!("no program {}", path.display()))),
    }
}

/// The error's line, and its hint.
fn error_parts(result: Result<Target>) -> (ErrorKind, String, String) {
    let error = result.unwrap_err();
    let issues: Vec<String> = error.issues.iter().map(|issue| format!("\n{issue}")).collect();
    (error.kind, error.message + &issues.concat(), error.hint.unwrap_or_default())
}

#[test]
fn a_file_is_the_program() {
    let place = Place::new();
    let tool = place.program("bin/tool");
    let targets = place.find(path("bin/tool"), None, None).unwrap();
    let [target] = &targets[..] else { panic!() };
    assert_eq!((&*target.name, &target.program), ("tool", &tool));
    assert_eq!((&*target.cwd, &target.project), (place.path(), &None));
    assert!(target.prefix_args.is_empty());
    let info = target.info(place.path());
    assert_eq!((info.command, info.project), (vec![tool.display().to_string()], None));
}

#[test]
fn a_script_that_cannot_run_by_itself_is_run_by_its_interpreter() {
    let place = Place::new();
    for name in ["python3", "node", "sh", "bash"] {
        place.program(&format!("path-bin/{name}"));
    }
    let executable = |name: &str, text: &str| {
        let file = place.write(name, text);
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    };
    place.write("plain.py", "print(1)\n");
    place.write("env.py", "#!/usr/bin/env python3\nprint(1)\n");
    place.write("split.js", "#!/usr/bin/env -S node --no-warnings\n");
    place.write("tool.mjs", "console.log(1)\n");
    place.write("tool.sh", "echo 1\n");
    place.write("bash-one", "#!/bin/bash\necho 1\n");
    executable("no-first-line.py", "print(1)\n");
    for (name, interpreter, arguments) in [
        ("plain.py", "python3", &[][..]),
        ("env.py", "python3", &[]),
        ("split.js", "node", &["--no-warnings"]),
        ("tool.mjs", "node", &[]),
        ("tool.sh", "sh", &[]),
        ("bash-one", "bash", &[]),
        ("no-first-line.py", "python3", &[]),
    ] {
        let target = place.find(path(name), None, None).unwrap().remove(0);
        assert_eq!(target.program, place.path().join("path-bin").join(interpreter), "{name}");
        let file = place.path().join(name).into_os_string();
        let words: Vec<OsString> = arguments.iter().map(OsString::from).chain([file]).collect();
        assert_eq!((target.prefix_args, target.name.as_str()), (words, name));
    }
    executable("own.py", "#!/usr/bin/env python3\nprint(1)\n");
    executable("binary.py", "\x7fELF\0");
    executable("other", "");
    for name in ["own.py", "binary.py", "other"] {
        let target = place.find(path(name), None, None).unwrap().remove(0);
        assert_eq!((target.program, target.prefix_args), (place.path().join(name), Vec::new()));
    }
    place.write("data.txt", "no program\n");
    assert_eq!(place.find(path("data.txt"), None, None).unwrap_err().kind, ErrorKind::Auth);
    // What a folder holds is named, and never run unasked.
    let error = place.find(path("."), None, None).unwrap_err();
    let hint = error.hint.unwrap();
    assert!(hint.contains("(this folder has `bash-one`, `binary.py`, `env.py` …)"), "{hint}");
}

#[test]
fn a_command_has_its_arguments_and_is_found_on_path_or_by_its_path() {
    let place = Place::new();
    let tool = place.program("path-bin/tool");
    for word in ["tool", "./path-bin/tool", tool.to_str().unwrap()] {
        let argv = TargetSelector::command([word, "--all", ""]);
        let targets = place.find(argv, None, None).unwrap();
        assert_eq!(targets[0].program, tool, "{word}");
        assert_eq!(targets[0].prefix_args, ["--all", ""]);
        assert_eq!(targets[0].name, "tool");
    }
    let named = place.find(TargetSelector::Name("tool".into()), None, None).unwrap();
    assert_eq!(named[0].program, tool);
}

#[test]
fn what_cannot_be_run_has_the_kind_of_error_that_it_is() {
    let place = Place::new();
    place.write("plain", "text");
    place.write("folder/x", "");
    let kind = |selector: TargetSelector| place.find(selector, None, None).unwrap_err().kind;
    assert_eq!(kind(path("plain")), ErrorKind::Auth);
    assert_eq!(kind(path("nope")), ErrorKind::Config);
    assert_eq!(kind(TargetSelector::command(["./plain"])), ErrorKind::Auth);
    assert_eq!(kind(TargetSelector::Argv(Vec::new())), ErrorKind::Usage);
    assert_eq!(kind(TargetSelector::command([""])), ErrorKind::Usage);
    assert_eq!(kind(TargetSelector::Name("".into())), ErrorKind::Usage);
    assert_eq!(kind(TargetSelector::Name("nope".into())), ErrorKind::Config);
}

#[test]
fn the_search_for_the_configuration_begins_at_the_target() {
    let place = Place::new();
    let tool = place.program("path-bin/tool");
    let resolve = |name: &OsStr| resolve(name, &place.path().join("path-bin"));
    let finder = Finder { cwd: place.path(), bin: None, named: false, resolve: &resolve, env: &|_| None };
    assert_eq!(finder.start(&TargetSelector::command(["tool", "x"])).unwrap(), tool);
    assert_eq!(finder.start(&TargetSelector::Name("tool".into())).unwrap(), tool);
    assert_eq!(finder.start(&path("sub")).unwrap(), place.path().join("sub"));
}

#[test]
fn the_configured_command_is_relative_to_the_configuration() {
    let place = Place::new();
    let tool = place.program("build/mycli");
    place.write("sub/x", "");
    let config = place.config("[target]\ncommand = ['./build/mycli', '--quiet']\ntimeout = 3\n");
    let targets = place.find(path("sub"), Some(&config), None).unwrap();
    let [target] = &targets[..] else { panic!() };
    assert_eq!((&*target.name, &target.program), ("mycli", &tool));
    assert_eq!(target.prefix_args, ["--quiet"]);
    assert_eq!(target.cwd, place.path());
    assert_eq!(target.config.timeout, Duration::from_secs(3));
    assert_eq!(target.info(place.path()).project.as_deref(), Some("."));

    fs::remove_file(&tool).unwrap();
    let error = place.find(path("sub"), Some(&config), None).unwrap_err();
    assert_eq!(
        (error.kind, &*error.message),
        (ErrorKind::Config, &*format!("no program {}", tool.display()))
    );
    assert!(error.hint.unwrap().starts_with("build it"));
}

#[test]
fn a_command_has_a_project_only_where_it_belongs_to_one() {
    let place = Place::new();
    place.write("package.json", r#"{"name": "tools", "bin": {"mine": "bin/mine.js"}}"#);
    place.write("README.md", "Exit codes: 0 success");
    place.write("tool.py", "");
    for program in ["path-bin/findmnt", "path-bin/python3", "path-bin/mine", "sub/cli", "build/x"] {
        place.program(program);
    }
    let outside = tempfile::tempdir().unwrap();
    let elsewhere = outside.path().join("tool").display().to_string();
    let built = outside.path().join("mine").display().to_string();
    for program in [&elsewhere, &built] {
        fs::copy(place.path().join("sub/cli"), program).unwrap();
    }
    let project = |folder: &str, command: &str| {
        let path =
            place.write(&format!("{folder}/agentnative.toml"), &format!("[target]\ncommand = {command}\n"));
        let config = Config::load(&path, &KNOWN).unwrap();
        let resolve = |name: &OsStr| resolve(name, &place.path().join("path-bin"));
        let finder = Finder { cwd: place.path(), bin: None, named: false, resolve: &resolve, env: &|_| None };
        let code = finder.code(&self::path(folder), Some(&config)).unwrap().map(|code| code.project.folder);
        let target = finder.find(&self::path(folder), Some(&config)).unwrap().remove(0);
        let found = target.project.map(|project| project.folder);
        // The program and its code are of the same project.
        assert_eq!(found, code, "{command}");
        found.map(|found| found.strip_prefix(place.path()).unwrap().display().to_string())
    };
    for (folder, command, expected) in [
        (".", "['findmnt']".to_owned(), None),
        (".", "['findmnt', '--all']".to_owned(), None),
        (".", format!("['{elsewhere}']"), None),
        // Built elsewhere, under a name that the manifest declares.
        (".", format!("['{built}']"), Some("")),
        (".", "['./build/x']".to_owned(), Some("")),
        ("sub", "['../build/x']".to_owned(), Some("")),
        // An interpreter of a file that is there, and a program that the manifest declares.
        (".", "['python3', 'tool.py']".to_owned(), Some("")),
        (".", "['mine']".to_owned(), Some("")),
        // A script beside its configuration, below the manifests of something else.
        ("sub", "['./cli']".to_owned(), Some("sub")),
    ] {
        assert_eq!(project(folder, &command).as_deref(), expected, "{folder}: {command}");
    }
}

#[test]
fn several_configured_targets_are_all_found_in_their_folder() {
    let place = Place::new();
    place.program("a");
    place.program("path-bin/b");
    let config = place.config("[target.one]\ncommand = ['./a']\n[target.b]\ncommand = ['b']\n");
    let targets = place.find(path("."), Some(&config), None).unwrap();
    let names: Vec<&str> = targets.iter().map(|target| &*target.name).collect();
    assert_eq!(names, ["one", "b"]);
    let named = place.find(TargetSelector::Name("b".into()), Some(&config), None).unwrap();
    assert_eq!(named[0].config.name.as_deref(), Some("b"));
    let only = place.find(path("."), Some(&config), Some("b")).unwrap();
    assert_eq!(only.iter().map(|target| &*target.name).collect::<Vec<_>>(), ["b"]);
    let none = place.find(path("."), Some(&config), Some("c")).unwrap_err();
    assert_eq!(none.kind, ErrorKind::Usage);
    let error = place.find(path("a"), Some(&config), None).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(error.message.ends_with("no target `a`; its targets: one, b"), "{error}");
}

#[test]
fn the_runs_get_the_variables_that_are_passed_and_set() {
    let place = Place::new();
    place.program("a");
    let config = place
        .config("[target]\ncommand = ['./a']\npass_env = ['A', 'B', 'C']\nenv = { B = 'set', D = '' }\n");
    let targets = place.find(path("."), Some(&config), None).unwrap();
    let env = targets[0].env(|name| (name != "C").then(|| format!("our {name}").into()));
    let expected = [("A", "our A"), ("B", "set"), ("D", "")];
    assert_eq!(env, expected.map(|(name, value)| (name.into(), value.into())).into());
    assert_eq!(targets[0].folder(), place.path());
}

#[test]
fn a_folder_without_a_project_says_what_to_name() {
    let place = Place::new();
    let (kind, message, hint) = error_parts(place.folder(None));
    assert_eq!(kind, ErrorKind::Config);
    assert!(message.contains("none of Cargo.toml, package.json, pyproject.toml, go.mod"), "{message}");
    assert!(hint.contains("-- COMMAND"), "{hint}");
}

#[test]
fn cargo_the_only_program_is_taken_newest_first() {
    let place = Place::new();
    place.cargo(&[("", "my-tool", &["mt"], None)]);
    let (kind, message, hint) = error_parts(place.folder(None));
    assert_eq!((kind, &*message), (ErrorKind::Config, "`mt` is not built"));
    assert_eq!(hint, format!("run `cargo build` in {}", place.path().display()));

    let debug = place.program("elsewhere/debug/mt");
    let target = place.folder(None).unwrap();
    assert_eq!((&*target.name, &target.program), ("mt", &debug));
    assert_eq!(target.project.unwrap().manifests, [Manifest::Cargo]);
    let release = place.program("elsewhere/release/mt");
    Place::aged(&debug, 10);
    Place::aged(&release, 5);
    assert_eq!(place.folder(None).unwrap().program, release);
    Place::aged(&debug, 1);
    assert_eq!(place.folder(None).unwrap().program, debug);
}

#[test]
fn cargo_several_programs_are_a_choice_to_make() {
    let place = Place::new();
    let bins: &[&str] = &["one", "two"];
    place.cargo(&[("", "tools", bins, None)]);
    let (_, message, hint) = error_parts(place.folder(None));
    assert!(message.starts_with("none of the programs is built: `one`, `two`"), "{message}");
    assert!(hint.starts_with("run `cargo build` in "), "{hint}");

    let one = place.program("elsewhere/debug/one");
    assert_eq!(place.folder(None).unwrap().program, one, "the only one that is built");
    let two = place.program("elsewhere/debug/two");
    let (kind, message, hint) = error_parts(place.folder(None));
    assert_eq!(kind, ErrorKind::Config);
    assert_eq!(
        message,
        "the project has several programs: `one`, `two`\n\
         `one` (Cargo.toml), built: elsewhere/debug/one\n\
         `two` (Cargo.toml), built: elsewhere/debug/two"
    );
    assert!(hint.starts_with("choose one with --bin NAME, or set `command` under [target]"), "{hint}");
    assert_eq!(place.folder(Some("two")).unwrap().program, two);
    let (_, message, _) = error_parts(place.folder(Some("three")));
    assert!(message.starts_with("no program `three`: `one`, `two`"), "{message}");

    place.cargo(&[("", "tools", bins, Some("two"))]);
    assert_eq!(place.folder(None).unwrap().program, two);
    fs::remove_file(&two).unwrap();
    assert_eq!(error_parts(place.folder(None)).1, "`two` is not built", "and not the other one");

    let config = place.config("[target.one]\n");
    let found = place.find(path("."), Some(&config), None).unwrap();
    assert_eq!(found[0].program, one, "a target's name names the program");
}

#[test]
fn cargo_in_a_workspace_the_folder_s_own_package_counts() {
    let place = Place::new();
    for name in ["a1", "b1"] {
        place.program(&format!("elsewhere/debug/{name}"));
    }
    let members: &[(&str, &str, &[&str], Option<&str>)] =
        &[("a", "a", &["a1"], None), ("b", "b", &["b1"], None), ("c", "c", &[], None)];
    place.cargo(members);
    let find = |folder: &str, bin| {
        let mut found = place.find(path(folder), None, bin)?;
        Ok(found.remove(0))
    };
    assert_eq!(find("b", None).unwrap().name, "b1");
    assert_eq!(find("b", Some("a1")).unwrap().name, "a1");
    assert_eq!(find("b", None).unwrap().info(place.path()).project.as_deref(), Some("b"));
    let (_, message, _) = error_parts(find(".", None));
    assert!(message.contains("`a1` of package `a` (Cargo.toml), built: elsewhere/debug/a1"), "{message}");
    let (_, message, hint) = error_parts(find("c", None));
    assert!(message.contains("declares no program, but other packages do: `a1`, `b1`"), "{message}");
    assert!(hint.contains("--bin"), "{hint}");
    let with_root: Vec<_> = members.iter().copied().chain([("", "root", &["a1"][..], None)]).collect();
    place.cargo(&with_root);
    assert_eq!(place.folder(None).unwrap().name, "a1");
}

/// Projects of Cargo, by the files beside their sources.
const CARGO_PROJECTS: &[&[(&str, &str)]] = &[
    // Programs that are found by their place, beside declared ones.
    &[(
        "Cargo.toml",
        "[package]\nname = 'tool'\nedition = '2024'\n[[bin]]\nname = 'other'\npath = './src/bin/of-other.rs'\n\
         [[bin]]\nname = 'three'\n",
    )],
    &[(
        "Cargo.toml",
        "[package]\nname = 'tool'\nedition = '2024'\nautobins = false\n[[bin]]\nname = 'main'\npath = 'src/main.rs'\n",
    )],
    // The first edition finds none beside declared ones.
    &[("Cargo.toml", "[package]\nname = 'tool'\n[[bin]]\nname = 'three'\npath = 'src/bin/three.rs'\n")],
    &[("Cargo.toml", "[package]\nname = 'tool'\ndefault-run = 'three'\n")],
    &[(
        "Cargo.toml",
        "[package]\nname = 'tool'\nautobins = true\n[[bin]]\nname = 'own'\npath = 'src/main.rs'\n",
    )],
    // A workspace by patterns, with what it leaves out, and an edition for all.
    &[
        (
            "Cargo.toml",
            "[workspace]\nmembers = ['crates/*', 'tools/*-cli']\nexclude = ['crates/two']\nresolver = '3'\n\
             [workspace.package]\nedition = '2024'\n",
        ),
        (
            "crates/one/Cargo.toml",
            "[package]\nname = 'one'\nedition.workspace = true\n[[bin]]\nname = 'x'\npath = 'src/bin/three.rs'\n",
        ),
        ("crates/two/Cargo.toml", "[package]\nname = 'two'\nedition = '2024'\n"),
        ("tools/a-cli/Cargo.toml", "[package]\nname = 'a'\nedition = '2024'\n"),
        ("tools/b/Cargo.toml", "[package]\nname = 'b'\nedition = '2024'\n[workspace]\n"),
    ],
    // What members depend on by a path is a member.
    &[
        (
            "Cargo.toml",
            "[package]\nname = 'root'\nedition = '2024'\n[dependencies]\none = { path = 'one' }\n[workspace]\n\
             [workspace.dependencies]\ntwo = { path = 'deep/two' }\n",
        ),
        (
            "one/Cargo.toml",
            "[package]\nname = 'one'\nedition = '2024'\n[dev-dependencies]\ntwo.workspace = true\n\
             [target.'cfg(unix)'.build-dependencies]\nfour = { path = '../four' }\n",
        ),
        ("deep/two/Cargo.toml", "[package]\nname = 'two'\nedition = '2024'\n"),
        ("four/Cargo.toml", "[package]\nname = 'four'\nedition = '2024'\n"),
    ],
    // Default members; a member that names its workspace; where it is built.
    &[
        (
            "Cargo.toml",
            "[workspace]\nmembers = ['a', 'b', 'c/*/*']\ndefault-members = ['b']\nresolver = '3'\n",
        ),
        (
            "a/Cargo.toml",
            "[package]\nname = 'a'\nedition = '2024'\nworkspace = '..'\ndefault-run = 'three'\n",
        ),
        ("a/.cargo/config.toml", "[build]\ntarget-dir = 'of-a'\n"),
        ("b/Cargo.toml", "[package]\nname = 'b'\nedition = '2024'\n"),
        ("c/d/e/Cargo.toml", "[package]\nname = 'e'\nedition = '2024'\n"),
        (".cargo/config.toml", "[build]\ntarget-dir = '../of-all'\n"),
    ],
];

/// What Cargo says of the project in a folder.
fn metadata(folder: &Path, env: &[(&str, &str)]) -> serde_json::Value {
    let mut command = std::process::Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]).current_dir(folder);
    command.env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_TARGET_DIR").envs(env.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Compares the programs that are found in a folder, their packages and the place where they are built with what
/// Cargo says of it.
fn finds_what_cargo_says(folder: &Path, env: &[(&str, &str)]) {
    let data = metadata(folder, env);
    let packages = data["packages"].as_array().unwrap();
    let built = Path::new(data["target_directory"].as_str().unwrap()).join("debug");
    fs::create_dir_all(&built).unwrap();
    let mut expected = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let of = if packages.len() > 1 { format!(" of package `{name}`") } else { String::new() };
        for target in
            package["targets"].as_array().unwrap().iter().filter(|target| target["kind"] == json!(["bin"]))
        {
            let name = target["name"].as_str().unwrap();
            let program = built.join(name);
            fs::write(&program, "").unwrap();
            let shown = program.strip_prefix(folder).unwrap_or(&program).display();
            expected.push(format!("`{name}`{of} (Cargo.toml), built: {shown}"));
        }
    }
    let resolve = |name: &OsStr| Ok(PathBuf::from(name));
    let ours = |name: &str| match env.iter().find(|(set, _)| *set == name) {
        Some((_, value)) => Some(value.into()),
        None => std::env::var_os(name).filter(|_| !name.ends_with("_TARGET_DIR")),
    };
    let finder =
        Finder { cwd: folder, bin: Some("no-such-program"), named: false, resolve: &resolve, env: &ours };
    let error = finder.find(&path("."), None).unwrap_err();
    let mut found: Vec<String> = error.issues.iter().map(ToString::to_string).collect();
    found.sort();
    expected.sort();
    assert!(!expected.is_empty());
    assert_eq!(found, expected, "{}", folder.display());
}

#[test]
fn the_programs_of_cargo_are_those_that_cargo_names() {
    for files in CARGO_PROJECTS {
        let place = Place::new();
        let mut folders = Vec::new();
        for (file, text) in *files {
            let file = place.write(file, text);
            let folder = file.parent().unwrap().strip_prefix(place.path()).unwrap().display().to_string();
            if text.starts_with("[package]") {
                let sources =
                    ["main.rs", "bin/three.rs", "bin/of-other.rs", "bin/folder/main.rs", "bin/no/x.rs"];
                sources.iter().for_each(|name| {
                    drop(
                        place.write(
                            Path::new(&folder).join("src").join(name).to_str().unwrap(),
                            "fn main() {}\n",
                        ),
                    )
                });
            }
            if file.ends_with("Cargo.toml") {
                folders.push(place.path().join(folder).components().collect::<PathBuf>());
            }
        }
        for folder in folders {
            finds_what_cargo_says(&folder, &[]);
        }
        let elsewhere = place.path().join("by-variable").display().to_string();
        finds_what_cargo_says(place.path(), &[("CARGO_BUILD_TARGET_DIR", "built")]);
        finds_what_cargo_says(
            place.path(),
            &[("CARGO_TARGET_DIR", &elsewhere), ("CARGO_BUILD_TARGET_DIR", "built")],
        );
        let home = place.path().join("cargo-home").display().to_string();
        place.write("cargo-home/config.toml", "[build]\ntarget-dir = 'of-home'\n");
        finds_what_cargo_says(place.path(), &[("CARGO_HOME", &home)]);
    }
    // This project.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let resolve = |name: &OsStr| Ok(PathBuf::from(name));
    let ours = |name: &str| std::env::var_os(name);
    let finder =
        Finder { cwd: folder, bin: Some("agentnative"), named: false, resolve: &resolve, env: &ours };
    let targets = finder.find(&path("src"), None).unwrap();
    assert_eq!(targets[0].program.file_name().unwrap(), "agentnative");
    assert_eq!(targets[0].cwd, folder);
}

#[test]
fn cargo_s_default_members_are_those_of_the_folder() {
    let place = Place::new();
    place.cargo(&[("a", "a", &["a1"], None), ("b", "b", &["b1"], None)]);
    let manifest = fs::read_to_string(place.path().join("Cargo.toml")).unwrap();
    place.write("Cargo.toml", &format!("{manifest}default-members = ['b']\n"));
    for name in ["a1", "b1"] {
        place.program(&format!("elsewhere/debug/{name}"));
    }
    assert_eq!(place.folder(None).unwrap().name, "b1");
}

#[test]
fn a_manifest_of_cargo_with_a_fault_is_a_configuration_error() {
    let place = Place::new();
    place.cargo(&[("a", "a", &["a1"], None)]);
    place.write("a/Cargo.toml", "[package]\nname = \n");
    let error = place.folder(None).unwrap_err();
    let at = error.issues[0].place.as_ref().unwrap();
    assert_eq!((error.kind, at.line), (ErrorKind::Config, 2));
    assert!(at.file.ends_with("a/Cargo.toml"), "{error}");
}

#[test]
fn npm_scripts_run_by_themselves_or_with_node() {
    let place = Place::new();
    let node = place.program("path-bin/node");
    place.write("package.json", r#"{"name": "@me/tool", "bin": "./dist/cli.js", "scripts": {"build": "x"}}"#);
    let (_, message, hint) = error_parts(place.folder(None));
    assert_eq!(message, "`tool` is not built");
    assert!(hint.starts_with("run `npm install && npm run build` in "), "{hint}");
    let script = place.write("dist/cli.js", "#!/usr/bin/env node\n");
    let target = place.folder(None).unwrap();
    assert_eq!((&*target.name, target.program), ("tool", node));
    assert_eq!(target.prefix_args, [place.path().join("./dist/cli.js")]);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let target = place.folder(None).unwrap();
    assert_eq!((target.program, target.prefix_args.len()), (script, 0));
}

#[test]
fn npm_bins_links_and_workspaces() {
    let place = Place::new();
    place.write("package.json", r#"{"name": "two", "bin": {"one": "1.js", "other": "2.js"}}"#);
    let link = place.program("node_modules/.bin/other");
    assert_eq!(place.folder(None).unwrap().program, link, "the only one that is installed");
    let one = place.program("1.js");
    assert!(
        error_parts(place.folder(None)).1.starts_with("the project has several programs: `one`, `other`")
    );
    place.write("package.json", r#"{"name": "one", "bin": {"one": "1.js", "other": "2.js"}}"#);
    assert_eq!(place.folder(None).unwrap().program, one, "the one that is called as the package");

    let place = Place::new();
    place.write("package.json", r#"{"workspaces": ["packages/*", "extra"]}"#);
    place.write("packages/a/package.json", r#"{"name": "a", "bin": "a.js"}"#);
    place.write("extra/package.json", r#"{"name": "e", "directories": {"bin": "tools"}}"#);
    let a = place.program("packages/a/a.js");
    assert!(error_parts(place.folder(Some("e1"))).1.contains("no program `e1`: `a`"));
    assert_eq!(place.folder(None).unwrap().program, a);
    place.program("extra/tools/e1.js");
    assert_eq!(place.folder(Some("e1")).unwrap().name, "e1");
    let (_, message, _) = error_parts(place.folder(None));
    assert!(message.contains("`e1` of package `e` (package.json), built: extra/tools/e1.js"), "{message}");

    place.write("package.json", "{\n  \"bin\": }");
    let error = place.folder(None).unwrap_err();
    let at = error.issues[0].place.as_ref().unwrap();
    assert_eq!((error.kind, at.line, at.column), (ErrorKind::Config, 2, 10));
}

#[test]
fn python_scripts_are_in_the_virtual_environment() {
    let place = Place::new();
    place.write("pyproject.toml", "[project]\nname = 'x'\n[project.scripts]\nmytool = 'x:main'\n");
    let (_, message, hint) = error_parts(place.folder(None));
    assert_eq!(message, "`mytool` is not built");
    assert!(hint.contains(".venv/bin/pip install -e ."), "{hint}");
    place.write("uv.lock", "");
    assert!(error_parts(place.folder(None)).2.contains("`uv sync`"));
    let tool = place.program("venv/bin/mytool");
    assert_eq!(place.folder(None).unwrap().program, tool);
    place.write("pyproject.toml", "[tool.poetry.scripts]\npoet = 'x:main'\n");
    let poet = place.program(".venv/bin/poet");
    assert_eq!(place.folder(None).unwrap().program, poet);

    place.write("pyproject.toml", "[project]\nx = \n");
    let error = place.folder(None).unwrap_err();
    assert_eq!(error.issues[0].place.as_ref().unwrap().line, 2);
    place.write("pyproject.toml", "[project]\nname = 'x'\n");
    let (_, message, _) = error_parts(place.folder(None));
    assert!(message.contains("declares no program"), "{message}");
}

#[test]
fn go_main_packages() {
    let place = Place::new();
    place.write("go.mod", "module example.org/me/tool/v2 // x\n\ngo 1.22\n");
    place.write("lib.go", "package tool\n");
    place.write("gen.go", "//go:build ignore\n\npackage main\n");
    place.write("x_test.go", "package main\n");
    place.write("cmd/serve/main.go", "// Serves.\npackage main\n");
    place.write("cmd/shared/x.go", "package shared\n");
    let (_, message, hint) = error_parts(place.folder(None));
    assert_eq!(message, "`serve` is not built");
    assert!(hint.starts_with("run `go build -o bin/serve ./cmd/serve` in "), "{hint}");
    let serve = place.program("bin/serve");
    assert_eq!(place.folder(None).unwrap().program, serve);
    place.write("main.go", "package main\n");
    let tool = place.program("tool");
    assert_eq!(place.folder(Some("tool")).unwrap().program, tool);
    assert!(
        error_parts(place.folder(None)).1.starts_with("the project has several programs: `tool`, `serve`")
    );
}

#[test]
fn two_manifests_in_one_folder_are_one_project() {
    let place = Place::new();
    place.cargo(&[("", "tool", &["tool"], None)]);
    place.write("package.json", "{\"name\": \"docs\"}");
    let tool = place.program("elsewhere/debug/tool");
    let target = place.folder(None).unwrap();
    assert_eq!(target.program, tool);
    assert_eq!(target.project.unwrap().manifests, [Manifest::Cargo, Manifest::Npm]);
}
