//! Speed and memory of validating: 200,000 events of 21 types with a schema each, an array document,
//! and what other validators make of the same bytes.
//!
//! `cargo bench --bench validate [-- MEGABYTES_OF_THE_ARRAY]`; prints the best of three readings, in MB
//! (10^6 bytes) a second of CPU and of the clock, and the greatest memory so far. Each case is a process of its own.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use agentnative_contract::{Contract, Framing, RunExit, Settings, Validation};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const EVENTS: usize = 200_000;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [case, folder] = args.as_slice() {
        return run(case, Path::new(folder));
    }
    let megabytes = args.first().and_then(|arg| arg.parse().ok()).unwrap_or(256);
    let folder = tempfile::tempdir().expect("a folder can be made");
    write_all(folder.path(), megabytes).expect("the data can be written");
    let program = std::env::current_exe().expect("this program has a path");
    for case in CASES {
        let mut child = Command::new(&program);
        let status = child.args([case]).arg(folder.path()).status().expect("this program can be run");
        assert!(status.success(), "{case}");
    }
}

const CASES: [&str; 10] = [
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

fn run(case: &str, folder: &Path) {
    let events = folder.join("events.jsonl");
    let (file, contract) = match case {
        "one line of 100 MB" => (folder.join("long.jsonl"), folder.join("contract")),
        "one array document" => (folder.join("array.json"), folder.join("contract/array.json")),
        _ if case.contains("wrong") => (folder.join("wrong.jsonl"), folder.join("contract")),
        _ => (events, folder.join("contract")),
    };
    let bytes = fs::metadata(&file).expect("the data is there").len();
    let threads = if case.starts_with("two") { 2 } else { 1 };
    let mut best: Option<(f64, f64)> = None;
    for _ in 0..3 {
        let (cpu, clock) = (cpu(), Instant::now());
        let done = match case {
            "serde_json::Value and the jsonschema crate by type" => crate_by_type(&file, &contract),
            "serde_json::Value and the jsonschema crate, one schema" => crate_whole(&file, &contract),
            "python jsonschema-rs" => other("python3", PYTHON, &file, &contract),
            "node ajv" => other("node", NODE, &file, &contract),
            _ => Some(ours(&file, &contract, threads, case.contains("wrong"))),
        };
        if done.is_none() {
            println!("{case:56} is not installed");
            return;
        }
        let took = (self::cpu() - cpu, clock.elapsed().as_secs_f64());
        best = Some(best.map_or(took, |best| (best.0.min(took.0), best.1.min(took.1))));
    }
    let (cpu, clock) = best.expect("three readings were made");
    let megabytes = bytes as f64 / 1e6;
    let (by_cpu, by_clock) = (megabytes / cpu.max(1e-9), megabytes / clock);
    println!("{case:56} {by_cpu:7.0} MB/s of CPU {by_clock:7.0} MB/s of the clock {:7.1} MiB", peak());
}

fn ours(file: &Path, contract: &Path, threads: usize, wrong: bool) -> bool {
    let contract = Contract::load(contract).expect("the contract is valid");
    let framing = contract.framing();
    let settings = Settings {
        framing,
        max_errors: if wrong { usize::MAX } else { 20 },
        exit: RunExit::default(),
        threads,
    };
    let input = File::open(file).expect("the data is there");
    let verdict =
        Validation::new(&contract, settings).input(input, &mut |_| ()).expect("the data can be read");
    assert!(verdict.is_valid() != wrong, "{:?}", verdict.findings.first());
    assert!(framing == Framing::Document || verdict.records > 0);
    true
}

fn schema(contract: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(contract.join("event.schema.json")).expect("it is there"))
        .expect("it is JSON")
}

fn crate_by_type(file: &Path, contract: &Path) -> Option<bool> {
    let schema = schema(contract);
    let names = schema["$defs"].as_object()?.keys().filter(|name| name.contains('.'));
    let validators: HashMap<String, jsonschema::Validator> = names
        .map(|name| {
            let mut of_type = schema.clone();
            of_type.as_object_mut().expect("an object").remove("allOf");
            of_type["$ref"] = format!("#/$defs/{name}").into();
            (name.clone(), jsonschema::validator_for(&of_type).expect("it is valid"))
        })
        .collect();
    each(file, |value| {
        value["type"]
            .as_str()
            .and_then(|name| validators.get(name))
            .is_some_and(|validator| validator.is_valid(value))
    })
}

fn crate_whole(file: &Path, contract: &Path) -> Option<bool> {
    let validator = jsonschema::validator_for(&schema(contract)).expect("it is valid");
    each(file, |value| validator.is_valid(value))
}

