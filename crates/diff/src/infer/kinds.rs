//! Collects the values of keys that name a type, such as `type` and `kind`, at every depth of the samples.

use super::render::map_values;
use super::{Inference, InferenceOptions};
use crate::shape::Shape;
use agentnative_contract::type_keys;
use std::collections::{BTreeMap, BTreeSet};
use strict_json::escape_token;

/// Values of type keys, by the pointer of the key, such as `/items/*/type`. `None` if other values than type names
/// occurred there.
type Kinds = BTreeMap<String, Option<BTreeSet<String>>>;

impl Inference {
    /// Returns the values of keys that name a type, such as `type`. The index is the pointer of the key, such as
    /// `/items/*/type`; `*` stands for each element of an array and each key of a map. Keys whose values are not a
    /// small set of words are omitted.
    pub fn kinds(&self, options: &InferenceOptions) -> BTreeMap<String, Vec<String>> {
        let mut kinds = Kinds::new();
        options.collect_kinds(&self.state.shape, "", &mut kinds);
        kinds
            .into_iter()
            .filter_map(|(pointer, words)| Some((pointer, words?.into_iter().collect())))
            .collect()
    }
}

impl InferenceOptions {
    fn collect_kinds(&self, shape: &Shape, pointer: &str, kinds: &mut Kinds) {
        if shape.deep {
            return;
        }
        if let Some(arrays) = &shape.arrays {
            self.collect_kinds(arrays.elements.clone().make_list(), &format!("{pointer}/*"), kinds);
        }
        for group in shape.objects.iter().flat_map(|objects| self.variants(objects, false)) {
            if let Some(values) = map_values(&group, self.for_other_data) {
                self.collect_kinds(&values, &format!("{pointer}/*"), kinds);
                continue;
            }
            for field in group.fields.sorted() {
                let pointer = format!("{pointer}/{}", escape_token(field.key.text()));
                if type_keys().any(|key| key == field.key.text()) {
                    let words = only_words(&field.shape);
                    let known = kinds.entry(pointer.clone()).or_insert_with(|| Some(BTreeSet::new()));
                    *known = known.take().zip(words).map(|(known, words)| &known | &words);
                }
                self.collect_kinds(&field.shape, &pointer, kinds);
            }
        }
    }
}

/// Returns all values that occurred if they are a small set of words; `None` if other values occurred.
fn only_words(shape: &Shape) -> Option<BTreeSet<String>> {
    let strings = shape.strings.as_ref()?;
    let only_strings =
        shape.type_bits() == Shape { strings: shape.strings.clone(), ..Shape::default() }.type_bits();
    let choices = strings.choices.as_ref().filter(|_| only_strings && shape.nulls == 0)?;
    Some(choices.iter().map(|(word, _)| word.to_string()).collect())
}
