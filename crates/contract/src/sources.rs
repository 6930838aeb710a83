//! Where schemas may come from: the bundle, and the folder of the contract or the texts of its files.

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

/// The bundled contracts: name, and the text of each of their files by its path.
pub(super) static BUNDLE: &[(&str, &[(&str, &str)])] = include!(concat!(env!("OUT_DIR"), "/contracts.rs"));

/// URIs of the files of the bundle and of a contract's folder begin so.
const BUNDLED: &str = "agentnative:/";
const FOLDER: &str = "folder:/contract/";
/// So begins where a path leads that leaves the folder: resolving a URI stops at its root.
const OUTSIDE: &str = "folder:/";

/// Schemas nest at most this deep.
const MAX_DEPTH: usize = 120;
/// A file of a contract is at most this long.
const MAX_BYTES: u64 = 16 << 20;
/// All schemas of a contract together hold at most so many JSON values: a compiled one takes a hundred times the
/// memory of its text.
const MAX_VALUES: usize = 200_000;

/// The files of one contract.
#[derive(Debug, Clone)]
pub(super) enum Home {
    /// A bundled contract, by its name.
    Bundle(&'static str),
    /// A folder, absolute and without symbolic links.
    Folder(PathBuf),
    /// These texts by their path, and no files.
    Texts(Arc<BTreeMap<String, String>>),
    /// No files: the schema stands for itself.
    Nowhere,
}

impl Home {
    /// The URI of a file of it; a URI of the bundle stands for itself.
    pub fn uri(&self, file: &str) -> String {
        match self {
            _ if file.starts_with(BUNDLED) => file.to_owned(),
            Self::Bundle(name) => format!("{BUNDLED}{name}/{}", escape(file)),
            Self::Folder(_) | Self::Texts(_) | Self::Nowhere => format!("{FOLDER}{}", escape(file)),
        }
    }

    /// What people call the file of a URI: without what all files of the contract have in common.
    pub fn name(&self, uri: &str) -> String {
        let own = match self {
            Self::Bundle(name) => uri.strip_prefix(&format!("{BUNDLED}{name}/")),
            Self::Folder(_) | Self::Texts(_) | Self::Nowhere => uri.strip_prefix(FOLDER),
        };
        own.unwrap_or(uri).to_owned()
    }

    /// The path of the file of a URI in the contract's folder; none for one of the bundle.
    pub fn path(uri: &str) -> Option<String> {
        Some(percent_decode_str(uri.strip_prefix(FOLDER)?).decode_utf8_lossy().into_owned())
    }
}

/// A schema file as it was read.
pub(super) struct File {
    /// What errors call it.
    pub path: PathBuf,
    pub text: Vec<u8>,
    pub value: Value,
}

impl File {
    /// Reads the text of a schema strictly.
    pub fn parse(path: PathBuf, text: Vec<u8>) -> Result<Self> {
        let options = ReadOptions { max_depth: MAX_DEPTH, ..ReadOptions::default() };
        // Reading from memory cannot fail.
        let document =
            read_value(text.as_slice(), &options, u64::MAX).map_err(|error| unreadable(&path, &error))?;
        let rejected = document.summary.problems.iter().find(|problem| problem.kind.rejects());
        match (document.value, rejected) {
            (Some(value), None) => Ok(Self { path, text, value }),
            (_, Some(problem)) => Err(wrong_file(&path, problem.at, problem.message.clone())),
            (None, None) => Err(Error::config(format!("{} contains no JSON value", path.display()))),
        }
    }

