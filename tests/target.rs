//! Search for the target: commands, files, and projects of each kind.

use agentnative::config::{Config, Date, ValidationContext};
use agentnative::manifest::ManifestKind;
use agentnative::targets::{Finder, Target, TargetSelector};
use agentnative_contract::error::{Error, ErrorKind, Result};
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const KNOWN: ValidationContext<'static> =
    ValidationContext { checks: &[], contracts: &[], today: Date { year: 2026, month: 1, day: 1 } };

/// A temporary repository. Folders above the root of a repository are not searched.
struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
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

    /// Writes an executable script.
    fn program(&self, path: &str) -> PathBuf {
        let path = self.write(path, "#!/bin/sh\necho hi\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Sets the modification time of a file, which is earlier for larger `seconds`.
    fn set_age(path: &Path, seconds: u64) {
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 - seconds);
        fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    }

    fn config(&self, text: &str) -> Config {
        let path = self.write("agentnative.toml", text);
        Config::load(&path, &KNOWN).unwrap()
    }

    /// Finds targets with `path-bin` as PATH and without environment variables.
    fn find(
        &self,
        selector: TargetSelector,
        config: Option<&Config>,
        bin: Option<&str>,
    ) -> Result<Vec<Target>> {
        let resolve = |name: &OsStr| resolve(name, &self.path().join("path-bin"));
        Finder { cwd: self.path(), bin_name: bin, trusts_folder: false, resolve: &resolve, env: &|_| None }
            .find(&selector, config)
    }

    fn find_in_folder(&self, bin: Option<&str>) -> Result<Target> {
        let mut targets = self.find(path("."), None, bin)?;
        assert_eq!(targets.len(), 1);
        Ok(targets.remove(0))
    }

    /// Writes a Cargo workspace with the target directory `elsewhere`. Each package has a folder, a name, programs and
    /// a default program; a package with an empty folder is the root package.
    fn write_cargo_workspace(&self, packages: &[(&str, &str, &[&str], Option<&str>)]) {
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

/// Resolves a program as the runner does, with `folder` as PATH.
fn resolve(name: &OsStr, folder: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(folder.join(name)).unwrap();
    match path.metadata() {
        Ok(found) if found.is_file() && found.permissions().mode() & 0o111 != 0 => Ok(path),
        Ok(_) => Err(Error::auth(format!("{} cannot be executed", path.display()))),
        Err(_) => Err(Error::config(format!("no program {}", path.display()))),
    }
}

/// Returns the kind of an error, its message with the issues, and its hint.
fn error_parts(result: Result<Target>) -> (ErrorKind, String, String) {
    let error = result.unwrap_err();
    let issues: Vec<String> = error.issues.iter().map(|issue| format!("\n{issue}")).collect();
    (error.kind, error.message + &issues.concat(), error.hint.unwrap_or_default())
}

#[test]
fn a_path_of_a_file_selects_that_program() {
    let repository = Repository::new();
    let tool = repository.program("bin/tool");
    let targets = repository.find(path("bin/tool"), None, None).unwrap();
    let [target] = &targets[..] else { panic!() };
    assert_eq!((&*target.name, &target.program), ("tool", &tool));
    assert_eq!((&*target.cwd, &target.project), (repository.path(), &None));
    assert!(target.prefix_args.is_empty());
    let info = target.info(repository.path());
    assert_eq!((info.command, info.project), (vec![tool.display().to_string()], None));
}

#[test]
fn a_script_that_is_not_executable_is_run_by_its_interpreter() {
    let repository = Repository::new();
    for name in ["python3", "node", "sh", "bash"] {
        repository.program(&format!("path-bin/{name}"));
    }
    let executable = |name: &str, text: &str| {
        let file = repository.write(name, text);
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    };
    repository.write("plain.py", "print(1)\n");
    repository.write("env.py", "#!/usr/bin/env python3\nprint(1)\n");
    repository.write("split.js", "#!/usr/bin/env -S node --no-warnings\n");
    repository.write("tool.mjs", "console.log(1)\n");
    repository.write("tool.sh", "echo 1\n");
    repository.write("bash-one", "#!/bin/bash\necho 1\n");
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
        let target = repository.find(path(name), None, None).unwrap().remove(0);
        assert_eq!(target.program, repository.path().join("path-bin").join(interpreter), "{name}");
        let file = repository.path().join(name).into_os_string();
        let words: Vec<OsString> = arguments.iter().map(OsString::from).chain([file]).collect();
        assert_eq!((target.prefix_args, target.name.as_str()), (words, name));
    }
    executable("own.py", "#!/usr/bin/env python3\nprint(1)\n");
    executable("binary.py", "\x7fELF\0");
    executable("other", "");
    for name in ["own.py", "binary.py", "other"] {
        let target = repository.find(path(name), None, None).unwrap().remove(0);
        assert_eq!((target.program, target.prefix_args), (repository.path().join(name), Vec::new()));
    }
    repository.write("data.txt", "no program\n");
    assert_eq!(repository.find(path("data.txt"), None, None).unwrap_err().kind, ErrorKind::Auth);
    // The programs of a folder are suggested, but not selected.
    let error = repository.find(path("."), None, None).unwrap_err();
    let hint = error.hint.unwrap();
    assert!(hint.contains("(this folder has `bash-one`, `binary.py`, `env.py` …)"), "{hint}");
}

#[test]
fn a_command_has_its_arguments_and_is_found_on_path_or_by_its_path() {
    let repository = Repository::new();
    let tool = repository.program("path-bin/tool");
    for word in ["tool", "./path-bin/tool", tool.to_str().unwrap()] {
        let argv = TargetSelector::command([word, "--all", ""]);
        let targets = repository.find(argv, None, None).unwrap();
        assert_eq!(targets[0].program, tool, "{word}");
        assert_eq!(targets[0].prefix_args, ["--all", ""]);
        assert_eq!(targets[0].name, "tool");
    }
    let named = repository.find(TargetSelector::Name("tool".into()), None, None).unwrap();
    assert_eq!(named[0].program, tool);
}

#[test]
fn a_target_that_cannot_run_has_the_fitting_kind_of_error() {
    let repository = Repository::new();
    repository.write("plain", "text");
    repository.write("folder/x", "");
    let kind = |selector: TargetSelector| repository.find(selector, None, None).unwrap_err().kind;
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
    let repository = Repository::new();
    let tool = repository.program("path-bin/tool");
    let resolve = |name: &OsStr| resolve(name, &repository.path().join("path-bin"));
    let finder = Finder {
        cwd: repository.path(),
        bin_name: None,
        trusts_folder: false,
        resolve: &resolve,
        env: &|_| None,
    };
    assert_eq!(finder.search_start(&TargetSelector::command(["tool", "x"])).unwrap(), tool);
    assert_eq!(finder.search_start(&TargetSelector::Name("tool".into())).unwrap(), tool);
    assert_eq!(finder.search_start(&path("sub")).unwrap(), repository.path().join("sub"));
}

#[test]
fn the_configured_command_is_relative_to_the_configuration() {
    let repository = Repository::new();
    let tool = repository.program("build/mycli");
    repository.write("sub/x", "");
    let config = repository.config("[target]\ncommand = ['./build/mycli', '--quiet']\ntimeout = 3\n");
    let targets = repository.find(path("sub"), Some(&config), None).unwrap();
    let [target] = &targets[..] else { panic!() };
    assert_eq!((&*target.name, &target.program), ("mycli", &tool));
    assert_eq!(target.prefix_args, ["--quiet"]);
    assert_eq!(target.cwd, repository.path());
    assert_eq!(target.config.timeout, Duration::from_secs(3));
    assert_eq!(target.info(repository.path()).project.as_deref(), Some("."));

    fs::remove_file(&tool).unwrap();
    let error = repository.find(path("sub"), Some(&config), None).unwrap_err();
    assert_eq!(
        (error.kind, &*error.message),
        (ErrorKind::Config, &*format!("no program {}", tool.display()))
    );
    assert!(error.hint.unwrap().starts_with("build it"));
}

#[test]
fn a_command_has_a_project_only_if_it_belongs_to_one() {
    let repository = Repository::new();
    repository.write("package.json", r#"{"name": "tools", "bin": {"mine": "bin/mine.js"}}"#);
    repository.write("README.md", "Exit codes: 0 success");
    repository.write("tool.py", "");
    for program in ["path-bin/findmnt", "path-bin/python3", "path-bin/mine", "sub/cli", "build/x"] {
        repository.program(program);
    }
    let outside = tempfile::tempdir().unwrap();
    let unrelated = outside.path().join("tool").display().to_string();
    let declared = outside.path().join("mine").display().to_string();
    for program in [&unrelated, &declared] {
        fs::copy(repository.path().join("sub/cli"), program).unwrap();
    }
    let project = |folder: &str, command: &str| {
        let path = repository
            .write(&format!("{folder}/agentnative.toml"), &format!("[target]\ncommand = {command}\n"));
        let config = Config::load(&path, &KNOWN).unwrap();
        let resolve = |name: &OsStr| resolve(name, &repository.path().join("path-bin"));
        let finder = Finder {
            cwd: repository.path(),
            bin_name: None,
            trusts_folder: false,
            resolve: &resolve,
            env: &|_| None,
        };
        let code = finder.code(&self::path(folder), Some(&config)).unwrap().map(|code| code.project.folder);
        let target = finder.find(&self::path(folder), Some(&config)).unwrap().remove(0);
        let found = target.project.map(|project| project.folder);
        // The program and its code belong to the same project.
        assert_eq!(found, code, "{command}");
        found.map(|found| found.strip_prefix(repository.path()).unwrap().display().to_string())
    };
    for (folder, command, expected) in [
        (".", "['findmnt']".to_owned(), None),
        (".", "['findmnt', '--all']".to_owned(), None),
        (".", format!("['{unrelated}']"), None),
        // A program outside of the project with a name that the manifest declares.
        (".", format!("['{declared}']"), Some("")),
        (".", "['./build/x']".to_owned(), Some("")),
        ("sub", "['../build/x']".to_owned(), Some("")),
        // An interpreter with an existing file, and a program that the manifest declares.
        (".", "['python3', 'tool.py']".to_owned(), Some("")),
        (".", "['mine']".to_owned(), Some("")),
        // A script next to its configuration, in a subfolder of another project.
        ("sub", "['./cli']".to_owned(), Some("sub")),
    ] {
        assert_eq!(project(folder, &command).as_deref(), expected, "{folder}: {command}");
    }
}

#[test]
fn all_configured_targets_of_a_folder_are_found() {
    let repository = Repository::new();
    repository.program("a");
    repository.program("path-bin/b");
    let config = repository.config("[target.one]\ncommand = ['./a']\n[target.b]\ncommand = ['b']\n");
    let targets = repository.find(path("."), Some(&config), None).unwrap();
    let names: Vec<&str> = targets.iter().map(|target| &*target.name).collect();
    assert_eq!(names, ["one", "b"]);
    let named = repository.find(TargetSelector::Name("b".into()), Some(&config), None).unwrap();
    assert_eq!(named[0].config.name.as_deref(), Some("b"));
    let only = repository.find(path("."), Some(&config), Some("b")).unwrap();
    assert_eq!(only.iter().map(|target| &*target.name).collect::<Vec<_>>(), ["b"]);
    let none = repository.find(path("."), Some(&config), Some("c")).unwrap_err();
    assert_eq!(none.kind, ErrorKind::Usage);
    let error = repository.find(path("a"), Some(&config), None).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(error.message.ends_with("no target `a`; its targets: one, b"), "{error}");
}

#[test]
fn runs_have_the_variables_that_are_passed_or_set() {
    let repository = Repository::new();
    repository.program("a");
    let config = repository
        .config("[target]\ncommand = ['./a']\npass_env = ['A', 'B', 'C']\nenv = { B = 'set', D = '' }\n");
    let targets = repository.find(path("."), Some(&config), None).unwrap();
    let env = targets[0].env(|name| (name != "C").then(|| format!("our {name}").into()));
    let expected = [("A", "our A"), ("B", "set"), ("D", "")];
    assert_eq!(env, expected.map(|(name, value)| (name.into(), value.into())).into());
    assert_eq!(targets[0].config_folder(), repository.path());
}

#[test]
fn a_folder_without_a_project_is_an_error_with_a_hint() {
    let repository = Repository::new();
    let (kind, message, hint) = error_parts(repository.find_in_folder(None));
    assert_eq!(kind, ErrorKind::Config);
    assert!(message.contains("none of Cargo.toml, package.json, pyproject.toml, go.mod"), "{message}");
    assert!(hint.contains("-- COMMAND"), "{hint}");
}

#[test]
fn the_newest_build_of_the_only_cargo_program_is_used() {
    let repository = Repository::new();
    repository.write_cargo_workspace(&[("", "my-tool", &["mt"], None)]);
    let (kind, message, hint) = error_parts(repository.find_in_folder(None));
    assert_eq!((kind, &*message), (ErrorKind::Config, "`mt` is not built"));
    assert_eq!(hint, format!("run `cargo build` in {}", repository.path().display()));

    let debug = repository.program("elsewhere/debug/mt");
    let target = repository.find_in_folder(None).unwrap();
    assert_eq!((&*target.name, &target.program), ("mt", &debug));
    assert_eq!(target.project.unwrap().manifests, [ManifestKind::Cargo]);
    let release = repository.program("elsewhere/release/mt");
    Repository::set_age(&debug, 10);
    Repository::set_age(&release, 5);
    assert_eq!(repository.find_in_folder(None).unwrap().program, release);
    Repository::set_age(&debug, 1);
    assert_eq!(repository.find_in_folder(None).unwrap().program, debug);
}

#[test]
fn several_cargo_programs_require_a_choice() {
    let repository = Repository::new();
    let bins: &[&str] = &["one", "two"];
    repository.write_cargo_workspace(&[("", "tools", bins, None)]);
    let (_, message, hint) = error_parts(repository.find_in_folder(None));
    assert!(message.starts_with("none of the programs is built: `one`, `two`"), "{message}");
    assert!(hint.starts_with("run `cargo build` in "), "{hint}");

    let one = repository.program("elsewhere/debug/one");
    assert_eq!(repository.find_in_folder(None).unwrap().program, one, "the only program that is built");
    let two = repository.program("elsewhere/debug/two");
    let (kind, message, hint) = error_parts(repository.find_in_folder(None));
    assert_eq!(kind, ErrorKind::Config);
    assert_eq!(
        message,
        "the project has several programs: `one`, `two`\n\
         `one` (Cargo.toml), built: elsewhere/debug/one\n\
         `two` (Cargo.toml), built: elsewhere/debug/two"
    );
    assert!(hint.starts_with("choose one with --bin NAME, or set `command` under [target]"), "{hint}");
    assert_eq!(repository.find_in_folder(Some("two")).unwrap().program, two);
    let (_, message, _) = error_parts(repository.find_in_folder(Some("three")));
    assert!(message.starts_with("no program `three`: `one`, `two`"), "{message}");

    repository.write_cargo_workspace(&[("", "tools", bins, Some("two"))]);
    assert_eq!(repository.find_in_folder(None).unwrap().program, two);
    fs::remove_file(&two).unwrap();
    assert_eq!(
        error_parts(repository.find_in_folder(None)).1,
        "`two` is not built",
        "the other program is not used"
    );

    let config = repository.config("[target.one]\n");
    let found = repository.find(path("."), Some(&config), None).unwrap();
    assert_eq!(found[0].program, one, "the name of a target selects the program");
}

#[test]
fn the_package_of_the_folder_is_preferred_in_a_cargo_workspace() {
    let repository = Repository::new();
    for name in ["a1", "b1"] {
        repository.program(&format!("elsewhere/debug/{name}"));
    }
    let members: &[(&str, &str, &[&str], Option<&str>)] =
        &[("a", "a", &["a1"], None), ("b", "b", &["b1"], None), ("c", "c", &[], None)];
    repository.write_cargo_workspace(members);
    let find = |folder: &str, bin| {
        let mut found = repository.find(path(folder), None, bin)?;
        Ok(found.remove(0))
    };
    assert_eq!(find("b", None).unwrap().name, "b1");
    assert_eq!(find("b", Some("a1")).unwrap().name, "a1");
    assert_eq!(find("b", None).unwrap().info(repository.path()).project.as_deref(), Some("b"));
    let (_, message, _) = error_parts(find(".", None));
    assert!(message.contains("`a1` of package `a` (Cargo.toml), built: elsewhere/debug/a1"), "{message}");
    let (_, message, hint) = error_parts(find("c", None));
    assert!(message.contains("declares no program, but other packages do: `a1`, `b1`"), "{message}");
    assert!(hint.contains("--bin"), "{hint}");
    let with_root: Vec<_> = members.iter().copied().chain([("", "root", &["a1"][..], None)]).collect();
    repository.write_cargo_workspace(&with_root);
    assert_eq!(repository.find_in_folder(None).unwrap().name, "a1");
}

/// Cargo projects by their manifests and configuration files. Source files are added to each package.
const CARGO_PROJECTS: &[&[(&str, &str)]] = &[
    // Declared programs, and programs that are discovered by their path.
    &[(
        "Cargo.toml",
        "[package]\nname = 'tool'\nedition = '2024'\n[[bin]]\nname = 'other'\npath = './src/bin/of-other.rs'\n\
         [[bin]]\nname = 'three'\n",
    )],
    &[(
        "Cargo.toml",
        "[package]\nname = 'tool'\nedition = '2024'\nautobins = false\n[[bin]]\nname = 'main'\npath = 'src/main.rs'\n",
    )],
    // Edition 2015 discovers no programs if some are declared.
    &[("Cargo.toml", "[package]\nname = 'tool'\n[[bin]]\nname = 'three'\npath = 'src/bin/three.rs'\n")],
    &[("Cargo.toml", "[package]\nname = 'tool'\ndefault-run = 'three'\n")],
    &[(
        "Cargo.toml",
        "[package]\nname = 'tool'\nautobins = true\n[[bin]]\nname = 'own'\npath = 'src/main.rs'\n",
    )],
    // A workspace with patterns, exclusions, and an inherited edition.
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
    // Path dependencies of members are members.
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
    // Default members, a member that names its workspace, and a target directory.
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

/// Returns the output of `cargo metadata` for a folder.
fn metadata(folder: &Path, env: &[(&str, &str)]) -> serde_json::Value {
    let mut command = std::process::Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]).current_dir(folder);
    command.env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_TARGET_DIR").envs(env.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Compares the programs that are found in a folder, with their packages and build paths, with those of `cargo
/// metadata`.
fn assert_same_programs_as_cargo(folder: &Path, env: &[(&str, &str)]) {
    let data = metadata(folder, env);
    let packages = data["packages"].as_array().unwrap();
    let built = Path::new(data["target_directory"].as_str().unwrap()).join("debug");
    fs::create_dir_all(&built).unwrap();
    let mut expected = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let package_suffix = if packages.len() > 1 { format!(" of package `{name}`") } else { String::new() };
        for target in
            package["targets"].as_array().unwrap().iter().filter(|target| target["kind"] == json!(["bin"]))
        {
            let name = target["name"].as_str().unwrap();
            let program = built.join(name);
            fs::write(&program, "").unwrap();
            let shown = program.strip_prefix(folder).unwrap_or(&program).display();
            expected.push(format!("`{name}`{package_suffix} (Cargo.toml), built: {shown}"));
        }
    }
    let resolve = |name: &OsStr| Ok(PathBuf::from(name));
    let lookup = |name: &str| match env.iter().find(|(set, _)| *set == name) {
        Some((_, value)) => Some(value.into()),
        None => std::env::var_os(name).filter(|_| !name.ends_with("_TARGET_DIR")),
    };
    let finder = Finder {
        cwd: folder,
        bin_name: Some("no-such-program"),
        trusts_folder: false,
        resolve: &resolve,
        env: &lookup,
    };
    let error = finder.find(&path("."), None).unwrap_err();
    let mut found: Vec<String> = error.issues.iter().map(ToString::to_string).collect();
    found.sort();
    expected.sort();
    assert!(!expected.is_empty());
    assert_eq!(found, expected, "{}", folder.display());
}

#[test]
fn programs_of_cargo_projects_are_those_of_cargo_metadata() {
    for files in CARGO_PROJECTS {
        let repository = Repository::new();
        let mut folders = Vec::new();
        for (file, text) in *files {
            let file = repository.write(file, text);
            let folder =
                file.parent().unwrap().strip_prefix(repository.path()).unwrap().display().to_string();
            if text.starts_with("[package]") {
                let sources =
                    ["main.rs", "bin/three.rs", "bin/of-other.rs", "bin/folder/main.rs", "bin/no/x.rs"];
                sources.iter().for_each(|name| {
                    drop(
                        repository.write(
                            Path::new(&folder).join("src").join(name).to_str().unwrap(),
                            "fn main() {}\n",
                        ),
                    )
                });
            }
            if file.ends_with("Cargo.toml") {
                folders.push(repository.path().join(folder).components().collect::<PathBuf>());
            }
        }
        for folder in folders {
            assert_same_programs_as_cargo(&folder, &[]);
        }
        let elsewhere = repository.path().join("by-variable").display().to_string();
        assert_same_programs_as_cargo(repository.path(), &[("CARGO_BUILD_TARGET_DIR", "built")]);
        assert_same_programs_as_cargo(
            repository.path(),
            &[("CARGO_TARGET_DIR", &elsewhere), ("CARGO_BUILD_TARGET_DIR", "built")],
        );
        let home = repository.path().join("cargo-home").display().to_string();
        repository.write("cargo-home/config.toml", "[build]\ntarget-dir = 'of-home'\n");
        assert_same_programs_as_cargo(repository.path(), &[("CARGO_HOME", &home)]);
    }
    // The project of this test.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let resolve = |name: &OsStr| Ok(PathBuf::from(name));
    let lookup = |name: &str| std::env::var_os(name);
    let finder = Finder {
        cwd: folder,
        bin_name: Some("agentnative"),
        trusts_folder: false,
        resolve: &resolve,
        env: &lookup,
    };
    let targets = finder.find(&path("src"), None).unwrap();
    assert_eq!(targets[0].program.file_name().unwrap(), "agentnative");
    assert_eq!(targets[0].cwd, folder);
}

#[test]
fn default_members_of_a_cargo_workspace_are_used() {
    let repository = Repository::new();
    repository.write_cargo_workspace(&[("a", "a", &["a1"], None), ("b", "b", &["b1"], None)]);
    let manifest = fs::read_to_string(repository.path().join("Cargo.toml")).unwrap();
    repository.write("Cargo.toml", &format!("{manifest}default-members = ['b']\n"));
    for name in ["a1", "b1"] {
        repository.program(&format!("elsewhere/debug/{name}"));
    }
    assert_eq!(repository.find_in_folder(None).unwrap().name, "b1");
}

#[test]
fn an_invalid_cargo_manifest_is_a_configuration_error() {
    let repository = Repository::new();
    repository.write_cargo_workspace(&[("a", "a", &["a1"], None)]);
    repository.write("a/Cargo.toml", "[package]\nname = \n");
    let error = repository.find_in_folder(None).unwrap_err();
    let at = error.issues[0].place.as_ref().unwrap();
    assert_eq!((error.kind, at.line), (ErrorKind::Config, 2));
    assert!(at.file.ends_with("a/Cargo.toml"), "{error}");
}

#[test]
fn npm_scripts_are_run_directly_or_with_node() {
    let repository = Repository::new();
    let node = repository.program("path-bin/node");
    repository
        .write("package.json", r#"{"name": "@me/tool", "bin": "./dist/cli.js", "scripts": {"build": "x"}}"#);
    let (_, message, hint) = error_parts(repository.find_in_folder(None));
    assert_eq!(message, "`tool` is not built");
    assert!(hint.starts_with("run `npm install && npm run build` in "), "{hint}");
    let script = repository.write("dist/cli.js", "#!/usr/bin/env node\n");
    let target = repository.find_in_folder(None).unwrap();
    assert_eq!((&*target.name, target.program), ("tool", node));
    assert_eq!(target.prefix_args, [repository.path().join("./dist/cli.js")]);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let target = repository.find_in_folder(None).unwrap();
    assert_eq!((target.program, target.prefix_args.len()), (script, 0));
}

#[test]
fn npm_programs_are_found_in_bin_links_and_workspaces() {
    let repository = Repository::new();
    repository.write("package.json", r#"{"name": "two", "bin": {"one": "1.js", "other": "2.js"}}"#);
    let link = repository.program("node_modules/.bin/other");
    assert_eq!(repository.find_in_folder(None).unwrap().program, link, "the only program that is installed");
    let one = repository.program("1.js");
    assert!(
        error_parts(repository.find_in_folder(None))
            .1
            .starts_with("the project has several programs: `one`, `other`")
    );
    repository.write("package.json", r#"{"name": "one", "bin": {"one": "1.js", "other": "2.js"}}"#);
    assert_eq!(
        repository.find_in_folder(None).unwrap().program,
        one,
        "the program with the name of the package"
    );

    let repository = Repository::new();
    repository.write("package.json", r#"{"workspaces": ["packages/*", "extra"]}"#);
    repository.write("packages/a/package.json", r#"{"name": "a", "bin": "a.js"}"#);
    repository.write("extra/package.json", r#"{"name": "e", "directories": {"bin": "tools"}}"#);
    let a = repository.program("packages/a/a.js");
    assert!(error_parts(repository.find_in_folder(Some("e1"))).1.contains("no program `e1`: `a`"));
    assert_eq!(repository.find_in_folder(None).unwrap().program, a);
    repository.program("extra/tools/e1.js");
    assert_eq!(repository.find_in_folder(Some("e1")).unwrap().name, "e1");
    let (_, message, _) = error_parts(repository.find_in_folder(None));
    assert!(message.contains("`e1` of package `e` (package.json), built: extra/tools/e1.js"), "{message}");

    repository.write("package.json", "{\n  \"bin\": }");
    let error = repository.find_in_folder(None).unwrap_err();
    let at = error.issues[0].place.as_ref().unwrap();
    assert_eq!((error.kind, at.line, at.column), (ErrorKind::Config, 2, 10));
}

#[test]
fn python_scripts_are_found_in_the_virtual_environment() {
    let repository = Repository::new();
    repository.write("pyproject.toml", "[project]\nname = 'x'\n[project.scripts]\nmytool = 'x:main'\n");
    let (_, message, hint) = error_parts(repository.find_in_folder(None));
    assert_eq!(message, "`mytool` is not built");
    assert!(hint.contains(".venv/bin/pip install -e ."), "{hint}");
    repository.write("uv.lock", "");
    assert!(error_parts(repository.find_in_folder(None)).2.contains("`uv sync`"));
    let tool = repository.program("venv/bin/mytool");
    assert_eq!(repository.find_in_folder(None).unwrap().program, tool);
    repository.write("pyproject.toml", "[tool.poetry.scripts]\npoet = 'x:main'\n");
    let poet = repository.program(".venv/bin/poet");
    assert_eq!(repository.find_in_folder(None).unwrap().program, poet);

    repository.write("pyproject.toml", "[project]\nx = \n");
    let error = repository.find_in_folder(None).unwrap_err();
    assert_eq!(error.issues[0].place.as_ref().unwrap().line, 2);
    repository.write("pyproject.toml", "[project]\nname = 'x'\n");
    let (_, message, _) = error_parts(repository.find_in_folder(None));
    assert!(message.contains("declares no program"), "{message}");
}

#[test]
fn main_packages_of_go_are_programs() {
    let repository = Repository::new();
    repository.write("go.mod", "module example.org/me/tool/v2 // x\n\ngo 1.22\n");
    repository.write("lib.go", "package tool\n");
    repository.write("gen.go", "//go:build ignore\n\npackage main\n");
    repository.write("x_test.go", "package main\n");
    repository.write("cmd/serve/main.go", "// Serves.\npackage main\n");
    repository.write("cmd/shared/x.go", "package shared\n");
    let (_, message, hint) = error_parts(repository.find_in_folder(None));
    assert_eq!(message, "`serve` is not built");
    assert!(hint.starts_with("run `go build -o bin/serve ./cmd/serve` in "), "{hint}");
    let serve = repository.program("bin/serve");
    assert_eq!(repository.find_in_folder(None).unwrap().program, serve);
    repository.write("main.go", "package main\n");
    let tool = repository.program("tool");
    assert_eq!(repository.find_in_folder(Some("tool")).unwrap().program, tool);
    assert!(
        error_parts(repository.find_in_folder(None))
            .1
            .starts_with("the project has several programs: `tool`, `serve`")
    );
}

#[test]
fn two_manifests_in_one_folder_are_one_project() {
    let repository = Repository::new();
    repository.write_cargo_workspace(&[("", "tool", &["tool"], None)]);
    repository.write("package.json", "{\"name\": \"docs\"}");
    let tool = repository.program("elsewhere/debug/tool");
    let target = repository.find_in_folder(None).unwrap();
    assert_eq!(target.program, tool);
    assert_eq!(target.project.unwrap().manifests, [ManifestKind::Cargo, ManifestKind::Npm]);
}
