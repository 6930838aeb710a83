//! The schema files of a contract, read from the bundle, from its folder or from memory.

use crate::error::{Error, ErrorKind, Issue, Place, Result};
use jsonschema::{Retrieve, Uri};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use strict_json::{Position, ReadOptions, find_span, locate, read_value};

/// The bundled contracts: the name of each, with the path and the text of each of its files.
pub(super) static BUNDLE: &[(&str, &[(&str, &str)])] = include!(concat!(env!("OUT_DIR"), "/contracts.rs"));

/// Prefix of the URIs of bundled files.
const BUNDLED_PREFIX: &str = "agentnative:/";
/// Prefix of the URIs of files in a contract's folder.
const FOLDER_PREFIX: &str = "folder:/contract/";
/// Prefix of the URIs of paths that leave the contract's folder, such as `../x.json`: URI resolution stops at the root.
const OUTSIDE_PREFIX: &str = "folder:/";

/// Maximum nesting depth of a schema.
const MAX_DEPTH: usize = 120;
/// Maximum length of a file of a contract, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// Maximum number of JSON values in all schemas of a contract together: a compiled schema takes a hundred times the
/// memory of its text.
const MAX_VALUES: usize = 200_000;

/// Where the files of one contract are.
#[derive(Debug, Clone)]
pub(super) enum FileStore {
    /// A bundled contract, by its name.
    Bundle(&'static str),
    /// A folder, absolute and without symbolic links.
    Folder(PathBuf),
    /// Files in memory: the text of each, by its path.
    Memory(Arc<BTreeMap<String, String>>),
    /// There are no files: the schema does not belong to a contract.
    Empty,
}

impl FileStore {
    /// Returns the URI of a file of the contract, which is given by its path. Returns the URI of a bundled file
    /// unchanged.
    pub fn uri(&self, file: &str) -> String {
        match self {
            _ if file.starts_with(BUNDLED_PREFIX) => file.to_owned(),
            Self::Bundle(name) => format!("{BUNDLED_PREFIX}{name}/{}", escape(file)),
            Self::Folder(_) | Self::Memory(_) | Self::Empty => format!("{FOLDER_PREFIX}{}", escape(file)),
        }
    }

    /// Returns the display name of the file at a URI: the URI without the prefix that all files of the contract share.
    pub fn name(&self, uri: &str) -> String {
        let relative = match self {
            Self::Bundle(name) => uri.strip_prefix(&format!("{BUNDLED_PREFIX}{name}/")),
            Self::Folder(_) | Self::Memory(_) | Self::Empty => uri.strip_prefix(FOLDER_PREFIX),
        };
        relative.unwrap_or(uri).to_owned()
    }

    /// Returns the path, in the contract's folder, of the file at a URI; `None` for a bundled file.
    pub fn path(uri: &str) -> Option<String> {
        Some(percent_decode_str(uri.strip_prefix(FOLDER_PREFIX)?).decode_utf8_lossy().into_owned())
    }
}

/// A parsed schema file.
pub(super) struct File {
    /// The path that errors show.
    pub path: PathBuf,
    pub text: Vec<u8>,
    pub value: Value,
}

impl File {
    /// Parses the text of a schema file; rejects JSON that is not strict, such as duplicate keys.
    pub fn parse(path: PathBuf, text: Vec<u8>) -> Result<Self> {
        let options = ReadOptions { max_depth: MAX_DEPTH, ..ReadOptions::default() };
        // Reading from memory cannot fail.
        let document =
            read_value(text.as_slice(), &options, u64::MAX).map_err(|error| read_error(&path, &error))?;
        let rejected = document.summary.problems.iter().find(|problem| problem.kind.rejects());
        match (document.value, rejected) {
            (Some(value), None) => Ok(Self { path, text, value }),
            (_, Some(problem)) => Err(invalid_schema(&path, problem.position, problem.message.clone())),
            (None, None) => Err(Error::config(format!("{} contains no JSON value", path.display()))),
        }
    }

    /// Creates an error at the line and column of the value to which a pointer into the schema refers.
    pub fn error_at(&self, pointer: &str, message: String) -> Error {
        let span = find_span(self.text.as_slice(), pointer).ok().flatten();
        let at = locate(self.text.as_slice(), span.map_or(0, |span| span.start));
        invalid_schema(&self.path, at.unwrap_or(Position::START), message)
    }
}

/// Returns the number of JSON values in a value, including itself.
fn count_values(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(count_values).sum(),
        Value::Object(members) => members.values().map(count_values).sum::<usize>(),
        _ => 0,
    }
}

fn invalid_schema(path: &Path, at: Position, message: String) -> Error {
    let small = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let place = Place { file: path.to_owned(), line: small(at.line), column: small(at.column) };
    Error::config(format!("{} is not a valid schema", path.display()))
        .issues(vec![Issue { place: Some(place), message }])
}

