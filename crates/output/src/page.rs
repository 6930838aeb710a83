//! Pages of text output: colours, wrapping, aligned tables.

use super::OutputConfig;
use owo_colors::{OwoColorize as _, Style};
use strict_json::sanitize;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Minimum width of the last column of a table, in characters. If there is less space, the last cell of a row is moved
/// to the next line.
const MIN_LAST_COLUMN: usize = 24;
/// Number of spaces between two columns of a table.
const GAP: usize = 2;
/// Number of spaces before the last cell of [`Page::flow`], which is not wrapped.
const TAIL_GAP: usize = 3;
/// Spaces that replace a tab.
const TAB: &str = "    ";

/// Meaning of a text, which determines its colour. The text must be clear without the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Ordinary text, without a colour.
    #[default]
    Normal,
    /// A heading or a name.
    Strong,
    /// Secondary text.
    Dim,
    /// Success.
    Success,
    /// An error, which must be fixed.
    Error,
    /// A warning, which should be fixed.
    Warn,
    /// A hint or an undecided result.
    Hint,
}

impl Tone {
    /// Returns `text` with the escape sequences for this tone. If `color` is false, returns it unchanged.
    pub fn paint(self, text: &str, color: bool) -> String {
        let style = match self {
            Self::Normal => return text.to_owned(),
            Self::Strong => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Success => Style::new().green(),
            Self::Error => Style::new().red().bold(),
            Self::Warn => Style::new().yellow(),
            Self::Hint => Style::new().cyan(),
        };
        if color && !text.is_empty() { text.style(style).to_string() } else { text.to_owned() }
    }
}

/// A cell of a table or a part of a line: sanitised text with a tone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StyledText {
    text: String,
    tone: Tone,
}

impl StyledText {
    /// Creates a cell from `text`, which is sanitised and turned into one line.
    pub fn new(tone: Tone, text: impl AsRef<[u8]>) -> Self {
        Self { text: sanitize::sanitize_line(text), tone }
    }

    /// Creates a cell without colour.
    pub fn plain(text: impl AsRef<[u8]>) -> Self {
        Self::new(Tone::Normal, text)
    }

    /// Creates a bold cell for a heading or a name.
    pub fn strong(text: impl AsRef<[u8]>) -> Self {
        Self::new(Tone::Strong, text)
    }

    /// Creates a dimmed cell for secondary text.
    pub fn dim(text: impl AsRef<[u8]>) -> Self {
        Self::new(Tone::Dim, text)
    }
}

/// Builds the text output of a command. Added text is sanitised, except in [`Page::text`] and [`Page::verbatim`].
#[derive(Debug)]
pub struct Page {
    out: String,
    config: OutputConfig,
    pub(crate) verbatim: bool,
}

impl Page {
    /// Creates an empty page with the colour and the line width that `config` has for stdout.
    pub const fn new(config: &OutputConfig) -> Self {
        Self { out: String::new(), config: *config, verbatim: false }
    }

    /// Returns the configuration that this page was created with.
    pub const fn config(&self) -> &OutputConfig {
        &self.config
    }

    /// Returns the rendered text. [`super::Output::text`] writes it.
    pub fn finish(self) -> String {
        self.out
    }

    /// Adds text that is already rendered and sanitised.
    pub fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Adds trusted text, such as a schema or a completion script. The complete page is then written without sanitising
    /// it.
    pub fn verbatim(&mut self, text: &str) {
        self.out.push_str(text);
        self.verbatim = true;
    }

    /// Adds an empty line, unless the page is empty or already ends in one.
    pub fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Adds a heading after an empty line.
    pub fn heading(&mut self, text: &str) {
        self.blank();
        self.line(0, &[StyledText::strong(text)]);
    }

    /// Adds the cells as one line, without gaps between them. The line is not wrapped.
    pub fn line(&mut self, indent: usize, cells: &[StyledText]) {
        self.push(indent, cells);
        self.end_line();
    }

    /// Adds wrapped text. Its line feeds are kept; lines that begin with a space are not wrapped.
    pub fn paragraph(&mut self, indent: usize, text: impl AsRef<[u8]>) {
        self.labelled(indent, &StyledText::plain(""), text);
    }

