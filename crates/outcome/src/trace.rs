//! The steps of a run, which are kept for an export.

use super::usage::Usage;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepSource {
    User,
    Agent,
}

/// A message of the user, or one answer of the model with its calls.
#[derive(Debug)]
pub(super) struct TraceStep {
    /// Hash of the ID of the step.
    key: u64,
    pub(super) source: StepSource,
    pub(super) time: Option<f64>,
    /// Texts, each after the hash of its ID.
    texts: Vec<(u64, String)>,
    reasoning: Vec<(u64, String)>,
    /// Indices of the tool calls that began in this step.
    pub(super) calls: Vec<usize>,
    pub(super) usage: Option<Usage>,
}

impl TraceStep {
    pub(super) fn message(&self) -> String {
        joined(&self.texts)
    }

    /// Appends to the last text of the step.
    pub(super) fn append_text(&mut self, text: &str) {
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
    pub(super) steps: Vec<TraceStep>,
}

impl Trace {
    /// Begins a step with this ID. Returns false if the step has already begun.
    pub(super) fn begin_step(&mut self, source: StepSource, id: &str, time: Option<f64>) -> bool {
        let key = xxh3_64(id.as_bytes());
        // A message of the user may be repeated at any time.
        let searched = if source == StepSource::User { self.steps.len() } else { 1 };
        let mut known = self.steps.iter().rev().take(searched);
        let new = !known.any(|step| step.source == source && step.key == key);
        if new {
            let (texts, reasoning, calls) = (Vec::new(), Vec::new(), Vec::new());
            self.steps.push(TraceStep { key, source, time, texts, reasoning, calls, usage: None });
        }
        new
    }

    /// Returns the current step of the agent, and begins one if there is none.
    pub(super) fn current_step(&mut self) -> &mut TraceStep {
        if self.steps.last().is_none_or(|step| step.source != StepSource::Agent) {
            self.begin_step(StepSource::Agent, "", None);
        }
        let last = self.steps.len() - 1;
        &mut self.steps[last]
    }

    /// Sets the text `id` of the last step, or adds it. `reasoning` is true for a reasoning text.
    pub(super) fn set_text(&mut self, reasoning: bool, id: &str, text: &str) {
        let Some(step) = self.steps.last_mut() else { return };
        let texts = if reasoning { &mut step.reasoning } else { &mut step.texts };
        let key = xxh3_64(id.as_bytes());
        match texts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => text.clone_into(known),
            None => texts.push((key, text.to_owned())),
        }
    }
}
