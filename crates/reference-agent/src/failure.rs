//! Why a run of the agent failed. What another protocol calls it is said in that protocol's file.

use agentnative_contract::error::{Error, ErrorKind};
use std::time::Duration;

/// Declares the codes: with each its kind and its stable name.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident: $kind:ident, $name:literal;)*) => {
        /// The reasons. The names are those of the agent-js contract, with six more where it has none.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code { $($(#[$doc])* $code,)* }

        impl Code {
            /// The kind, which has the exit code of principle 2.
            pub const fn kind(self) -> ErrorKind {
                match self { $(Self::$code => ErrorKind::$kind,)* }
            }
            /// The stable name in the agent's own contract.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }
        }
    };
}

codes! {
    /// The `--config` file is no valid configuration.
    AgentConfigInvalid: Config, "AGENT_CONFIG_INVALID";
    /// The `--config` file cannot be read.
    AgentConfigError: Config, "AGENT_CONFIG_ERROR";
    /// The key cannot be sent: it holds a control character.
    AuthConfigInvalid: Config, "AUTH_CONFIG_INVALID";
    /// There is no key.
    AuthConfigError: Auth, "AUTH_CONFIG_ERROR";
    /// The provider refused the key (401, 403).
    AuthRefused: Auth, "AUTH_REFUSED";
    /// `--base-url` is no URL of an HTTP server.
    InvalidBaseUrl: Config, "INVALID_BASE_URL";
    /// `--base-url` would send the key in the clear.
    InsecureBaseUrl: Config, "INSECURE_BASE_URL";
    /// An attached file does not exist.
    AttachmentNotFound: Usage, "ATTACHMENT_NOT_FOUND";
    /// An attached file cannot be read, such as a folder.
    AttachmentUnreadable: Usage, "ATTACHMENT_UNREADABLE";
    /// More text files than allowed.
    AttachmentTooManyFiles: Usage, "ATTACHMENT_TOO_MANY_FILES";
    /// More images than allowed.
    AttachmentTooManyImages: Usage, "ATTACHMENT_TOO_MANY_IMAGES";
    /// An attached file is larger than allowed.
    AttachmentTooLarge: General, "ATTACHMENT_TOO_LARGE";
    /// A limit of attachments makes no sense.
    AttachmentLimitInvalid: Config, "ATTACHMENT_LIMIT_INVALID";
    /// An attached file is neither text nor an image.
    AttachmentTypeUnsupported: General, "ATTACHMENT_TYPE_UNSUPPORTED";
    /// There is no such provider.
    ProviderNotConfigured: Config, "PROVIDER_NOT_CONFIGURED";
    /// An image for a model that takes none.
    VisionNotSupported: General, "VISION_NOT_SUPPORTED";
    /// `--approval-mode ask` in a JSON mode.
    InteractiveApprovalJson: Usage, "INTERACTIVE_APPROVAL_JSON";
    /// `--approval-mode ask` without a terminal.
    InteractiveApprovalTty: Usage, "INTERACTIVE_APPROVAL_TTY";
    /// `--tools-mode on` for a model that takes no tools.
    ToolsNotSupported: General, "TOOLS_NOT_SUPPORTED";
    /// The turn limit came before a final answer.
    MaxToolTurnsNoFinal: General, "MAX_TOOL_TURNS_NO_FINAL";
    /// Wrong arguments.
    InvalidOption: Usage, "INVALID_OPTION";
    /// No query, neither in the arguments nor on standard input.
    NoQuery: Usage, "NO_QUERY";
    /// Something of the agent's own failed.
    RuntimeError: General, "RUNTIME_ERROR";
    /// The provider answered with an error or with what cannot be understood.
    ProviderError: General, "PROVIDER_ERROR";
    /// The provider did not answer in time.
    FetchTimeout: General, "FETCH_TIMEOUT";
    /// The provider failed again and again.
    RetryExhausted: General, "RETRY_EXHAUSTED";
    /// The model ended its turn without a word.
    EmptyAnswer: General, "EMPTY_ANSWER";
    /// The run took longer than `--timeout`, and not because of the provider.
    TimedOut: General, "TIMED_OUT";
    /// A signal came.
    Interrupted: General, "INTERRUPTED";
}

impl Code {
    /// Whether the provider is to blame, once it was asked.
    pub const fn is_provider(self) -> bool {
        matches!(
            self,
            Self::AuthRefused
                | Self::FetchTimeout
                | Self::ProviderError
                | Self::RetryExhausted
                | Self::ToolsNotSupported
                | Self::VisionNotSupported
        )
    }
}

/// A failed run: the reason, and a line for people. The line may hold a provider's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub code: Code,
    /// One line; never empty.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The signal that came, for [`Code::Interrupted`].
    pub signal: Option<i32>,
    /// The HTTP status of the provider's answer, when there was one.
    pub status: Option<u16>,
    /// The system does not allow to read a file: the kind is permission, whatever the reason.
    pub denied: bool,
    /// The model's turn may succeed the next time.
    pub retryable: bool,
    /// How long the provider asks to wait before.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure for this reason.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        let message = if message.trim().is_empty() { code.name().to_owned() } else { message };
        Self {
            code,
            message,
            hint: None,
            signal: None,
            status: None,
            denied: false,
            retryable: false,
            retry_after: None,
        }
    }
    /// A failure for this reason, which an error of the system has; `what` says what could not be done.
    pub fn io(code: Code, what: &str, error: &std::io::Error) -> Self {
        let denied = error.kind() == std::io::ErrorKind::PermissionDenied;
        Self { denied, ..Self::new(code, format!("{what}: {error}")) }
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
        let kind = if self.denied { ErrorKind::Auth } else { self.code.kind() };
        let error = Error::new(kind, self.message.clone());
        Error { hint: self.hint.clone(), signal: self.signal, ..error }
    }
    /// The exit code of principle 2, and 128 + the signal for one.
    pub fn exit_code(&self) -> u8 {
        self.to_error().exit_code()
    }
}

/// The result of what can end a run.
pub type Result<T, E = Failure> = std::result::Result<T, E>;
