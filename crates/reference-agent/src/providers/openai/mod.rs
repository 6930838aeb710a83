//! Any server that speaks OpenAI's `/chat/completions`.

mod answer;
mod request;
mod sse;
mod url;

use crate::failure::{Code, Failure, Result};
use crate::key::Key;
use crate::model::{Message, Provider, ToolSpec, Turn};
use crate::options::Options;
use answer::AnswerError;
use std::io::{self, Read};
use std::time::Duration;
use ureq::Agent;
use ureq::http::{Response, StatusCode};

/// Longest answer of a server.
const MAX_BODY: u64 = 16 << 20;
/// Most of an error's body that is read.
const MAX_ERROR: u64 = 64 << 10;
const CONNECT: Duration = Duration::from_secs(10);

/// The provider.
pub(super) struct OpenAi {
    agent: Agent,
    url: String,
    model: String,
    key: Key,
    stream: bool,
    idle: Duration,
}

impl OpenAi {
    pub(super) fn new(options: &Options) -> Result<Self> {
        let url = url::endpoint(&options.base_url(), options.allow_insecure_http)?;
        let key = Key::given()?;
        let idle = Duration::from_secs_f64(options.idle_timeout);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_per_read(Some(idle))
            .timeout_per_write(Some(idle))
            .user_agent(concat!("reference-agent/", env!("CARGO_PKG_VERSION")));
        // A proxy would see what goes over plain http.
        let config = if url.starts_with("http://") { config.proxy(None) } else { config };
        Ok(Self {
            agent: config.build().new_agent(),
            url,
            model: options.provider_and_model().1.to_owned(),
            key,
            stream: options.stream,
            idle,
        })
    }

    fn send(&self, body: &serde_json::Value) -> Result<Response<ureq::Body>, ureq::Error> {
        self.agent
            .post(&self.url)
            .header("authorization", self.key.bearer())
            .header("accept", if self.stream { "text/event-stream" } else { "application/json" })
            .send_json(body)
    }

    /// A failure before anything of the answer came.
    fn connection_error(&self, error: &ureq::Error) -> Failure {
        use ureq::Error as E;
        let failure = |message: String| Failure::new(Code::ProviderError, message);
        let failure = match error {
            E::Timeout(_) => self.timeout(),
            E::Io(error) if error.kind() == io::ErrorKind::TimedOut => self.timeout(),
            E::Io(_) | E::HostNotFound | E::ConnectionFailed => {
                failure(format!("connection failed: {error}"))
            }
            // Half an answer, or what is no HTTP at all.
            E::Protocol(_) | E::LargeResponseHeader(..) | E::Http(_) => {
                failure(format!("the server does not use HTTP: {error}"))
            }
            _ => return failure(error.to_string()),
        };
        Failure { retryable: true, ..failure }
    }

    fn timeout(&self) -> Failure {
        let seconds = self.idle.as_secs_f64();
        Failure::new(Code::FetchTimeout, format!("the server sent nothing for {seconds} s"))
    }

    /// What a status other than 200 means.
    fn status_error(&self, response: Response<ureq::Body>, tools: bool, images: bool) -> Failure {
        let status = response.status();
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after = after.and_then(answer::retry_after);
        let mut text = Vec::new();
        // Half of an error's words is better than none.
        let _ = response.into_body().into_reader().take(MAX_ERROR).read_to_end(&mut text);
        let reason = self.hide(&answer::error_text(&text));
        let failure =
            |code, message: String| Failure { status: Some(status.as_u16()), ..Failure::new(code, message) };
        let message = if reason.is_empty() { status.to_string() } else { format!("{status}: {reason}") };
        let words = reason.to_lowercase();
        match status.as_u16() {
            401 | 403 => failure(Code::AuthRefused, format!("the server rejected the key: {message}"))
                .hint("check OPENAI_API_KEY"),
            300..=399 => failure(Code::ProviderError, format!("the server redirected the request: {status}"))
                .hint("set --base-url to the new address; redirects are not followed because they would forward the key"),
            408 | 409 | 429 | 500..=599 => {
                Failure { retryable: true, retry_after, ..failure(Code::ProviderError, message) }
            }
            400 | 404 | 422 if tools && words.contains("tool") => failure(Code::ToolsNotSupported, message),
            400 | 415 | 422 if images && (words.contains("image") || words.contains("vision")) => {
                failure(Code::VisionNotSupported, message)
            }
            _ => failure(Code::ProviderError, message),
        }
    }

    /// Reading an answer failed. What was emitted cannot be taken back, so it is not asked for again.
    fn answer_error(&self, error: AnswerError, emitted: bool) -> Failure {
        let failure = |message: String| Failure::new(Code::ProviderError, message);
        let failure = match error {
            AnswerError::Io(error) if is_timeout(&error) => self.timeout(),
            AnswerError::Io(error) if is_limit(&error) => {
                return failure(format!("the response is larger than {MAX_BODY} bytes"));
            }
            AnswerError::Io(error) => failure(format!("the response is incomplete: {error}")),
            AnswerError::Malformed(what) => {
                failure(format!("the response is not a chat completion: {}", self.hide(&what)))
            }
            AnswerError::Server(what) => failure(self.hide(&what)),
        };
        Failure { retryable: !emitted, ..failure }
    }
}

impl Provider for OpenAi {
    fn hide(&self, text: &str) -> String {
        self.key.hide(text)
    }

    fn turn(&mut self, messages: &[Message], tools: &[ToolSpec], emit: &mut dyn FnMut(&str)) -> Result<Turn> {
        let body = request::body(&self.model, messages, tools, self.stream);
        let images = messages.iter().any(|m| matches!(m, Message::User { images, .. } if !images.is_empty()));
        let response = self.send(&body).map_err(|error| self.connection_error(&error))?;
        if response.status() != StatusCode::OK {
            return Err(self.status_error(response, !tools.is_empty(), images));
        }
        let kind = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.trim().starts_with("text/event-stream"));
        let reader = response.into_body().into_with_config().limit(MAX_BODY).reader();
        let mut emitted = false;
        let mut emit = |words: &str| {
            if !words.is_empty() {
                emitted = true;
                emit(&self.hide(words));
            }
        };
        let turn = if is_stream { sse::read(reader, &mut emit) } else { answer::read(reader, &mut emit) };
        let mut turn = turn.map_err(|error| self.answer_error(error, emitted))?;
        turn.text = self.hide(&turn.text);
        for call in &mut turn.calls {
            call.arguments = self.hide(&call.arguments);
        }
        Ok(turn)
    }
}

/// The HTTP client wraps its own errors in those of I/O.
fn http_error(error: &io::Error) -> Option<&ureq::Error> {
    error.get_ref().and_then(|error| error.downcast_ref::<ureq::Error>())
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(http_error(error), Some(ureq::Error::Timeout(_)))
        || matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

fn is_limit(error: &io::Error) -> bool {
    matches!(http_error(error), Some(ureq::Error::BodyExceedsLimit(_)))
}
