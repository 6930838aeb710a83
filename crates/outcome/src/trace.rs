//! The steps of a run, kept for an export: memory grows with them.

use super::usage::Usage;
use xxhash_rust::xxh3::xxh3_64;

/// Who took a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    User,
    Agent,
}

/// A message of the user, or what the agent did with one answer of the model.
#[derive(Debug)]
pub(super) struct Step {
    key: u64,
    pub(super) source: Source,
    pub(super) time: Option<f64>,
    /// Texts, each with the hash of its id.
    texts: Vec<(u64, String)>,
    reasoning: Vec<(u64, String)>,
    /// The calls that began in it.
    pub(super) calls: Vec<usize>,
    pub(super) usage: Option<Usage>,
}

impl Step {
    pub(super) fn message(&self) -> String {
        joined(&self.texts)
    }

    /// Its last text goes on.
    pub(super) fn extend(&mut self, text: &str) {
        match self.texts.last_mut() {
            Some((_, last)) => last.push_str(text),
            None => self.texts.push((0, text.to_owned())),
        }
    }

    pub(super) fn reasoning(&self) -> Option<String> {
        Some(joined(&self.reasoning)).filter(|text| !text.is_empty())
    }
}

fn joined(texts: &[(u64, String)]) -> String {
    let texts: Vec<&str> =
        texts.iter().map(|(_, text)| text.as_str()).filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}

/// The steps of a session.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) steps: Vec<Step>,
}

impl Trace {
    /// The step with this id is taken now. False when it was begun before.
    pub(super) fn begin(&mut self, source: Source, id: &str, time: Option<f64>) -> bool {
        let key = xxh3_64(id.as_bytes());
        // A message of the user may be told again at any time.
        let reach = if source == Source::User { self.steps.len() } else { 1 };
        let mut known = self.steps.iter().rev().take(reach);
        let new = !known.any(|step| step.source == source && step.key == key);
        if new {
            let (texts, reasoning, calls) = (Vec::new(), Vec::new(), Vec::new());
            self.steps.push(Step { key, source, time, texts, reasoning, calls, usage: None });
        }
        new
    }

    /// The step that the agent takes; one begins if there is none.
    pub(super) fn current(&mut self) -> &mut Step {
        if self.steps.last().is_none_or(|step| step.source != Source::Agent) {
            self.begin(Source::Agent, "", None);
        }
        let last = self.steps.len() - 1;
        &mut self.steps[last]
    }

    /// A text of the last step, or what it is now.
    pub(super) fn text(&mut self, reasoning: bool, id: &str, text: &str) {
        let Some(step) = self.steps.last_mut() else { return };
        let texts = if reasoning { &mut step.reasoning } else { &mut step.texts };
        let key = xxh3_64(id.as_bytes());
        match texts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => text.clone_into(known),
            None => texts.push((key, text.to_owned())),
        }
    }
}
