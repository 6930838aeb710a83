//! Collects the errors of a file, so that all are reported at once.

use crate::error::{Error, Issue, Place};
use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;

/// A range of byte offsets in the text of a file.
pub type Span = Range<usize>;

/// Collects the errors of one file, with their places.
pub struct Diagnostics<'a> {
    path: &'a Path,
    text_at: &'a str,
    list: RefCell<Vec<(usize, String)>>,
}

impl<'a> Diagnostics<'a> {
    /// Creates an empty collection for the file at `path` with this text.
    pub fn new(path: &'a Path, text: &'a str) -> Self {
        Self { path, text_at: text, list: RefCell::default() }
    }

    /// Adds an error at the byte range `span` of the file.
    pub fn add(&self, span: &Span, message: impl Into<String>) {
        self.list.borrow_mut().push((span.start, message.into()));
    }

    /// Returns the number of errors.
    pub fn count(&self) -> usize {
        self.list.borrow().len()
    }

    /// Returns the text of the file at the byte range `span`; empty if the range is invalid.
    pub fn text(&self, span: &Span) -> &'a str {
        self.text_at.get(span.clone()).unwrap_or_default()
    }

    /// Returns the line of a byte offset, from 1.
    pub fn line_at(&self, offset: usize) -> usize {
        place(self.path, self.text_at, offset).line
    }

    /// Returns one error that lists all errors so far in file order; `None` if there are none.
    pub fn into_error(&self) -> Option<Error> {
        let mut list = self.list.borrow().clone();
        if list.is_empty() {
            return None;
        }
        list.sort_by_key(|(offset, _)| *offset);
        list.dedup();
        let issues: Vec<Issue> = list
            .into_iter()
            .map(|(offset, message)| Issue { place: Some(place(self.path, self.text_at, offset)), message })
            .collect();
        let count =
            if issues.len() == 1 { "an error".to_owned() } else { format!("{} errors", issues.len()) };
        Some(Error::config(format!("{} has {count}", self.path.display())).issues(issues))
    }
}

/// Returns the place of a byte offset in `text`, the contents of the file at `path`: line and column from 1, the column
/// in characters.
pub fn place(path: &Path, text: &str, offset: usize) -> Place {
    let offset = text.floor_char_boundary(offset);
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Place {
        file: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}
