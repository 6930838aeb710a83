//! Merges the values of a reading into a shape.
//!
//! A value is kept on a tape until it is over. Of one that grows too long, what is complete in its open objects and
//! arrays is merged into partial shapes of these.

use super::absorb::tag;
use super::detail::Detail;
use super::kinds::Digest;
use super::model::{DEEPEST, PLACES, Shape, Tag};
use strict_json::{Event, JsonType, Sink, Tape, TapeNode};

/// So many cells, and bytes of text, of a value are kept before what is complete of it is merged.
const MAX_CELLS: usize = 1 << 16;
const MAX_TEXT: usize = 8 << 16;

/// Merges the values of a reading into a shape.
pub struct ShapeBuilder {
    detail: Detail,
    /// The value that is read.
    tape: Tape,
    /// The open objects and arrays of that, from the outermost, where some parts of them are merged already.
    partial: Vec<Partial>,
    /// What all values have been.
    pub(crate) shape: Shape,
    /// How many values there were.
    pub(crate) records: u64,
    /// There are too many places for a schema: no more is taken.
    full: bool,
}

/// An open object or array, without its parts that are not merged yet.
struct Partial {
    shape: Shape,
    digest: Digest,
}

impl ShapeBuilder {
    pub(crate) fn for_schema() -> Self {
        Self::new(Detail::Schema)
    }

    /// For comparing values: keeps kinds of records, with hashes of their values, also of values that are cut off.
    pub fn for_values() -> Self {
        Self::new(Detail::values())
    }

    fn new(detail: Detail) -> Self {
        let (tape, partial, shape) = (Tape::default(), Vec::new(), Shape::default());
        Self { detail, tape, partial, shape, records: 0, full: false }
    }

    /// The shape of all values.
    pub fn finish(mut self) -> Shape {
        self.end_document(false);
        self.shape
    }

    /// Whether there are too many places for a schema.
    pub(crate) fn is_full(&mut self) -> bool {
        let shapes = || self.partial.iter().map(|partial| &partial.shape).chain([&self.shape]);
        self.full |= self.detail.is_schema() && shapes().map(Shape::places).sum::<usize>() > PLACES;
        self.full
    }

    /// The value is over, or where it is not `whole`, it is cut off, and a schema takes no notice of it.
    pub(crate) fn end_document(&mut self, whole: bool) {
        if whole || !self.detail.is_schema() {
            if self.tape.depth() > 0 {
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

    /// Merges what is complete of a value into the open objects and arrays.
    #[cold]
    fn merge_complete(&mut self) {
        let Self { detail, tape, partial, .. } = self;
        let mut depth = 0;
        tape.drain_complete(|container| {
            if partial.len() == depth {
                partial.push(Partial::new(container, detail));
            }
            depth += 1;
            partial[depth - 1].absorb(container, depth, detail);
        });
        self.is_full();
    }

    /// The innermost open object or array, all parts of which are merged, is over.
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
                self.shape.join(inner.shape);
                self.records += 1;
            }
        }
    }
}

impl Partial {
    /// An object or array none of whose parts is merged yet.
    fn new(container: TapeNode<'_>, detail: &Detail) -> Self {
        let mut shape = Shape::default();
        if container.is(JsonType::Object) {
            let objects = shape.objects.insert(detail.objects());
            let group = objects.group(None);
            objects.groups[group].count = 1;
        } else {
            shape.arrays.insert(detail.arrays()).count = 1;
        }
        Self { shape, digest: Digest::default() }
    }

    /// Merges parts in, which are at this depth.
    fn absorb(&mut self, container: TapeNode<'_>, depth: usize, detail: &Detail) {
        if let Some(objects) = &mut self.shape.objects {
            let group = &mut objects.groups[0];
            let tag = tag(container, detail)
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

    /// Merges an object or array in, which is at this depth: the value of a key, or else an element.
    fn join(&mut self, key: Option<&str>, inner: Self, depth: usize, detail: &Detail) {
        let (own, values) = (&mut self.digest, inner.digest.values);
        let place = match (key, &mut self.shape.objects, &mut self.shape.arrays) {
            (Some(key), Some(objects), _) => {
                let fields = &mut objects.groups[0].fields;
                let found = fields.search(key);
                let (hash, shape) = fields.count(found);
                let is_object = inner.shape.objects.is_some();
                let json_type = if is_object { JsonType::Object } else { JsonType::Array };
                own.add(hash, json_type, values, detail);
                shape
            }
            (_, _, Some(arrays)) => {
                own.values = own.values.wrapping_add(values);
                arrays.elements.next()
            }
            _ => return,
        };
        if depth > DEEPEST {
            place.deep = true;
        } else {
            place.join(inner.shape);
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
        if matches!(event, Event::End(_)) && self.partial.len() == self.tape.depth() {
            self.merge_complete();
            return self.close();
        }
        self.tape.event(event);
        if event.value_end().is_some() && self.tape.is_longer_than(MAX_CELLS, MAX_TEXT) {
            self.merge_complete();
        }
    }

    fn done(&self) -> bool {
        self.full
    }
}
