//! Why a run of the agent failed. Each output protocol maps these codes to the names of its contract.

use agentnative_contract::error::{Error, ErrorKind};
use std::time::Duration;

/// Declares the enum of failure codes. Each code has an error kind and a stable name.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident: $kind:ident, $name:literal;)*) => {
        /// Reason of a failure. The names come from the contract `agent-js`. Six codes that it lacks are added.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code { $($(#[$doc])* $code,)* }

        impl Code {
            /// Returns the error kind of the code. The kind determines the exit code.
            pub const fn kind(self) -> ErrorKind {
                match self { $(Self::$code => ErrorKind::$kind,)* }
            }
            /// Returns the stable name of the code in the agent's native output, such as `NO_QUERY`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }
        }
    };
}

codes! {
    /// The `--config` file is invalid.
    AgentConfigInvalid: Config, "AGENT_CONFIG_INVALID";
    /// The `--config` file cannot be read.
    AgentConfigError: Config, "AGENT_CONFIG_ERROR";
    /// The API key contains a character that an HTTP header cannot contain.
    AuthConfigInvalid: Config, "AUTH_CONFIG_INVALID";
    /// The API key is missing.
    AuthConfigError: Auth, "AUTH_CONFIG_ERROR";
    /// The provider rejected the API key with HTTP status 401 or 403.
    AuthRefused: Auth, "AUTH_REFUSED";
    /// `--base-url` is not a valid URL of an HTTP server.
    InvalidBaseUrl: Config, "INVALID_BASE_URL";
    /// `--base-url` would send the API key unencrypted to another machine.
    InsecureBaseUrl: Config, "INSECURE_BASE_URL";
    /// An attached file does not exist.
    AttachmentNotFound: Usage, "ATTACHMENT_NOT_FOUND";
    /// An attached file cannot be read or is not a regular file.
    AttachmentUnreadable: Usage, "ATTACHMENT_UNREADABLE";
    /// Too many text files are attached.
    AttachmentTooManyFiles: Usage, "ATTACHMENT_TOO_MANY_FILES";
    /// Too many images are attached.
    AttachmentTooManyImages: Usage, "ATTACHMENT_TOO_MANY_IMAGES";
    /// An attached file is larger than allowed.
    AttachmentTooLarge: General, "ATTACHMENT_TOO_LARGE";
    /// A limit of attachments in the configuration file is below 1.
    AttachmentLimitInvalid: Config, "ATTACHMENT_LIMIT_INVALID";
    /// An attached file is neither text nor an image.
    AttachmentTypeUnsupported: General, "ATTACHMENT_TYPE_UNSUPPORTED";
    /// The provider does not exist.
    ProviderNotConfigured: Config, "PROVIDER_NOT_CONFIGURED";
    /// An image is attached, but the model does not support images.
    VisionNotSupported: General, "VISION_NOT_SUPPORTED";
    /// `--approval-mode ask` was combined with a JSON format.
    InteractiveApprovalJson: Usage, "INTERACTIVE_APPROVAL_JSON";
    /// `--approval-mode ask` was used without a terminal.
    InteractiveApprovalTty: Usage, "INTERACTIVE_APPROVAL_TTY";
    /// The model does not support tools.
    ToolsNotSupported: General, "TOOLS_NOT_SUPPORTED";
    /// The turn limit was reached before a final answer.
    MaxToolTurnsNoFinal: General, "MAX_TOOL_TURNS_NO_FINAL";
    /// The arguments are invalid.
    InvalidOption: Usage, "INVALID_OPTION";
    /// Neither the arguments nor stdin contain a query.
    NoQuery: Usage, "NO_QUERY";
    /// The agent itself failed, such as a write error.
    RuntimeError: General, "RUNTIME_ERROR";
    /// The provider answered with an error or an invalid response.
    ProviderError: General, "PROVIDER_ERROR";
    /// The provider did not answer in time.
    FetchTimeout: General, "FETCH_TIMEOUT";
    /// The provider still failed after all retries.
    RetryExhausted: General, "RETRY_EXHAUSTED";
    /// The model returned an empty answer.
    EmptyAnswer: General, "EMPTY_ANSWER";
    /// The run exceeded `--timeout` while it was not waiting for the provider.
    TimedOut: General, "TIMED_OUT";
    /// A signal ended the run.
    Interrupted: General, "INTERRUPTED";
}

impl Code {
    /// Returns whether a request failed because of the provider, such as a timeout or an unsupported feature.
    pub const fn is_provider_failure(self) -> bool {
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

/// Describes why a run failed: a code, a message for the user, and how to continue. The message may quote the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub code: Code,
    /// Message for the user. One line, never empty.
    pub message: String,
    /// Text that says how to fix the failure.
    pub hint: Option<String>,
    /// The signal that ended the run, for [`Code::Interrupted`].
    pub signal: Option<i32>,
    /// HTTP status of the provider's response, if there was one.
    pub status: Option<u16>,
    /// Whether a file could not be read because of missing permission. Then the error kind is `Auth`, whatever the code
    /// is.
    pub permission_denied: bool,
    /// Whether the same request to the model may succeed if it is repeated.
    pub retryable: bool,
    /// Wait before a retry that the provider requests.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// Creates a failure. The name of the code replaces an empty message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        let message = if message.trim().is_empty() { code.name().to_owned() } else { message };
        Self {
            code,
            message,
            hint: None,
            signal: None,
            status: None,
            permission_denied: false,
            retryable: false,
            retry_after: None,
        }
    }
    /// Creates a failure from an I/O error. `what` says which operation failed.
    pub fn from_io(code: Code, what: &str, error: &std::io::Error) -> Self {
        let permission_denied = error.kind() == std::io::ErrorKind::PermissionDenied;
        Self { permission_denied, ..Self::new(code, format!("{what}: {error}")) }
    }
    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    /// Creates the failure of a run that a signal ended.
    pub fn from_signal(signal: i32) -> Self {
        let name = if signal == signal_hook::consts::SIGINT { "interrupted" } else { "terminated" };
        let message = format!("{name} by signal {signal}");
        Self { signal: Some(signal), ..Self::new(Code::Interrupted, message) }
    }
    /// Converts the failure to the error type of `agentnative_contract`, which the output functions print.
    pub fn to_error(&self) -> Error {
        let kind = if self.permission_denied { ErrorKind::Auth } else { self.code.kind() };
        let error = Error::new(kind, self.message.clone());
        Error { hint: self.hint.clone(), signal: self.signal, ..error }
    }
    /// Returns the exit code of the error kind, or 128 + the signal if a signal ended the run.
    pub fn exit_code(&self) -> u8 {
        self.to_error().exit_code()
    }
}

/// Result of an operation whose failure ends the run.
pub type Result<T, E = Failure> = std::result::Result<T, E>;
