//! The file of a baseline: JSON with an entry in each line, sorted, so that a pull request shows what was added and
//! what is gone. The same faults give the same bytes.

use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_core::files::{self, MAX_DATA};
use agentnative_core::model::{CheckId, OutputFormat};
use agentnative_judge::{Baseline, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

/// The only version of the format so far.
const VERSION: u32 = 1;

/// What makes a baseline.
const HINT: &str = "`agentnative check --write-baseline FILE` writes a baseline";

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
    /// ID of the check that reports it.
    check: CheckId,
    /// Name of the probe that shows it, for a problem in runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    probe: Option<String>,
    /// Format of these runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<OutputFormat>,
    /// The file that it is in, relative to the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Kind of problem: a word that `agentnative explain ID` lists.
    kind: String,
    /// The line of code, with single spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Number of equal lines of the file that have it.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    count: NonZeroUsize,
}

const fn once() -> NonZeroUsize {
    NonZeroUsize::MIN
}

fn is_once(count: &NonZeroUsize) -> bool {
    *count == once()
}

/// The version alone: that of another program may have other keys.
#[derive(Deserialize)]
struct Head {
    version: u32,
}

impl BaselineFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// Those of [`Error::data`]; configuration, with line and column, when it is not a baseline.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = files::read(path, MAX_DATA).map_err(|error| {
            let error = Error::data(path, &error);
            if error.kind == ErrorKind::Usage { error.hint(HINT) } else { error }
        })?;
        let head: Head = serde_json::from_slice(&bytes).map_err(|error| not_a_baseline(path, &error))?;
        if head.version != VERSION {
            return Err(Error::config(format!(
                "{} is a baseline of version {}; expected version {VERSION}",
                path.display(),
                head.version
            )));
        }
        serde_json::from_slice(&bytes).map_err(|error| not_a_baseline(path, &error))
    }

    /// The text of the file.
    ///
    /// # Errors
    /// None that is known: all of it is text and numbers.
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
            baseline.raise(Fault { target, check, probe, format, file, kind, text }, count.get());
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

/// JSON with each member of the document and each entry in a line of its own, and a space behind the other commas.
#[derive(Default)]
struct LinePerEntry {
    /// How many objects and arrays are open.
    depth: usize,
    /// The array of entries has one.
    filled: bool,
}

impl LinePerEntry {
    /// The document and its entries are indented; what is deeper stays in its line.
    const INDENTED: usize = 2;

    fn next<W: ?Sized + Write>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth <= Self::INDENTED {
            self.line(writer)
        } else if first {
            Ok(())
        } else {
            writer.write_all(b" ")
        }
    }

    fn line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
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
            self.line(writer)?;
        }
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.filled {
            self.line(writer)?;
        }
        writer.write_all(b"]")
    }
}

fn not_a_baseline(path: &Path, error: &serde_json::Error) -> Error {
    let expected = "`version` and `entries`, each with target, check and kind";
    Error::document(path, "a baseline", expected, error).hint(HINT)
}
