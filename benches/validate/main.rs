//! Benchmark of validation: a real stream of opencode with the rules of its contract, 200,000 events of 21 types with a
//! schema each, an array document, and other validators on the same bytes.
//!
//! `cargo bench --bench validate [-- MEGABYTES_OF_THE_ARRAY]` prints the best of three measurements, in MB (10^6 bytes)
//! per second of CPU time and of wall-clock time, and the peak memory. Each case runs in a separate process.
//! `cargo bench --bench validate -- self-test` compares the results for 100,000 generated documents with those of
//! serde_json and the jsonschema crate instead.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod data;
#[path = "../../tests/support/documents.rs"]
mod documents;
mod self_test;

use agentnative_contract::{Contract, Framing, RunExit, Settings, Validation};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [case, folder] = args.as_slice() {
        return run_case(case, Path::new(folder));
    }
    if args.first().is_some_and(|arg| arg == "self-test") {
        return self_test::run();
    }
    let megabytes = args.first().and_then(|arg| arg.parse().ok()).unwrap_or(256);
    let folder = tempfile::tempdir().expect("a folder can be created");
    data::write_all(folder.path(), megabytes).expect("the data can be written");
    let real = data::write_real(folder.path()).expect("the data can be written");
    if !real {
        println!("skipped: the cases of the real stream, whose recordings do not exist");
    }
    let program = std::env::current_exe().expect("this program has a path");
    for case in CASES.into_iter().filter(|case| real || !case.contains("real")) {
        let mut child = Command::new(&program);
        let status = child.args([case]).arg(folder.path()).status().expect("this program can be started");
        assert!(status.success(), "{case}");
    }
}

const CASES: [&str; 14] = [
    "real stream, one thread",
    "real stream, two threads",
    "real stream, every record wrong, one thread",
    "real stream, every record wrong, two threads",
    "one thread",
    "two threads",
    "two threads, every record wrong",
    "one thread, every record wrong",
    "one line of 100 MB",
    "one array document",
    "serde_json::Value and the jsonschema crate by type",
    "serde_json::Value and the jsonschema crate, one schema",
    "python jsonschema-rs",
    "node ajv",
];

fn run_case(case: &str, folder: &Path) {
    let events = folder.join("events.jsonl");
    let opencode = Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts/opencode-events");
    let (file, contract) = match case {
        _ if case.contains("real") && case.contains("wrong") => (folder.join("real-wrong.jsonl"), opencode),
        _ if case.contains("real") => (folder.join("real.jsonl"), opencode),
        "one line of 100 MB" => (folder.join("long.jsonl"), folder.join("contract")),
        "one array document" => (folder.join("array.json"), folder.join("contract/array.json")),
        _ if case.contains("wrong") => (folder.join("wrong.jsonl"), folder.join("contract")),
        _ => (events, folder.join("contract")),
    };
    let bytes = fs::metadata(&file).expect("the data exists").len();
    let threads = if case.contains("two threads") { 2 } else { 1 };
    let wrong = case.contains("wrong");
    // The limit of the command line, or none.
    let max_errors = if wrong && !case.contains("real") { usize::MAX } else { 20 };
    let mut best: Option<(f64, f64)> = None;
    for _ in 0..3 {
        let (cpu, clock) = (cpu_time(), Instant::now());
        let result = match case {
            "serde_json::Value and the jsonschema crate by type" => {
                validate_with_crate_by_type(&file, &contract)
            }
            "serde_json::Value and the jsonschema crate, one schema" => validate_with_crate(&file, &contract),
            "python jsonschema-rs" => validate_with_script("python3", PYTHON, &file, &contract),
            "node ajv" => validate_with_script("node", NODE, &file, &contract),
            _ => Some(validate(&file, &contract, threads, max_errors, wrong)),
        };
        if result.is_none() {
            println!("{case:56} skipped: not installed");
            return;
        }
        let times = (self::cpu_time() - cpu, clock.elapsed().as_secs_f64());
        best = Some(best.map_or(times, |best| (best.0.min(times.0), best.1.min(times.1))));
    }
    let (cpu, clock) = best.expect("each case was measured three times");
    let megabytes = bytes as f64 / 1e6;
    let (by_cpu, by_clock) = (megabytes / cpu.max(1e-9), megabytes / clock);
    println!("{case:56} {by_cpu:7.0} MB/s CPU {by_clock:7.0} MB/s wall {:7.1} MiB", peak_memory());
}