fn each(file: &Path, good: impl Fn(&serde_json::Value) -> bool) -> Option<bool> {
    for line in BufReader::with_capacity(1 << 20, File::open(file).ok()?).lines() {
        assert!(good(&serde_json::from_str(&line.ok()?).ok()?));
    }
    Some(true)
}

const PYTHON: &str = "import sys, json, jsonschema_rs
v = jsonschema_rs.validator_for(json.load(open(sys.argv[2])))
for line in open(sys.argv[1], 'rb'): assert v.is_valid(json.loads(line))";
const NODE: &str = "const A = require('ajv/dist/2020'), fs = require('fs'), rl = require('readline');
const v = new A({strict: false}).compile(JSON.parse(fs.readFileSync(process.argv[2])));
rl.createInterface({input: fs.createReadStream(process.argv[1])}).on('line', l => { if (!v(JSON.parse(l))) process.exit(1) });";

fn other(program: &str, script: &str, file: &Path, contract: &Path) -> Option<bool> {
    let flag = if program == "node" { "-e" } else { "-c" };
    let mut child = Command::new(program);
    child.args([flag, script]).arg(file).arg(contract.join("event.schema.json"));
    let status = child.stderr(std::process::Stdio::null()).status().ok()?;
    status.success().then_some(true)
}

