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

/// What a configuration file says. Relative paths in it start at its folder.
#[derive(Debug, Default)]
pub struct File {
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
    pub idle_timeout: Option<Duration>,
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
    pub timeout: Option<Duration>,
    /// The system prompt.
    pub system: Option<String>,
    /// `[attachments]`.
    pub limits: Limits,
}

/// The file as it is written.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Written {
    model: Option<String>,
    provider: Option<String>,
    script: Option<PathBuf>,
    base_url: Option<String>,
    #[serde(default)]
    allow_insecure_http: bool,
    stream: Option<bool>,
    max_retries: Option<u32>,
    retry_base_ms: Option<u64>,
    idle_timeout: Option<f64>,
    max_tool_turns: Option<u32>,
    tools_mode: Option<ToolsMode>,
    approval_mode: Option<ApprovalMode>,
    profile: Option<Profile>,
    workspace: Option<PathBuf>,
    timeout: Option<f64>,
    system: Option<String>,
    #[serde(default)]
    attachments: WrittenLimits,
}

/// `[attachments]` as it is written: any integer, so that a senseless one is told as such.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct WrittenLimits {
    max_files: Option<i64>,
    max_images: Option<i64>,
    max_bytes: Option<i64>,
}

impl File {
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
        let written: Written = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            invalid(format!("line {line}: {}", error.message().replace('\n', " ")))
        })?;
        let bounded = |name: &str, value: Option<u32>, low: u32, high: u32| match value {
            Some(value) if value < low || value > high => {
                Err(invalid(format!("{name} is {value}: expected {low} to {high}")))
            }
            value => Ok(value),
        };
        let time = |name: &str, value: Option<f64>| match value {
            None => Ok(None),
            Some(value) => match duration(value) {
                None => Err(invalid(format!("{name} is {value}: expected 0 to 86400 seconds, and not 0"))),
                found => Ok(found),
            },
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        let beside = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        Ok(Self {
            max_retries: bounded("max_retries", written.max_retries, 0, 10)?,
            max_tool_turns: bounded("max_tool_turns", written.max_tool_turns, 1, 200)?,
            idle_timeout: time("idle_timeout", written.idle_timeout)?,
            timeout: time("timeout", written.timeout)?,
            limits: written.attachments.check(path)?,
            script: beside(written.script),
            workspace: beside(written.workspace),
            model: written.model,
            provider: written.provider,
            base_url: written.base_url,
            allow_insecure_http: written.allow_insecure_http,
            stream: written.stream,
            retry_base_ms: written.retry_base_ms.map(|ms| ms.min(60_000)),
            tools_mode: written.tools_mode,
            approval_mode: written.approval_mode,
            profile: written.profile,
            system: written.system,
        })
    }
}

impl WrittenLimits {
    fn check(&self, path: &Path) -> Result<Limits> {
        let positive = |name: &str, value: Option<i64>, default: u64| match value {
            None => Ok(default),
            Some(value) => u64::try_from(value).ok().filter(|value| *value > 0).ok_or_else(|| {
                let message =
                    format!("{}: attachments.{name} is {value}: expected 1 or more", path.display());
                Failure::new(Code::AttachmentLimitInvalid, message)
            }),
        };
        let usual = Limits::default();
        Ok(Limits {
            files: positive("max_files", self.max_files, usual.files as u64)? as usize,
            images: positive("max_images", self.max_images, usual.images as u64)? as usize,
            bytes: positive("max_bytes", self.max_bytes, usual.bytes)?,
        })
    }
}
