//! `agentnative contract infer`

use super::progress::reading;
use agentnative_contract::error::{Error, Issue, Result};
use agentnative_contract::infer::{Inference, Rules};
use agentnative_contract::{DataFile, Framing, Violation, data_files};
use agentnative_output::{Output, pretty};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Instant;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  mycli list --json | agentnative contract infer
  agentnative contract infer --json list.json")]
pub(super) struct InferArgs {
    /// Read the files as one `document` each or as JSON `lines` [default: from the file name, else from
    /// the content].
    #[arg(long, value_enum, value_name = "FRAMING", hide_possible_values = true)]
    framing: Option<Framing>,
    /// Infer an enum from strings where each distinct value occurs N times on average; 0 for never.
    #[arg(long, value_name = "N", default_value_t = Rules::default().enum_threshold)]
    enum_threshold: u64,
    /// Number of threads that read JSON Lines [default: the number of processors, at most 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    jobs: Option<u8>,
    /// Files, folders (their *.json, *.jsonl and *.ndjson) or `-` for stdin [default: -].
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// What was inferred from samples.
#[derive(Serialize, JsonSchema)]
pub(super) struct InferredSchema {
    /// Number of files.
    files: usize,
    /// Number of documents and records in them.
    records: u64,
    /// Their length.
    bytes: u64,
    /// The JSON Schema that all of them satisfy.
    schema: Value,
}

/// Faults that come of reading lines as a document, or a document as lines.
const FRAMING: [&str; 3] = ["trailing", "multi-line", "torn"];

pub(super) fn run(args: &InferArgs, output: &mut Output) -> Result<u8> {
    let rules = Rules { enum_threshold: args.enum_threshold, ..Rules::default() };
    let (mut inference, began) = (Inference::new(), Instant::now());
    let files = data_files(&args.files)?;
    for path in &files {
        let file = DataFile::open(path)?;
        let (name, framing, threads) =
            (file.name.clone(), args.framing.or(file.framing), file.threads(args.jobs));
        let mut progress = reading(began, &file, output);
        let faults = inference.input(file.reader, framing, threads, &mut progress);
        drop(progress);
        output.clear_progress();
        let faults = faults.map_err(|error| Error::data(path, &error))?;
        if !faults.is_empty() {
            let issue = |fault: Violation| Issue {
                place: Some(fault.place(path)),
                message: match fault.pointer.as_str() {
                    "" => fault.message,
                    pointer => format!("{pointer}: {}", fault.message),
                },
            };
            let misread = faults.iter().any(|fault| FRAMING.contains(&fault.rule.as_str()));
            let error = Error::findings(format!("{name} is not strict JSON; no schema was inferred"));
            let error = error.issues(faults.into_iter().map(issue).collect());
            let hint = "set --framing to `document` or `lines`";
            return Err(if misread { error.hint(hint) } else { error });
        }
    }
    if inference.records() == 0 {
        return Err(Error::nothing_run("no samples found; no schema was inferred"));
    }
    let schema = inference.schema(&rules);
    let text = pretty(&schema)?;
    let inferred =
        InferredSchema { files: files.len(), records: inference.records(), bytes: inference.bytes(), schema };
    output.emit("contract infer", true, &inferred, |page| page.verbatim(&text))?;
    Ok(0)
}