    /// Adds a label such as `help: `, followed by wrapped text. Lines after the first are indented by the width of the
    /// label.
    pub fn labelled(&mut self, indent: usize, label: &StyledText, text: impl AsRef<[u8]>) {
        let hang = " ".repeat(label.text.width());
        self.hanging(indent, std::slice::from_ref(label), &[StyledText::plain(&hang)], text);
    }

    /// Adds wrapped text with a prefix on each line: the cells `first` on the first line, the cells `others` on later
    /// lines. Both prefixes have the same width.
    pub fn hanging(
        &mut self,
        indent: usize,
        first: &[StyledText],
        others: &[StyledText],
        text: impl AsRef<[u8]>,
    ) {
        let label_width = indent + first.iter().map(|cell| cell.text.width()).sum::<usize>();
        let text = sanitize::sanitize_text(text).replace('\t', TAB);
        let lines = wrap(text.trim_end(), self.config.width.saturating_sub(label_width).max(MIN_LAST_COLUMN));
        for (nth, line) in lines.iter().enumerate() {
            self.push(indent, if nth == 0 { first } else { others });
            self.out.push_str(line);
            self.end_line();
        }
    }

    /// Adds cells without gaps between them, wrapped at their spaces. Lines after the first are indented by `hang` more
    /// columns. `tail` is not wrapped: it is appended to the last line if it fits, otherwise it is put on a new line.
    pub fn flow(&mut self, indent: usize, hang: usize, cells: &[StyledText], tail: Option<&StyledText>) {
        let width = self.config.width;
        let mut lines: Vec<Vec<StyledText>> = vec![Vec::new()];
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
                _ => line.push(StyledText { text, tone }),
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

    /// Adds text line by line without wrapping, such as an example. Tabs become spaces.
    pub fn block(&mut self, indent: usize, text: impl AsRef<[u8]>) {
        for line in sanitize::sanitize_text(text).replace('\t', TAB).lines() {
            self.push(indent, &[]);
            self.out.push_str(line);
            self.end_line();
        }
    }

    /// Adds table rows with aligned columns. The last column is wrapped; without enough space for it, the last cell is
    /// moved to the next line.
    pub fn table(&mut self, indent: usize, rows: impl IntoIterator<Item = Vec<StyledText>>) {
        let rows: Vec<Vec<StyledText>> = rows.into_iter().collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths = vec![0; columns];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.text.width().max(*width);
            }
        }
        let start_of_column =
            |columns: usize| indent + widths.iter().take(columns).map(|w| w + GAP).sum::<usize>();
        for row in &rows {
            let Some((last, others)) = row.split_last() else { continue };
            self.push(indent, &[]);
            for (cell, width) in others.iter().zip(&widths) {
                self.push(0, std::slice::from_ref(cell));
                self.out.push_str(&" ".repeat(width - cell.text.width() + GAP));
            }
            let mut hang = start_of_column(others.len());
            let mut available = self.config.width.saturating_sub(hang);
            if available < MIN_LAST_COLUMN && last.text.width() > available {
                self.end_line();
                hang = indent + 2 * GAP;
                available = self.config.width.saturating_sub(hang).max(MIN_LAST_COLUMN);
                self.out.push_str(&" ".repeat(hang));
            }
            for (nth, line) in wrap(&last.text, available).iter().enumerate() {
                if nth > 0 {
                    self.out.push_str(&" ".repeat(hang));
                }
                self.out.push_str(&last.tone.paint(line, self.config.color_stdout));
                self.end_line();
            }
        }
    }

    /// Appends indentation and cells to the current line.
    fn push(&mut self, indent: usize, cells: &[StyledText]) {
        self.out.push_str(&" ".repeat(indent));
        for cell in cells {
            self.out.push_str(&cell.tone.paint(&cell.text, self.config.color_stdout));
        }
    }

    /// Ends the line and removes trailing spaces.
    fn end_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
    }
}

/// Wraps `text` into lines of at most `width` columns. A longer word is not split. Lines that begin with a space are
/// not wrapped. The text of a list item (`- `) is indented on its further lines. Returns at least one line.
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

/// Returns the number of terminal columns that a character occupies; 4 for a tab.
pub fn char_width(c: char) -> usize {
    if c == '\t' { TAB.len() } else { c.width().unwrap_or(0) }
}

/// Replaces each tab by four spaces.
pub fn expand_tabs(text: &str) -> String {
    text.replace('\t', TAB)
}
