//! Why a run of the agent failed, and what each contract calls it.

use agentnative_contract::error::{Error, ErrorKind};
use std::fmt;

/// The reasons. The names are those of the agent-js contract, with five more where it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The `--config` file is no valid configuration.
    AgentConfigInvalid,
    /// The `--config` file cannot be read.
    AgentConfigError,
    /// The key cannot be sent: it holds a control character.
    AuthConfigInvalid,
    /// There is no key.
    AuthConfigError,
    /// The provider refused the key (401, 403).
    AuthRefused,
    /// `--base-url` is no URL of an HTTP server.
    InvalidBaseUrl,
    /// `--base-url` would send the key in the clear.
    InsecureBaseUrl,
    /// An attached file does not exist.
    AttachmentNotFound,
    /// An attached file cannot be read.
    AttachmentUnreadable,
    /// More text files than allowed.
    AttachmentTooManyFiles,
    /// More images than allowed.
    AttachmentTooManyImages,
    /// An attached file is larger than allowed.
    AttachmentTooLarge,
    /// A limit of attachments makes no sense.
    AttachmentLimitInvalid,
    /// An attached file is neither text nor an image.
    AttachmentTypeUnsupported,
    /// There is no such provider.
    ProviderNotConfigured,
    /// An image for a model that takes none.
    VisionNotSupported,
    /// `--approval-mode ask` in a JSON mode.
    InteractiveApprovalJson,
    /// `--approval-mode ask` without a terminal.
    InteractiveApprovalTty,
    /// `--tools-mode on` for a model that takes no tools.
    ToolsNotSupported,
    /// The turn limit came before a final answer.
    MaxToolTurnsNoFinal,
    /// Wrong arguments.
    InvalidOption,
    /// No query, neither in the arguments nor on standard input.
    NoQuery,
    /// Something of the agent's own failed.
    RuntimeError,
    /// The provider answered with an error or with what cannot be understood.
    ProviderError,
    /// The provider did not answer in time.
    FetchTimeout,
    /// The provider failed again and again.
    RetryExhausted,
    /// The model ended its turn without a word.
    EmptyAnswer,
    /// The run took longer than `--timeout`, and not because of the provider.
    TimedOut,
    /// A signal came.
    Interrupted,
}

use Code as C;
use ErrorKind as K;

/// A row for each reason: kind (which has the exit code of principle 2), agent-js code and exit code,
/// dexter-nested code.
const TABLE: &[(Code, K, &str, u8, &str)] = &[
    (C::AgentConfigInvalid, K::Config, "AGENT_CONFIG_INVALID", 2, "CONFIG_ERROR"),
    (C::AgentConfigError, K::Config, "AGENT_CONFIG_ERROR", 2, "CONFIG_ERROR"),
    (C::AuthConfigInvalid, K::Config, "AUTH_CONFIG_INVALID", 3, "CONFIG_ERROR"),
    (C::AuthConfigError, K::Auth, "AUTH_CONFIG_ERROR", 3, "CONFIG_ERROR"),
    (C::AuthRefused, K::Auth, "RUNTIME_ERROR", 1, "PROVIDER_ERROR"),
    (C::InvalidBaseUrl, K::Config, "INVALID_BASE_URL", 4, "CONFIG_ERROR"),
    (C::InsecureBaseUrl, K::Config, "INSECURE_BASE_URL", 4, "CONFIG_ERROR"),
    (C::AttachmentNotFound, K::General, "ATTACHMENT_NOT_FOUND", 9, "AGENT_ERROR"),
    (C::AttachmentUnreadable, K::Auth, "ATTACHMENT_UNREADABLE", 9, "AGENT_ERROR"),
    (C::AttachmentTooManyFiles, K::Usage, "ATTACHMENT_TOO_MANY_FILES", 9, "AGENT_ERROR"),
    (C::AttachmentTooManyImages, K::Usage, "ATTACHMENT_TOO_MANY_IMAGES", 9, "AGENT_ERROR"),
    (C::AttachmentTooLarge, K::General, "ATTACHMENT_TOO_LARGE", 9, "AGENT_ERROR"),
    (C::AttachmentLimitInvalid, K::Config, "ATTACHMENT_LIMIT_INVALID", 9, "CONFIG_ERROR"),
    (C::AttachmentTypeUnsupported, K::General, "ATTACHMENT_TYPE_UNSUPPORTED", 9, "AGENT_ERROR"),
    (C::ProviderNotConfigured, K::Config, "PROVIDER_NOT_CONFIGURED", 4, "CONFIG_ERROR"),
    (C::VisionNotSupported, K::General, "VISION_NOT_SUPPORTED", 6, "PROVIDER_ERROR"),
    (C::InteractiveApprovalJson, K::Usage, "INTERACTIVE_APPROVAL_JSON", 5, "CONFIG_ERROR"),
    (C::InteractiveApprovalTty, K::Usage, "INTERACTIVE_APPROVAL_TTY", 5, "CONFIG_ERROR"),
    (C::ToolsNotSupported, K::General, "TOOLS_NOT_SUPPORTED", 6, "PROVIDER_ERROR"),
    (C::MaxToolTurnsNoFinal, K::General, "MAX_TOOL_TURNS_NO_FINAL", 1, "AGENT_ERROR"),
    (C::InvalidOption, K::Usage, "INVALID_OPTION", 1, "CONFIG_ERROR"),
    (C::NoQuery, K::Usage, "INVALID_OPTION", 1, "NO_QUERY"),
    (C::RuntimeError, K::General, "RUNTIME_ERROR", 1, "AGENT_ERROR"),
    (C::ProviderError, K::General, "RUNTIME_ERROR", 1, "PROVIDER_ERROR"),
    (C::FetchTimeout, K::General, "FETCH_TIMEOUT", 7, "PROVIDER_ERROR"),
    (C::RetryExhausted, K::General, "RETRY_EXHAUSTED", 8, "PROVIDER_ERROR"),
    (C::EmptyAnswer, K::General, "RUNTIME_ERROR", 1, "AGENT_ERROR"),
    (C::TimedOut, K::General, "RUNTIME_ERROR", 1, "AGENT_ERROR"),
    (C::Interrupted, K::General, "RUNTIME_ERROR", 1, "AGENT_ERROR"),
];

