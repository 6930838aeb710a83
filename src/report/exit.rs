//! What a report means for the exit code.

use super::Report;
use crate::model::{Level, Status};
use agentnative_contract::error::Error;

impl Report {
    /// The exit code of `check`: 0, or 1 when a MUST failed or the runs were cut short; when `strict`, also
    /// when a MUST is unverified.
    pub fn exit_code(&self, strict: bool) -> u8 {
        self.unmet(strict).map_or(0, |error| error.kind.exit_code())
    }

    /// Why the exit code is not 0.
    pub fn unmet(&self, strict: bool) -> Option<Error> {
        let count = |status, what: &str| {
            let of =
                |result: &&crate::model::CheckResult| result.level == Level::Must && result.status == status;
            let n = self.results.iter().filter(of).count();
            format!("{n} MUST {} {what}", if n == 1 { "check" } else { "checks" })
        };
        let message = match (self.conformant, self.verified || !strict) {
            _ if self.interrupted => "interrupted: the report covers the runs until then".to_owned(),
            (true, true) => return None,
            (true, false) => count(Status::Unverified, "unverified"),
            (false, _) => count(Status::Fail, "failed"),
        };
        Some(Error::general(message))
    }
}
