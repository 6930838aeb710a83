//! Infers a JSON Schema from samples. Samples are documents or JSON Lines of any size, and are merged while they are
//! read.
//!
//! Memory grows with the number of different keys and types, not with the length of the samples. The result does not
//! depend on the order of the samples. Every sample validates against the schema.

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

/// How many samples must support a constraint before it becomes part of the inferred schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InferenceOptions {
    /// How often each different string must occur on average for an `enum`. With 3, six strings with two different
    /// values become an `enum`. 0 infers no `enum`.
    pub enum_threshold: u64,
    /// Minimum number of arrays of equal length from which a tuple (`prefixItems`) is inferred.
    pub tuples: u64,
    /// Whether to omit constraints that other data of the same structure might violate. Then a value that was always
    /// null may be anything, no variants are inferred from keys such as `type`, an object becomes a map only if its
    /// keys look like data, and no string gets the format `uri`.
    pub for_other_data: bool,
}

impl Default for InferenceOptions {
    fn default() -> Self {
        Self { enum_threshold: 20, tuples: 3, for_other_data: false }
    }
}

impl InferenceOptions {
    /// Returns the options for a schema that other data of the same structure must satisfy, too. It has neither enums
    /// nor tuples, and `for_other_data` is set.
    pub const fn cautious() -> Self {
        Self { enum_threshold: 0, tuples: u64::MAX, for_other_data: true }
    }
}

/// Merges samples from one input after another, and renders their schema.
#[derive(Default)]
pub struct Inference {
    state: InferenceState,
}

/// One variant of a union: the objects with the same value of the tag key, such as `"type": "start"`.
#[derive(Debug, Clone, PartialEq)]
pub struct TaggedVariant {
    /// Value of the tag key in these objects: a string or a boolean.
    pub tag: Value,
    /// Schema of the objects of this variant.
    pub schema: Value,
    /// Number of objects of this variant in the samples.
    pub count: u64,
}

impl Inference {
    /// Creates an inference without samples.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads an input to its end and adds its samples. JSON Lines are read by `threads` threads, a document by one. If
    /// `framing` is `None`, it is detected from the beginning of the input. `progress` receives the number of bytes
    /// read until now.
    ///
    /// Returns the first JSON errors of the input, sorted by position. If there is one, do not use the inference any
    /// further.
    ///
    /// # Errors
    /// If the reader fails, or the samples have more than 262,144 different positions. A position is a place in the
    /// structure, such as `/items/*/id`.
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

    /// Merges the samples of another inference into this one.
    ///
    /// # Errors
    /// If the merged samples have too many different positions, as for [`Inference::add_input`].
    pub fn merge(&mut self, other: Self) -> io::Result<()> {
        self.state.join(other.state);
        if self.state.shape.positions() > MAX_POSITIONS { Err(read::too_many_positions()) } else { Ok(()) }
    }

    /// Returns the number of inputs that were read.
    pub fn inputs(&self) -> u64 {
        self.state.inputs
    }

    /// Returns the number of documents and records in all inputs.
    pub fn records(&self) -> u64 {
        self.state.records
    }

    /// Returns the length of all inputs, in bytes.
    pub fn bytes(&self) -> u64 {
        self.state.bytes
    }

    /// Returns a schema under which all samples are valid; without samples, one that accepts everything.
    pub fn schema(&self, options: &InferenceOptions) -> Value {
        options.root_schema(&self.state.shape)
    }

    /// Returns one variant per value of `key` (`type`, `kind` or `event`), sorted by value. `None` unless every sample
    /// is an object with a word at `key`.
    pub fn variants(&self, key: &str, options: &InferenceOptions) -> Option<Vec<TaggedVariant>> {
        options.tagged_variants(&self.state.shape, key)
    }
}
