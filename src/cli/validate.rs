//! The command `agentnative validate`.

use super::complete;
use super::data_files_args::{DataFilesArgs, UnreadableFile, read_each};
use agentnative_contract::error::{Error, Result};
use agentnative_contract::{
    Contract, DataFile, Framing, RunExit, Settings, Validation, Verdict, Violation, counted,
};
use agentnative_output::{Output, Page, StyledText, Tone, whole_number};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::iter;
use std::path::{Path, PathBuf};

/// The name by which the first event selects the contract.
const AUTO: &str = "auto";

#[derive(clap::Args)]
#[command(after_help = "Exit codes: 0 all files are valid, 1 a file is invalid.

Examples:
  agentnative validate --contract list.schema.json list.json
  mycli list --json | agentnative validate --contract list.schema.json")]
pub(super) struct ValidateArgs {
    /// Bundled contract, contract folder or schema file (a path has a `/` or ends in .json), or auto: the contract of
    /// the agent that printed the first event.
    #[arg(long, value_name = "NAME|SCHEMA", add = complete::contracts())]
    contract: String,
    /// Read the files as one `document` each, as JSON `lines`, or as an `array` of events each [default: as the
    /// contract specifies; for a schema file from the file name].
    #[arg(long, value_enum, value_name = "FRAMING", hide_possible_values = true)]
    framing: Option<Framing>,
    /// Show at most N errors per file and count the others.
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>(0..), default_value_t = 20)]
    max_errors: usize,
    /// Exit code of the run, judged together with the data (128 + N for signal N).
    #[arg(long, value_name = "N", value_parser = whole_number::<u8>(0..=255))]
    exit_code: Option<u8>,
    /// Condition of the contract under which the run ended.
    #[arg(long, value_name = "NAME")]
    condition: Option<String>,
    /// Stderr of the run, judged together with its exit code.
    #[arg(long, value_name = "FILE")]
    stderr: Option<PathBuf>,
    /// Number of threads [default: the number of processors, at most 8].
    #[arg(long, value_name = "N", value_parser = whole_number::<u8>(1..=64))]
    jobs: Option<u8>,
    #[command(flatten)]
    data: DataFilesArgs,
}

/// The result of a validation.
#[derive(Serialize, JsonSchema)]
pub(super) struct Validated {
    /// Name or path of the contract.
    contract: String,
    /// All files could be read and are valid.
    valid: bool,
    /// The files that could be read.
    files: Vec<ValidatedFile>,
    /// The files that could not be read.
    unreadable: Vec<UnreadableFile>,
}

