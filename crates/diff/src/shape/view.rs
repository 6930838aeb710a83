//! Read access to shapes for comparisons of values, which [`ShapeBuilder::for_values`](super::ShapeBuilder::for_values)
//! creates. Their objects are in one group.

use super::kinds::Kinds;
use super::model::{Elements, Fields, Shape};
use std::collections::BTreeMap;
use strict_json::JsonType;

static NO_KINDS: Kinds = Kinds { whole: BTreeMap::new(), untagged: BTreeMap::new() };

impl Shape {
    /// Returns the number of objects at this position.
    pub fn object_count(&self) -> u64 {
        self.count_of_type(JsonType::Object)
    }

    /// Returns the number of elements in all arrays at this position together.
    pub fn element_count(&self) -> u64 {
        self.items().map_or(0, Self::count)
    }

    /// Returns the shape of the elements of all arrays at this position; `None` if there are no elements.
    pub fn items(&self) -> Option<&Self> {
        match &self.arrays.as_ref()?.elements {
            Elements::List(list) => Some(&**list).filter(|list| list.count() > 0),
            Elements::Tuple(_) => None,
        }
    }

    fn fields(&self) -> Option<&Fields> {
        Some(&self.objects.as_ref()?.groups.first()?.fields)
    }

    /// Returns each key of the objects at this position with the shape of its values, sorted by key. Empty if there are
    /// too many keys.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.fields().into_iter().flat_map(Fields::sorted).map(|field| (field.key.text(), &field.shape))
    }

    /// Returns the shape of the values of a key; `None` if no object at this position has the key.
    pub fn member(&self, key: &str) -> Option<&Self> {
        Some(&self.fields()?.get(key)?.shape)
    }

    /// Returns whether the objects at this position have too many different keys, so that their keys are not kept.
    pub fn is_map(&self) -> bool {
        self.fields().is_some_and(|fields| fields.map.is_some())
    }

    /// Returns the number of values at this position and nested in it.
    pub fn total_count(&self) -> u64 {
        let map = self.fields().and_then(|fields| fields.map.as_deref());
        let inner = self.members().map(|(_, member)| member).chain(map).chain(self.items());
        self.count() + inner.map(Self::total_count).sum::<u64>()
    }

    /// Returns the kinds of the objects at this position or, if there are none, of the objects in its arrays.
    pub fn kinds(&self) -> &Kinds {
        let shapes = [Some(self), self.items()].into_iter().flatten();
        let mut kinds = shapes.filter_map(|shape| Some(&shape.objects.as_ref()?.kinds));
        kinds.find(|kinds| !kinds.whole.is_empty()).unwrap_or(&NO_KINDS)
    }
}
