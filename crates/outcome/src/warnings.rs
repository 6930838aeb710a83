//! A limited list of warnings.

/// Maximum length of a warning, in characters.
const MAX_CHARS: usize = 300;

/// The first warnings, and the number of further ones.
#[derive(Debug, Clone)]
pub(super) struct Warnings {
    kept: Vec<String>,
    max: usize,
    omitted: u64,
    /// Text after the number of omitted warnings, such as "more warnings of the session".
    omitted_label: &'static str,
}

impl Default for Warnings {
    fn default() -> Self {
        Self::new(50, "more warnings of the session")
    }
}

impl Warnings {
    /// Creates a list that keeps at most `max` warnings. `omitted_label` is the text after the number of omitted ones.
    pub(super) const fn new(max: usize, omitted_label: &'static str) -> Self {
        Self { kept: Vec::new(), max, omitted: 0, omitted_label }
    }

    pub(super) fn add(&mut self, warning: &str) {
        if self.kept.len() == self.max {
            self.omitted += 1;
            return;
        }
        let cut = warning.char_indices().nth(MAX_CHARS);
        self.kept.push(cut.map_or_else(|| warning.to_owned(), |(end, _)| format!("{}…", &warning[..end])));
    }

    /// Returns the kept warnings. If some were omitted, a last warning states their number.
    pub(super) fn list(&self) -> Vec<String> {
        let omitted = (self.omitted > 0).then(|| format!("{} {}", self.omitted, self.omitted_label));
        self.kept.iter().cloned().chain(omitted).collect()
    }
}