fn validate(file: &Path, contract: &Path, threads: usize, max_errors: usize, wrong: bool) -> bool {
    let contract = Contract::load(contract).expect("the contract is valid");
    let framing = contract.framing();
    let settings = Settings { framing, max_errors, exit: RunExit::default(), threads };
    let input = File::open(file).expect("the data exists");
    let verdict =
        Validation::new(&contract, settings).validate(input, &mut |_| ()).expect("the data can be read");
    assert!(verdict.is_valid() != wrong, "{:?}", verdict.errors.first());
    assert!(framing == Framing::Document || verdict.records > 0);
    true
}

fn schema(contract: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(contract.join("event.schema.json")).expect("the schema exists"))
        .expect("the schema is JSON")
}

fn validate_with_crate_by_type(file: &Path, contract: &Path) -> Option<bool> {
    let schema = schema(contract);
    let names = schema["$defs"].as_object()?.keys().filter(|name| name.contains('.'));
    let validators: HashMap<String, jsonschema::Validator> = names
        .map(|name| {
            let mut of_type = schema.clone();
            of_type.as_object_mut().expect("an object").remove("allOf");
            of_type["$ref"] = format!("#/$defs/{name}").into();
            (name.clone(), jsonschema::validator_for(&of_type).expect("the schema is valid"))
        })
        .collect();
    assert_each(file, |value| {
        value["type"]
            .as_str()
            .and_then(|name| validators.get(name))
            .is_some_and(|validator| validator.is_valid(value))
    })
}

fn validate_with_crate(file: &Path, contract: &Path) -> Option<bool> {
    let validator = jsonschema::validator_for(&schema(contract)).expect("the schema is valid");
    assert_each(file, |value| validator.is_valid(value))
}

fn assert_each(file: &Path, is_valid: impl Fn(&serde_json::Value) -> bool) -> Option<bool> {
    for line in BufReader::with_capacity(1 << 20, File::open(file).ok()?).lines() {
        assert!(is_valid(&serde_json::from_str(&line.ok()?).ok()?));
    }
    Some(true)
}

const PYTHON: &str = "import sys, json, jsonschema_rs
v = jsonschema_rs.validator_for(json.load(open(sys.argv[2])))
for line in open(sys.argv[1], 'rb'): assert v.is_valid(json.loads(line))";
const NODE: &str = "const A = require('ajv/dist/2020'), fs = require('fs'), rl = require('readline');
const v = new A({strict: false}).compile(JSON.parse(fs.readFileSync(process.argv[2])));
rl.createInterface({input: fs.createReadStream(process.argv[1])}).on('line', l => { if (!v(JSON.parse(l))) process.exit(1) });";

fn validate_with_script(program: &str, script: &str, file: &Path, contract: &Path) -> Option<bool> {
    let flag = if program == "node" { "-e" } else { "-c" };
    let mut child = Command::new(program);
    child.args([flag, script]).arg(file).arg(contract.join("event.schema.json"));
    let status = child.stderr(std::process::Stdio::null()).status().ok()?;
    status.success().then_some(true)
}

/// Returns the CPU time of this process and its children, in seconds.
fn cpu_time() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").expect("/proc is mounted");
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Returns the peak resident memory of this process, in MiB.
fn peak_memory() -> f64 {
    let text = fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let line = text.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
