//! Compares two array schemas: the schemas of their elements, and `uniqueItems`.

use super::change::Change;
use super::examples::example_min_length;
use super::schema_comparer::SchemaComparer;
use super::typed_schema::{TypedSchema, accepts_nothing};
use serde_json::Value;

impl<'a> SchemaComparer<'a> {
    /// Compares the elements and the uniqueness of two array schemas. Appends the changes to `out`.
    pub(super) fn compare_arrays(
        &mut self,
        old: &TypedSchema<'a>,
        new: &TypedSchema<'a>,
        out: &mut Vec<Change>,
    ) {
        let tuple_length = old.tuple_length().max(new.tuple_length());
        let max = new.length().1.unwrap_or(usize::MAX);
        for index in 0..=tuple_length {
            let (old_node, new_node) = (old.element(index), new.element(index));
            // An impossible position is already reported as a change of length.
            if index >= max || accepts_nothing(&old_node) {
                continue;
            }
            let token = if index == tuple_length { "*".to_owned() } else { index.to_string() };
            for change in self.compare_nodes(&old_node, &new_node).iter() {
                out.push(change.lift_to_parent(&token, |value| self.example_with_element(new, index, value)));
            }
        }
        if old.unique && !new.unique && max > 1 {
            let example = self.example_with_duplicate(new);
            let message = "elements may now be repeated";
            let change = Change::breaking("diff-unique-loosened", message).old(true).new_value(false);
            out.push(change.example(example));
        } else if new.unique && !old.unique {
            let message = "elements are now always different";
            out.push(Change::compatible("diff-unique-tightened", message).old(false).new_value(true));
        }
    }

    /// Returns an example array of the schema with `value` at position `index`. `None` if no example can be generated.
    fn example_with_element(&self, alt: &TypedSchema<'a>, index: usize, value: Value) -> Option<Value> {
        let Value::Array(mut elements) = self.example(alt, 1)? else { return None };
        while elements.len() < index {
            elements.push(self.example_of_node(&alt.element(elements.len()), 1)?);
        }
        match elements.get_mut(index) {
            Some(element) => *element = value,
            None => elements.push(value),
        }
        Some(Value::Array(elements))
    }

    /// Returns an example array of the schema in which one element occurs twice. `None` if no example can be generated.
    fn example_with_duplicate(&self, alt: &TypedSchema<'a>) -> Option<Value> {
        let (tuple_length, min) = (alt.tuple_length(), example_min_length(alt)?);
        let element = |index: usize| self.example_of_node(&alt.element(index), 1);
        let mut elements = (0..tuple_length).map(element).collect::<Option<Vec<Value>>>()?;
        let duplicate = element(tuple_length);
        elements.extend(duplicate.clone().into_iter().chain(duplicate));
        while let (true, Some(last)) = (elements.len() < min, elements.last().cloned()) {
            elements.push(last);
        }
        Some(Value::Array(elements))
    }
}