/// Seconds of CPU that this process and its children have taken.
fn cpu() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").expect("the system tells");
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The greatest resident memory so far, in MiB.
fn peak() -> f64 {
    let text = fs::read_to_string("/proc/self/status").expect("the system tells");
    let line = text.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// Seven types besides those of opencode, so that there are 21.
const MORE: [&str; 7] =
    ["plan.made", "plan.changed", "cost.told", "file.read", "search.done", "hook.run", "note.taken"];

fn write_all(folder: &Path, megabytes: usize) -> io::Result<()> {
    let contract = folder.join("contract");
    fs::create_dir(&contract)?;
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts/opencode-events");
    let mut toml = fs::read_to_string(bundled.join("contract.toml"))?;
    let mut schema: serde_json::Value =
        serde_json::from_slice(&fs::read(bundled.join("event.schema.json"))?)?;
    let mut types = String::new();
    for name in MORE {
        writeln!(types, "\"{name}\" = \"event.schema.json#/$defs/{name}\"").map_err(io::Error::other)?;
        schema["$defs"][name] = serde_json::json!({"type": "object", "required": ["type", "properties"], "properties": {
            "type": {"const": name}, "properties": {"type": "object", "required": ["sessionID", "count", "text"],
            "properties": {"sessionID": {"type": "string"}, "count": {"type": "integer", "minimum": 0}, "text": {"type": "string", "minLength": 1}}}}});
        let branch = serde_json::json!({"if": {"properties": {"type": {"const": name}}}, "then": {"$ref": format!("#/$defs/{name}")}});
        schema["allOf"].as_array_mut().expect("an array").push(branch);
    }
    toml = toml.replace("[events.schemas]\n", &format!("[events.schemas]\n{types}"));
    fs::write(contract.join("contract.toml"), toml)?;
    fs::write(contract.join("event.schema.json"), schema.to_string())?;
    fs::write(contract.join("array.json"), r##"{"type": "array", "items": {"$ref": "event.schema.json"}}"##)?;
    let events = events();
    fs::write(folder.join("events.jsonl"), &events)?;
    fs::write(
        folder.join("wrong.jsonl"),
        events.replace("\"sessionID\":\"ses_", "\"sessionID\":7,\"was\":\"ses_"),
    )?;
    let mut long = File::create(folder.join("long.jsonl"))?;
    long.write_all(b"{\"type\":\"server.connected\",\"properties\":{\"text\":\"")?;
    long.write_all(&vec![b'x'; 100_000_000])?;
    long.write_all(b"\"}}\n")?;
    let mut array = io::BufWriter::new(File::create(folder.join("array.json"))?);
    array.write_all(b"[")?;
    let mut written = 0;
    for line in events.lines().cycle() {
        array.write_all(if written == 0 { b"\n" } else { b",\n" })?;
        array.write_all(line.as_bytes())?;
        written += line.len() + 2;
        if written >= megabytes * 1_000_000 {
            break;
        }
    }
    array.write_all(b"\n]\n")?;
    array.flush()?;
    drop(array);
    // Not measured: brings the data into the page cache.
    io::copy(&mut File::open(folder.join("array.json"))?.take(u64::MAX), &mut io::sink()).map(|_| ())
}

/// Sessions of messages with steps, texts and tool calls, as opencode's server tells them.
fn events() -> String {
    let words = "the reader takes a line and \\\"quotes\\\" it, été, src/json/mod.rs -> test result: ok.\\n";
    let (mut out, mut count, mut turn) = (String::new(), 0, 0_u64);
    let mut put = |line: String| {
        out.push_str(&line);
        out.push('\n');
        count += 1;
        count < EVENTS
    };
    let tokens = r#"{"input":1000,"output":50,"reasoning":3,"cache":{"read":11,"write":0}}"#;
    loop {
        let (s, t) = (turn / 50, 1_736_236_800_000_u64 + turn * 1000);
        turn += 1;
        let (ses, msg) = (format!("\"sessionID\":\"ses_{s:08}\""), format!("msg_{turn:08}"));
        let part = |kind: &str, rest: &str| {
            format!(
                r#"{{"id":"evt_{turn}","type":"message.part.updated","properties":{{{ses},"part":{{"id":"prt_{turn}_{kind}",{ses},"messageID":"{msg}","type":"{kind}",{rest}}},"time":{t}}}}}"#
            )
        };
        let tool = |state: &str| {
            part(
                "tool",
                &format!(
                    r#""callID":"call_{turn}","tool":"bash","state":{{"input":{{"command":"cargo test","description":"{words}"}},{state}}}"#
                ),
            )
        };
        let info = format!(
            r#"{{"id":"ses_{s:08}","slug":"calm-otter","projectID":"prj","directory":"/srv/project","title":"Turn {turn}","version":"1.18.33","cost":0.01,"tokens":{tokens},"time":{{"created":{t},"updated":{t}}}}}"#
        );
        let text = words.repeat(1 + (turn % 7) as usize * 3);
        let more = MORE[(turn % 7) as usize];
        let lines = [
            format!(
                r#"{{"id":"evt_{turn}","type":"{}","properties":{{{ses},"info":{info}}}}}"#,
                if turn % 50 == 1 { "session.created" } else { "session.updated" }
            ),
            format!(r#"{{"type":"session.status","properties":{{{ses},"status":{{"type":"busy"}}}}}}"#),
            format!(
                r#"{{"type":"message.updated","properties":{{{ses},"info":{{"id":"{msg}",{ses},"role":"assistant","time":{{"created":{t},"completed":{t}}},"parentID":"msg_u","modelID":"mock-1","providerID":"mock","mode":"build","path":{{"cwd":"/srv/project","root":"/srv/project"}},"cost":0.0123,"tokens":{tokens},"finish":"stop"}}}}}}"#
            ),
            part("step-start", r#""snapshot":"461efc6846002f0681f62cba553844cca73a1b88""#),
            tool(r#""status":"pending","raw":"""#),
            tool(&format!(r#""status":"running","time":{{"start":{t}}}"#)),
            tool(&format!(
                r#""status":"completed","output":"{text}","title":"cargo test","metadata":{{"exit":0,"truncated":false}},"time":{{"start":{t},"end":{t}}}"#
            )),
            part("reasoning", &format!(r#""text":"{text}","time":{{"start":{t},"end":{t}}}"#)),
            part("text", &format!(r#""text":"{text}","time":{{"start":{t},"end":{t}}}"#)),
            format!(
                r#"{{"type":"message.part.delta","properties":{{{ses},"messageID":"{msg}","partID":"prt_{turn}","field":"text","delta":"{words}"}}}}"#
            ),
            part("step-finish", &format!(r#""reason":"stop","tokens":{tokens},"cost":0.0001"#)),
            format!(r#"{{"type":"{more}","properties":{{{ses},"count":{turn},"text":"{words}"}}}}"#),
            format!(
                r#"{{"type":"file.edited","properties":{{"path":"/srv/project/src/json/mod.rs","diff":{{"file":"src/json/mod.rs","before":"{words}","after":"{text}","additions":10,"deletions":5}}}}}}"#
            ),
            format!(
                r#"{{"type":"command.executed","properties":{{"command":"cargo test","exitCode":0,"stdout":"{text}","stderr":"","time":{{"start":{t},"end":{t}}}}}}}"#
            ),
            format!(
                r#"{{"type":"permission.updated","properties":{{"id":"per_{turn}","type":"bash",{ses},"messageID":"{msg}","title":"Run","metadata":{{}},"time":{{"created":{t}}}}}}}"#
            ),
            format!(
                r#"{{"type":"permission.replied","properties":{{{ses},"permissionID":"per_{turn}","response":"once"}}}}"#
            ),
            format!(r#"{{"type":"session.diff","properties":{{{ses},"diff":[]}}}}"#),
            format!(r#"{{"type":"session.idle","properties":{{{ses}}}}}"#),
        ];
        for line in lines {
            if !put(line) {
                return out;
            }
        }
    }
}
