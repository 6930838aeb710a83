//! Merges JSON values on a tape into shapes.

use super::detail::Detail;
use super::kinds::Digest;
use super::model::{Arrays, Elements, Fields, Group, MAX_DEPTH, Objects, Shape, Strings};
use super::text::{Formats, detect_formats, is_word};
use agentnative_contract::DISCRIMINATORS;
use strict_json::{JsonKind, JsonType, TapeNode};

impl Shape {
    /// Merges a value at nesting level `depth`. `key` is the hash of its key, or `None` for a record or an array
    /// element. Returns the sum of the hashes of all scalars in the value.
    pub(super) fn absorb(
        &mut self,
        value: TapeNode<'_>,
        key: Option<u64>,
        depth: usize,
        detail: &Detail,
    ) -> u64 {
        if depth > MAX_DEPTH {
            self.deep = true;
            return 0;
        }
        match value.json_type() {
            JsonType::Null => self.nulls += 1,
            JsonType::Boolean => self.bools += 1,
            JsonType::Number if detail.is_schema() && is_integer(value.text()) => self.integers += 1,
            JsonType::Number => self.numbers += 1,
            JsonType::String => self.strings.get_or_insert_with(|| detail.empty_strings()).add(value.text()),
            JsonType::Array => {
                let arrays = self.arrays.get_or_insert_with(|| detail.empty_arrays());
                return arrays.absorb(value, depth + 1, detail);
            }
            JsonType::Object => {
                let objects = self.objects.get_or_insert_with(|| detail.empty_objects());
                let digest = objects.absorb(value, depth + 1, detail);
                if key.is_none() && !detail.is_schema() {
                    objects.kinds.add(digest);
                }
                return digest.values;
            }
        }
        detail.hash(key, value)
    }
}

fn is_integer(number: &str) -> bool {
    number.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
}

impl Strings {
    fn add(&mut self, text: &str) {
        self.count += 1;
        if self.formats != Formats::NONE {
            self.formats = self.formats.intersection(detect_formats(text));
        }
        self.add_choice(text, 1);
    }
}

impl Arrays {
    fn absorb(&mut self, array: TapeNode<'_>, depth: usize, detail: &Detail) -> u64 {
        self.count += 1;
        if self.count == 1 {
            return self.elements.absorb(array, depth, detail);
        }
        if let Elements::Tuple(shapes) = &mut self.elements
            && array.count() == shapes.len()
        {
            let pairs = shapes.iter_mut().zip(array.elements());
            return sum(pairs.map(|(shape, element)| shape.absorb(element, None, depth, detail)));
        }
        let list = self.elements.make_list();
        sum(array.elements().map(|element| list.absorb(element, None, depth, detail)))
    }
}

impl Elements {
    /// Merges the elements of an array into empty shapes. `depth` is the nesting level of the elements. Returns the sum
    /// of the hashes of all scalars in them.
    pub(super) fn absorb(&mut self, array: TapeNode<'_>, depth: usize, detail: &Detail) -> u64 {
        sum(array.elements().map(|element| self.next_shape().absorb(element, None, depth, detail)))
    }
}

fn sum(hashes: impl Iterator<Item = u64>) -> u64 {
    hashes.fold(0, u64::wrapping_add)
}

impl Objects {
    /// Merges an object. `depth` is the nesting level of its members. Returns the hashes of the object.
    fn absorb(&mut self, object: TapeNode<'_>, depth: usize, detail: &Detail) -> Digest {
        let tag = find_tag(object, detail).filter(|(key, _)| !self.is_former_tag(*key));
        if self.groups.get(self.last_group).is_none_or(|group| group.tag() != tag) {
            self.last_group = self.group_index(tag);
        }
        let Group { count, fields, .. } = &mut self.groups[self.last_group];
        *count += 1;
        let mut digest = Digest::default();
        fields.absorb(object, depth, detail, &mut digest);
        digest
    }
}

/// Returns the tag of an object, the key that identifies its variant: the index of the key in [`DISCRIMINATORS`], and
/// its value. The key with the lowest index is preferred. `None` without such a key, or if the shape is not for a
/// schema.
pub(super) fn find_tag<'t>(object: TapeNode<'t>, detail: &Detail) -> Option<(usize, &'t str)> {
    let mut best = None;
    if !detail.is_schema() {
        return best;
    }
    for (key, value) in object.members().filter(|(key, _)| (2..=7).contains(&key.len())) {
        let Some(rank) = DISCRIMINATORS.iter().position(|known| known.key == key) else { continue };
        let text = match (DISCRIMINATORS[rank].boolean, value.kind()) {
            (true, JsonKind::Bool(true)) => "true",
            (true, JsonKind::Bool(false)) => "false",
            (false, JsonKind::Text(text)) if is_word(text) => text,
            _ => continue,
        };
        best = best.filter(|(known, _)| *known <= rank).or(Some((rank, text)));
    }
    best
}

impl Fields {
    /// Merges the members of an object, and adds their hashes to `digest`. `depth` is the nesting level of the members.
    pub(super) fn absorb(
        &mut self,
        object: TapeNode<'_>,
        depth: usize,
        detail: &Detail,
        digest: &mut Digest,
    ) {
        let mut next = 0;
        for key in object.keys() {
            let found = self.find_near(key, next).map_or_else(|| self.find_or_insert(key.text()), Ok);
            next = found.map_or(0, |index| index + 1);
            let (hash, shape) = self.count_occurrence(found);
            let values = shape.absorb(key.value(), Some(hash), depth, detail);
            if !detail.is_schema() {
                digest.add(hash, key.value().json_type(), values, detail.type_keys());
            }
        }
    }
}
