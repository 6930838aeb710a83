//! The baseline files of a check: the accepted one and the one to write.

use super::check_args::CheckArgs;
use super::shown_path::shown;
use crate::baseline::{BaselineComparison, BaselineFile};
use crate::check::{Baseline, CheckCoverage, Report};
use agentnative_contract::error::Result;
use agentnative_core::files::AtomicFile;
use agentnative_output::Output;
use std::path::{Path, PathBuf};

/// The files of `--baseline` and `--write-baseline`, opened before the runs.
#[derive(Default)]
pub(super) struct BaselineFiles {
    /// The accepted problems.
    pub known: Baseline,
    new: Option<NewBaseline>,
}

/// A baseline to write.
struct NewBaseline {
    path: PathBuf,
    file: AtomicFile,
    /// The entries of the existing file at `path` and of the `--baseline` file. The new file keeps an entry if this run
    /// of the check neither finds nor refutes its problem.
    old: Baseline,
    /// True without `--baseline`: nothing is accepted yet.
    is_first: bool,
}

impl BaselineFiles {
    /// Reads the accepted baseline, and opens the one to write.
    pub fn open(args: &CheckArgs) -> Result<Self> {
        let known = args
            .baseline
            .as_deref()
            .map(BaselineFile::read)
            .transpose()?
            .map(Baseline::from)
            .unwrap_or_default();
        let new = args
            .write_baseline
            .as_deref()
            .map(|path| NewBaseline::open(path, &known, args.baseline.is_none()))
            .transpose()?;
        Ok(Self { known, new })
    }

    /// Adds notes on fixed problems to the report, and writes the new baseline, unless the check was interrupted.
    pub fn finish(self, seen: &CheckCoverage, report: &mut Report, output: &mut Output) -> Result<()> {
        let Self { known, new } = self;
        let old = new.as_ref().map_or(&known, |new| &new.old);
        let compared = BaselineComparison::new(seen, old);
        report.notes.extend(compared.notes(new.is_some() && !report.interrupted));
        let Some(NewBaseline { path, file, is_first, .. }) = new else { return Ok(()) };
        let path = shown(&path);
        if report.interrupted {
            output.diagnostic(&format!("{path} was not written: the check was interrupted"));
            return Ok(());
        }
        file.write(BaselineFile::from(&compared.next).to_text()?.as_bytes())?;
        let (entries, them) = match compared.next.len() {
            1 => ("1 entry".to_owned(), "it"),
            count => (format!("{count} entries"), "them"),
        };
        let then = if is_first { format!("; accept {them} with --baseline {path}") } else { String::new() };
        output.diagnostic(&format!("{path}: {entries} written{then}"));
        Ok(())
    }
}

impl NewBaseline {
    fn open(path: &Path, known: &Baseline, is_first: bool) -> Result<Self> {
        let mut old = known.clone();
        if path.is_file() {
            old.merge(BaselineFile::read(path)?.into());
        }
        Ok(Self { path: path.to_owned(), file: AtomicFile::create(path)?, old, is_first })
    }
}
