//! The APIs of model providers. Finds the API that a request is for, and builds the reply.

mod anthropic;
mod chat;
mod gemini;
mod interface;
mod responses;

use super::behavior::Behavior;
use super::http::{self, Request};
use super::prompt::Prompt;
use super::turn::{ANSWER_PARTS, USAGE, next_turn};
use interface::Api;
use serde_json::{Value, json};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Pause between the two halves of a slow answer.
const SLOW_PAUSE: Duration = Duration::from_secs(30);

/// An HTTP reply in two parts. Depending on `behavior`, the server waits between the parts or closes the connection
/// after the first.
pub(super) struct Reply {
    status: u16,
    media_type: &'static str,
    parts: [String; 2],
    /// Whether the reply is a stream of events, which has no content length.
    is_stream: bool,
    behavior: Option<Behavior>,
}

/// Creates the reply to a request.
pub(super) fn reply(request: &Request) -> Reply {
    let path = request.path.trim_end_matches('/');
    let path_ends_with = |end: &str| path.ends_with(end);
    if request.method == "GET" && path_ends_with("/models") {
        return Reply::document(200, &models());
    }
    let verb = path.rsplit_once(':').map_or("", |(_, verb)| verb);
    let api: &dyn Api = match verb {
        "generateContent" | "streamGenerateContent" | "countTokens" => &gemini::Gemini,
        _ if path_ends_with("/chat/completions") => &chat::Chat,
        _ if path_ends_with("/responses") => &responses::Responses,
        _ if path_ends_with("/messages") || path_ends_with("/messages/count_tokens") => &anthropic::Anthropic,
        _ => return Reply::document(404, &json!({ "error": { "code": 404, "message": "no such path" } })),
    };
    if request.method != "POST" {
        return Reply::document(405, &api.error(405, "expected POST"));
    }
    let body: Value = match serde_json::from_slice(&request.body) {
        Ok(body @ Value::Object(_)) => body,
        Ok(_) => return Reply::document(400, &api.error(400, "the body is not a JSON object")),
        Err(error) => {
            return Reply::document(400, &api.error(400, &format!("the body is not JSON: {error}")));
        }
    };
    match verb {
        "countTokens" => return Reply::document(200, &json!({ "totalTokens": USAGE.input })),
        _ if path_ends_with("/count_tokens") => {
            return Reply::document(200, &json!({ "input_tokens": USAGE.input }));
        }
        _ => {}
    }
    let prompt = Prompt::from_body(&body);
    if let Behavior::Error(status) = prompt.behavior {
        let error = api.error(status, &format!("mock error {status}"));
        return Reply { behavior: Some(prompt.behavior), ..Reply::document(status, &error) };
    }
    let model_in_path = path.rsplit('/').next().and_then(|end| end.split(':').next()).unwrap_or("mock-1");
    let model = body["model"].as_str().unwrap_or(model_in_path);
    let turn = next_turn(&prompt);
    if body["stream"] == true || verb == "streamGenerateContent" && request.query.contains("alt=sse") {
        return Reply::stream(&api.events(model, &turn), prompt.behavior);
    }
    let document = api.document(model, &turn);
    let document = if verb == "streamGenerateContent" { json!([document]) } else { document };
    Reply { behavior: Some(prompt.behavior), ..Reply::document(200, &document) }
}

/// Returns the body of the reply to `GET /models`. It lists one model in the forms of all APIs at once.
fn models() -> Value {
    json!({
        "object": "list",
        "data": [{
            "id": "mock-1", "object": "model", "type": "model", "display_name": "Mock 1",
            "created": 0, "created_at": "1970-01-01T00:00:00Z", "owned_by": "mock",
        }],
        "models": [{
            "name": "models/mock-1", "slug": "mock-1", "displayName": "Mock 1",
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }],
        "has_more": false,
    })
}

impl Reply {
    fn document(status: u16, body: &Value) -> Self {
        let mut first = body.to_string();
        let answer_middle = first.find(ANSWER_PARTS[0]).map(|start| start + ANSWER_PARTS[0].len());
        let second = first.split_off(answer_middle.unwrap_or(first.floor_char_boundary(first.len() / 2)));
        let parts = [first, second];
        Self { status, media_type: "application/json", parts, is_stream: false, behavior: None }
    }

    fn stream(events: &[(Option<String>, String)], behavior: Behavior) -> Self {
        let text = |(name, data): &(Option<String>, String)| {
            let name = name.as_ref().map_or_else(String::new, |name| format!("event: {name}\n"));
            format!("{name}data: {data}\n\n")
        };
        // The first part of the reply includes the first part of the answer.
        let answer_middle = events.iter().position(|(_, data)| data.contains(ANSWER_PARTS[0]));
        let (first, second) = events.split_at(answer_middle.map_or(events.len() / 2, |index| index + 1));
        let parts = [first, second].map(|part| part.iter().map(text).collect());
        Self {
            status: 200,
            media_type: "text/event-stream",
            parts,
            is_stream: true,
            behavior: Some(behavior),
        }
    }

    /// Returns the HTTP status and the name of the behaviour as text for the log.
    pub fn summary(&self) -> String {
        let marker = self.behavior.map(|behavior| format!(" {}", behavior.marker())).unwrap_or_default();
        format!("{}{marker}", self.status)
    }

    /// Writes the reply to the client, with the pause or the interruption that its behaviour requires.
    pub fn write(&self, mut stream: &TcpStream) -> io::Result<()> {
        let [first, second] = &self.parts;
        let mut head = http::head(self.status, self.media_type);
        if !self.is_stream {
            head += &format!("content-length: {}\r\n", first.len() + second.len());
        }
        stream.write_all(format!("{head}\r\n{first}").as_bytes())?;
        match self.behavior {
            Some(Behavior::Truncated) => return stream.shutdown(Shutdown::Both),
            Some(Behavior::Slow) => pause(stream)?,
            _ => {}
        }
        stream.write_all(second.as_bytes())?;
        stream.shutdown(Shutdown::Write)
    }
}

/// Waits for [`SLOW_PAUSE`]. Fails if the client closes the connection meanwhile.
fn pause(mut stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(SLOW_PAUSE))?;
    match stream.read(&mut [0]) {
        Ok(0) => Err(io::ErrorKind::ConnectionAborted.into()),
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => Ok(()),
        Err(error) => Err(error),
    }
}
