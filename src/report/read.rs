//! Reads reports that `check` wrote.

use super::{Envelope, FleetInfo, MergedReport, Report, Reports};
use agentnative_contract::error::{Error, Result};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::io::Read as _;
use std::path::Path;

/// The key that distinguishes merged reports from a single one.
#[derive(Deserialize)]
struct ReportKind {
    targets: Option<IgnoredAny>,
}

impl Reports {
    /// Reads the document that `check --json` or `report merge --json` printed; `-` is stdin.
    ///
    /// # Errors
    /// The errors of [`Error::data_file`]; a configuration error with line and column if it is not a report.
    pub fn read(path: &Path) -> Result<Self> {
        let mut bytes = Vec::new();
        let read = match path == Path::new("-") {
            true => std::io::stdin().read_to_end(&mut bytes),
            false => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
        };
        read.map_err(|error| Error::data_file(path, &error))?;
        let kind: ReportKind = parse(path, &bytes)?;
        Ok(match kind.targets {
            Some(_) => Self::Merged(parse::<MergedReport>(path, &bytes)?),
            None => Self::One(Box::new(parse::<Report>(path, &bytes)?)),
        })
    }

    /// Returns which parts of a check of several targets the reports cover; `None` for other reports.
    pub fn fleet(&self) -> Option<&FleetInfo> {
        match self {
            Self::One(_) => None,
            Self::Merged(reports) => reports.fleet.as_ref(),
        }
    }

    /// Returns the reports, one per target.
    pub fn into_vec(self) -> Vec<Report> {
        match self {
            Self::One(report) => vec![*report],
            Self::Merged(reports) => reports.targets,
        }
    }
}

/// Parses a document and returns its `data`; `path` is named in errors.
fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    let document: Result<Envelope<T>, _> = serde_json::from_slice(bytes);
    document.map(|document| document.data).map_err(|error| {
        let expected = "the report of a target, or of several, in `data`";
        Error::document(path, "a report of `agentnative check --json`", expected, &error)
    })
}
