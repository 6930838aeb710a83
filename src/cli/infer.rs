//! The command `agentnative contract infer`.

use super::data_files_args::{DataFilesArgs, UnreadableFile, read_each};
use agentnative_contract::error::{Error, Issue, Result};
use agentnative_contract::{DataFile, Framing, Violation};
use agentnative_core::files::AtomicFile;
use agentnative_diff::infer::{Inference, InferenceOptions};
use agentnative_output::{Output, pretty, whole_number};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  mycli list --json | agentnative contract infer
  agentnative contract infer --json list.json
  agentnative contract infer --state list.state list.json
  agentnative contract infer --merge list.state")]
pub(super) struct InferArgs {
    /// Read the files as one `document` each or as JSON `lines` [default: from the file name, else from
    /// the content].
    #[arg(long, value_enum, value_name = "FRAMING", hide_possible_values = true)]
    framing: Option<Framing>,
    /// Infer an enum from strings where each distinct value occurs N times on average; 0 for never.
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(0..), default_value_t = InferenceOptions::default().enum_threshold)]
    enum_threshold: u64,
    /// Number of threads [default: the number of processors, at most 8].
    #[arg(long, value_name = "N", value_parser = whole_number::<u8>(1..=64))]
    jobs: Option<u8>,
    /// Also write the state of the inference to this file, for --merge.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Merge state files that --state wrote in other calls. Stdin is then read only if `-` is named.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    merge: Vec<PathBuf>,
    #[command(flatten)]
    data: DataFilesArgs,
}

/// What was inferred from samples.
#[derive(Serialize, JsonSchema)]
pub(super) struct InferredSchema {
    /// Number of files that could be read.
    files: u64,
    /// The files that could not be read.
    unreadable: Vec<UnreadableFile>,
    /// Number of documents and records in the files that could be read.
    records: u64,
    /// Total length of the files that could be read, in bytes.
    bytes: u64,
    /// The JSON Schema that all documents and records satisfy.
    schema: Value,
}

/// IDs of the rules that data breaks if JSON Lines are read as one document, or a document as JSON Lines.
const FRAMING_RULES: [&str; 3] = ["trailing", "multi-line", "torn"];

pub(super) fn run(args: &InferArgs, output: &mut Output) -> Result<()> {
    let options = InferenceOptions { enum_threshold: args.enum_threshold, ..InferenceOptions::default() };
    let state = args.state.as_deref().map(AtomicFile::create).transpose()?;
    let mut inference = Inference::new();
    for path in &args.merge {
        let other = Inference::read_state(path, DataFile::open(path)?.reader)?;
        inference.merge(other).map_err(|error| Error::data_file(path, &error))?;
    }
    let only_merges = !args.merge.is_empty() && args.data.is_default();
    let paths = if only_merges { Vec::new() } else { args.data.paths()? };
    let learn = |file: DataFile, threads: usize, progress: &mut dyn FnMut(u64)| {
        let mut inference = Inference::new();
        let violations =
            inference.add_input(file.reader, args.framing.or(file.framing), threads, progress)?;
        Ok((file.name, inference, violations))
    };
    let (unreadable, error) =
        read_each(paths, args.jobs, output, learn, |path, (name, learnt, violations), _| {
            if !violations.is_empty() {
                return Err(not_strict_error(path, &name, violations));
            }
            inference.merge(learnt).map_err(|error| Error::data_file(path, &error))
        })?;
    if let Some(state) = state {
        inference.write_state(BufWriter::new(state.file()?)).map_err(|error| state.write_error(&error))?;
        state.persist()?;
    }
    if inference.records() == 0 {
        let none = || Error::nothing_run("no samples found; no schema was inferred");
        return Err(error.unwrap_or_else(none));
    }
    let schema = inference.schema(&options);
    let text = pretty(&schema)?;
    let inferred = InferredSchema {
        files: inference.inputs(),
        unreadable,
        records: inference.records(),
        bytes: inference.bytes(),
        schema,
    };
    output.emit("contract infer", error.is_none(), &inferred, |page| page.verbatim(&text))?;
    error.map_or(Ok(()), Err)
}

fn not_strict_error(path: &Path, name: &str, violations: Vec<Violation>) -> Error {
    let issue = |violation: Violation| Issue {
        place: Some(violation.place(path)),
        message: match violation.pointer.as_str() {
            "" => violation.message,
            pointer => format!("{pointer}: {}", violation.message),
        },
    };
    let misread = violations.iter().any(|violation| FRAMING_RULES.contains(&violation.rule.as_str()));
    let error = Error::findings(format!("{name} is not strict JSON; no schema was inferred"));
    let error = error.issues(violations.into_iter().map(issue).collect());
    if misread { error.hint("set --framing to `document` or `lines`") } else { error }
}
