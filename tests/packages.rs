//! Packages and the action for CI: the launcher of the npm package, the script of the action, and the contents of
//! `cargo install` and `cargo package`.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn write_executable(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn sh(script: &str, folder: &Path) {
    let status = Command::new("bash").args(["-ec", script]).current_dir(folder).status().unwrap();
    assert!(status.success(), "{script}");
}

/// A simulated runner of the action: a folder with the files that steps write to.
struct Runner {
    folder: tempfile::TempDir,
}

impl Runner {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // `cargo` is replaced, because a build takes minutes.
        write_executable(
            &folder.path().join("tools/cargo"),
            "#!/bin/sh\necho \"$@\" >\"$RUNNER_TEMP/cargo\"\n",
        );
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a step of the action with these variables.
    fn step(&self, step: &str, variables: &[(&str, &str)]) -> Output {
        let path = format!("{}:{}", self.path("tools").display(), std::env::var("PATH").unwrap());
        Command::new(root().join("packages/action.sh"))
            .arg(step)
            .current_dir(self.folder.path())
            .env("PATH", path)
            .env("RUNNER_TEMP", self.folder.path())
            .env("GITHUB_PATH", self.path("path"))
            .env("GITHUB_OUTPUT", self.path("output"))
            .envs(
                ["INPUT_VERSION", "INPUT_REPORT", "INPUT_ARGS", "INPUT_PRINCIPLE", "RELEASES"]
                    .map(|name| (name, "")),
            )
            .env("INPUT_STRICT", "false")
            .env("INPUT_COMMENT", "false")
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    }

    /// Returns the outputs of all steps so far.
    fn outputs(&self) -> BTreeMap<String, String> {
        let text = fs::read_to_string(self.path("output")).unwrap_or_default();
        let lines = text.lines().map(|line| line.split_once('=').unwrap());
        lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Creates a release of this version with a program that prints its arguments and exits with 1. Returns its URL.
    fn create_release(&self) -> String {
        let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        let name = format!("agentnative-{VERSION}-{target}");
        let program = self.path("releases").join(format!("v{VERSION}")).join(&name).join("agentnative");
        write_executable(&program, "#!/bin/sh\nprintf '[%s]' \"$@\"\nexit 1\n");
        let pack = format!("tar czf {name}.tar.gz {name}; sha256sum *.tar.gz >SHA256SUMS");
        sh(&pack, program.ancestors().nth(2).unwrap());
        format!("file://{}", self.path("releases").display())
    }
}

/// Returns whether curl is installed, with a notice on stderr if not.
fn has_curl() -> bool {
    let found = Command::new("curl").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no curl here");
    }
    found
}

#[test]
fn the_action_installs_a_release_with_a_valid_checksum_and_passes_its_inputs_unchanged() {
    if !has_curl() {
        return;
    }
    let runner = Runner::new();
    let releases = runner.create_release();
    let found = runner.step("find", &[("RELEASES", &releases), ("INPUT_VERSION", &format!("v{VERSION}"))]);
    assert!(found.status.success(), "{found:?}");
    let program = runner.outputs()["program"].clone();
    assert!(!runner.outputs().contains_key("build"));
    assert_eq!(
        fs::read_to_string(runner.path("path")).unwrap().trim(),
        program.trim_end_matches("/agentnative")
    );

    let inputs = [
        ("PROGRAM", program.as_str()),
        ("INPUT_PATH", "a tool; $(touch broken)"),
        ("INPUT_STRICT", "true"),
        ("INPUT_PRINCIPLE", "2"),
        ("INPUT_REPORT", "sarif=a b.sarif\n\njunit=`touch broken`"),
        ("INPUT_ARGS", "--probe\n1:show '7'"),
    ];
    let checked = runner.step("check", &inputs);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    assert_eq!(runner.outputs()["exit-code"], "1");
    assert!(!runner.outputs().contains_key("report"), "the program writes no report");
    let report = format!("[--report][json={}]", runner.path("agentnative/report.json").display());
    assert_eq!(
        String::from_utf8(checked.stdout).unwrap(),
        format!(
            "[check][--principle][2][--strict][--report][sarif=a b.sarif][--report][junit=`touch broken`]{report}\
             [a tool; $(touch broken)][--probe][1:show '7']"
        )
    );
    assert!(!runner.path("broken").exists());
}

#[test]
fn the_action_rejects_invalid_releases_and_builds_only_its_own_version() {
    if !has_curl() {
        return;
    }
    let runner = Runner::new();
    let releases = runner.create_release();
    let assert_error = |output: Output, part: &str| {
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("::error title=agentnative::") && text.contains(part), "{text}");
    };
    let find = |releases, version| runner.step("find", &[("RELEASES", releases), ("INPUT_VERSION", version)]);
    assert_error(find(&releases, "9.9.9"), "there is no release of version 9.9.9");
    assert_error(find(&releases, "../../other"), "expected a version such as 0.1.0");
    for input in ["INPUT_STRICT", "INPUT_COMMENT"] {
        assert_error(runner.step("check", &[(input, "yes")]), "expected true or false, found 'yes'");
    }

    let sums = runner.path(&format!("releases/v{VERSION}/SHA256SUMS"));
    let text = fs::read_to_string(&sums).unwrap();
    fs::write(&sums, format!("{}{}", "0".repeat(64), &text[64..])).unwrap();
    assert_error(find(&releases, ""), "differs from the one in SHA256SUMS");
    fs::write(&sums, text.replace("agentnative-", "other-")).unwrap();
    assert_error(find(&releases, ""), "differs from the one in SHA256SUMS");
    assert!(!runner.path("agentnative/bin/agentnative").exists());

    // Without a release.
    let found = find("", "");
    assert!(found.status.success(), "{found:?}");
    let outputs = runner.outputs();
    assert_eq!(outputs["build"], "true");
    assert!(outputs["key"].starts_with(&format!("agentnative-{VERSION}-")), "{}", outputs["key"]);
    assert!(runner.step("build", &[]).status.success());
    let built = format!(
        "install --locked --path {} --root {} --force\n",
        root().display(),
        runner.path("agentnative").display()
    );
    assert_eq!(fs::read_to_string(runner.path("cargo")).unwrap(), built);
}