/// The result of the validation of a file.
#[derive(Serialize, JsonSchema)]
pub(super) struct ValidatedFile {
    /// The file; "-" for stdin. Bytes of its name that are not UTF-8 are written as `\xNN`.
    file: String,
    /// The file is valid.
    valid: bool,
    /// Number of records; 1 for a document.
    records: u64,
    /// Length in bytes.
    bytes: u64,
    /// The contract that `auto` selected for the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    contract: Option<String>,
    /// The first errors.
    errors: Vec<Violation>,
    /// Number of errors that are not listed.
    more: u64,
    /// Number of records of each type that the contract does not know.
    unknown_types: BTreeMap<String, u64>,
    /// Number of rule checks that were skipped because of the memory limit.
    unjudged: u64,
    /// The first known findings: warnings, which leave the file valid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    known: Vec<Violation>,
    /// Number of known findings that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    more_known: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A line of `validate --output jsonl`.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ValidationLine<'a> {
    Error(Found<'a>),
    Known(Found<'a>),
    File {
        file: &'a str,
        valid: bool,
        records: u64,
        bytes: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        contract: Option<&'a str>,
        more: u64,
        unknown_types: &'a BTreeMap<String, u64>,
        unjudged: u64,
        #[serde(skip_serializing_if = "is_zero")]
        more_known: u64,
    },
    Unreadable(&'a UnreadableFile),
    Summary {
        contract: &'a str,
        valid: bool,
        files: usize,
        invalid: usize,
        unreadable: usize,
    },
}

/// A violation with its file.
#[derive(Serialize)]
struct Found<'a> {
    file: &'a str,
    #[serde(flatten)]
    violation: &'a Violation,
}

pub(super) fn run(args: &ValidateArgs, output: &mut Output) -> Result<u8> {
    let named =
        (args.contract != AUTO).then(|| Contract::by_name(Path::new(""), &args.contract)).transpose()?;
    let stderr =
        args.stderr.as_deref().map(|path| fs::read(path).map_err(|error| Error::data_file(path, &error)));
    let stderr = stderr.transpose()?;
    let exit = RunExit {
        code: args.exit_code.map(i32::from),
        condition: args.condition.as_deref(),
        stderr: stderr.as_deref(),
    };
    let summary = named.as_ref().map(Contract::summary);
    let conditions = summary.map(|summary| summary.conditions.into_iter().map(|condition| condition.name));
    let names: Option<Vec<String>> = conditions.map(Iterator::collect);
    if let Some((name, names)) =
        exit.condition.zip(names).filter(|(name, names)| !names.iter().any(|known| known == name))
    {
        let error = Error::usage(format!("the contract has no condition `{name}`"));
        return Err(error.hint(match names.as_slice() {
            [] => "the contract has no conditions; omit --condition".to_owned(),
            names => format!("conditions: {}", names.join(", ")),
        }));
    }
    let paths = args.data.paths()?;
    let (count, mut files) = (paths.len(), Vec::new());
    let judge = |file: DataFile, threads: usize, progress: &mut dyn FnMut(u64)| {
        let validate = |contract: &Contract, reader: Box<dyn Read + Send>, progress: &mut dyn FnMut(u64)| {
            let is_lines = contract.is_bare_schema() && file.framing == Some(Framing::Lines);
            let default = if is_lines { Framing::Lines } else { contract.framing() };
            let framing = args.framing.unwrap_or(default);
            let settings = Settings { framing, max_errors: args.max_errors, exit, threads };
            let mut verdict = Validation::new(contract, settings).validate(reader, progress)?;
            verdict.keep_first(settings.max_errors);
            Ok::<_, std::io::Error>(verdict)
        };
        if let Some(contract) = &named {
            let verdict = validate(contract, file.reader, progress)?;
            return Ok(ValidatedFile::new(file.name, None, verdict));
        }
        let (contract, reader) = Contract::detect(file.reader)?;
        let verdict = validate(&contract, Box::new(reader), progress)?;
        Ok(ValidatedFile::new(file.name, Some(contract.name().to_owned()), verdict))
    };
    let (unreadable, error) = read_each(paths, args.jobs, output, judge, |_, file, output| {
        output.stream(file.lines(), |page| show(&file, page))?;
        files.push(file);
        Ok(())
    })?;
    if files.is_empty()
        && let Some(error) = error
    {
        return Err(error);
    }
    let invalid = files.iter().filter(|file| !file.valid).count();
    let valid = invalid == 0 && unreadable.is_empty();
    let contract = named.map_or_else(|| AUTO.to_owned(), |contract| contract.name().to_owned());
    let validated = Validated { contract, valid, files, unreadable };
    let (contract, files) = (&validated.contract, validated.files.len());
    let unreadable = validated.unreadable.len();
    let summary = ValidationLine::Summary { contract, valid, files, invalid, unreadable };
    let lines = validated.unreadable.iter().map(ValidationLine::Unreadable).chain([summary]);
    output.emit_records("validate", valid, &validated, lines, |page| {
        if count > 1 {
            let unread = if unreadable > 0 { format!(", {unreadable} unreadable") } else { String::new() };
            page.text(&format!("{count} files, {invalid} invalid{unread}"));
        }
    })?;
    if let Some(error) = error {
        return Err(error);
    }
    if invalid > 0 {
        let verb = if invalid == 1 { "is" } else { "are" };
        output.error(&Error::findings(format!(
            "{invalid} of {files} {verb} invalid",
            files = counted(files, "file")
        )));
    }
    Ok(u8::from(invalid > 0))
}

impl ValidatedFile {
    fn new(file: String, contract: Option<String>, verdict: Verdict) -> Self {
        Self {
            file,
            contract,
            valid: verdict.is_valid(),
            records: verdict.records,
            bytes: verdict.bytes,
            errors: verdict.errors,
            more: verdict.omitted.error_count(),
            unknown_types: verdict.unknown_types,
            unjudged: verdict.skipped_facts,
            known: verdict.known,
            more_known: verdict.omitted.known_count(),
        }
    }

    fn lines(&self) -> impl Iterator<Item = ValidationLine<'_>> {
        let file = self.file.as_str();
        let errors =
            self.errors.iter().map(move |violation| ValidationLine::Error(Found { file, violation }));
        let known = self.known.iter().map(move |violation| ValidationLine::Known(Found { file, violation }));
        errors.chain(known).chain(iter::once(ValidationLine::File {
            file,
            valid: self.valid,
            records: self.records,
            bytes: self.bytes,
            contract: self.contract.as_deref(),
            more: self.more,
            unknown_types: &self.unknown_types,
            unjudged: self.unjudged,
            more_known: self.more_known,
        }))
    }

    /// Formats the counts of a file: `3 records, 1 known finding`.
    fn notes(&self) -> String {
        let mut notes = counted(self.records, "record");
        if let Some(contract) = &self.contract {
            notes.push_str(&format!(", contract {contract}"));
        }
        let unknown: u64 = self.unknown_types.values().sum();
        if unknown > 0 {
            notes.push_str(&format!(", {unknown} of {} unknown types", self.unknown_types.len()));
        }
        if self.unjudged > 0 {
            notes.push_str(&format!(", {} checks skipped: memory limit reached", self.unjudged));
        }
        let known = self.known.len() as u64 + self.more_known;
        if known > 0 {
            notes.push_str(&format!(", {}", counted(known, "known finding")));
        }
        notes
    }
}

fn show(file: &ValidatedFile, page: &mut Page) {
    for error in file.errors.iter().chain(&file.known) {
        let place = match (error.line, error.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", file.file),
            (Some(line), None) => format!("{}:{line}", file.file),
            _ => file.file.clone(),
        };
        let pointer = if error.pointer.is_empty() { "(root)" } else { &error.pointer };
        let known = if error.finding.is_some() { "known finding: " } else { "" };
        page.line(
            0,
            &[
                StyledText::strong(format!("{place}: ")),
                StyledText::new(Tone::Warn, known),
                StyledText::plain(format!("{pointer}: {} ", error.message)),
                StyledText::dim(format!("[{}]", error.rule)),
            ],
        );
    }
    let (shown, notes) = (file.errors.len(), file.notes());
    let all = counted(file.more + shown as u64, "error");
    let verdict = match (file.valid, file.more) {
        (true, _) => StyledText::new(Tone::Success, format!("valid ({notes})")),
        (false, 0) => StyledText::new(Tone::Error, format!("invalid: {all} ({notes})")),
        (false, _) => StyledText::new(Tone::Error, format!("invalid: {all}, {shown} shown ({notes})")),
    };
    page.line(0, &[StyledText::plain(format!("{}: ", file.file)), verdict]);
}
