//! Looks at one value by itself: its schema, and what the rules need to know of it.

use super::contract::Contract;
use super::facts::{Event, Facts, text};
use super::flat::{Flat, FlatNode};
use super::judge::Course;
use super::view::Pointer;
use super::violation::Violation;

/// Looks at one value after another.
pub(super) struct Examiner<'c> {
    pub contract: &'c Contract,
    pub facts: Facts,
    pub violations: Vec<Violation>,
    /// At most so many violations of schemas are looked for in a value.
    pub most: usize,
}

impl<'c> Examiner<'c> {
    pub fn new(contract: &'c Contract, most: usize) -> Self {
        Self { contract, facts: Facts::default(), violations: Vec::new(), most }
    }

    /// Looks at a value; what it breaks by itself is in `violations` then. With `most` 0 that is
    /// nothing, and only the result tells whether it breaks something.
    pub fn examine(&mut self, node: FlatNode<'_>) -> bool {
        let contract = self.contract;
        contract.plan.take(&contract.spec, node, &mut self.facts);
        self.violations.clear();
        let mut good = self.facts.violations.is_empty();
        if let Some(schema) = contract.schema_of(self.facts.kind)
            && !schema.accepts(node)
        {
            good = false;
            self.violations.extend(schema.flat_violations(node, self.most));
        }
        if self.most > 0 {
            self.violations.append(&mut self.facts.violations);
        }
        good
    }
}

/// Lends the value of an event to a reader.
pub(super) type Lender<'l> = &'l mut dyn FnMut(&mut dyn FnMut(&Flat));

/// Goes on in the course of events by one whose value is at hand.
pub(super) fn step(
    contract: &Contract,
    course: &mut Course,
    event: Event<'_>,
    line: u64,
    flat: Lender<'_>,
    out: &mut Vec<Violation>,
) {
    let mut read = |pointer: &Pointer| {
        let mut found = None;
        flat(&mut |flat| found = flat.root().and_then(|root| text(pointer, root)));
        found
    };
    course.step(&contract.spec, event, line, &mut read, out);
}

/// Where in the input the value of a pointer begins.
pub(super) fn offset(flat: &Flat, pointer: &str) -> Option<u64> {
    let root = flat.root()?;
    Some(Pointer::parse(pointer)?.of(root).unwrap_or(root).offset())
}
