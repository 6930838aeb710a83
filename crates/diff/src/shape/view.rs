//! Read access to shapes for comparisons of values ([`ShapeBuilder::for_values`](super::ShapeBuilder::for_values)),
//! which have no groups by tag.

use super::kinds::Kinds;
use super::model::{Elements, Fields, Shape};
use std::collections::BTreeMap;
use strict_json::JsonType;

static NO_KINDS: Kinds = Kinds { whole: BTreeMap::new(), untagged: BTreeMap::new() };

impl Shape {
    /// Returns the number of objects.
    pub fn object_count(&self) -> u64 {
        self.count_of_type(JsonType::Object)
    }

    /// Returns the number of elements of all arrays.
    pub fn element_count(&self) -> u64 {
        self.items().map_or(0, Self::count)
    }

    /// Returns the shape of the elements of all arrays, if there are any.
    pub fn items(&self) -> Option<&Self> {
        match &self.arrays.as_ref()?.elements {
            Elements::List(list) => Some(&**list).filter(|list| list.count() > 0),
            Elements::Tuple(_) => None,
        }
    }

    fn fields(&self) -> Option<&Fields> {
        Some(&self.objects.as_ref()?.groups.first()?.fields)
    }

    /// Returns the members of all objects, sorted by key; none if there are too many keys.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.fields().into_iter().flat_map(Fields::sorted).map(|field| (field.key.text(), &field.shape))
    }

    /// Returns the shape of the values of a key.
    pub fn member(&self, key: &str) -> Option<&Self> {
        Some(&self.fields()?.get(key)?.shape)
    }

    /// Returns whether the objects have too many keys.
    pub fn is_map(&self) -> bool {
        self.fields().is_some_and(|fields| fields.map.is_some())
    }

    /// Returns the number of values, including nested ones.
    pub fn total_count(&self) -> u64 {
        let map = self.fields().and_then(|fields| fields.map.as_deref());
        let inner = self.members().map(|(_, member)| member).chain(map).chain(self.items());
        self.count() + inner.map(Self::total_count).sum::<u64>()
    }

    /// Returns the kinds of the records, or of the elements of a list.
    pub fn kinds(&self) -> &Kinds {
        let shapes = [Some(self), self.items()].into_iter().flatten();
        let mut kinds = shapes.filter_map(|shape| Some(&shape.objects.as_ref()?.kinds));
        kinds.find(|kinds| !kinds.whole.is_empty()).unwrap_or(&NO_KINDS)
    }
}
