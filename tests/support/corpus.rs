//! The recordings of the fixtures in one file, so that most fixtures are judged without starting a process.
//!
//! `fixtures/clis/recordings.jsonl` has one line per fixture, per distinct run and per distinct output, sorted. It
//! contains no absolute paths and no times of day; durations are multiples of 100 ms if that changes no verdict. A
//! fixture that prints much, or whose verdicts depend on exact times, is `live` and has no recording.

use agentnative::check::{Recording, Selection, judge};
use agentnative::model::{Layer, Status};
use agentnative::probe;
use agentnative::report::Report;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;
use walkdir::{DirEntry, WalkDir};

/// The command that updates stale recordings. If the file was removed, it updates all, which takes minutes.
pub const COMMAND: &str = "UPDATE=1 cargo test --test product fixtures::the_recordings_are_current";

/// Maximum length of a recording, in bytes.
const MAX_RECORDING: usize = 200 << 10;
/// Maximum length of an output that is stored in the line of its run, in bytes.
const MAX_INLINE_OUTPUT: usize = 100;
/// Unit that durations are rounded down to, in nanoseconds.
const TICK: u64 = 100_000_000;
/// Placeholders for the folder of a fixture, and for that of all fixtures.
const PLACEHOLDERS: [&str; 2] = ["/x/fixture", "/x/clis"];

/// All recordings.
#[derive(Default)]
pub struct Corpus {
    fixtures: BTreeMap<String, Entry>,
    /// The lines of runs and outputs, by their hash.
    lines: HashMap<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    fixture: String,
    /// Hash of its files, of the library and configuration it uses, and of its planned runs.
    digest: String,
    /// The head of its recording and the hashes of its runs; `None` if it is live.
    #[serde(flatten)]
    recording: Option<Recorded>,
}

#[derive(Serialize, Deserialize)]
struct Recorded {
    head: Value,
    runs: Vec<String>,
}

/// Returns the folder of all fixtures.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/clis")
}

fn file() -> PathBuf {
    folder().join("recordings.jsonl")
}

/// Returns the name of a fixture: its path below the folder of all fixtures.
pub fn name(fixture: &Path) -> String {
    fixture.strip_prefix(folder()).unwrap().to_str().unwrap().to_owned()
}

/// Returns the verdicts of a report, by check.
pub fn verdicts(report: &Report) -> BTreeMap<String, Status> {
    report.results.iter().map(|result| (result.id.to_string(), result.status)).collect()
}

fn hash(text: &str) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}

impl Corpus {
    /// Reads the file.
    pub fn read() -> Self {
        let mut corpus = Self::default();
        for line in fs::read_to_string(file()).unwrap_or_default().lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            if value.get("fixture").is_some() {
                let entry: Entry = serde_json::from_value(value).unwrap();
                corpus.fixtures.insert(entry.fixture.clone(), entry);
            } else {
                corpus.lines.insert(hash(line), value);
            }
        }
        corpus
    }

    /// Writes the file, without lines that no fixture uses.
    pub fn write(&self) {
        let mut lines: BTreeSet<String> = BTreeSet::new();
        for entry in self.fixtures.values() {
            lines.insert(serde_json::to_string(entry).unwrap());
            for run in entry.recording.iter().flat_map(|recorded| &recorded.runs) {
                let run = &self.lines[run];
                lines.insert(run.to_string());
                for output in ["stdout", "stderr"] {
                    if let Some(stored) = run[output]["bytes"]["stored"].as_str() {
                        lines.insert(self.lines[stored].to_string());
                    }
                }
            }
        }
        let text: String = lines.into_iter().map(|line| line + "\n").collect();
        fs::write(file(), text).unwrap();
    }

    /// Returns the names of all fixtures, recorded or live.
    pub fn names(&self) -> BTreeSet<String> {
        self.fixtures.keys().cloned().collect()
    }

    /// Removes all fixtures except these.
    pub fn retain(&mut self, names: &BTreeSet<String>) {
        self.fixtures.retain(|name, _| names.contains(name));
    }

    /// Returns the recording of a fixture; `None` if it is live.
    ///
    /// # Errors
    /// If the recording is missing or stale.
    pub fn recording(&self, fixture: &Path) -> Result<Option<Recording>, String> {
        let entry = self.fixtures.get(&name(fixture));
        let entry = entry.ok_or_else(|| format!("{} is not recorded: {COMMAND}", fixture.display()))?;
        let recording = entry.recording.as_ref().map(|recorded| self.unpack(recorded));
        match entry.digest == digest(fixture, recording.as_ref()) {
            true => Ok(recording),
            false => Err(format!("the recording of {} is stale: {COMMAND}", fixture.display())),
        }
    }

    fn unpack(&self, recorded: &Recorded) -> Recording {
        let mut text = format!("{}\n", recorded.head);
        for run in &recorded.runs {
            let mut run = self.lines[run].clone();
            for output in ["stdout", "stderr"] {
                if let Some(stored) = run[output]["bytes"]["stored"].as_str() {
                    run[output]["bytes"] = self.lines[stored].clone();
                }
            }
            text += &format!("{run}\n");
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        Recording::read(file.path()).unwrap()
    }

    /// Adds a new recording of a fixture, unless packing it changes its verdicts; the fixture is then live.
    pub fn add(&mut self, fixture: &Path, recording: &Path) {
        let text = fs::read_to_string(recording).unwrap();
        let expected = verdicts(&judged(&Recording::read(recording).unwrap()));
        let packed = [TICK, 1].into_iter().filter(|_| text.len() <= MAX_RECORDING).find_map(|tick| {
            let packed = self.pack(fixture, &text, tick);
            let unpacked = self.unpack(&packed);
            (verdicts(&judged(&unpacked)) == expected).then_some((packed, unpacked))
        });
        let (recording, unpacked) = packed.unzip();
        let digest = digest(fixture, unpacked.as_ref());
        let fixture = name(fixture);
        self.fixtures.insert(fixture.clone(), Entry { fixture, digest, recording });
    }

    fn pack(&mut self, fixture: &Path, text: &str, tick: u64) -> Recorded {
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut head = lines.next().unwrap();
        let object = head.as_object_mut().unwrap();
        object.remove("time");
        object.remove("ended");
        replace_paths(&mut head, fixture);
        let mut streams: HashMap<(u64, String), Value> = HashMap::new();
        let mut runs = Vec::new();
        for (number, mut run) in (2..).zip(lines) {
            for output in ["stdout", "stderr"] {
                let stream = &mut run[output];
                if let Some(same) = stream["bytes"].get("same_as") {
                    let source =
                        (same["line"].as_u64().unwrap(), same["stream"].as_str().unwrap().to_owned());
                    stream["bytes"] = streams[&source].clone();
                }
                streams.insert((number, output.to_owned()), stream["bytes"].clone());
                shift_chunks(stream, fixture);
            }
            run.as_object_mut().unwrap().remove("started");
            replace_paths(&mut run, fixture);
            round(&mut run, tick);
            for output in ["stdout", "stderr"] {
                let bytes = &mut run[output]["bytes"];
                if bytes["text"].as_str().is_some_and(|text| text.len() > MAX_INLINE_OUTPUT) {
                    let stored = self.store(bytes.take());
                    *bytes = json!({ "stored": stored });
                }
            }
            runs.push(self.store(run));
        }
        Recorded { head, runs }
    }

    fn store(&mut self, value: Value) -> String {
        let hash = hash(&value.to_string());
        self.lines.insert(hash.clone(), value);
        hash
    }
}

