//! Building blocks of text output: colours, wrapping, aligned tables.

use super::OutputConfig;
use owo_colors::{OwoColorize as _, Style};
use strict_json::sanitize;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Narrowest last column of a table that is still wrapped beside the others.
const MIN_LAST_COLUMN: usize = 24;
/// Spaces between two columns.
const GAP: usize = 2;
/// Spaces before the last piece of a flow.
const TAIL_GAP: usize = 3;
/// A tab is drawn as this many spaces.
const TAB: &str = "    ";

/// What a piece of text means; its colour follows. The words alone must be enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// No colour.
    #[default]
    Plain,
    /// A heading or a name.
    Strong,
    /// Of less interest.
    Dim,
    /// Something holds.
    Good,
    /// Something must be mended.
    Bad,
    /// Something should be mended.
    Warn,
    /// Something is open.
    Open,
}

impl Tone {
    /// `text` in the colour of the tone, when `color` is set.
    pub fn paint(self, text: &str, color: bool) -> String {
        let style = match self {
            Self::Plain => return text.to_owned(),
            Self::Strong => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Good => Style::new().green(),
            Self::Bad => Style::new().red().bold(),
            Self::Warn => Style::new().yellow(),
            Self::Open => Style::new().cyan(),
        };
        if color && !text.is_empty() { text.style(style).to_string() } else { text.to_owned() }
    }
}

/// One cell of a table, or one piece of a line: safe text and its tone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// A cell; `text` passes the sanitiser and is one line.
    pub fn new(tone: Tone, text: impl AsRef<[u8]>) -> Self {
        Self { text: sanitize::line(text), tone }
    }

    /// A cell without colour.
    pub fn plain(text: impl AsRef<[u8]>) -> Self {
        Self::new(Tone::Plain, text)
    }

    /// A heading or a name.
    pub fn strong(text: impl AsRef<[u8]>) -> Self {
        Self::new(Tone::Strong, text)
    }

    /// A cell of less interest.
    pub fn dim(text: impl AsRef<[u8]>) -> Self {
        Self::new(Tone::Dim, text)
    }
}

/// Text output under construction. All that is added passes the sanitiser.
#[derive(Debug)]
pub struct Page {
    out: String,
    config: OutputConfig,
    pub(crate) verbatim: bool,
}

impl Page {
    /// An empty page for standard output.
    pub const fn new(config: &OutputConfig) -> Self {
        Self { out: String::new(), config: *config, verbatim: false }
    }

    /// How the page looks.
    pub const fn config(&self) -> &OutputConfig {
        &self.config
    }

    /// The rendered text, ready for [`super::Output::text`].
    pub fn finish(self) -> String {
        self.out
    }

    /// Text that is rendered already.
    pub fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Makes the page text of our own making that is written just as it is: a schema, a completion
    /// script.
    pub fn verbatim(&mut self, text: &str) {
        self.out.push_str(text);
        self.verbatim = true;
    }

    /// An empty line, unless the page is empty or ends in one.
    pub fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// A heading after an empty line.
    pub fn heading(&mut self, text: &str) {
        self.blank();
        self.line(0, &[Cell::strong(text)]);
    }

    /// One line of cells, put together without gaps and never wrapped.
    pub fn line(&mut self, indent: usize, cells: &[Cell]) {
        self.push(indent, cells);
        self.end_line();
    }

    /// Wrapped text. Its line feeds stay; lines that begin with white space are kept as they are.
    pub fn paragraph(&mut self, indent: usize, text: impl AsRef<[u8]>) {
        self.labelled(indent, &Cell::plain(""), text);
    }

    /// Wrapped text after a label such as `help: `; the following lines stand under its first word.
    pub fn labelled(&mut self, indent: usize, label: &Cell, text: impl AsRef<[u8]>) {
        let hang = " ".repeat(label.text.width());
        self.hanging(indent, std::slice::from_ref(label), &[Cell::plain(&hang)], text);
    }

    /// Wrapped text whose first line comes after `first` and the others after `others`, which is of
    /// the same width.
    pub fn hanging(&mut self, indent: usize, first: &[Cell], others: &[Cell], text: impl AsRef<[u8]>) {
        let lead = indent + first.iter().map(|cell| cell.text.width()).sum::<usize>();
        let text = sanitize::text(text).replace('\t', TAB);
        let lines = wrap(text.trim_end(), self.config.width.saturating_sub(lead).max(MIN_LAST_COLUMN));
        for (nth, line) in lines.iter().enumerate() {
            self.push(indent, if nth == 0 { first } else { others });
            self.out.push_str(line);
            self.end_line();
        }
    }

