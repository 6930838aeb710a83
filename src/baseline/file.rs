//! The file format of baselines (accepted problems): JSON with one entry per line, sorted, so that a pull request shows
//! added and fixed problems. The same problems always give the same bytes.

use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_core::files::{self, MAX_DATA_BYTES};
use agentnative_core::model::{CheckId, OutputFormat};
use agentnative_judge::{Baseline, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

/// Version of the file format of baselines.
const VERSION: u32 = 1;

const WRITE_HINT: &str = "`agentnative check --write-baseline FILE` writes a baseline";

/// The problems that `check --baseline FILE` accepts.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BaselineFile {
    /// Version of the format.
    #[schemars(extend("const" = VERSION))]
    version: u32,
    /// The known problems, sorted, one per line.
    entries: Vec<Entry>,
}

/// A known problem.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Name of the target.
    target: String,
    /// ID of the check that reports the problem.
    check: CheckId,
    /// Name of the probe whose runs show the problem; absent for a problem in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    probe: Option<String>,
    /// Format of the runs that show the problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<OutputFormat>,
    /// The file with the problem, relative to the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Kind of problem: a word that `agentnative explain ID` lists.
    kind: String,
    /// The line of code with the problem, with single spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Number of equal lines in the file with this problem.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    count: NonZeroUsize,
}

const fn once() -> NonZeroUsize {
    NonZeroUsize::MIN
}

fn is_once(count: &NonZeroUsize) -> bool {
    *count == once()
}

/// The key `version` alone. It is read first, since a file of another version may have other keys.
#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

impl BaselineFile {
    /// Reads the baseline file at `path`.
    ///
    /// # Errors
    /// The errors of [`Error::data_file`]; a configuration error with line and column if the content is not a baseline.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = files::read(path, MAX_DATA_BYTES).map_err(|error| {
            let error = Error::data_file(path, &error);
            if error.kind == ErrorKind::Usage { error.hint(WRITE_HINT) } else { error }
        })?;
        let head: VersionOnly =
            serde_json::from_slice(&bytes).map_err(|error| not_a_baseline(path, &error))?;
        if head.version != VERSION {
            return Err(Error::config(format!(
                "{} is a baseline of version {}; expected version {VERSION}",
                path.display(),
                head.version
            )));
        }
        serde_json::from_slice(&bytes).map_err(|error| not_a_baseline(path, &error))
    }

    /// Serializes the baseline as the text of the file.
    ///
    /// # Errors
    /// None that is known: the file consists of text and numbers.
    pub fn to_text(&self) -> Result<String> {
        let failed =
            |error: &dyn std::fmt::Display| Error::general(format!("cannot write the baseline: {error}"));
        let mut out = Vec::new();
        let mut serializer = Serializer::with_formatter(&mut out, LinePerEntry::default());
        self.serialize(&mut serializer).map_err(|error| failed(&error))?;
        out.push(b'\n');
        String::from_utf8(out).map_err(|error| failed(&error))
    }
}

impl From<BaselineFile> for Baseline {
    fn from(file: BaselineFile) -> Self {
        let mut baseline = Self::default();
        for entry in file.entries {
            let Entry { target, check, probe, format, file, kind, text, count } = entry;
            baseline.set_at_least(Fault { target, check, probe, format, file, kind, text }, count.get());
        }
        baseline
    }
}

impl From<&Baseline> for BaselineFile {
    fn from(baseline: &Baseline) -> Self {
        let entries = baseline.iter().map(|(fault, count)| {
            let Fault { target, check, probe, format, file, kind, text } = fault.clone();
            let count = NonZeroUsize::new(count).unwrap_or(once());
            Entry { target, check, probe, format, file, kind, text, count }
        });
        Self { version: VERSION, entries: entries.collect() }
    }
}

/// Formats a baseline as JSON: each member of the document and each entry is on its own line, and a space follows all
/// other commas.
#[derive(Default)]
struct LinePerEntry {
    /// Number of open objects and arrays.
    depth: usize,
    /// Whether an entry was written: only then does the closing `]` start on a new line.
    has_entries: bool,
}

impl LinePerEntry {
    /// Maximum nesting depth at which values start on a new line: 1 for members of the document, 2 for entries.
    const MAX_LINE_DEPTH: usize = 2;

    fn begin_value<W: ?Sized + Write>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth <= Self::MAX_LINE_DEPTH {
            self.new_line(writer)
        } else if first {
            Ok(())
        } else {
            writer.write_all(b" ")
        }
    }

    fn new_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        write!(writer, "\n{:width$}", "", width = 2 * self.depth)
    }
}

impl Formatter for LinePerEntry {
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.depth == 0 {
            self.new_line(writer)?;
        }
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_entries = true;
        Ok(())
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.has_entries {
            self.new_line(writer)?;
        }
        writer.write_all(b"]")
    }
}

fn not_a_baseline(path: &Path, error: &serde_json::Error) -> Error {
    let expected = "`version` and `entries`, each with target, check and kind";
    Error::document(path, "a baseline", expected, error).hint(WRITE_HINT)
}
