//! What packages and CI install: the launcher of the npm package, the script of the action, and what `cargo install`
//! and `cargo package` bring.

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

fn executable(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn sh(script: &str, folder: &Path) {
    let status = Command::new("bash").args(["-ec", script]).current_dir(folder).status().unwrap();
    assert!(status.success(), "{script}");
}

/// A runner with an action on it: its folder, with the files that a step writes to.
struct Runner {
    folder: tempfile::TempDir,
}

impl Runner {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Only cargo is not what it is elsewhere: what it would build takes minutes.
        executable(&folder.path().join("tools/cargo"), "#!/bin/sh\necho \"$@\" >\"$RUNNER_TEMP/cargo\"\n");
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
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    }

    /// What the steps so far put out.
    fn outputs(&self) -> BTreeMap<String, String> {
        let text = fs::read_to_string(self.path("output")).unwrap_or_default();
        let lines = text.lines().map(|line| line.split_once('=').unwrap());
        lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// A release of this version, with a program that shows its arguments and fails as a check does.
    fn release(&self) -> String {
        let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        let name = format!("agentnative-{VERSION}-{target}");
        let program = self.path("releases").join(format!("v{VERSION}")).join(&name).join("agentnative");
        executable(&program, "#!/bin/sh\nprintf '[%s]' \"$@\"\nexit 1\n");
        let pack = format!("tar czf {name}.tar.gz {name}; sha256sum *.tar.gz >SHA256SUMS");
        sh(&pack, program.ancestors().nth(2).unwrap());
        format!("file://{}", self.path("releases").display())
    }
}

/// Whether there is curl, which systems that run actions have.
fn curl() -> bool {
    let found = Command::new("curl").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no curl here");
    }
    found
}

#[test]
fn the_action_installs_a_release_whose_checksum_holds_and_passes_inputs_as_they_are() {
    if !curl() {
        return;
    }
    let runner = Runner::new();
    let releases = runner.release();
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
    assert!(!runner.outputs().contains_key("report"), "it wrote none");
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
fn the_action_refuses_what_is_not_the_release_and_builds_only_its_own_version() {
    if !curl() {
        return;
    }
    let runner = Runner::new();
    let releases = runner.release();
    let says = |output: Output, what: &str| {
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("::error title=agentnative::") && text.contains(what), "{text}");
    };
    let with = |releases, version| runner.step("find", &[("RELEASES", releases), ("INPUT_VERSION", version)]);
    says(with(&releases, "9.9.9"), "there is no release of version 9.9.9");
    says(with(&releases, "../../other"), "expected a version such as 0.1.0");
    says(runner.step("check", &[("INPUT_STRICT", "yes")]), "expected true or false, found 'yes'");

    let sums = runner.path(&format!("releases/v{VERSION}/SHA256SUMS"));
    let text = fs::read_to_string(&sums).unwrap();
    fs::write(&sums, format!("{}{}", "0".repeat(64), &text[64..])).unwrap();
    says(with(&releases, ""), "is not that of the release");
    fs::write(&sums, text.replace("agentnative-", "other-")).unwrap();
    says(with(&releases, ""), "is not that of the release");
    assert!(!runner.path("agentnative/bin/agentnative").exists());

    // Without a release.
    let found = with("", "");
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

/// The npm packages as they are installed, with this program.
fn installed(program: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("node_modules/agentnative");
    let platform = match std::env::consts::ARCH {
        "x86_64" => "@agentnative/linux-x64",
        _ => "@agentnative/linux-arm64",
    };
    let manifest = serde_json::json!({"optionalDependencies": {platform: VERSION}});
    executable(&folder.path().join("node_modules").join(platform).join("agentnative"), program);
    fs::write(folder.path().join("node_modules").join(platform).join("package.json"), "{}").unwrap();
    fs::create_dir_all(&main).unwrap();
    fs::write(main.join("package.json"), manifest.to_string()).unwrap();
    fs::copy(root().join("packages/npm/agentnative.js"), main.join("agentnative.js")).unwrap();
    folder
}

#[test]
fn the_npm_package_ends_as_its_program_does_and_says_when_there_is_none() {
    let program =
        "#!/bin/sh\nprintf '[%s]' \"$@\"\ncase $1 in exit) exit $2 ;; signal) kill -$2 $$ ;; esac\n";
    let folder = installed(program);
    let launcher = folder.path().join("node_modules/agentnative/agentnative.js");
    let ends = |arguments: &[&str], end: &str| {
        let script = "node \"$@\"; echo \" $?\"";
        let mut command = Command::new("bash");
        command.args(["-c", script, "bash"]).arg(&launcher).args(arguments);
        let output = command.output().unwrap();
        let shown: String = arguments.iter().map(|argument| format!("[{argument}]")).collect();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{shown} {end}\n"));
        String::from_utf8(output.stderr).unwrap()
    };
    ends(&["exit", "78", "a b"], "78");
    ends(&["signal", "TERM"], "143");
    ends(&["signal", "PIPE"], "141");
    fs::remove_dir_all(folder.path().join("node_modules/@agentnative")).unwrap();
    let output = Command::new("node").arg(&launcher).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("is not installed; install agentnative again"), "{message}");
}

fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    let output =
        command.args(arguments).args(["--locked", "--offline"]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn cargo_install_brings_one_program_and_no_model_client() {
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
fn each_crate_is_packed_with_its_licenses_and_without_the_repository_around_it() {
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
            assert!(files.contains(&wanted), "{name} is packed without {wanted}");
        }
        let tops = [
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
        let stray = files.iter().find(|file| tops.iter().any(|top| file.starts_with(top)));
        assert_eq!(stray, None, "{name}");
    }
}
