//! What the tests of runs share.

use agentnative::report::{OutputFormat, Variant};
use agentnative::run::{Captured, Finished, Observation, RunKey, RunSpec, Runner, RunnerOptions, Stdin};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub fn options() -> RunnerOptions {
    RunnerOptions::new(env!("CARGO_BIN_EXE_agentnative"))
}

pub fn runner() -> Runner {
    Runner::new(options()).unwrap()
}

/// A run of `program` under a variant, with a deadline that a working run is far away from.
pub fn spec(program: &str, args: &[&str], variant: Variant) -> RunSpec {
    RunSpec {
        key: RunKey { probe: "test".into(), format: OutputFormat::Text, variant, nth: 0 },
        program: PathBuf::from(program),
        args: args.iter().map(Into::into).collect(),
        cwd: PathBuf::from("/"),
        env: BTreeMap::new(),
        stdin: Stdin::Null,
        deadline: Duration::from_secs(60),
        sandbox: false,
        quiet: false,
    }
}

/// A run of a shell script.
pub fn sh(script: &str, variant: Variant) -> RunSpec {
    spec("/bin/sh", &["-c", script], variant)
}

/// A run of a Python script.
pub fn python(script: &str, variant: Variant) -> RunSpec {
    spec(python_program().to_str().unwrap(), &["-c", script], variant)
}

/// A real interpreter: one that a version manager stands before is asked for its own place.
pub fn python_program() -> PathBuf {
    static FOUND: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    FOUND
        .get_or_init(|| {
            let ask = ["-c", "import sys; print(sys.executable, end='')"];
            let told = std::process::Command::new("python3").args(ask).output().unwrap();
            PathBuf::from(String::from_utf8(told.stdout).unwrap())
        })
        .clone()
}

pub fn run(spec: RunSpec) -> Observation {
    finish(&mut runner(), vec![spec]).observations.pop().unwrap()
}

pub fn finish(runner: &mut Runner, specs: Vec<RunSpec>) -> Finished {
    runner.run_all_blocking(specs, &mut |_| {}).unwrap()
}

pub fn bytes(captured: &Captured) -> Vec<u8> {
    let mut all = Vec::new();
    captured.bytes.reader().read_to_end(&mut all).unwrap();
    all
}

pub fn text(captured: &Captured) -> String {
    String::from_utf8(bytes(captured)).unwrap()
}

/// The processes whose environment holds `variable` (`NAME=value`), zombies left out.
pub fn processes_with(variable: &str) -> Vec<String> {
    let is_with = |pid: &str| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&b| b == 0).any(|one| one == variable.as_bytes())
    };
    numbers_in(Path::new("/proc")).into_iter().filter(|pid| is_with(pid)).collect()
}

pub fn numbers_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.into_string().ok()).filter(|name| name.parse::<u32>().is_ok()).collect()
}
