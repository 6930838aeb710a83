//! Parses the value of `--probe`: `"[EXIT:]ARGS"`.

use super::{EffectConfig, ProbeConfig, Workspace};
use agentnative_contract::error::{Error, Result};
use std::path::Path;

impl ProbeConfig {
    /// Parses the value of one `--probe`: the expected exit code and a colon, which may be omitted for 0, then the
    /// arguments, split like words of a shell. The probe `77:whoami` calls `mycli whoami` and expects exit code 77. The
    /// text of the arguments is the name of the probe.
    ///
    /// # Errors
    /// Of kind `Usage` for an exit code above 255, an unclosed quote, or a NUL.
    pub fn from_flag(flag: &str) -> Result<Self> {
        const SYNTAX: &str = "\"[EXIT:]ARGS\", such as \"list\" or \"77:whoami\"";
        let error =
            |what: String| Error::usage(format!("probe {flag:?}: {what}")).hint(format!("expected {SYNTAX}"));
        let (exit, text) = match flag.split_once(':') {
            Some((code, text)) if !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit()) => {
                let code: u8 =
                    code.parse().map_err(|_| error(format!("exit code {code} is greater than 255")))?;
                (code.into(), text)
            }
            _ => (0, flag),
        };
        if text.contains('\0') {
            return Err(error("an argument cannot contain NUL".to_owned()));
        }
        // shlex drops a word that begins with `#`, and all words after it, as a comment. So a character that the text
        // does not contain replaces each `#`.
        let substitute = ('\u{e000}'..='\u{f8ff}').find(|char| !text.contains(*char)).unwrap_or('#');
        let args = shlex::split(&text.replace('#', &substitute.to_string()))
            .ok_or_else(|| error("an unclosed quote, or a backslash at the end".to_owned()))?;
        let args = args.iter().map(|arg| arg.replace(substitute, "#")).collect();
        let name = if text.trim().is_empty() { "(no arguments)" } else { text.trim() };
        Ok(Self { exit, ..Self::new(name, args) })
    }

    /// Returns `probes` and the calls that change something, which are parsed as in [`ProbeConfig::from_flag`]. Each call
    /// starts in a copy of `workspace`; without it, the calls that change something start in an empty folder.
    ///
    /// # Errors
    /// The errors of [`ProbeConfig::from_flag`], and one of kind `Usage` if `workspace` is not a folder.
    pub fn with_changes(
        probes: Vec<Self>,
        changes: &[String],
        workspace: Option<&Path>,
    ) -> Result<Vec<Self>> {
        let mut calls = probes;
        for flag in changes {
            let mut probe = Self::from_flag(flag)?;
            probe.effect = Some(EffectConfig::default());
            probe.call.workspace = Some(Workspace::Empty);
            calls.push(probe);
        }
        if let Some(folder) = workspace {
            if !folder.is_dir() {
                return Err(Error::usage(format!("workspace: no such folder: {}", folder.display())));
            }
            calls.iter_mut().for_each(|probe| {
                probe.call.workspace = Some(Workspace::Copy(folder.to_owned()));
            });
        }
        Ok(calls)
    }

    /// Parses the values of all `--probe` options.
    ///
    /// # Errors
    /// The errors of [`ProbeConfig::from_flag`], and one of kind `Usage` for duplicate arguments.
    pub fn from_flags(flags: &[String]) -> Result<Vec<Self>> {
        let mut probes: Vec<Self> = Vec::new();
        for flag in flags {
            let probe = Self::from_flag(flag)?;
            if probes.iter().any(|other| other.name == probe.name) {
                return Err(Error::usage(format!("duplicate --probe {:?}", probe.name)));
            }
            probes.push(probe);
        }
        Ok(probes)
    }
}
