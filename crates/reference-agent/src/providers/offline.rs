//! The provider without a script and without a network. It answers a few requests, such as "list the files here", so
//! that the first query of a new user has a useful result.

use crate::failure::Result;
use crate::model::{Message, Provider, ToolCall, ToolSpec, Turn};
use crate::tool_record::ToolRecord;
use regex::Regex;
use serde_json::{Value, json};

const HELP: &str = "I am an offline model that knows a few requests: \"list the files here\", \"read FILE\", \
                    \"search PATTERN in PATH\", \"calculate 2 * (3 + 4)\", \"write TEXT to FILE\". For a real \
                    model, use --model openai/MODEL.";

/// A request that the provider knows: a regular expression for the query, the name of the tool to call, and a function
/// that builds the arguments from the match.
type Request = (&'static str, &'static str, fn(&regex::Captures<'_>) -> Value);

const REQUESTS: &[Request] = &[
    (
        r#"(?is)^\s*(?:please\s+)?write\s+["']?(?<text>.+?)["']?\s+(?:in)?to\s+(?:the\s+file\s+)?(?<path>\S+)\s*$"#,
        "write_file",
        |found| json!({"path": &found["path"], "content": format!("{}\n", &found["text"])}),
    ),
    (
        r#"(?i)\b(?:search|grep|look|find)\s+(?:for\s+)?["'/]?(?<pattern>.+?)["'/]?(?:\s+in\s+(?<path>\S+?))?[?.!]?\s*$"#,
        "search",
        |found| {
            let mut call = json!({"pattern": &found["pattern"]});
            match found.name("path").map(|path| path.as_str()) {
                None | Some("here" | "files" | "the") => {}
                Some(path) => call["path"] = path.into(),
            }
            call
        },
    ),
    (
        r"(?i)\b(?:list|ls)\b(?:.*?\b(?:in|of|under)\s+(?:the\s+folder\s+)?(?<path>[^\s?!]+))?",
        "list_files",
        |found| match found.name("path").map(|path| path.as_str().trim_end_matches('.')) {
            None | Some("" | "here" | "this" | "the") => json!({}),
            Some(path) => json!({"path": path}),
        },
    ),
    (
        r"(?i)\b(?:read|show|print|cat|open)\s+(?:me\s+)?(?:the\s+)?(?:file\s+)?(?<path>\S+?)[?!]?\s*$",
        "read_file",
        |found| json!({"path": &found["path"]}),
    ),
    (
        r"(?i)(?:calculate|compute|what\s+is|what's|how\s+much\s+is)?\s*(?<expression>[-+(.\d][-+*/%^().\d\s]*)[=?]?\s*$",
        "calculate",
        |found| json!({"expression": found["expression"].trim()}),
    ),
];

pub(super) struct OfflineProvider;

impl Provider for OfflineProvider {
    fn turn(&mut self, messages: &[Message], tools: &[ToolSpec], emit: &mut dyn FnMut(&str)) -> Result<Turn> {
        let call = match messages.last() {
            Some(Message::User { text, .. }) => {
                parse_request(text).filter(|call| tools.iter().any(|tool| tool.name == call.name))
            }
            _ => None,
        };
        if let Some(call) = call {
            return Ok(Turn { calls: vec![call], ..Turn::default() });
        }
        let text = match messages.last() {
            Some(Message::Tool(record)) => describe(record),
            _ => HELP.to_owned(),
        };
        emit(&text);
        Ok(Turn { text, ..Turn::default() })
    }
}

fn parse_request(query: &str) -> Option<ToolCall> {
    REQUESTS.iter().find_map(|(pattern, tool, arguments)| {
        let regex = Regex::new(pattern).ok()?;
        let arguments = arguments(&regex.captures(query)?).to_string();
        Some(ToolCall { id: "call_1".into(), name: (*tool).to_owned(), arguments })
    })
}

/// Describes the result of a tool call as an answer for the user.
fn describe(call: &ToolRecord) -> String {
    let Some(result) = &call.result else { return format!("That did not work. {}", call.text()) };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |key: &str| result.get(key).and_then(Value::as_array);
    let lines = |lines: Vec<String>, none: &str| {
        if lines.is_empty() { none.to_owned() } else { lines.join("\n") }
    };
    if let Some(entries) = list("entries") {
        let name = |entry: &Value| text(&entry["name"]) + if entry["type"] == "directory" { "/" } else { "" };
        return lines(entries.iter().map(name).collect(), "The folder is empty.");
    }
    if let Some(matches) = list("matches") {
        let line =
            |found: &Value| format!("{}:{}: {}", text(&found["path"]), found["line"], text(&found["text"]));
        return lines(matches.iter().map(line).collect(), "Nothing matches.");
    }
    let field = |key: &str| result.get(key).map(text).unwrap_or_default();
    match (result.get("value"), result.get("content"), result.get("bytes")) {
        (Some(value), _, _) => format!("{} = {value}", field("expression")),
        (_, Some(_), _) if field("content").trim().is_empty() => "The file is empty.".into(),
        (_, Some(_), _) => field("content"),
        (_, _, Some(bytes)) => format!("Wrote {bytes} bytes to {}.", field("path")),
        _ => call.text(),
    }
}
