//! Reads the `--config` file.

use super::attach::Limits;
use super::failure::{Code, Failure, Result};
use super::options::{Options, is_valid_timeout};
use std::fmt::Display;
use std::path::Path;

/// Reads a configuration file and validates it. Settings that the file lacks have their default values. Relative paths
/// in the file start at its folder.
///
/// # Errors
/// [`Code::AgentConfigError`] if the file cannot be read, [`Code::AgentConfigInvalid`] if it is invalid,
/// [`Code::AttachmentLimitInvalid`] if a limit of attachments is below 1.
pub fn read(path: &Path) -> Result<Options> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::from_io(Code::AgentConfigError, &format!("cannot read {}", path.display()), &error)
    })?;
    let invalid = |code, what: String| Failure::new(code, format!("{}: {what}", path.display()));
    let mut options: Options = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
        let what = format!("line {line}: {}", error.message().replace('\n', " "));
        invalid(Code::AgentConfigInvalid, what)
    })?;
    let check = |code, name: &str, value: &dyn Display, valid: bool, expected: &str| {
        if valid { Ok(()) } else { Err(invalid(code, format!("{name} is {value}: expected {expected}"))) }
    };
    let (retries, turns) = (options.max_retries, options.max_tool_turns);
    check(Code::AgentConfigInvalid, "max_retries", &retries, retries <= 10, "0 to 10")?;
    check(Code::AgentConfigInvalid, "max_tool_turns", &turns, (1..=200).contains(&turns), "1 to 200")?;
    for (name, value) in [("idle_timeout", options.idle_timeout), ("timeout", options.timeout)] {
        let expected = "more than 0 and at most 86400 seconds";
        check(Code::AgentConfigInvalid, name, &value, is_valid_timeout(value), expected)?;
    }
    let Limits { max_files, max_images, max_bytes } = options.attachments;
    for (name, value) in [("max_files", max_files), ("max_images", max_images), ("max_bytes", max_bytes)] {
        let name = format!("attachments.{name}");
        check(Code::AttachmentLimitInvalid, &name, &value, value > 0, "1 or more")?;
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    for path in [&mut options.script, &mut options.workspace].into_iter().flatten() {
        *path = folder.join(&path);
    }
    Ok(options)
}
