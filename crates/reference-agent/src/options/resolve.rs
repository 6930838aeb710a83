//! Combines the options of the command line with those of the configuration file, and validates them.

use super::{Format, Options};
use crate::config_file;
use crate::failure::{Code, Failure, Result};
use crate::modes::{ApprovalMode, value_name};
use std::ffi::OsString;

impl Options {
    /// Returns the settings of a run. Each comes from the command line (`args`), otherwise from the configuration file,
    /// otherwise from the defaults.
    ///
    /// # Errors
    /// Fails if the configuration file is invalid, or if settings cannot be combined.
    pub fn resolve(mut self, args: &[OsString]) -> Result<Self> {
        if let (Some(supported), Some(requested)) = (self.protocol.format, self.requested_format())
            && value_name(requested) != supported.name()
        {
            let contract = self.protocol.contract.unwrap_or_default();
            let (supported, requested) = (supported.name(), value_name(requested));
            let message = format!("--contract {contract} supports {supported} only, found {requested}");
            let hint = format!("remove the format, or use --output {supported}");
            return Err(Failure::new(Code::InvalidOption, message).with_hint(hint));
        }
        let format = self.format();
        if let Some(requested) = self.requested_format().filter(|format| *format != Format::Text)
            && self.raw
        {
            let message = format!("--raw cannot be combined with the format {}", value_name(requested));
            return Err(Failure::new(Code::InvalidOption, message));
        }
        if let Some(path) = &self.config {
            let file = config_file::read(path)?;
            let allow_insecure_http = file.allow_insecure_http || self.allow_insecure_http;
            self = file;
            let updated = self.update(args);
            updated.map_err(|error| Failure::new(Code::InvalidOption, error.to_string()))?;
            // `update` has set the absent flag to false.
            self.allow_insecure_http = allow_insecure_http;
        }
        self.stream &= !self.no_stream;
        if let Some(word) = self.query.iter().find(|word| word.to_str().is_none()) {
            return Err(Failure::new(Code::InvalidOption, format!("not UTF-8: {}", word.display())));
        }
        if self.approval_mode == ApprovalMode::Ask && format.is_json() {
            let message = format!("--approval-mode ask cannot be combined with the format {}", format.name());
            return Err(Failure::new(Code::InteractiveApprovalJson, message).with_hint("use auto or never"));
        }
        Ok(self)
    }
}
