//! What a comparison asks of the shape of values ([`ShapeBuilder::for_values`](super::ShapeBuilder::for_values)), which
//! does not tell objects apart by a tag.

use super::kinds::Kinds;
use super::model::{Elements, Fields, Shape};
use std::collections::BTreeMap;
use strict_json::JsonType;

static NO_KINDS: Kinds = Kinds { whole: BTreeMap::new(), untagged: BTreeMap::new() };

impl Shape {
    /// Number of objects.
    pub fn objects(&self) -> u64 {
        self.count_of(JsonType::Object)
    }

    /// Number of elements of all arrays.
    pub fn elements(&self) -> u64 {
        self.items().map_or(0, Self::count)
    }

    /// The elements of all arrays, if there are any.
    pub fn items(&self) -> Option<&Self> {
        match &self.arrays.as_ref()?.elements {
            Elements::List(list) => Some(&**list).filter(|list| list.count() > 0),
            Elements::Tuple(_) => None,
        }
    }

    fn fields(&self) -> Option<&Fields> {
        Some(&self.objects.as_ref()?.groups.first()?.fields)
    }

    /// The members of all objects, sorted by key; none where the keys are too many.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.fields().into_iter().flat_map(Fields::sorted).map(|field| (field.key.text(), &field.shape))
    }

    /// The member of a key.
    pub fn member(&self, key: &str) -> Option<&Self> {
        Some(&self.fields()?.get(key)?.shape)
    }

    /// Whether the objects have too many keys.
    pub fn is_map(&self) -> bool {
        self.fields().is_some_and(|fields| fields.map.is_some())
    }

    /// Number of values here and in these.
    pub fn size(&self) -> u64 {
        let map = self.fields().and_then(|fields| fields.map.as_deref());
        let inner = self.members().map(|(_, member)| member).chain(map).chain(self.items());
        self.count() + inner.map(Self::size).sum::<u64>()
    }

    /// The kinds of the records, or of the elements of a list.
    pub fn kinds(&self) -> &Kinds {
        let shapes = [Some(self), self.items()].into_iter().flatten();
        let mut kinds = shapes.filter_map(|shape| Some(&shape.objects.as_ref()?.kinds));
        kinds.find(|kinds| !kinds.whole.is_empty()).unwrap_or(&NO_KINDS)
    }
}
