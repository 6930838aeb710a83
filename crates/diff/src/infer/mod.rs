//! Infers a JSON Schema from samples: documents or JSON Lines of any size, merged while they are read.
//!
//! Memory grows with the shapes of the samples, not with their length. The result does not depend on their order. Every
//! sample validates against the schema.

mod kinds;
mod read;
mod render;
mod state;

use crate::shape::MAX_POSITIONS;
use agentnative_contract::{Framing, Violation};
use read::InferenceState;
pub(crate) use read::detect_framing;
use serde_json::Value;
use std::io::{self, Read};

/// How much evidence a constraint needs to become part of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InferenceOptions {
    /// Minimum average number of strings per distinct value for an `enum`; 0 for no `enum`.
    pub enum_threshold: u64,
    /// Minimum number of arrays for a tuple.
    pub tuples: u64,
    /// Whether to omit constraints that other data of the same shape might violate: a value that was always null may be
    /// anything, no variants are inferred from tags, keys make a map only if they look like data, and strings do not
    /// get the format `uri`.
    pub for_other_data: bool,
}

impl Default for InferenceOptions {
    fn default() -> Self {
        Self { enum_threshold: 20, tuples: 3, for_other_data: false }
    }
}

impl InferenceOptions {
    /// Rules for a schema that other data of the same shape must satisfy.
    pub const fn cautious() -> Self {
        Self { enum_threshold: 0, tuples: u64::MAX, for_other_data: true }
    }
}

/// Infers from one input after another.
#[derive(Default)]
pub struct Inference {
    state: InferenceState,
}

/// Objects with one value of the tag key.
#[derive(Debug, Clone, PartialEq)]
pub struct TaggedVariant {
    /// Value of the tag key: a string or a boolean.
    pub tag: Value,
    /// Schema of the objects.
    pub schema: Value,
    /// Number of objects.
    pub count: u64,
}

impl Inference {
    /// Creates an inference without samples.
    pub fn new() -> Self {
        Self::default()
    }

    /// Infers from an input, reading it to its end. `threads` threads read JSON Lines, one thread reads a document;
    /// `None` detects the framing from the beginning of the input. `progress` receives the number of bytes read so far.
    ///
    /// Returns the first JSON errors, by position. If there is one, the inference is unusable.
    ///
    /// # Errors
    /// If the reader fails, or the samples have more than 262,144 different positions.
    pub fn add_input(
        &mut self,
        reader: impl Read + Send,
        framing: Option<Framing>,
        threads: usize,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<Vec<Violation>> {
        let state = read::read_samples(reader, framing, threads, progress)?;
        self.merge(Self { state })?;
        Ok(std::mem::take(&mut self.state.problems))
    }

    /// Merges another inference into this one.
    ///
    /// # Errors
    /// If the samples of both have too many positions, as for [`Inference::add_input`].
    pub fn merge(&mut self, other: Self) -> io::Result<()> {
        self.state.join(other.state);
        if self.state.shape.positions() > MAX_POSITIONS { Err(read::too_many_positions()) } else { Ok(()) }
    }

    /// Returns the number of inputs.
    pub fn inputs(&self) -> u64 {
        self.state.inputs
    }

    /// Returns the number of documents and records.
    pub fn records(&self) -> u64 {
        self.state.records
    }

    /// Returns the length of all inputs, in bytes.
    pub fn bytes(&self) -> u64 {
        self.state.bytes
    }

    /// Returns a schema under which all samples are valid; without samples, one that accepts everything.
    pub fn schema(&self, rules: &InferenceOptions) -> Value {
        rules.root_schema(&self.state.shape)
    }

    /// Returns the variants by the values of `key` (one of `type`, `kind`, `event`), sorted; `None` unless all samples
    /// are objects in which that key is a word.
    pub fn variants(&self, key: &str, rules: &InferenceOptions) -> Option<Vec<TaggedVariant>> {
        rules.tagged_variants(&self.state.shape, key)
    }
}
