//! Any server that speaks OpenAI's `/chat/completions`.

mod answer;
mod request;
mod sse;
mod url;

use crate::event::Event;
use crate::failure::{Code, Failure, Result};
use crate::model::{Message, Provider, ToolSpec, Trouble, Turn};
use crate::options::Options;
use answer::Told;
use std::io::{self, Read};
use std::time::Duration;
use ureq::Agent;
use ureq::http::{Response, StatusCode};

/// Longest answer of a server.
const MAX_BODY: u64 = 32 << 20;
/// Most of an error's body that is read.
const MAX_ERROR: u64 = 64 << 10;
const CONNECT: Duration = Duration::from_secs(10);

/// A key. It has no `Debug` and no `Display`: it goes into one header, and nowhere else.
struct Key(String);

impl Key {
    fn from_environment() -> Result<Self> {
        let key = std::env::var("OPENAI_API_KEY").unwrap_or_default().trim().to_owned();
        if key.is_empty() {
            let failure = Failure::new(Code::AuthConfigError, "there is no key: OPENAI_API_KEY is not set");
            return Err(failure.hint("set OPENAI_API_KEY; a server that needs no key takes any"));
        }
        if key.bytes().any(|byte| !(0x21..0x7f).contains(&byte)) {
            let message = "OPENAI_API_KEY holds characters that no key has";
            return Err(Failure::new(Code::AuthConfigInvalid, message));
        }
        Ok(Self(key))
    }

    /// A server's words without the key, which some of them repeat.
    fn hide(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

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
        let url = url::endpoint(&options.base_url, options.allow_insecure_http)?;
        let key = Key::from_environment()?;
        // What runs beside us must not read the key out of this process.
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_per_read(Some(options.idle_timeout))
            .timeout_per_write(Some(options.idle_timeout))
            .user_agent(concat!("reference-agent/", env!("CARGO_PKG_VERSION")));
        // A proxy would see what goes over plain http.
        let config = if url.starts_with("http://") { config.proxy(None) } else { config };
        Ok(Self {
            agent: config.build().new_agent(),
            url,
            model: options.model.clone(),
            key,
            stream: options.stream,
            idle: options.idle_timeout,
        })
    }

    fn send(&self, body: &serde_json::Value) -> Result<Response<ureq::Body>, ureq::Error> {
        self.agent
            .post(&self.url)
            .header("authorization", format!("Bearer {}", self.key.0))
            .header("accept", if self.stream { "text/event-stream" } else { "application/json" })
            .send_json(body)
    }

    /// A failure on the way, before anything of the answer was told.
    fn lost(&self, error: &ureq::Error) -> Trouble {
        use ureq::Error as E;
        let failure = match error {
            E::Timeout(_) => self.silent(),
            E::Io(error) if error.kind() == io::ErrorKind::TimedOut => self.silent(),
            E::Io(_) | E::HostNotFound | E::ConnectionFailed => {
                Failure::new(Code::ProviderError, format!("no connection: {error}"))
            }
            // Half an answer, or what is no HTTP at all.
            E::Protocol(_) | E::LargeResponseHeader(..) | E::Http(_) => {
                Failure::new(Code::ProviderError, format!("the server does not speak HTTP: {error}"))
            }
            _ => return Trouble::Final(Failure::new(Code::ProviderError, error.to_string())),
        };
        Trouble::Again { failure, after: None }
    }

    fn silent(&self) -> Failure {
        let seconds = self.idle.as_secs_f64();
        Failure::new(Code::FetchTimeout, format!("the server was silent for {seconds} s"))
    }

