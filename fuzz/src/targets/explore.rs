//! Exploration: for any help page and any output of the calls, it ends, makes at most as many calls as it may, and its
//! calls have different names without control characters.

use crate::Target;
use agentnative::config::Workspace;
use agentnative::explore::{ExploreSettings, Explorer};
use agentnative::probe::help_run;
use agentnative::run::{Bytes, Captured, Observation, Outcome, RunEnd, RunKey};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

/// Separates the help page from the outputs of calls.
const SEPARATOR: u8 = 0x1e;
const MAX_CALLS: usize = 40;
/// Maximum number of rounds: a level of help pages and a group of calls are one round each.
const MAX_ROUNDS: usize = 100;

pub const TARGET: Target = Target {
    name: "explore",
    run,
    seeds: super::help::seeds,
    words: &[
        "\u{1e}",
        "\u{1e}{\"items\": [{\"id\": 1}]}\n",
        "\u{1e}  number\n  title\n",
        "  --json FIELDS  print these fields",
        "  --output {text,json,jsonl}",
        "usage: a [-h] FILE\n",
        "usage: a [options] [files...]\n",
        "reads standard input",
    ],
};

fn run(bytes: &[u8]) {
    let parts: Vec<&[u8]> = bytes.split(|byte| *byte == SEPARATOR).collect();
    let settings = ExploreSettings {
        max_calls: MAX_CALLS,
        timeout: Duration::from_secs(5),
        skip: &[],
        workspace: Workspace::Empty,
        files: vec!["data.json".to_owned(), "src/a.py".to_owned()],
        documents: vec![String::from_utf8_lossy(parts.last().unwrap_or(&bytes)).into_owned()],
        declared: &[],
    };
    let explorer = Explorer::new(settings);
    let root = observation(help_run(), Vec::new(), parts[0], 0);
    let mut runs: BTreeMap<RunKey, Observation> = BTreeMap::new();
    for _ in 0..MAX_ROUNDS {
        let find = |key: &RunKey| runs.get(key).map(Some);
        let calls = match explorer.explore(&root, &find) {
            ControlFlow::Break(calls) => calls,
            ControlFlow::Continue(explored) => {
                assert!(explored.exploration.made <= MAX_CALLS, "{}", explored.exploration.made);
                let names: BTreeSet<&str> = explored.probes.iter().map(|probe| &*probe.name).collect();
                assert_eq!(names.len(), explored.probes.len());
                assert!(!names.iter().any(|name| name.contains(char::is_control)), "{names:?}");
                return;
            }
        };
        for (probe, format) in calls {
            let (key, args) = (probe.plain_run(format), probe.call.args);
            let length: usize = args.iter().map(String::len).sum();
            let seen =
                observation(key.clone(), args, parts[length % parts.len()], i32::from(length % 3 == 1));
            runs.insert(key, seen);
        }
    }
    panic!("{MAX_ROUNDS} rounds were not enough");
}

fn observation(key: RunKey, args: Vec<String>, output: &[u8], exit: i32) -> Observation {
    let captured = |bytes: &[u8]| Captured { bytes: Bytes::from(bytes.to_vec()), chunks: Vec::new() };
    let (stdout, stderr) = if exit == 0 { (output, &b""[..]) } else { (&b""[..], output) };
    let outcome =
        Outcome { stdout: captured(stdout), stderr: captured(stderr), ..RunEnd::Exited(exit).into() };
    let argv = std::iter::once("/a".to_owned()).chain(args).collect();
    Observation { key, argv, uncopied: false, outcome }
}
