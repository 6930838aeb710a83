//! The openai provider: any server that implements OpenAI's `/chat/completions`.

mod completion;
mod request;
mod sse;
mod url;

use crate::api_key::ApiKey;
use crate::failure::{Code, Failure, Result};
use crate::model::{Message, Provider, ToolSpec, Turn};
use crate::options::Options;
use completion::ResponseError;
use std::io::{self, Read};
use std::time::Duration;
use ureq::Agent;
use ureq::http::{Response, StatusCode};

/// Maximum size of a response, in bytes.
const MAX_BODY: u64 = 16 << 20;
/// Number of bytes that are read of an error response.
const MAX_ERROR_BODY: u64 = 64 << 10;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) struct OpenAi {
    agent: Agent,
    url: String,
    model: String,
    key: ApiKey,
    stream: bool,
    idle_timeout: Duration,
}

impl OpenAi {
    pub(super) fn new(options: &Options) -> Result<Self> {
        let url = url::endpoint(&options.base_url(), options.allow_insecure_http)?;
        let key = ApiKey::from_environment()?;
        let idle_timeout = Duration::from_secs_f64(options.idle_timeout);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_per_read(Some(idle_timeout))
            .timeout_per_write(Some(idle_timeout))
            .user_agent(concat!("reference-agent/", env!("CARGO_PKG_VERSION")));
        // A proxy could read the key in plain http.
        let config = if url.starts_with("http://") { config.proxy(None) } else { config };
        Ok(Self {
            agent: config.build().new_agent(),
            url,
            model: options.provider_and_model().1.to_owned(),
            key,
            stream: options.stream,
            idle_timeout,
        })
    }

    fn send(&self, body: &serde_json::Value) -> Result<Response<ureq::Body>, ureq::Error> {
        self.agent
            .post(&self.url)
            .header("authorization", self.key.bearer())
            .header("accept", if self.stream { "text/event-stream" } else { "application/json" })
            .send_json(body)
    }

    /// Creates the failure of a request to which the server sent no response.
    fn connection_error(&self, error: &ureq::Error) -> Failure {
        use ureq::Error as E;
        let failure = |message: String| Failure::new(Code::ProviderError, message);
        let failure = match error {
            E::Timeout(_) => self.timeout_failure(),
            E::Io(error) if error.kind() == io::ErrorKind::TimedOut => self.timeout_failure(),
            E::Io(_) | E::HostNotFound | E::ConnectionFailed => {
                failure(format!("connection failed: {error}"))
            }
            // The head of the response is truncated or not HTTP.
            E::Protocol(_) | E::LargeResponseHeader(..) | E::Http(_) => {
                failure(format!("the server does not use HTTP: {error}"))
            }
            _ => return failure(error.to_string()),
        };
        Failure { retryable: true, ..failure }
    }

    fn timeout_failure(&self) -> Failure {
        let seconds = self.idle_timeout.as_secs_f64();
        Failure::new(Code::FetchTimeout, format!("the server sent nothing for {seconds} s"))
    }

    /// Creates the failure for a response with an HTTP status other than 200. `tools` and `images` say whether the
    /// request contained any.
    fn status_error(&self, response: Response<ureq::Body>, tools: bool, images: bool) -> Failure {
        let status = response.status();
        let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after = header.and_then(completion::parse_retry_after);
        let mut text = Vec::new();
        // A truncated message is better than none.
        let _ = response.into_body().into_reader().take(MAX_ERROR_BODY).read_to_end(&mut text);
        let reason = self.redact(&completion::error_text(&text));
        let failure =
            |code, message: String| Failure { status: Some(status.as_u16()), ..Failure::new(code, message) };
        let message = if reason.is_empty() { status.to_string() } else { format!("{status}: {reason}") };
        let lowercase = reason.to_lowercase();
        match status.as_u16() {
            401 | 403 => failure(Code::AuthRefused, format!("the server rejected the key: {message}"))
                .with_hint("check OPENAI_API_KEY"),
            300..=399 => failure(Code::ProviderError, format!("the server redirected the request: {status}"))
                .with_hint("set --base-url to the new address; redirects are not followed because they would forward the key"),
            408 | 409 | 429 | 500..=599 => {
                Failure { retryable: true, retry_after, ..failure(Code::ProviderError, message) }
            }
            400 | 404 | 422 if tools && lowercase.contains("tool") => failure(Code::ToolsNotSupported, message),
            400 | 415 | 422 if images && (lowercase.contains("image") || lowercase.contains("vision")) => {
                failure(Code::VisionNotSupported, message)
            }
            _ => failure(Code::ProviderError, message),
        }
    }

    /// Creates the failure for a response that could not be read. `emitted` says whether a part of its text was already
    /// emitted. Then the request is not retried, because the output cannot be undone.
    fn response_error(&self, error: ResponseError, emitted: bool) -> Failure {
        let failure = |message: String| Failure::new(Code::ProviderError, message);
        let failure = match error {
            ResponseError::Io(error) if is_timeout(&error) => self.timeout_failure(),
            ResponseError::Io(error) if exceeds_limit(&error) => {
                return failure(format!("the response is larger than {MAX_BODY} bytes"));
            }
            ResponseError::Io(error) => failure(format!("the response is incomplete: {error}")),
            ResponseError::Malformed(what) => {
                failure(format!("the response is not a chat completion: {}", self.redact(&what)))
            }
            ResponseError::Server(what) => failure(self.redact(&what)),
        };
        Failure { retryable: !emitted, ..failure }
    }
}

impl Provider for OpenAi {
    fn redact(&self, text: &str) -> String {
        self.key.redact(text)
    }

    fn turn(&mut self, messages: &[Message], tools: &[ToolSpec], emit: &mut dyn FnMut(&str)) -> Result<Turn> {
        let body = request::body(&self.model, messages, tools, self.stream);
        let images = messages.iter().any(|m| matches!(m, Message::User { images, .. } if !images.is_empty()));
        let response = self.send(&body).map_err(|error| self.connection_error(&error))?;
        if response.status() != StatusCode::OK {
            return Err(self.status_error(response, !tools.is_empty(), images));
        }
        let content_type = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        let is_stream = content_type.is_some_and(|value| value.trim().starts_with("text/event-stream"));
        let reader = response.into_body().into_with_config().limit(MAX_BODY).reader();
        let mut emitted = false;
        let mut emit = |text: &str| {
            if !text.is_empty() {
                emitted = true;
                emit(&self.redact(text));
            }
        };
        let turn = if is_stream {
            sse::read_stream(reader, &mut emit)
        } else {
            completion::read_document(reader, &mut emit)
        };
        let mut turn = turn.map_err(|error| self.response_error(error, emitted))?;
        turn.text = self.redact(&turn.text);
        for call in &mut turn.calls {
            call.arguments = self.redact(&call.arguments);
        }
        Ok(turn)
    }
}

/// Returns the error of the HTTP client that an I/O error contains, if any.
fn http_error(error: &io::Error) -> Option<&ureq::Error> {
    error.get_ref().and_then(|error| error.downcast_ref::<ureq::Error>())
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(http_error(error), Some(ureq::Error::Timeout(_)))
        || matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

fn exceeds_limit(error: &io::Error) -> bool {
    matches!(http_error(error), Some(ureq::Error::BodyExceedsLimit(_)))
}
