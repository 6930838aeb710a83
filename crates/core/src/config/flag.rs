//! A probe in one text: `"[EXIT:]ARGS"`, as `--probe` takes it.

use super::ProbeConfig;
use agentnative_contract::error::{Error, Result};

impl ProbeConfig {
    /// The probe of a flag: an exit code and a colon, if another than 0 is expected, then the
    /// arguments, split as a shell splits words. Its name is the text of the arguments.
    ///
    /// # Errors
    /// Of kind `Usage`: an exit code above 255, an open quote, a NUL.
    pub fn from_flag(flag: &str) -> Result<Self> {
        const FORM: &str = "\"[EXIT:]ARGS\", such as \"list\" or \"77:whoami\"";
        let wrong =
            |what: String| Error::usage(format!("probe {flag:?}: {what}")).hint(format!("expected {FORM}"));
        let (exit, text) = match flag.split_once(':') {
            Some((code, text)) if !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit()) => {
                let code: u8 =
                    code.parse().map_err(|_| wrong(format!("exit code {code} is greater than 255")))?;
                (code.into(), text)
            }
            _ => (0, flag),
        };
        if text.contains('\0') {
            return Err(wrong("an argument cannot contain NUL".to_owned()));
        }
        // shlex would drop a word that begins with `#` and all after it as a comment, so a character
        // that is not in the text stands for it.
        let other = ('\u{e000}'..='\u{f8ff}').find(|char| !text.contains(*char)).unwrap_or('#');
        let args = shlex::split(&text.replace('#', &other.to_string()))
            .ok_or_else(|| wrong("an unclosed quote, or a backslash at the end".to_owned()))?;
        let args = args.iter().map(|arg| arg.replace(other, "#")).collect();
        let name = if text.trim().is_empty() { "(no arguments)" } else { text.trim() };
        Ok(Self { exit, ..Self::new(name, args) })
    }

    /// The probes of all `--probe` flags.
    ///
    /// # Errors
    /// Those of [`ProbeConfig::from_flag`], and of kind `Usage` if the same arguments are given
    /// twice.
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
