//! Helper functions of the tests of runs.

use agentnative::model::{OutputFormat, ProbeId, Variant};
use agentnative::run::{Captured, Job, RunKey, RunResults, RunSpec, Runner, RunnerOptions};
use std::io::Read;
use std::time::Duration;

pub fn options() -> RunnerOptions {
    RunnerOptions::default()
}

/// Returns a run of `program` under a variant, with a time limit that a working run never reaches.
pub fn spec(program: &str, args: &[&str], variant: Variant) -> RunSpec {
    let key = RunKey { probe: ProbeId::declared("test"), format: OutputFormat::Text, variant, nth: 0 };
    let job = Job { variant, ..Job::new(program, args, "/", Duration::from_secs(60)) };
    RunSpec { key, job }
}

pub fn finish(options: RunnerOptions, specs: Vec<RunSpec>) -> RunResults {
    Runner::new(options).run_all(specs, &mut |_| {}).unwrap()
}

pub fn bytes(captured: &Captured) -> Vec<u8> {
    let mut all = Vec::new();
    captured.bytes.reader().read_to_end(&mut all).unwrap();
    all
}

pub fn text(captured: &Captured) -> String {
    String::from_utf8(bytes(captured)).unwrap()
}

/// Returns the process IDs of the children of this process: one helper per runner.
pub fn children() -> Vec<String> {
    children_of(&std::process::id().to_string())
}

/// Returns the process IDs of the children of a process.
pub fn children_of(pid: &str) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.collect::<String>().split_whitespace().map(str::to_owned).collect()
}

/// Returns the process IDs of running processes that helpers of this process have started, except the zygotes, which
/// live as long as their helper.
pub fn below_helpers() -> Vec<String> {
    let is_zygote = |pid: &String| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.ends_with(b"__zygote\0"))
    };
    let all = children().into_iter().flat_map(|helper| children_of(&helper));
    let (zygotes, mut others): (Vec<String>, Vec<String>) = all.partition(is_zygote);
    // The zygote may reap the first process of a run later than the helper learns of its end.
    let is_over = |pid: &String| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('Z'))
    };
    others.extend(zygotes.iter().flat_map(|zygote| children_of(zygote)).filter(|pid| !is_over(pid)));
    others
}
