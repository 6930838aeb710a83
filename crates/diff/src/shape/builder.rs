//! Builds a shape, the merged structure of all values of an input.
//!
//! A value is kept on a tape until it is complete. If it grows too long, the complete members and elements of its open
//! objects and arrays are merged into partial shapes and removed from the tape.

use super::absorb::find_tag;
use super::detail::Detail;
use super::kinds::Digest;
use super::model::{MAX_DEPTH, MAX_POSITIONS, Shape, Tag};
use strict_json::{Event, JsonType, Sink, Tape, TapeNode};

/// Number of tape cells of an incomplete value above which its complete parts are merged.
const MAX_CELLS: usize = 1 << 16;
/// Length of the text of an incomplete value, in bytes, above which its complete parts are merged.
const MAX_TEXT: usize = 8 << 16;

/// A sink that merges all values of an input into one shape.
pub struct ShapeBuilder {
    detail: Detail,
    /// The value that is being read, without its parts that are already merged.
    tape: Tape,
    /// Shapes of the open objects and arrays of the current value, the outermost first. They contain the parts that are
    /// already merged.
    partial: Vec<Partial>,
    /// Merged shape of all complete values.
    pub(crate) shape: Shape,
    /// Number of values in `shape`.
    pub(crate) records: u64,
    /// Whether the shape has too many positions for a schema, so that reading can stop.
    full: bool,
}

/// The merged parts of an object or array that is not complete yet: their shape and their hashes.
struct Partial {
    shape: Shape,
    digest: Digest,
}

impl ShapeBuilder {
    pub(crate) fn for_schema() -> Self {
        Self::new(Detail::Schema)
    }

    /// Creates a builder for comparisons of values. Its shape keeps hashes of the values in addition to the structure.
    /// Truncated values are included.
    pub fn for_values() -> Self {
        Self::new(Detail::values())
    }

    fn new(detail: Detail) -> Self {
        let (tape, partial, shape) = (Tape::default(), Vec::new(), Shape::default());
        Self { detail, tape, partial, shape, records: 0, full: false }
    }

    /// Returns the merged shape of all values. A value that is not complete yet is ended first.
    pub fn finish(mut self) -> Shape {
        self.end_document(false);
        self.shape
    }

    /// Returns whether the shape has too many positions for a schema. Always false for comparisons of values.
    pub(crate) fn is_full(&mut self) -> bool {
        let shapes = || self.partial.iter().map(|partial| &partial.shape).chain([&self.shape]);
        self.full |= self.detail.is_schema() && shapes().map(Shape::positions).sum::<usize>() > MAX_POSITIONS;
        self.full
    }

    /// Ends the current value and merges it into the shape. If `whole` is false, the value is truncated, and a builder
    /// for a schema drops it.
    pub(crate) fn end_document(&mut self, whole: bool) {
        if whole || !self.detail.is_schema() {
            if self.tape.open_count() > 0 {
                self.merge_complete();
                while !self.partial.is_empty() {
                    self.close();
                }
            }
            if let Some(root) = self.tape.root() {
                self.shape.absorb(root, None, 0, &self.detail);
                self.records += 1;
            }
        }
        self.clear();
    }

    fn clear(&mut self) {
        self.tape.clear(0, 0);
        self.partial.clear();
    }

    /// Moves the complete members and elements of the current value from the tape into the partial shapes.
    #[cold]
    fn merge_complete(&mut self) {
        let Self { detail, tape, partial, .. } = self;
        let mut depth = 0;
        tape.drain_complete_members(|container| {
            if partial.len() == depth {
                partial.push(Partial::new(container, detail));
            }
            depth += 1;
            partial[depth - 1].absorb(container, depth, detail);
        });
        self.is_full();
    }

    /// Closes the innermost open object or array. All its parts must be merged already.
    fn close(&mut self) {
        let Some(mut inner) = self.partial.pop() else { return };
        let key = self.tape.remove_innermost();
        let records = inner.shape.objects.as_mut().filter(|_| key.is_none() && !self.detail.is_schema());
        if let Some(objects) = records {
            objects.kinds.add(inner.digest);
        }
        let depth = self.partial.len();
        match self.partial.last_mut() {
            Some(outer) => outer.join(key, inner, depth, &self.detail),
            None => {
                self.shape.merge(inner.shape);
                self.records += 1;
            }
        }
    }
}

impl Partial {
    /// Creates the shape of an empty object or array, according to the type of `container`.
    fn new(container: TapeNode<'_>, detail: &Detail) -> Self {
        let mut shape = Shape::default();
        if container.has_type(JsonType::Object) {
            let objects = shape.objects.insert(detail.empty_objects());
            let group = objects.group_index(None);
            objects.groups[group].count = 1;
        } else {
            shape.arrays.insert(detail.empty_arrays()).count = 1;
        }
        Self { shape, digest: Digest::default() }
    }

    /// Merges all members or elements of an object or array. `depth` is their nesting level.
    fn absorb(&mut self, container: TapeNode<'_>, depth: usize, detail: &Detail) {
        if let Some(objects) = &mut self.shape.objects {
            let group = &mut objects.groups[0];
            let tag = find_tag(container, detail)
                .filter(|(key, _)| group.tag.as_ref().is_none_or(|known| *key < known.key));
            if let Some(tag) = tag {
                group.tag = Some(Tag::new(tag));
            }
            group.fields.absorb(container, depth, detail, &mut self.digest);
        } else if let Some(arrays) = &mut self.shape.arrays {
            let values = arrays.elements.absorb(container, depth, detail);
            self.digest.values = self.digest.values.wrapping_add(values);
        }
    }

    /// Merges a completed inner object or array. It is the value of `key`, or an array element if `key` is `None`.
    /// `depth` is its nesting level.
    fn join(&mut self, key: Option<&str>, inner: Self, depth: usize, detail: &Detail) {
        let (digest, values) = (&mut self.digest, inner.digest.values);
        let target = match (key, &mut self.shape.objects, &mut self.shape.arrays) {
            (Some(key), Some(objects), _) => {
                let fields = &mut objects.groups[0].fields;
                let found = fields.find_or_insert(key);
                let (hash, shape) = fields.count_occurrence(found);
                let is_object = inner.shape.objects.is_some();
                let json_type = if is_object { JsonType::Object } else { JsonType::Array };
                digest.add(hash, json_type, values, detail.type_keys());
                shape
            }
            (_, _, Some(arrays)) => {
                digest.values = digest.values.wrapping_add(values);
                arrays.elements.next_shape()
            }
            _ => return,
        };
        if depth > MAX_DEPTH {
            target.deep = true;
        } else {
            target.merge(inner.shape);
        }
    }
}

impl Sink for ShapeBuilder {
    fn begin_record(&mut self, _line: u64, _offset: u64) {
        self.clear();
    }

    fn tape(&mut self) -> Option<&mut Tape> {
        Some(&mut self.tape)
    }

    fn end_record(&mut self, _offset: u64, whole: bool) {
        self.end_document(whole);
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        if matches!(event, Event::End(_)) && self.partial.len() == self.tape.open_count() {
            self.merge_complete();
            return self.close();
        }
        self.tape.event(event);
        if event.value_end().is_some() && self.tape.is_longer_than(MAX_CELLS, MAX_TEXT) {
            self.merge_complete();
        }
    }

    fn is_done(&self) -> bool {
        self.full
    }
}