    /// What a status other than 200 means.
    fn refused(&self, response: Response<ureq::Body>, tools: bool, images: bool) -> Trouble {
        let status = response.status();
        let after =
            response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut text = Vec::new();
        // Half of an error's words is better than none.
        let _ = response.into_body().into_reader().take(MAX_ERROR).read_to_end(&mut text);
        let said = self.key.hide(&answer::error_text(&text));
        let with =
            |code, message: String| Failure { status: Some(status.as_u16()), ..Failure::new(code, message) };
        let told = if said.is_empty() { status.to_string() } else { format!("{status}: {said}") };
        let words = said.to_lowercase();
        match status.as_u16() {
            401 | 403 => Trouble::Final(
                with(Code::AuthRefused, format!("the server refused the key: {told}"))
                    .hint("check OPENAI_API_KEY"),
            ),
            300..=399 => Trouble::Final(
                with(Code::ProviderError, format!("the server sends elsewhere: {status}"))
                    .hint("redirects are not followed, since they would carry the key: set --base-url"),
            ),
            408 | 409 | 429 | 500..=599 => Trouble::Again {
                failure: with(Code::ProviderError, told),
                after: after.and_then(|text| answer::retry_after(&text)),
            },
            400 | 404 | 422 if tools && words.contains("tool") => {
                Trouble::NoTools(with(Code::ToolsNotSupported, told))
            }
            400 | 415 | 422 if images && (words.contains("image") || words.contains("vision")) => {
                Trouble::Final(with(Code::VisionNotSupported, told))
            }
            _ => Trouble::Final(with(Code::ProviderError, told)),
        }
    }

    /// Reading an answer failed. What was told already cannot be taken back, so it is not asked for again.
    fn torn(&self, problem: answer::Problem, told: &Told) -> Trouble {
        let failure = match problem {
            answer::Problem::Read(error) if is_timeout(&error) => self.silent(),
            answer::Problem::Read(error) => {
                let what = if is_limit(&error) {
                    format!("the answer is larger than {MAX_BODY} bytes")
                } else {
                    format!("the answer was cut off: {error}")
                };
                let failure = Failure::new(Code::ProviderError, what);
                if is_limit(&error) {
                    return Trouble::Final(failure);
                }
                failure
            }
            answer::Problem::Wrong(what) => {
                let message = format!("the answer is no chat completion: {}", self.key.hide(&what));
                Failure::new(Code::ProviderError, message)
            }
            answer::Problem::Said(what) => Failure::new(Code::ProviderError, self.key.hide(&what)),
        };
        if told.any { Trouble::Final(failure) } else { Trouble::Again { failure, after: None } }
    }
}

impl Provider for OpenAi {
    fn name(&self) -> &str {
        "openai"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn hide(&self, text: &str) -> String {
        self.key.hide(text)
    }

    fn turn(
        &mut self,
        messages: &[Message],
        tools: &[ToolSpec],
        tell: &mut dyn FnMut(Event),
    ) -> Result<Turn, Trouble> {
        let body = request::body(&self.model, messages, tools, self.stream);
        let images = messages.iter().any(|m| matches!(m, Message::User { images, .. } if !images.is_empty()));
        let response = self.send(&body).map_err(|error| self.lost(&error))?;
        if response.status() != StatusCode::OK {
            return Err(self.refused(response, !tools.is_empty(), images));
        }
        let kind = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.trim().starts_with("text/event-stream"));
        let reader = response.into_body().into_with_config().limit(MAX_BODY).reader();
        let mut told = Told { any: false, tell: &mut |words| tell(Event::Text(self.key.hide(&words))) };
        let turn = if is_stream { sse::read(reader, &mut told) } else { answer::read(reader, &mut told) };
        let mut turn = turn.map_err(|problem| self.torn(problem, &told))?;
        turn.text = self.key.hide(&turn.text);
        for call in &mut turn.calls {
            call.arguments = self.key.hide(&call.arguments);
        }
        Ok(turn)
    }
}

/// The HTTP client wraps its own errors in those of I/O.
fn inner(error: &io::Error) -> Option<&ureq::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>())
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(inner(error), Some(ureq::Error::Timeout(_)))
        || matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

fn is_limit(error: &io::Error) -> bool {
    matches!(inner(error), Some(ureq::Error::BodyExceedsLimit(_)))
}
