//! The `--config` file.

use super::attach::Limits;
use super::failure::{Code, Failure, Result};
use super::options::{Options, is_timeout};
use std::fmt::Display;
use std::path::Path;

/// The settings of a file over the defaults, checked. Relative paths in it start at its folder.
///
/// # Errors
/// [`Code::AgentConfigError`] when it cannot be read, [`Code::AgentConfigInvalid`] when it is not what it
/// should be, [`Code::AttachmentLimitInvalid`] for a limit that is not positive.
pub fn read(path: &Path) -> Result<Options> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::io(Code::AgentConfigError, &format!("cannot read {}", path.display()), &error)
    })?;
    let invalid = |code, what: String| Failure::new(code, format!("{}: {what}", path.display()));
    let mut file: Options = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
        let what = format!("line {line}: {}", error.message().replace('\n', " "));
        invalid(Code::AgentConfigInvalid, what)
    })?;
    let check = |code, name: &str, value: &dyn Display, valid: bool, expected: &str| {
        if valid { Ok(()) } else { Err(invalid(code, format!("{name} is {value}: expected {expected}"))) }
    };
    let (retries, turns) = (file.max_retries, file.max_tool_turns);
    check(Code::AgentConfigInvalid, "max_retries", &retries, retries <= 10, "0 to 10")?;
    check(Code::AgentConfigInvalid, "max_tool_turns", &turns, (1..=200).contains(&turns), "1 to 200")?;
    for (name, value) in [("idle_timeout", file.idle_timeout), ("timeout", file.timeout)] {
        let expected = "0 to 86400 seconds, and not 0";
        check(Code::AgentConfigInvalid, name, &value, is_timeout(value), expected)?;
    }
    let Limits { max_files, max_images, max_bytes } = file.attachments;
    for (name, value) in [("max_files", max_files), ("max_images", max_images), ("max_bytes", max_bytes)] {
        let name = format!("attachments.{name}");
        check(Code::AttachmentLimitInvalid, &name, &value, value > 0, "1 or more")?;
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    for path in [&mut file.script, &mut file.workspace].into_iter().flatten() {
        *path = folder.join(&path);
    }
    Ok(file)
}
