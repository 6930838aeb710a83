//! The values of keys that name a type (`type`, `kind`, …), wherever they stand.

use super::render::map;
use super::{Inference, Rules};
use crate::shape::Shape;
use agentnative_contract::type_keys;
use std::collections::{BTreeMap, BTreeSet};
use strict_json::escape_token;

/// The values by the pointer of their key; none where they are no names of types.
type Kinds = BTreeMap<String, Option<BTreeSet<String>>>;

impl Inference {
    /// The words that keys which name a type had: by the pointer of the key in a document or record, `*` for
    /// each element of an array and each key of a map. Keys with other values than a few words are left out.
    pub fn kinds(&self, rules: &Rules) -> BTreeMap<String, Vec<String>> {
        let mut kinds = Kinds::new();
        rules.kinds(&self.learnt.shape, "", &mut kinds);
        kinds
            .into_iter()
            .filter_map(|(pointer, words)| Some((pointer, words?.into_iter().collect())))
            .collect()
    }
}

impl Rules {
    fn kinds(&self, shape: &Shape, at: &str, kinds: &mut Kinds) {
        if shape.deep {
            return;
        }
        if let Some(arrays) = &shape.arrays {
            self.kinds(arrays.elements.clone().list(), &format!("{at}/*"), kinds);
        }
        for group in shape.objects.iter().flat_map(|objects| self.variants(objects, false)) {
            if let Some(values) = map(&group, self.cautious) {
                self.kinds(&values, &format!("{at}/*"), kinds);
                continue;
            }
            for field in group.fields.sorted() {
                let pointer = format!("{at}/{}", escape_token(field.key.text()));
                if type_keys().any(|key| key == field.key.text()) {
                    let words = words(&field.shape);
                    let known = kinds.entry(pointer.clone()).or_insert_with(|| Some(BTreeSet::new()));
                    *known = known.take().zip(words).map(|(known, words)| &known | &words);
                }
                self.kinds(&field.shape, &pointer, kinds);
            }
        }
    }
}

/// The words that a value has been, if it was nothing else.
fn words(shape: &Shape) -> Option<BTreeSet<String>> {
    let strings = shape.strings.as_ref()?;
    let alone = shape.type_bits() == Shape { strings: shape.strings.clone(), ..Shape::default() }.type_bits();
    let choices = strings.choices.as_ref().filter(|_| alone && shape.nulls == 0)?;
    Some(choices.iter().map(|(word, _)| word.to_string()).collect())
}
