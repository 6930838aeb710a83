//! Arrays: places, elements, uniqueness.

use super::change::Change;
use super::sample::minimum;
use super::typed_schema::{TypedSchema, accepts_nothing};
use super::walk::Walker;
use serde_json::Value;

impl<'a> Walker<'a> {
    /// Compares the elements of two alternatives that are arrays.
    pub(super) fn arrays(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let places = old.tuple_length().max(new.tuple_length());
        let most = new.length().1.unwrap_or(usize::MAX);
        for at in 0..=places {
            let (was, is) = (old.element(at), new.element(at));
            // A place that cannot be there has been told of as a length.
            if at >= most || accepts_nothing(&was) {
                continue;
            }
            let token = if at == places { "*".to_owned() } else { at.to_string() };
            for found in self.nodes(&was, &is).iter() {
                out.push(found.below(&token, |value| self.sample_with_element(new, at, value)));
            }
        }
        if old.unique && !new.unique && most > 1 {
            let sample = self.sample_with_duplicate(new);
            let message = "elements may now be repeated";
            let found = Change::breaking("diff-unique-loosened", message).old(true).new_value(false);
            out.push(found.sample(sample));
        } else if new.unique && !old.unique {
            let message = "elements are now always different";
            out.push(Change::compatible("diff-unique-tightened", message).old(false).new_value(true));
        }
    }

    /// An array with this element at this place.
    fn sample_with_element(&self, alt: &TypedSchema<'a>, at: usize, value: Value) -> Option<Value> {
        let Value::Array(mut elements) = self.sample(alt, 1)? else { return None };
        while elements.len() < at {
            elements.push(self.sample_node(&alt.element(elements.len()), 1)?);
        }
        match elements.get_mut(at) {
            Some(place) => *place = value,
            None => elements.push(value),
        }
        Some(Value::Array(elements))
    }

    /// An array with an element that is there twice.
    fn sample_with_duplicate(&self, alt: &TypedSchema<'a>) -> Option<Value> {
        let (places, least) = (alt.tuple_length(), minimum(alt)?);
        let element = |at: usize| self.sample_node(&alt.element(at), 1);
        let mut elements = (0..places).map(element).collect::<Option<Vec<Value>>>()?;
        let more = element(places);
        elements.extend(more.clone().into_iter().chain(more));
        while let (true, Some(last)) = (elements.len() < least, elements.last().cloned()) {
            elements.push(last);
        }
        Some(Value::Array(elements))
    }
}