impl Code {
    fn row(self) -> &'static (Code, K, &'static str, u8, &'static str) {
        TABLE.iter().find(|row| row.0 == self).expect("the table has a row for each code")
    }
    /// The kind of principle 2, which decides that contract's exit code.
    pub fn kind(self) -> ErrorKind {
        self.row().1
    }
    /// The `code` of agent-js.
    pub fn agent_js(self) -> &'static str {
        self.row().2
    }
    /// The exit code of agent-js.
    pub fn agent_js_exit(self) -> u8 {
        self.row().3
    }
    /// The `error.code` of dexter-nested.
    pub fn dexter_nested(self) -> &'static str {
        self.row().4
    }
    /// The stable name in the agent's own contract.
    pub fn name(self) -> &'static str {
        match self {
            C::AuthRefused => "AUTH_REFUSED",
            C::NoQuery => "NO_QUERY",
            C::ProviderError => "PROVIDER_ERROR",
            C::EmptyAnswer => "EMPTY_ANSWER",
            C::TimedOut => "TIMED_OUT",
            C::Interrupted => "INTERRUPTED",
            other => other.agent_js(),
        }
    }
    /// Whether the provider is to blame, once it was asked.
    pub fn is_provider(self) -> bool {
        use Code::{AuthRefused, FetchTimeout, ProviderError, RetryExhausted};
        use Code::{ToolsNotSupported, VisionNotSupported};
        matches!(
            self,
            AuthRefused
                | FetchTimeout
                | ProviderError
                | RetryExhausted
                | ToolsNotSupported
                | VisionNotSupported
        )
    }
}

/// A failed run: the reason, and a line for people. The line may hold a provider's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub code: Code,
    /// One line; never empty.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The signal that came, for [`Code::Interrupted`].
    pub signal: Option<i32>,
    /// The HTTP status of the provider's answer, when there was one.
    pub status: Option<u16>,
}

impl Failure {
    /// A failure for this reason.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        let message = if message.trim().is_empty() { code.name().to_owned() } else { message };
        Self { code, message, hint: None, signal: None, status: None }
    }
    /// The same failure with what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    /// The end by a signal.
    pub fn signal(signal: i32) -> Self {
        let name = if signal == signal_hook::consts::SIGINT { "interrupted" } else { "terminated" };
        let message = format!("{name} by signal {signal}");
        Self { signal: Some(signal), ..Self::new(Code::Interrupted, message) }
    }
    /// The same as the error type of the whole program.
    pub fn to_error(&self) -> Error {
        let error = Error::new(self.code.kind(), self.message.clone());
        match &self.hint {
            Some(hint) => error.hint(hint.clone()),
            None => error,
        }
    }
    /// The exit code of principle 2, and 128 + the signal for one.
    pub fn exit_code(&self) -> u8 {
        match self.signal.and_then(|signal| u8::try_from(128 + signal).ok()) {
            Some(code) => code,
            None => self.code.kind().exit_code(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The result of what can end a run.
pub type Result<T, E = Failure> = std::result::Result<T, E>;