    /// The error of a fault at a pointer of the schema.
    pub fn fault(&self, pointer: &str, message: String) -> Error {
        let span = find_span(self.text.as_slice(), pointer).ok().flatten();
        let at = locate(self.text.as_slice(), span.map_or(0, |span| span.start));
        wrong_file(&self.path, at.unwrap_or(Position::START), message)
    }
}

/// The number of JSON values in a value, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

fn wrong_file(path: &Path, at: Position, message: String) -> Error {
    let small = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let place = Place { file: path.to_owned(), line: small(at.line), column: small(at.column) };
    Error::config(format!("{} is not a valid schema", path.display()))
        .issues(vec![Issue { place: Some(place), message }])
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::io(ErrorKind::Config, "read", path, error)
}

/// Gets schemas from the bundle and from the files of one contract, and nowhere else.
#[derive(Clone)]
pub(super) struct Sources {
    home: Home,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The files read so far, by URI.
    files: BTreeMap<String, Arc<File>>,
    /// The JSON values in all of them.
    values: usize,
    /// The first error of a file.
    error: Option<Error>,
}

impl Sources {
    pub fn new(home: Home) -> Self {
        Self { home, state: Arc::default() }
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All files read so far, by URI.
    pub fn files(&self) -> Vec<(String, Arc<File>)> {
        self.state().files.iter().map(|(uri, file)| (uri.clone(), Arc::clone(file))).collect()
    }

    /// The first error of a file, which is better than what the compiler makes of it.
    pub fn error(&self) -> Option<Error> {
        self.state().error.take()
    }

    /// The file of a URI without a fragment.
    pub fn file(&self, uri: &str) -> Result<Arc<File>> {
        let mut state = self.state();
        if let Some(file) = state.files.get(uri) {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(self.read(uri)?);
        state.values += count(&file.value);
        if state.values > MAX_VALUES {
            let many = format!("the schemas hold more than {MAX_VALUES} JSON values");
            return Err(file.fault("", format!("{many}, which takes too much memory")));
        }
        state.files.insert(uri.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn read(&self, uri: &str) -> Result<File> {
        if let Some(path) = uri.strip_prefix(BUNDLED) {
            let path = percent_decode_str(path).decode_utf8_lossy();
            let (name, file) = path.split_once('/').unwrap_or((&path, ""));
            let text = bundled(name, file)
                .ok_or_else(|| Error::config(format!("no bundled contract `{name}` has a file `{file}`")))?;
            return File::parse(PathBuf::from("contracts").join(&*path), text.as_bytes().to_vec());
        }
        match (Home::path(uri), &self.home) {
            (Some(path), Home::Folder(root)) => read_inside(root, &path),
            (Some(path), Home::Texts(texts)) => {
                let missing = || Error::config(format!("`{path}` is not among the files of the contract"));
                let text = texts.get(&path).ok_or_else(missing)?;
                File::parse(PathBuf::from(path), text.as_bytes().to_vec())
            }
            _ if uri.starts_with(OUTSIDE) => Err(Error::config(format!(
                "a schema refers to `{}`, outside the contract's folder; expected a file in it, by its path relative to \
                 that schema",
                percent_decode_str(&uri[OUTSIDE.len()..]).decode_utf8_lossy()
            ))),
            _ => Err(Error::config(format!(
                "a schema refers to `{uri}`; expected a file of the contract's folder or of a bundled contract; \
                 schemas are never fetched from the network"
            ))),
        }
    }
}

/// The text of a file of a bundled contract.
pub(super) fn bundled(name: &str, file: &str) -> Option<&'static str> {
    let (_, files) = BUNDLE.iter().find(|(bundled, _)| *bundled == name)?;
    files.iter().find(|(path, _)| *path == file).map(|(_, text)| *text)
}

/// Reads a file that lies in a folder, also after all symbolic links.
fn read_inside(root: &Path, path: &str) -> Result<File> {
    let relative = Path::new(path);
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let full = root.join(relative);
    if !inside || !full.canonicalize().map_err(|error| unreadable(&full, &error))?.starts_with(root) {
        return Err(Error::config(format!("{} is outside the contract's folder", full.display())));
    }
    let text = read_limited(&full)?;
    File::parse(full, text)
}

/// Reads a regular file of reasonable length.
///
/// # Errors
/// Configuration, when it cannot be read, is no regular file or is too long.
pub fn read_limited(path: &Path) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| unreadable(path, &error);
    // Before it is opened, since opening a named pipe waits for its other end.
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

/// A path as part of a URI.
fn escape(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte);
    let spelt = path
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    spelt.collect()
}
