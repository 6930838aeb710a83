//! A JSON Schema from samples: documents or JSON lines of any size, merged as they are read.
//!
//! What is kept grows with the shapes that the samples have, not with their length, and does not depend
//! on their order. Every sample validates against the schema.

mod kinds;
mod read;
mod render;
mod state;

use crate::shape::PLACES;
use agentnative_contract::{Framing, Violation};
use read::Learnt;
pub(crate) use read::glance;
use serde_json::Value;
use std::io::{self, Read};

/// How much must have been seen before something is told as a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Strings are told as a closed set when there are at least so many of them for each different one;
    /// 0 for never.
    pub enum_threshold: u64,
    /// Arrays are told as tuples when there are at least so many of them.
    pub tuples: u64,
    /// Nothing that other values of the same shape might break: what was never anything but null may be
    /// anything, objects are not told apart by a tag, keys make a map only when they look like data, and an
    /// address need not be one.
    pub cautious: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { enum_threshold: 20, tuples: 3, cautious: false }
    }
}

impl Rules {
    /// For a promise that other data of the same shape must keep.
    pub const fn cautious() -> Self {
        Self { enum_threshold: 0, tuples: u64::MAX, cautious: true }
    }
}

/// Learns from one input after another.
#[derive(Default)]
pub struct Inference {
    learnt: Learnt,
}

/// What objects with one value of the tag key are.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The value of the tag key: a string or a boolean.
    pub tag: Value,
    /// Their schema.
    pub schema: Value,
    /// How many there were.
    pub count: u64,
}

impl Inference {
    /// One that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads an input to its end and learns from it. `threads` read JSON lines, 1 a document; without a
    /// framing the beginning of the input tells which of the two it is. `progress` is told now and then
    /// how many bytes were read.
    ///
    /// The result has the first faults in the order of their places. When there is one, what was learnt is
    /// of no use.
    ///
    /// # Errors
    /// When the reader fails, or the samples have no shape: more than 262,144 different places.
    pub fn input(
        &mut self,
        reader: impl Read + Send,
        framing: Option<Framing>,
        threads: usize,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<Vec<Violation>> {
        let learnt = read::read(reader, framing, threads, progress)?;
        self.join(Self { learnt })?;
        Ok(std::mem::take(&mut self.learnt.faults))
    }

    /// Learns what another one has learnt.
    ///
    /// # Errors
    /// When the samples of both have no shape, as for [`Inference::input`].
    pub fn join(&mut self, other: Self) -> io::Result<()> {
        self.learnt.join(other.learnt);
        if self.learnt.shape.places() > PLACES { Err(read::shapeless()) } else { Ok(()) }
    }

    /// Number of inputs.
    pub fn inputs(&self) -> u64 {
        self.learnt.inputs
    }

    /// Number of documents and records.
    pub fn records(&self) -> u64 {
        self.learnt.records
    }

    /// Length of all inputs.
    pub fn bytes(&self) -> u64 {
        self.learnt.bytes
    }

    /// The schema that all samples keep; one that allows everything when there were none.
    pub fn schema(&self, rules: &Rules) -> Value {
        rules.root(&self.learnt.shape)
    }

    /// Where all samples are objects whose `key` (one of `type`, `kind`, `event`) has a word: what those of
    /// each word are, sorted.
    pub fn variants(&self, key: &str, rules: &Rules) -> Option<Vec<Variant>> {
        rules.tagged(&self.learnt.shape, key)
    }
}
