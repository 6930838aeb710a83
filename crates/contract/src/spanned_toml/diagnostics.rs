//! Collects what is wrong, so that all of it is reported at once.

use crate::error::{Error, Issue, Place};
use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;

/// Byte offsets in the text of the file.
pub type Span = Range<usize>;

/// The faults of one file.
pub struct Diagnostics<'a> {
    path: &'a Path,
    text: &'a str,
    list: RefCell<Vec<(usize, String)>>,
}

impl<'a> Diagnostics<'a> {
    /// No faults yet, of the file at `path` with this text.
    pub fn new(path: &'a Path, text: &'a str) -> Self {
        Self { path, text, list: RefCell::default() }
    }

    /// Notes that something is wrong at `span`.
    pub fn add(&self, span: &Span, message: impl Into<String>) {
        self.list.borrow_mut().push((span.start, message.into()));
    }

    /// Returns how many faults were noted.
    pub fn count(&self) -> usize {
        self.list.borrow().len()
    }

    /// Returns what the file has at `span`.
    pub fn text(&self, span: &Span) -> &'a str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The line, from 1, of a byte offset.
    pub fn line(&self, offset: usize) -> usize {
        place(self.path, self.text, offset).line
    }

    /// The error that lists all faults so far in the order of the file, if there are any.
    pub fn error(&self) -> Option<Error> {
        let mut list = self.list.borrow().clone();
        if list.is_empty() {
            return None;
        }
        list.sort_by_key(|(offset, _)| *offset);
        list.dedup();
        let issues: Vec<Issue> = list
            .into_iter()
            .map(|(offset, message)| Issue { place: Some(place(self.path, self.text, offset)), message })
            .collect();
        let count =
            if issues.len() == 1 { "an error".to_owned() } else { format!("{} errors", issues.len()) };
        Some(Error::config(format!("{} has {count}", self.path.display())).issues(issues))
    }
}

/// Line and column, both from 1 and the column in characters, of a byte offset.
pub fn place(path: &Path, text: &str, offset: usize) -> Place {
    let offset = text.floor_char_boundary(offset);
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Place {
        file: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
    }
}