pub(super) fn read_error(path: &Path, error: &std::io::Error) -> Error {
    Error::io(ErrorKind::Config, "read", path, error)
}

/// Loads schemas from the bundle and from the files of one contract only.
#[derive(Clone)]
pub(super) struct Sources {
    store: FileStore,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The files loaded so far, by URI.
    files: BTreeMap<String, Arc<File>>,
    /// The number of JSON values in all files that were loaded.
    values: usize,
    /// The first error that occurred when a referenced file was loaded.
    error: Option<Error>,
}

impl Sources {
    pub fn new(store: FileStore) -> Self {
        Self { store, state: Arc::default() }
    }

    pub fn store(&self) -> &FileStore {
        &self.store
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all files loaded so far, by URI.
    pub fn files(&self) -> Vec<(String, Arc<File>)> {
        self.state().files.iter().map(|(uri, file)| (uri.clone(), Arc::clone(file))).collect()
    }

    /// Removes and returns the first error that occurred when a referenced file was loaded. It is more precise than the
    /// compiler's error.
    pub fn take_error(&self) -> Option<Error> {
        self.state().error.take()
    }

    /// Returns the file at a URI, which has no fragment. Loads the file on first use.
    pub fn file(&self, uri: &str) -> Result<Arc<File>> {
        let mut state = self.state();
        if let Some(file) = state.files.get(uri) {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(self.read(uri)?);
        state.values += count_values(&file.value);
        if state.values > MAX_VALUES {
            return Err(file.error_at("", format!("the schemas contain more than {MAX_VALUES} JSON values")));
        }
        state.files.insert(uri.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn read(&self, uri: &str) -> Result<File> {
        if let Some(path) = uri.strip_prefix(BUNDLED_PREFIX) {
            let path = percent_decode_str(path).decode_utf8_lossy();
            let (name, file) = path.split_once('/').unwrap_or((&path, ""));
            let text = bundled(name, file)
                .ok_or_else(|| Error::config(format!("no bundled contract `{name}` has a file `{file}`")))?;
            return File::parse(PathBuf::from("contracts").join(&*path), text.as_bytes().to_vec());
        }
        match (FileStore::path(uri), &self.store) {
            (Some(path), FileStore::Folder(root)) => read_inside(root, &path),
            (Some(path), FileStore::Memory(texts)) => {
                let missing = || Error::config(format!("`{path}` is not among the files of the contract"));
                let text = texts.get(&path).ok_or_else(missing)?;
                File::parse(PathBuf::from(path), text.as_bytes().to_vec())
            }
            _ if uri.starts_with(OUTSIDE_PREFIX) => Err(Error::config(format!(
                "a schema refers to `{}`, outside the contract's folder; expected a file in it, by its path relative to \
                 that schema",
                percent_decode_str(&uri[OUTSIDE_PREFIX.len()..]).decode_utf8_lossy()
            ))),
            _ => Err(Error::config(format!(
                "a schema refers to `{uri}`; expected a file of the contract's folder or of a bundled contract; \
                 schemas are never fetched from the network"
            ))),
        }
    }
}

/// Returns the text of the file with the path `file` in the bundled contract `name`.
pub(super) fn bundled(name: &str, file: &str) -> Option<&'static str> {
    let (_, files) = BUNDLE.iter().find(|(bundled, _)| *bundled == name)?;
    files.iter().find(|(path, _)| *path == file).map(|(_, text)| *text)
}

/// Reads a file inside a folder. Fails if the file is outside of it, also through symbolic links.
fn read_inside(root: &Path, path: &str) -> Result<File> {
    let relative = Path::new(path);
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let full = root.join(relative);
    if !inside || !full.canonicalize().map_err(|error| read_error(&full, &error))?.starts_with(root) {
        return Err(Error::config(format!("{} is outside the contract's folder", full.display())));
    }
    let text = read_limited(&full)?;
    File::parse(full, text)
}

/// Reads a regular file of at most 16 MiB.
///
/// # Errors
/// Of kind `Config` if the file cannot be read, is not a regular file or is too long.
pub fn read_limited(path: &Path) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| read_error(path, &error);
    // This check comes first: opening a named pipe blocks until its other end is opened.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Error::config(format!("{} is not a regular file", path.display())));
    }
    let file = fs::File::open(path).map_err(failed)?;
    let mut text = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(Error::config(format!("{} is longer than {MAX_BYTES} bytes", path.display())));
    }
    Ok(text)
}

impl Retrieve for Sources {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        self.file(uri.as_str()).map(|file| file.value.clone()).map_err(|error| {
            self.state().error.get_or_insert_with(|| error.clone());
            error.into()
        })
    }
}

/// Percent-encodes a path for a URI.
fn escape(path: &str) -> String {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte);
    let encoded = path
        .bytes()
        .map(|byte| if is_allowed(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    encoded.collect()
}
