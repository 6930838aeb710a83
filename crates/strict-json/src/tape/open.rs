//! The open objects and arrays of a value that is still being read.

use super::cell::Cell;
use super::{Tape, TapeNode};

impl Tape {
    /// Returns the number of objects and arrays on the tape whose end has not been read.
    pub fn open_count(&self) -> usize {
        self.open.len()
    }

    /// Returns whether the value is incomplete and has more than `max_cells` cells or `max_text` bytes of text.
    pub fn is_longer_than(&self, max_cells: usize, max_text: usize) -> bool {
        !self.open.is_empty() && (self.cells.len() > max_cells || self.text.len() > max_text)
    }

    /// Calls `visit` with each open object and array, from the outermost, then removes its complete members or elements
    /// from the tape. `visit` does not find incomplete members in it.
    pub fn drain_complete_members(&mut self, mut visit: impl FnMut(TapeNode<'_>)) {
        let (mut kept, mut keys) = (0, String::new());
        for level in 0..self.open.len() {
            let index = self.open[level];
            let inner = self.open.get(level + 1).copied();
            // The key of an incomplete value stays with it.
            let end = inner.unwrap_or(self.cells.len());
            let key = Some(end - 1).filter(|at| self.cells[*at].json_type.is_none());
            self.cells[index].length_or_end = key.unwrap_or(end) as u32;
            visit(TapeNode { tape: self, index });
            self.open[level] = kept;
            self.cells[kept] = self.cells[index];
            kept += 1;
            if let Some(key) = key.filter(|_| inner.is_some()) {
                let start = keys.len();
                keys.push_str(self.text_of(self.cells[key]));
                self.cells[kept] = Cell { start_or_count: start as u32, ..self.cells[key] };
                kept += 1;
            }
        }
        self.cells.truncate(kept);
        self.text.clear();
        self.text.push_str(&keys);
        self.truncated.clear();
    }

    /// Removes the innermost open object or array with its key, and returns the key. `None` if there is no key.
    pub fn remove_innermost(&mut self) -> Option<&str> {
        self.cells.truncate(self.open.pop()?);
        let key = self.cells.pop_if(|cell| cell.json_type.is_none())?;
        Some(self.text_of(key))
    }

    fn text_of(&self, cell: Cell) -> &str {
        let start = cell.start_or_count as usize;
        &self.text[start..start + cell.length_or_end as usize]
    }
}
