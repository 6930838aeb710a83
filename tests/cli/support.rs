//! Folders with small targets, and calls of the program.

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Exit code and streams of a call.
#[derive(Debug, PartialEq, Eq)]
pub struct CliOutput {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl CliOutput {
    /// Parses stdout as one JSON document.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns `data` of the envelope on stdout.
    pub fn data(&self) -> Value {
        self.json()["data"].take()
    }

    /// Parses stdout as JSON Lines.
    pub fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Parses stderr, which must be one line, as JSON.
    pub fn error(&self) -> Value {
        assert_eq!(self.err.matches('\n').count(), 1, "{self:?}");
        serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the status of a check in the report on stdout.
    pub fn status(&self, id: &str) -> String {
        let document = self.json();
        let mut results = document["data"]["results"].as_array().unwrap().iter();
        let result = results.find(|result| result["id"] == id).unwrap_or_else(|| panic!("no {id}"));
        result["status"].as_str().unwrap().to_owned()
    }
}

/// The program, without the environment variables for colour and workflows, and without a cache.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentnative"));
    let workflow_variables = ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"];
    for name in
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"].into_iter().chain(workflow_variables)
    {
        command.env_remove(name);
    }
    command.env("XDG_CACHE_HOME", "/dev/null/cache").stdin(Stdio::null());
    command
}

/// Calls the program in a folder without a configuration.
pub fn run<S: AsRef<OsStr>>(args: &[S]) -> CliOutput {
    output_of(program().args(args).current_dir("/"))
}

pub fn output_of(command: &mut Command) -> CliOutput {
    cli_output(command.output().unwrap())
}

pub fn cli_output(output: Output) -> CliOutput {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    CliOutput { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A temporary folder that no configuration above it applies to.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self::new_in(&std::env::temp_dir())
    }

    fn new_in(parent: &Path) -> Self {
        let folder = Self(tempfile::tempdir_in(parent).unwrap());
        fs::create_dir(folder.path().join(".git")).unwrap();
        folder
    }

    /// A folder with the conforming CLI as `cli`, after which these lines of sh redefine functions.
    pub fn demo(lines: &str) -> Self {
        let folder = Self::new();
        let library = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/clis/lib/conforming.sh");
        folder.script("cli", &format!(". '{library}'\n{lines}\nmain \"$@\"\n"));
        folder
    }

    /// A folder with these lines of sh as `cli`.
    pub fn with(lines: &str) -> Self {
        Self::within(&std::env::temp_dir(), lines)
    }

    /// A folder below `parent` with these lines of sh as `cli`.
    pub fn within(parent: &Path, lines: &str) -> Self {
        let folder = Self::new_in(parent);
        folder.script("cli", lines);
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn script(&self, name: impl AsRef<OsStr>, lines: &str) -> PathBuf {
        let path = self.path().join(name.as_ref());
        fs::write(&path, format!("#!/bin/sh\n{lines}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub fn command(&self) -> Command {
        let mut command = program();
        command.current_dir(self.path());
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> CliOutput {
        output_of(self.command().args(args))
    }
}

/// Returns the result of `wait`, and panics if it takes longer than a minute.
pub fn within<T: Send + 'static>(what: &str, wait: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(wait()));
    receiver.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{what} did not happen"))
}

/// A report without its time, so that reports of different checks can be compared.
pub fn timeless(report: &str) -> String {
    regex::Regex::new(r#""time":"[-0-9T:]+Z""#).unwrap().replace_all(report, r#""time":"""#).into_owned()
}

/// Sorted keys of an object.
pub fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Sorted IDs of all checks, from the names of their files.
pub fn all_ids() -> Vec<String> {
    let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/checks")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let tables = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let mut ids: Vec<_> =
        tables.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    ids.sort();
    ids
}
