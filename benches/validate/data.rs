//! Generates the events and documents that are validated, and their contract.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::Command;

const EVENTS: usize = 200_000;

/// Size of the real stream, in MB.
const REAL_MEGABYTES: &str = "170";

/// Writes the real stream, valid and invalid. Returns `false` if its recordings, `../shared/captures`, do not exist.
pub fn write_real(folder: &Path) -> io::Result<bool> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recordings = root.join("../shared/captures");
    if !recordings.is_dir() {
        return Ok(false);
    }
    for (name, option) in [("real.jsonl", None), ("real-wrong.jsonl", Some("--wrong"))] {
        let mut script = Command::new("python3");
        script.arg(root.join("benches/opencode_stream.py")).arg(&recordings).arg(REAL_MEGABYTES).args(option);
        let status = script.stdout(File::create(folder.join(name))?).status()?;
        assert!(status.success(), "{name}");
    }
    Ok(true)
}

/// Event types in addition to the 14 of opencode.
const ADDED_TYPES: [&str; 7] =
    ["plan.made", "plan.changed", "cost.told", "file.read", "search.done", "hook.run", "note.taken"];

/// Writes the generated stream, valid and invalid, a long line, an array of `megabytes` MB, and their contract.
pub fn write_all(folder: &Path, megabytes: usize) -> io::Result<()> {
    let contract = folder.join("contract");
    fs::create_dir(&contract)?;
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts/opencode-events");
    let mut toml = fs::read_to_string(bundled.join("contract.toml"))?;
    let mut schema: serde_json::Value =
        serde_json::from_slice(&fs::read(bundled.join("event.schema.json"))?)?;
    let mut types = String::new();
    for name in ADDED_TYPES {
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
    // Loads the data into the page cache before it is measured.
    io::copy(&mut File::open(folder.join("array.json"))?.take(u64::MAX), &mut io::sink()).map(|_| ())
}

/// Returns sessions of messages with steps, texts and tool calls, in the style of opencode's server.
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
        let added = ADDED_TYPES[(turn % 7) as usize];
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
            format!(r#"{{"type":"{added}","properties":{{{ses},"count":{turn},"text":"{words}"}}}}"#),
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