/// Installs the npm packages with the program that `install` creates at a path, in a new folder.
fn install_npm_packages(install: impl FnOnce(&Path)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("node_modules/agentnative-check");
    let platform = match std::env::consts::ARCH {
        "x86_64" => "agentnative-check-linux-x64",
        _ => "agentnative-check-linux-arm64",
    };
    let sources = root().join("packages/npm");
    let mut manifest: Value =
        serde_json::from_str(&fs::read_to_string(sources.join("package.json")).unwrap()).unwrap();
    manifest["optionalDependencies"] = serde_json::json!({platform: VERSION});
    let packaged = folder.path().join("node_modules").join(platform);
    fs::create_dir_all(&packaged).unwrap();
    install(&packaged.join("agentnative"));
    fs::write(packaged.join("package.json"), "{}").unwrap();
    fs::create_dir_all(&main).unwrap();
    fs::write(main.join("package.json"), manifest.to_string()).unwrap();
    for file in manifest["files"].as_array().unwrap() {
        let name = file.as_str().unwrap();
        fs::copy(sources.join(name), main.join(name)).unwrap();
    }
    folder
}

#[test]
fn the_npm_launcher_exits_as_its_program_and_reports_a_missing_program() {
    let program =
        "#!/bin/sh\nprintf '[%s]' \"$@\"\ncase $1 in exit) exit $2 ;; signal) kill -$2 $$ ;; esac\n";
    let folder = install_npm_packages(|path| write_executable(path, program));
    let launcher = folder.path().join("node_modules/agentnative-check/agentnative.js");
    let assert_exit_code = |arguments: &[&str], code: &str| {
        let script = "node \"$@\"; echo \" $?\"";
        let mut command = Command::new("bash");
        command.args(["-c", script, "bash"]).arg(&launcher).args(arguments);
        let output = command.output().unwrap();
        let shown: String = arguments.iter().map(|argument| format!("[{argument}]")).collect();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{shown} {code}\n"));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_exit_code(&["exit", "78", "a b"], "78");
    assert_exit_code(&["signal", "TERM"], "143");
    assert_exit_code(&["signal", "PIPE"], "141");
    for package in fs::read_dir(folder.path().join("node_modules")).unwrap().flatten() {
        if package.file_name() != "agentnative-check" {
            fs::remove_dir_all(package.path()).unwrap();
        }
    }
    let output = Command::new("node").arg(&launcher).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("is not installed; install agentnative-check again"), "{message}");
}

#[test]
fn the_npm_package_passes_its_tests_with_the_program_of_this_build() {
    let program = env!("CARGO_BIN_EXE_agentnative");
    let folder = install_npm_packages(|path| std::os::unix::fs::symlink(program, path).unwrap());
    let test = folder.path().join("check.test.mjs");
    fs::copy(root().join("packages/npm/tests/check.test.mjs"), &test).unwrap();
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=tap"]).arg(&test).env("CLIS", root().join("fixtures/clis"));
    let output = node.env_remove("NODE_TEST_CONTEXT").output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("# pass 6\n"), "{output:?}");
}

#[test]
fn the_hook_of_pre_commit_installs_this_version() {
    let hooks = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    assert!(hooks.contains(&format!("additional_dependencies: [agentnative-check=={VERSION}]")), "{hooks}");
}

fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    let output =
        command.args(arguments).args(["--locked", "--offline"]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn cargo_install_installs_one_program_without_an_http_client() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let product = packages.iter().find(|package| package["name"] == "agentnative-check").unwrap();
    let programs = product["targets"].as_array().unwrap().iter().filter(|target| target["kind"][0] == "bin");
    assert_eq!(
        programs.map(|program| program["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["agentnative"]
    );

    let tree = ["tree", "--package", "agentnative-check", "--edges", "normal,build", "--prefix", "none"];
    let tree = cargo(&[&tree[..], &["--format", "{p}"]].concat());
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"clap") && names.contains(&"ast-grep-core"), "{names:?}");
    for unwanted in ["reference-agent", "ureq", "hyper", "reqwest", "rustls", "ring", "openssl", "native-tls"]
    {
        assert!(!names.contains(&unwanted), "{unwanted}");
    }
}

#[test]
fn each_crate_is_packaged_with_its_licenses_and_without_other_files_of_the_repository() {
    for name in [
        "agentnative-check",
        "agentnative-check-contract",
        "agentnative-check-core",
        "agentnative-check-diff",
        "agentnative-check-helper",
        "agentnative-check-judge",
        "agentnative-check-outcome",
        "agentnative-check-output",
        "reference-agent",
        "strict-json",
    ] {
        let list = cargo(&["package", "--list", "--allow-dirty", "--package", name]);
        let files: Vec<&str> = list.lines().collect();
        for wanted in ["Cargo.toml", "Cargo.lock", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs"]
        {
            assert!(files.contains(&wanted), "{name} is packaged without {wanted}");
        }
        let folders = [
            "fixtures/",
            "packages/",
            "docs/",
            "benches/",
            ".ci/",
            ".github/",
            "fuzz/",
            "xtask/",
            "templates/",
        ];
        let stray = files.iter().find(|file| folders.iter().any(|folder| file.starts_with(folder)));
        assert_eq!(stray, None, "{name}");
    }
}