/// Judges the behavioral checks that the configuration of the recording does not skip.
pub fn judged(recording: &Recording) -> Report {
    let skip = recording.check.skip.clone();
    let selection = Selection { layers: vec![Layer::Behavioral], skip, ..Selection::default() };
    judge(recording, &selection.resolve().unwrap()).unwrap()
}

/// Returns the paths of a fixture with their placeholders, the longer path first.
fn placeholders(fixture: &Path) -> [(String, &'static str); 2] {
    let paths = [fixture.to_owned(), folder()].map(|path| path.to_str().unwrap().to_owned());
    let [own, all] = paths;
    [(own, PLACEHOLDERS[0]), (all, PLACEHOLDERS[1])]
}

/// Adjusts the chunk ends of an output to the text with placeholders.
fn shift_chunks(stream: &mut Value, fixture: &Path) {
    let Some(text) = stream["bytes"]["text"].as_str().map(str::to_owned) else { return };
    for chunk in stream["chunks"].as_array_mut().into_iter().flatten() {
        let end = chunk["end"].as_u64().unwrap() as usize;
        let shorter =
            placeholders(fixture).iter().fold(text[..text.floor_char_boundary(end)].to_owned(), replace);
        chunk["end"] = shorter.len().into();
    }
}

fn replace(text: String, (path, placeholder): &(String, &'static str)) -> String {
    text.replace(path, placeholder)
}

fn replace_paths(value: &mut Value, fixture: &Path) {
    match value {
        Value::String(text) => *text = placeholders(fixture).iter().fold(std::mem::take(text), replace),
        Value::Array(items) => items.iter_mut().for_each(|item| replace_paths(item, fixture)),
        Value::Object(object) => {
            let members = std::mem::take(object).into_iter().map(|(key, mut item)| {
                replace_paths(&mut item, fixture);
                (placeholders(fixture).iter().fold(key, replace), item)
            });
            *object = members.collect();
        }
        _ => {}
    }
}

/// Rounds durations down to a multiple of `tick` nanoseconds.
fn round(value: &mut Value, tick: u64) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| round(item, tick)),
        Value::Object(object) => {
            let part = |object: &Map<String, Value>, key| object.get(key).and_then(Value::as_u64);
            match (part(object, "secs"), part(object, "nanos")) {
                (Some(secs), Some(nanos)) => {
                    let nanos = (secs * 1_000_000_000 + nanos) / tick * tick;
                    *value = serde_json::to_value(Duration::from_nanos(nanos)).unwrap();
                }
                _ => object.values_mut().for_each(|item| round(item, tick)),
            }
        }
        _ => {}
    }
}

/// Returns the names and contents of all files in a folder, sorted; also accepts a single file.
fn files_in(folder: &Path) -> String {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    let text = |entry: DirEntry| {
        let bytes = fs::read(entry.path()).unwrap();
        format!("{}\0{}", name(entry.path()), String::from_utf8_lossy(&bytes))
    };
    entries.filter(|entry| entry.file_type().is_file()).map(text).collect()
}

/// Returns the hash of the files of a fixture and of the library, and of the planned runs.
fn digest(fixture: &Path, recording: Option<&Recording>) -> String {
    static LIBRARY: LazyLock<String> = LazyLock::new(|| files_in(&folder().join("lib")));
    let mut configurations = fixture.ancestors().map(|folder| folder.join("agentnative.toml"));
    let configuration = configurations.find(|path| path.exists()).unwrap();
    let mut text = files_in(fixture) + &LIBRARY + &files_in(&configuration);
    if let Some(recording) = recording {
        let declared = recording.probes.iter().filter(|probe| probe.is_declared()).cloned().collect();
        let selection = Selection { layers: vec![Layer::Behavioral], ..Selection::default() };
        let checks = selection.resolve().unwrap();
        let (_, runs) = probe::plan(&checks, declared, &recording.profile, Duration::ZERO);
        text += &serde_json::to_string(&runs).unwrap();
    }
    hash(&text)
}
