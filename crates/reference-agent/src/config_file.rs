//! The `--config` file.

use super::failure::{Code, Failure, Result};
use super::options::{ApprovalMode, Profile, ToolsMode, duration};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Limits of attachments.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most text files.
    pub files: usize,
    /// Most images.
    pub images: usize,
    /// Most bytes of one of them.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { files: 10, images: 5, bytes: 1 << 20 }
    }
}

/// What a configuration file says, checked. Relative paths in it start at its folder.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfigFile {
    /// As `--model`.
    pub model: Option<String>,
    /// As `--provider`.
    pub provider: Option<String>,
    /// As `--script`.
    pub script: Option<PathBuf>,
    /// As `--base-url`.
    pub base_url: Option<String>,
    /// As `--allow-insecure-http`.
    pub allow_insecure_http: bool,
    /// False is `--no-stream`.
    pub stream: Option<bool>,
    /// As `--max-retries`.
    pub max_retries: Option<u32>,
    /// First wait before a retry, in milliseconds.
    pub retry_base_ms: Option<u64>,
    /// As `--idle-timeout`.
    idle_timeout: Option<f64>,
    /// As `--max-tool-turns`.
    pub max_tool_turns: Option<u32>,
    /// As `--tools-mode`.
    pub tools_mode: Option<ToolsMode>,
    /// As `--approval-mode`.
    pub approval_mode: Option<ApprovalMode>,
    /// As `--profile`.
    pub profile: Option<Profile>,
    /// As `--workspace`.
    pub workspace: Option<PathBuf>,
    /// As `--timeout`.
    timeout: Option<f64>,
    /// The system prompt.
    pub system: Option<String>,
    attachments: RawLimits,
}

/// `[attachments]`: any integers, so that one which is not positive gets an error of its own.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawLimits {
    max_files: Option<i64>,
    max_images: Option<i64>,
    max_bytes: Option<i64>,
}

impl ConfigFile {
    /// Reads and checks it.
    ///
    /// # Errors
    /// [`Code::AgentConfigError`] when it cannot be read, [`Code::AgentConfigInvalid`] when it is not
    /// what it should be, [`Code::AttachmentLimitInvalid`] for a limit that is not positive.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::new(Code::AgentConfigError, format!("cannot read {}: {error}", path.display()))
        })?;
        let invalid =
            |what: String| Failure::new(Code::AgentConfigInvalid, format!("{}: {what}", path.display()));
        let mut file: Self = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            invalid(format!("line {line}: {}", error.message().replace('\n', " ")))
        })?;
        for (name, value, low, high) in
            [("max_retries", file.max_retries, 0, 10), ("max_tool_turns", file.max_tool_turns, 1, 200)]
        {
            if let Some(value) = value.filter(|value| !(low..=high).contains(value)) {
                return Err(invalid(format!("{name} is {value}: expected {low} to {high}")));
            }
        }
        for (name, value) in [("idle_timeout", file.idle_timeout), ("timeout", file.timeout)] {
            if let Some(value) = value.filter(|value| duration(*value).is_none()) {
                return Err(invalid(format!("{name} is {value}: expected 0 to 86400 seconds, and not 0")));
            }
        }
        let RawLimits { max_files, max_images, max_bytes } = file.attachments;
        for (name, value) in [("max_files", max_files), ("max_images", max_images), ("max_bytes", max_bytes)]
        {
            if let Some(value) = value.filter(|value| *value < 1) {
                let message =
                    format!("{}: attachments.{name} is {value}: expected 1 or more", path.display());
                return Err(Failure::new(Code::AttachmentLimitInvalid, message));
            }
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        for path in [&mut file.script, &mut file.workspace].into_iter().flatten() {
            *path = folder.join(&path);
        }
        Ok(file)
    }

    /// As `--idle-timeout`.
    pub fn idle_timeout(&self) -> Option<Duration> {
        self.idle_timeout.and_then(duration)
    }

    /// As `--timeout`.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout.and_then(duration)
    }

    /// The limits of attachments.
    pub fn limits(&self) -> Limits {
        let RawLimits { max_files, max_images, max_bytes } = self.attachments;
        let limit = |value: Option<i64>, default: u64| {
            value.and_then(|value| u64::try_from(value).ok()).unwrap_or(default)
        };
        let usual = Limits::default();
        Limits {
            files: limit(max_files, usual.files as u64) as usize,
            images: limit(max_images, usual.images as u64) as usize,
            bytes: limit(max_bytes, usual.bytes),
        }
    }
}
