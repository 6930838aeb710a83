//! Renders a shape, the merged structure of all samples, as JSON Schema 2020-12.

use super::{InferenceOptions, TaggedVariant};
use crate::shape::text::is_data_key;
use crate::shape::{Arrays, Elements, Fields, Group, Objects, Shape, Strings, Tag};
use agentnative_contract::{DISCRIMINATORS, Discriminator};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The first three of [`DISCRIMINATORS`] (`type`, `kind`, `event`) usually name a variant. The other keys need more
/// samples before they split objects into variants.
const STRONG_DISCRIMINATORS: usize = 3;
/// Minimum number of different keys at which objects become a map even if their keys look like names.
const MIN_SPARSE_KEYS: usize = 16;

type Keywords = Map<String, Value>;

impl InferenceOptions {
    /// Returns the schema of all samples, including the keyword `$schema`.
    pub(super) fn root_schema(&self, shape: &Shape) -> Value {
        let mut schema = self.keywords(shape, true);
        schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        Value::Object(schema)
    }

    fn schema(&self, shape: &Shape) -> Value {
        Value::Object(self.keywords(shape, false))
    }

    fn keywords(&self, shape: &Shape, root: bool) -> Keywords {
        let mut schema = Keywords::new();
        if shape.deep || self.for_other_data && shape.type_bits() == 0 {
            return schema;
        }
        let objects = shape.objects.as_ref().map(|objects| self.variants(objects, root)).unwrap_or_default();
        if let [_, _, ..] = objects.as_slice() {
            let mut variants: Vec<Value> = objects.iter().map(|group| self.group_schema(group)).collect();
            let rest = Shape { objects: None, ..shape.clone() };
            if rest.type_bits() != 0 || rest.nulls > 0 {
                variants.push(self.schema(&rest));
            }
            let key = |group: &Group| group.tag.as_ref().map(|tag| tag.key);
            let exclusive =
                key(&objects[0]).is_some() && objects.iter().all(|group| key(group) == key(&objects[0]));
            schema.insert(if exclusive { "oneOf" } else { "anyOf" }.into(), Value::Array(variants));
            return schema;
        }
        let mut types = Vec::new();
        let mut add = |occurs: bool, name: &'static str| occurs.then(|| types.push(Value::from(name)));
        add(shape.objects.is_some(), "object");
        add(shape.arrays.is_some(), "array");
        add(shape.strings.is_some(), "string");
        add(shape.numbers > 0, "number");
        add(shape.integers > 0 && shape.numbers == 0, "integer");
        add(shape.bools > 0, "boolean");
        add(shape.nulls > 0, "null");
        match types.len() {
            0 => {}
            1 => drop(schema.insert("type".into(), types.remove(0))),
            _ => drop(schema.insert("type".into(), Value::Array(types))),
        }
        if let Some(strings) = &shape.strings {
            self.add_string_keywords(strings, shape, &mut schema);
        }
        if let Some(arrays) = &shape.arrays {
            self.add_array_keywords(arrays, &mut schema);
        }
        if let [only] = objects.as_slice() {
            self.add_object_keywords(only, &mut schema);
        }
        schema
    }

    fn add_string_keywords(&self, strings: &Strings, shape: &Shape, schema: &mut Keywords) {
        if let Some(format) =
            strings.formats.name().filter(|format| !(self.for_other_data && *format == "uri"))
        {
            schema.insert("format".into(), json!(format));
        }
        let Some(choices) = &strings.choices else { return };
        // A single value does not exclude others, and a value that occurred only once suggests that there are more.
        let closed = choices.len() > 1 && choices.iter().all(|(_, count)| *count > 1);
        let enough = strings.count / self.enum_threshold.max(1) >= choices.len() as u64;
        let only_type = Shape { strings: None, ..shape.clone() }.type_bits() == 0;
        if self.enum_threshold > 0 && closed && enough && only_type {
            let mut values: Vec<Value> = choices.iter().map(|(word, _)| json!(word)).collect();
            values.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            if shape.nulls > 0 {
                values.push(Value::Null);
            }
            schema.insert("enum".into(), Value::Array(values));
        }
    }