    /// Cells put together without gaps and wrapped at their spaces; the lines after the first begin `hang` columns
    /// further right. The tail is not broken: it ends the last line where there is room, else it is a line.
    pub fn flow(&mut self, indent: usize, hang: usize, cells: &[Cell], tail: Option<&Cell>) {
        let width = self.config.width;
        let mut lines: Vec<Vec<Cell>> = vec![Vec::new()];
        let mut column = indent;
        let mut add = |text: &str, tone: Tone, gap: usize| {
            let is_first = lines.last().is_none_or(Vec::is_empty);
            let mut gap = if is_first { 0 } else { gap };
            if !is_first && column + gap + text.width() > width {
                lines.push(Vec::new());
                (column, gap) = (indent + hang, 0);
            }
            column += gap + text.width();
            let text = " ".repeat(gap) + text;
            let Some(line) = lines.last_mut() else { return };
            match line.last_mut() {
                Some(last) if last.tone == tone => last.text.push_str(&text),
                _ => line.push(Cell { text, tone }),
            }
        };
        let mut gap = 0;
        for cell in cells {
            for (nth, word) in cell.text.split(' ').enumerate() {
                gap += usize::from(nth > 0);
                if !word.is_empty() {
                    add(word, cell.tone, std::mem::take(&mut gap));
                }
            }
        }
        if let Some(tail) = tail {
            add(&tail.text, tail.tone, TAIL_GAP);
        }
        for (nth, line) in lines.iter().enumerate() {
            self.line(if nth == 0 { indent } else { indent + hang }, line);
        }
    }

    /// Text as it stands, such as an example; tabs are drawn as spaces.
    pub fn block(&mut self, indent: usize, text: impl AsRef<[u8]>) {
        for line in sanitize::text(text).replace('\t', TAB).lines() {
            self.push(indent, &[]);
            self.out.push_str(line);
            self.end_line();
        }
    }

    /// Rows in aligned columns. The last column wraps, beside the others or, where there is too
    /// little room, under them.
    pub fn table(&mut self, indent: usize, rows: impl IntoIterator<Item = Vec<Cell>>) {
        let rows: Vec<Vec<Cell>> = rows.into_iter().collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths = vec![0; columns];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.text.width().max(*width);
            }
        }
        let lead = |columns: usize| indent + widths.iter().take(columns).map(|w| w + GAP).sum::<usize>();
        for row in &rows {
            let Some((last, others)) = row.split_last() else { continue };
            self.push(indent, &[]);
            for (cell, width) in others.iter().zip(&widths) {
                self.push(0, std::slice::from_ref(cell));
                self.out.push_str(&" ".repeat(width - cell.text.width() + GAP));
            }
            let mut hang = lead(others.len());
            let mut room = self.config.width.saturating_sub(hang);
            if room < MIN_LAST_COLUMN && last.text.width() > room {
                self.end_line();
                hang = indent + 2 * GAP;
                room = self.config.width.saturating_sub(hang).max(MIN_LAST_COLUMN);
                self.out.push_str(&" ".repeat(hang));
            }
            for (nth, line) in wrap(&last.text, room).iter().enumerate() {
                if nth > 0 {
                    self.out.push_str(&" ".repeat(hang));
                }
                self.out.push_str(&last.tone.paint(line, self.config.use_color));
                self.end_line();
            }
        }
    }

    /// Adds white space and cells to the line.
    fn push(&mut self, indent: usize, cells: &[Cell]) {
        self.out.push_str(&" ".repeat(indent));
        for cell in cells {
            self.out.push_str(&cell.tone.paint(&cell.text, self.config.use_color));
        }
    }

    /// Ends the line, without white space at its end.
    fn end_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
    }
}

/// The lines of `text` in at most `width` columns; a longer word is a line of its own. There is at
/// least one line. What follows in an item of a list stands under its first word.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        if line.starts_with(' ') || line.width() <= width {
            lines.push(line.to_owned());
            continue;
        }
        let hang = if line.starts_with("- ") { "  " } else { "" };
        let mut current = String::new();
        for word in line.split_whitespace() {
            if current.trim_start().is_empty() {
                current.push_str(word);
            } else if current.width() + 1 + word.width() > width {
                lines.push(std::mem::replace(&mut current, format!("{hang}{word}")));
            } else {
                current.push(' ');
                current.push_str(word);
            }
        }
        lines.push(current);
    }
    lines
}

/// Columns that one character takes.
pub fn columns(c: char) -> usize {
    if c == '\t' { TAB.len() } else { c.width().unwrap_or(0) }
}

/// `text` as it is drawn, tabs as spaces.
pub fn expand_tabs(text: &str) -> String {
    text.replace('\t', TAB)
}
