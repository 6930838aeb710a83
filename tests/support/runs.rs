//! What the tests of runs share.

use agentnative::model::{OutputFormat, Variant};
use agentnative::run::{Captured, Finished, Job, RunKey, RunSpec, Runner, RunnerOptions};
use std::io::Read;
use std::time::Duration;

pub fn options() -> RunnerOptions {
    RunnerOptions::default()
}

/// A run of `program` under a variant, with a deadline that a working run is far away from.
pub fn spec(program: &str, args: &[&str], variant: Variant) -> RunSpec {
    let key = RunKey { probe: "test".into(), format: OutputFormat::Text, variant, nth: 0 };
    let job = Job { variant, ..Job::new(program, args, "/", Duration::from_secs(60)) };
    RunSpec { key, job }
}

pub fn finish(options: RunnerOptions, specs: Vec<RunSpec>) -> Finished {
    Runner::new(options).run_all_blocking(specs, &mut |_| {}).unwrap()
}

pub fn bytes(captured: &Captured) -> Vec<u8> {
    let mut all = Vec::new();
    captured.bytes.reader().read_to_end(&mut all).unwrap();
    all
}

pub fn text(captured: &Captured) -> String {
    String::from_utf8(bytes(captured)).unwrap()
}

/// The children of this process, by number: a helper for each runner.
pub fn children() -> Vec<String> {
    children_of(&std::process::id().to_string())
}

/// The children of a process, by number.
pub fn children_of(pid: &str) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.collect::<String>().split_whitespace().map(str::to_owned).collect()
}
