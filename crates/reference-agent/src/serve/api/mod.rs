//! The APIs of model providers that the server speaks: which one a request is for, and its reply.

mod anthropic;
mod chat;
mod gemini;
mod interface;
mod responses;

use super::http::{self, Request};
use super::prompt::Prompt;
use super::scene::Scene;
use super::turn::{ANSWER, turn};
use interface::{Api, INPUT};
use serde_json::{Value, json};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// How long the second half of a slow answer takes.
const PAUSE: Duration = Duration::from_secs(30);

/// A reply, in two parts between which something can happen.
pub(super) struct Reply {
    status: u16,
    media: &'static str,
    parts: [String; 2],
    /// It is a stream of events, whose length is not told.
    is_stream: bool,
    scene: Option<Scene>,
}

/// The reply to a request.
pub(super) fn reply(request: &Request) -> Reply {
    let path = request.path.trim_end_matches('/');
    let is = |end: &str| path.ends_with(end);
    if request.method == "GET" && is("/models") {
        return Reply::of(200, &models());
    }
    let verb = path.rsplit_once(':').map_or("", |(_, verb)| verb);
    let api: &dyn Api = match verb {
        "generateContent" | "streamGenerateContent" | "countTokens" => &gemini::Gemini,
        _ if is("/chat/completions") => &chat::Chat,
        _ if is("/responses") => &responses::Responses,
        _ if is("/messages") || is("/messages/count_tokens") => &anthropic::Anthropic,
        _ => return Reply::of(404, &json!({ "error": { "code": 404, "message": "no such path" } })),
    };
    if request.method != "POST" {
        return Reply::of(405, &api.error(405, "expected POST"));
    }
    let body: Value = match serde_json::from_slice(&request.body) {
        Ok(body @ Value::Object(_)) => body,
        Ok(_) => return Reply::of(400, &api.error(400, "the body is not a JSON object")),
        Err(error) => return Reply::of(400, &api.error(400, &format!("the body is not JSON: {error}"))),
    };
    match verb {
        "countTokens" => return Reply::of(200, &json!({ "totalTokens": INPUT })),
        _ if is("/count_tokens") => return Reply::of(200, &json!({ "input_tokens": INPUT })),
        _ => {}
    }
    let prompt = Prompt::of(&body);
    if let Scene::Error(status) = prompt.scene {
        let error = api.error(status, &format!("mock error {status}"));
        return Reply { scene: Some(prompt.scene), ..Reply::of(status, &error) };
    }
    let of_path = path.rsplit('/').next().and_then(|end| end.split(':').next()).unwrap_or("mock-1");
    let model = body["model"].as_str().unwrap_or(of_path);
    let turn = turn(&prompt);
    if body["stream"] == true || verb == "streamGenerateContent" && request.query.contains("alt=sse") {
        return Reply::stream(&api.events(model, &turn), prompt.scene);
    }
    let document = api.document(model, &turn);
    let document = if verb == "streamGenerateContent" { json!([document]) } else { document };
    Reply { scene: Some(prompt.scene), ..Reply::of(200, &document) }
}

/// The models: one, in the forms of all APIs.
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
    fn of(status: u16, body: &Value) -> Self {
        let mut first = body.to_string();
        let words = first.find(ANSWER[0]).map(|start| start + ANSWER[0].len());
        let second = first.split_off(words.unwrap_or(first.floor_char_boundary(first.len() / 2)));
        Self { status, media: "application/json", parts: [first, second], is_stream: false, scene: None }
    }

    fn stream(events: &[(Option<String>, String)], scene: Scene) -> Self {
        let text = |(name, data): &(Option<String>, String)| {
            let name = name.as_ref().map_or_else(String::new, |name| format!("event: {name}\n"));
            format!("{name}data: {data}\n\n")
        };
        // The first words of the answer are told before something happens.
        let words = events.iter().position(|(_, data)| data.contains(ANSWER[0]));
        let (first, second) = events.split_at(words.map_or(events.len() / 2, |words| words + 1));
        let parts = [first, second].map(|part| part.iter().map(text).collect());
        Self { status: 200, media: "text/event-stream", parts, is_stream: true, scene: Some(scene) }
    }

    /// What it is, for a log.
    pub fn summary(&self) -> String {
        let scene = self.scene.map(|scene| format!(" {}", scene.name())).unwrap_or_default();
        format!("{}{scene}", self.status)
    }

    /// Writes it as its scene wants it.
    pub fn write(&self, mut stream: &TcpStream) -> io::Result<()> {
        let [first, second] = &self.parts;
        let mut head = http::head(self.status, self.media);
        if !self.is_stream {
            head += &format!("content-length: {}\r\n", first.len() + second.len());
        }
        stream.write_all(format!("{head}\r\n{first}").as_bytes())?;
        match self.scene {
            Some(Scene::Cut) => return stream.shutdown(Shutdown::Both),
            Some(Scene::Slow) => pause(stream)?,
            _ => {}
        }
        stream.write_all(second.as_bytes())?;
        stream.shutdown(Shutdown::Write)
    }
}

/// Waits, unless the client goes away.
fn pause(mut stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PAUSE))?;
    match stream.read(&mut [0]) {
        Ok(0) => Err(io::ErrorKind::ConnectionAborted.into()),
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => Ok(()),
        Err(error) => Err(error),
    }
}