    fn add_array_keywords(&self, arrays: &Arrays, schema: &mut Keywords) {
        if let Elements::Tuple(shapes) = &arrays.elements
            && shapes.len() > 1
            && arrays.count >= self.tuples
            && shapes.iter().any(|shape| shape.type_bits() != shapes[0].type_bits())
        {
            let length = shapes.len();
            let shapes: Vec<Value> = shapes.iter().map(|shape| self.schema(shape)).collect();
            schema.insert("prefixItems".into(), Value::Array(shapes));
            schema.insert("items".into(), json!(false));
            schema.insert("minItems".into(), json!(length));
            return;
        }
        let mut elements = arrays.elements.clone();
        let items = self.keywords(elements.make_list(), false);
        if !items.is_empty() {
            schema.insert("items".into(), Value::Object(items));
        }
    }

    fn group_schema(&self, group: &Group) -> Value {
        let mut schema = Keywords::new();
        schema.insert("type".into(), json!("object"));
        self.add_object_keywords(group, &mut schema);
        Value::Object(schema)
    }

    /// Adds `properties` and `required` of a group of objects to a schema, or `additionalProperties` if the objects are
    /// maps.
    fn add_object_keywords(&self, group: &Group, schema: &mut Keywords) {
        if let Some(values) = group.tag.is_none().then(|| map_values(group, self.for_other_data)).flatten() {
            let values = self.keywords(&values, false);
            if !values.is_empty() {
                schema.insert("additionalProperties".into(), Value::Object(values));
            }
            return;
        }
        let tag = group.tag.as_ref();
        let tag = tag.map(|tag| (DISCRIMINATORS[tag.key].key, json!({ "const": tag_value(tag) })));
        let (mut properties, mut required) = (Keywords::new(), Vec::new());
        for field in group.fields.sorted() {
            let value = match &tag {
                Some((key, value)) if *key == field.key.text() => value.clone(),
                _ => self.schema(&field.shape),
            };
            properties.insert(field.key.text().to_owned(), value);
            if field.count >= group.count {
                required.push(json!(field.key.text()));
            }
        }
        // The tag of a group is known even if its keys are too many or too long to be kept.
        if let Some((key, value)) = tag.filter(|(key, _)| !properties.contains_key(*key)) {
            properties.insert(key.into(), value);
            required.push(json!(key));
        }
        if !properties.is_empty() {
            schema.insert("properties".into(), Value::Object(properties));
        }
        if !required.is_empty() {
            schema.insert("required".into(), Value::Array(required));
        }
    }

    /// Returns the variants of objects, sorted by tag. Groups of objects that are no separate variants are joined into
    /// one group. `root` says whether the objects are complete samples.
    pub(super) fn variants(&self, objects: &Objects, root: bool) -> Vec<Group> {
        let mut objects = objects.clone();
        for (key, Discriminator { key: name, .. }) in DISCRIMINATORS.iter().enumerate() {
            let of_key = |group: &&Group| group.tag.as_ref().is_some_and(|tag| tag.key == key);
            let groups: Vec<&Group> = objects.groups.iter().filter(of_key).collect();
            // A key that also has other values is not a tag.
            let others = || objects.groups.iter().filter(|group| group.tag.is_none());
            let has_other_values = others().any(|group| group.fields.get(name).is_some());
            if !groups.is_empty() && (has_other_values || !self.is_separate(key, &groups, root)) {
                objects.demote_tag(key);
            }
        }
        objects.groups.sort_by(|a, b| a.tag.cmp(&b.tag));
        objects.groups
    }

    /// Returns one variant per value of a tag key. `None` unless every sample is an object with a word at that key.
    pub(super) fn tagged_variants(&self, shape: &Shape, key: &str) -> Option<Vec<TaggedVariant>> {
        let objects = shape.objects.as_ref()?;
        let only_type =
            shape.type_bits() == Shape { objects: shape.objects.clone(), ..Shape::default() }.type_bits();
        let of_key = |group: &Group| group.tag.as_ref().is_some_and(|tag| DISCRIMINATORS[tag.key].key == key);
        if !only_type || shape.nulls > 0 || shape.deep || !objects.groups.iter().all(of_key) {
            return None;
        }
        let mut groups: Vec<&Group> = objects.groups.iter().collect();
        groups.sort_by(|a, b| a.tag.cmp(&b.tag));
        let variant = |group: &Group| {
            let tag = group.tag.as_ref()?;
            Some(TaggedVariant { tag: tag_value(tag), schema: self.group_schema(group), count: group.count })
        };
        groups.into_iter().map(variant).collect()
    }

