//! Where schemas may come from: the bundle, and the folder of the contract.

use crate::error::{Error, Issue, Place, Result};
use jsonschema::{Retrieve, Uri};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use strict_json::{Options, find_span, locate, read_value};

/// The bundled contracts: name, and the text of each of their files by its path.
pub(super) static BUNDLE: &[(&str, &[(&str, &str)])] = include!(concat!(env!("OUT_DIR"), "/contracts.rs"));

/// URIs of the files of the bundle and of a contract's folder begin so.
const BUNDLED: &str = "agentnative:/";
const FOLDER: &str = "folder:/";

/// Schemas nest at most this deep.
const MAX_DEPTH: usize = 120;
/// A file of a contract is at most this long.
const MAX_BYTES: u64 = 16 << 20;

/// The files of one contract.
#[derive(Debug, Clone)]
pub(super) enum Home {
    /// A bundled contract, by its name.
    Bundle(&'static str),
    /// A folder, absolute and without symbolic links.
    Folder(PathBuf),
    /// No files: the schema stands for itself.
    Nowhere,
}

impl Home {
    /// The URI of a file of it; a URI of the bundle stands for itself.
    pub fn uri(&self, file: &str) -> String {
        match self {
            _ if file.starts_with(BUNDLED) => file.to_owned(),
            Self::Bundle(name) => format!("{BUNDLED}{name}/{}", escape(file)),
            Self::Folder(_) | Self::Nowhere => format!("{FOLDER}{}", escape(file)),
        }
    }

    /// What people call the file of a URI: without what all files of the contract have in common.
    pub fn name(&self, uri: &str) -> String {
        let own = match self {
            Self::Bundle(name) => uri.strip_prefix(&format!("{BUNDLED}{name}/")),
            Self::Folder(_) | Self::Nowhere => uri.strip_prefix(FOLDER),
        };
        own.unwrap_or(uri).to_owned()
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
        let options = Options { max_depth: MAX_DEPTH, ..Options::default() };
        // Reading from memory cannot fail.
        let document =
            read_value(text.as_slice(), &options, u64::MAX).map_err(|error| unreadable(&path, &error))?;
        let rejected = document.summary.problems.iter().find(|problem| problem.kind.rejects());
        match (document.value, rejected) {
            (Some(value), None) => Ok(Self { path, text, value }),
            (_, Some(problem)) => {
                let at = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
                let (line, column) = (at(problem.at.line), at(problem.at.column));
                let place = Place { file: path.clone(), line, column };
                Err(wrong_file(&path, place, problem.message.clone()))
            }
            (None, None) => Err(Error::config(format!("{}: no JSON value", path.display()))),
        }
    }

    /// The error of a fault at a pointer of the schema.
    pub fn fault(&self, pointer: &str, message: String) -> Error {
        let span = find_span(self.text.as_slice(), pointer).ok().flatten();
        let start = span.map_or(0, |span| span.start);
        let position = locate(self.text.as_slice(), start).unwrap_or(strict_json::Position::START);
        let at = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
        let place = Place { file: self.path.clone(), line: at(position.line), column: at(position.column) };
        wrong_file(&self.path, place, message)
    }
}

fn wrong_file(path: &Path, place: Place, message: String) -> Error {
    Error::config(format!("{} is no valid schema", path.display()))
        .issues(vec![Issue { place: Some(place), message }])
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::config(format!("cannot read {}: {error}", path.display()))
}

/// Gets schemas from the bundle and from one folder, and nowhere else.
#[derive(Clone)]
pub(super) struct Sources(Arc<Inner>);

struct Inner {
    home: Home,
    /// The files read so far, by URI.
    files: Mutex<BTreeMap<String, Arc<File>>>,
    /// The first file that could not be read.
    error: Mutex<Option<Error>>,
}

impl Sources {
    pub fn new(home: Home) -> Self {
        Self(Arc::new(Inner { home, files: Mutex::default(), error: Mutex::default() }))
    }

    pub fn home(&self) -> &Home {
        &self.0.home
    }

    /// All files read so far, by URI.
    pub fn files(&self) -> Vec<(String, Arc<File>)> {
        let files = self.0.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().map(|(uri, file)| (uri.clone(), Arc::clone(file))).collect()
    }

    /// The first error of a file, which is better than what the compiler makes of it.
    pub fn error(&self) -> Option<Error> {
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The file of a URI without a fragment.
    pub fn file(&self, uri: &str) -> Result<Arc<File>> {
        let mut files = self.0.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(uri) {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(self.read(uri)?);
        files.insert(uri.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn read(&self, uri: &str) -> Result<File> {
        if let Some(path) = uri.strip_prefix(BUNDLED) {
            let path = unescape(path);
            let (name, file) = path.split_once('/').unwrap_or((&path, ""));
            let text = bundled(name, file).ok_or_else(|| {
                Error::config(format!("there is no file `{file}` in a bundled contract `{name}`"))
            })?;
            return File::parse(PathBuf::from("contracts").join(&path), text.as_bytes().to_vec());
        }
        match (uri.strip_prefix(FOLDER), &self.0.home) {
            (Some(path), Home::Folder(root)) => read_inside(root, &unescape(path)),
            _ => Err(Error::config(format!(
                "a schema refers to `{uri}`; expected a file of the contract's folder or of a bundled contract: \
                 nothing is fetched"
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
        return Err(Error::config(format!("{} lies outside the contract's folder", full.display())));
    }
    let text = read_limited(&full)?;
    File::parse(full, text)
}

/// The bytes of a regular file of reasonable length.
pub(super) fn read_limited(path: &Path) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| unreadable(path, &error);
    let file = fs::File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(Error::config(format!("{} is no regular file", path.display())));
    }
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
            let mut first = self.0.error.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| error.clone());
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

/// Percent-encoded bytes of a URI as themselves; what is no UTF-8 then is U+FFFD.
pub(super) fn unescape(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%').then(|| tail.get(..2)).flatten();
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
