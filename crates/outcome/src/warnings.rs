//! Warnings, as many as anybody reads.

/// A warning is cut here, in characters.
const MAX_CHARS: usize = 300;

/// The first warnings of their kind, and how many more there are.
#[derive(Debug, Clone)]
pub(super) struct Warnings {
    kept: Vec<String>,
    most: usize,
    more: u64,
    /// What the rest is called.
    rest: &'static str,
}

impl Default for Warnings {
    fn default() -> Self {
        Self::new(50, "more warnings of the session")
    }
}

impl Warnings {
    /// At most so many, and what is said behind the number of the others.
    pub(super) const fn new(most: usize, rest: &'static str) -> Self {
        Self { kept: Vec::new(), most, more: 0, rest }
    }

    pub(super) fn add(&mut self, warning: &str) {
        if self.kept.len() == self.most {
            self.more += 1;
            return;
        }
        let cut = warning.char_indices().nth(MAX_CHARS);
        self.kept.push(cut.map_or_else(|| warning.to_owned(), |(end, _)| format!("{}…", &warning[..end])));
    }

    /// The warnings, with one that tells of the rest.
    pub(super) fn list(&self) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("{} {}", self.more, self.rest));
        self.kept.iter().cloned().chain(more).collect()
    }
}