    /// Returns whether objects with different values of a tag key become separate variants in the schema. `key` is the
    /// index of the tag key, and `groups` has the objects of each value.
    fn is_separate(&self, key: usize, groups: &[&Group], root: bool) -> bool {
        if groups.len() < 2 || self.for_other_data {
            return false;
        }
        let names_shapes = key < STRONG_DISCRIMINATORS;
        if names_shapes && root {
            return true;
        }
        let bool = DISCRIMINATORS[key].boolean;
        let total: u64 = groups.iter().map(|group| group.count).sum();
        let has_evidence = match (bool, names_shapes) {
            (true, _) => true,
            (false, true) => total >= 2 * groups.len() as u64,
            (false, false) => groups.iter().all(|group| group.count >= 3),
        };
        has_evidence && groups_differ(groups)
    }
}

pub(super) fn tag_value(tag: &Tag) -> Value {
    if DISCRIMINATORS[tag.key].boolean { json!(&*tag.value == "true") } else { json!(tag.value) }
}

/// Returns whether groups of objects have different structures.
///
/// The structures differ if a key is in all objects of one group and in none of another, or if the values of a key have
/// no common type. A group of maps, which have arbitrary keys, always differs.
fn groups_differ(groups: &[&Group]) -> bool {
    let mut keys: BTreeMap<&str, (bool, u64, u8)> = BTreeMap::new();
    for group in groups {
        for field in &group.fields.members {
            let types = field.shape.type_bits();
            let entry = keys.entry(field.key.text()).or_insert((false, 0, u8::MAX));
            entry.0 |= field.count == group.count;
            entry.1 += 1;
            entry.2 &= if types == 0 { u8::MAX } else { types };
        }
    }
    let count = groups.len() as u64;
    groups.iter().any(|group| group.fields.map.is_some())
        || keys.values().any(|(is_required, groups, types)| *is_required && *groups < count || *types == 0)
}

/// Returns the merged shape of all values if the objects are maps, whose keys are data such as IDs. `None` if their
/// keys are names.
pub(super) fn map_values(group: &Group, for_other_data: bool) -> Option<Shape> {
    let fields = &group.fields;
    if let Some(map) = &fields.map {
        return Some((**map).clone());
    }
    let keys = fields.members.len();
    let is_data_keys = keys > 0 && fields.members.iter().all(|field| is_data_key(field.key.text()));
    let member_count: u64 = fields.members.iter().map(|field| field.count).sum();
    // Many keys, none of them always present, and few of them in one object.
    let is_sparse = !for_other_data
        && keys >= MIN_SPARSE_KEYS
        && fields.members.iter().all(|field| field.count < group.count)
        && member_count < group.count * keys as u64 / 4;
    if !(is_data_keys || is_sparse) || !have_similar_values(fields) {
        return None;
    }
    let mut all = Shape::default();
    fields.members.iter().for_each(|field| all.merge(field.shape.clone()));
    Some(all)
}

/// Returns whether the values of all keys have one JSON type. Values that are objects must also share most of their
/// keys.
fn have_similar_values(fields: &Fields) -> bool {
    let types = fields.members.iter().fold(0, |types, field| types | field.shape.type_bits());
    if types.count_ones() > 1 {
        return false;
    }
    let objects: Vec<&Objects> =
        fields.members.iter().filter_map(|field| field.shape.objects.as_deref()).collect();
    let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = 0;
    for field in objects.iter().flat_map(|objects| &objects.groups).flat_map(|group| &group.fields.members) {
        *keys.entry(field.key.text()).or_default() += 1;
        all += 1;
    }
    objects.is_empty() || 2 * all >= keys.len() * objects.len()
}
