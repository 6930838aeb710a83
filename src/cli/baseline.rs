//! The baseline of a check: the one that it accepts, and the one that it writes.

use super::check_args::CheckArgs;
use super::shown_path::shown;
use crate::baseline::{BaselineFile, Compared};
use crate::check::{Baseline, Report, Seen};
use agentnative_contract::error::Result;
use agentnative_core::files::WholeFile;
use agentnative_output::Output;
use std::path::{Path, PathBuf};

/// The files of `--baseline` and `--write-baseline`, read and opened before the runs.
#[derive(Default)]
pub(super) struct BaselineFiles {
    /// What is accepted.
    pub known: Baseline,
    write: Option<Written>,
}

/// A baseline to be written.
struct Written {
    path: PathBuf,
    file: WholeFile,
    /// The entries of the file that it replaces, and of the accepted one: what is not checked again is kept.
    old: Baseline,
    /// Nothing is accepted yet.
    first: bool,
}

impl BaselineFiles {
    /// Reads what is there, and opens what is to be written.
    pub fn open(args: &CheckArgs) -> Result<Self> {
        let known = args
            .baseline
            .as_deref()
            .map(BaselineFile::read)
            .transpose()?
            .map(Baseline::from)
            .unwrap_or_default();
        let write = args
            .write_baseline
            .as_deref()
            .map(|path| Written::open(path, &known, args.baseline.is_none()))
            .transpose()?;
        Ok(Self { known, write })
    }

    /// Adds to the report what is fixed, and writes the new baseline; one of a check that was cut short is not
    /// written.
    pub fn finish(self, seen: &Seen, report: &mut Report, output: &mut Output) -> Result<()> {
        let Self { known, write } = self;
        let old = write.as_ref().map_or(&known, |write| &write.old);
        let compared = Compared::of(seen, old);
        report.notes.extend(compared.notes(write.is_some() && !report.interrupted));
        let Some(Written { path, file, first, .. }) = write else { return Ok(()) };
        let path = shown(&path);
        if report.interrupted {
            output.diagnostic(&format!("{path} was not written: the check was interrupted"));
            return Ok(());
        }
        file.write(BaselineFile::from(&compared.next).to_text()?.as_bytes())?;
        let (entries, them) = match compared.next.len() {
            1 => ("1 entry".to_owned(), "it"),
            many => (format!("{many} entries"), "them"),
        };
        let then = if first { format!("; accept {them} with --baseline {path}") } else { String::new() };
        output.diagnostic(&format!("{path}: {entries} written{then}"));
        Ok(())
    }
}

impl Written {
    fn open(path: &Path, known: &Baseline, first: bool) -> Result<Self> {
        let mut old = known.clone();
        if path.is_file() {
            old.join(BaselineFile::read(path)?.into());
        }
        Ok(Self { path: path.to_owned(), file: WholeFile::create(path)?, old, first })
    }
}
