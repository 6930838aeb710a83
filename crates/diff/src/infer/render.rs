//! A shape as JSON Schema 2020-12.

use super::{Rules, Variant};
use crate::shape::text::is_data;
use crate::shape::{Arrays, Elements, Fields, Group, Objects, Shape, Strings, Tag};
use agentnative_contract::{DISCRIMINATORS, Discriminator};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The first tag keys (`type`, `kind`, `event`) name shapes in most data; the others must have been seen more.
const STRONG: usize = 3;
/// From so many different keys on, objects may be maps whatever the keys look like.
const MANY_KEYS: usize = 16;

type Members = Map<String, Value>;

impl Rules {
    /// The schema of a root.
    pub(super) fn root(&self, shape: &Shape) -> Value {
        let mut schema = self.value(shape, true);
        schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        Value::Object(schema)
    }

    fn schema(&self, shape: &Shape) -> Value {
        Value::Object(self.value(shape, false))
    }

    fn value(&self, shape: &Shape, root: bool) -> Members {
        let mut schema = Members::new();
        if shape.deep || self.cautious && shape.type_bits() == 0 {
            return schema;
        }
        let objects = shape.objects.as_ref().map(|objects| self.variants(objects, root)).unwrap_or_default();
        if let [_, _, ..] = objects.as_slice() {
            let mut forms: Vec<Value> = objects.iter().map(|group| self.group(group)).collect();
            let rest = Shape { objects: None, ..shape.clone() };
            if rest.type_bits() != 0 || rest.nulls > 0 {
                forms.push(self.schema(&rest));
            }
            let key = |group: &Group| group.tag.as_ref().map(|tag| tag.key);
            let exclusive =
                key(&objects[0]).is_some() && objects.iter().all(|group| key(group) == key(&objects[0]));
            schema.insert(if exclusive { "oneOf" } else { "anyOf" }.into(), Value::Array(forms));
            return schema;
        }
        let mut types = Vec::new();
        let mut add = |seen: bool, name: &'static str| seen.then(|| types.push(Value::from(name)));
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
            self.strings(strings, shape, &mut schema);
        }
        if let Some(arrays) = &shape.arrays {
            self.arrays(arrays, &mut schema);
        }
        if let [only] = objects.as_slice() {
            self.members(only, &mut schema);
        }
        schema
    }

    fn strings(&self, strings: &Strings, shape: &Shape, schema: &mut Members) {
        if let Some(format) = strings.formats.name().filter(|format| !(self.cautious && *format == "uri")) {
            schema.insert("format".into(), json!(format));
        }
        let Some(choices) = &strings.choices else { return };
        // One value tells nothing of what else there may be; one that came once tells that there are more.
        let closed = choices.len() > 1 && choices.iter().all(|(_, count)| *count > 1);
        let enough = strings.count / self.enum_threshold.max(1) >= choices.len() as u64;
        let alone = Shape { strings: None, ..shape.clone() }.type_bits() == 0;
        if self.enum_threshold > 0 && closed && enough && alone {
            let mut values: Vec<Value> = choices.iter().map(|(word, _)| json!(word)).collect();
            values.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            if shape.nulls > 0 {
                values.push(Value::Null);
            }
            schema.insert("enum".into(), Value::Array(values));
        }
    }

    fn arrays(&self, arrays: &Arrays, schema: &mut Members) {
        if let Elements::Tuple(places) = &arrays.elements
            && places.len() > 1
            && arrays.count >= self.tuples
            && places.iter().any(|place| place.type_bits() != places[0].type_bits())
        {
            let length = places.len();
            let places: Vec<Value> = places.iter().map(|place| self.schema(place)).collect();
            schema.insert("prefixItems".into(), Value::Array(places));
            schema.insert("items".into(), json!(false));
            schema.insert("minItems".into(), json!(length));
            return;
        }
        let mut elements = arrays.elements.clone();
        let items = self.value(elements.list(), false);
        if !items.is_empty() {
            schema.insert("items".into(), Value::Object(items));
        }
    }

    fn group(&self, group: &Group) -> Value {
        let mut schema = Members::new();
        schema.insert("type".into(), json!("object"));
        self.members(group, &mut schema);
        Value::Object(schema)
    }

    /// The keywords of objects.
    fn members(&self, group: &Group, schema: &mut Members) {
        if let Some(values) = group.tag.is_none().then(|| map(group, self.cautious)).flatten() {
            let values = self.value(&values, false);
            if !values.is_empty() {
                schema.insert("additionalProperties".into(), Value::Object(values));
            }
            return;
        }
        let tag = group.tag.as_ref();
        let tag = tag.map(|tag| (DISCRIMINATORS[tag.key].key, json!({ "const": constant(tag) })));
        let (mut properties, mut required) = (Members::new(), Vec::new());
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
        // Of a group whose keys are too many or too long to be kept, the tag is known all the same.
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

    /// The groups of objects that have shapes of their own, sorted by tag; the others are joined.
    pub(super) fn variants(&self, objects: &Objects, root: bool) -> Vec<Group> {
        let mut objects = objects.clone();
        for (key, Discriminator { key: name, .. }) in DISCRIMINATORS.iter().enumerate() {
            let of_key = |group: &&Group| group.tag.as_ref().is_some_and(|tag| tag.key == key);
            let groups: Vec<&Group> = objects.groups.iter().filter(of_key).collect();
            // Where the key has other values as well, it is no tag.
            let others = || objects.groups.iter().filter(|group| group.tag.is_none());
            let mixed = others().any(|group| group.fields.get(name).is_some());
            if !groups.is_empty() && (mixed || !self.apart(key, &groups, root)) {
                objects.loosen(key);
            }
        }
        objects.groups.sort_by(|a, b| a.tag.cmp(&b.tag));
        objects.groups
    }

    /// What the objects of each value of a tag key are, where there are no other values.
    pub(super) fn tagged(&self, shape: &Shape, key: &str) -> Option<Vec<Variant>> {
        let objects = shape.objects.as_ref()?;
        let alone =
            shape.type_bits() == Shape { objects: shape.objects.clone(), ..Shape::default() }.type_bits();
        let of_key = |group: &Group| group.tag.as_ref().is_some_and(|tag| DISCRIMINATORS[tag.key].key == key);
        if !alone || shape.nulls > 0 || shape.deep || !objects.groups.iter().all(of_key) {
            return None;
        }
        let mut groups: Vec<&Group> = objects.groups.iter().collect();
        groups.sort_by(|a, b| a.tag.cmp(&b.tag));
        let variant = |group: &Group| {
            let tag = group.tag.as_ref()?;
            Some(Variant { tag: constant(tag), schema: self.group(group), count: group.count })
        };
        groups.into_iter().map(variant).collect()
    }

    /// Whether objects with these values of a tag key are told as shapes of their own.
    fn apart(&self, key: usize, groups: &[&Group], root: bool) -> bool {
        if groups.len() < 2 || self.cautious {
            return false;
        }
        let names_shapes = key < STRONG;
        if names_shapes && root {
            return true;
        }
        let bool = DISCRIMINATORS[key].boolean;
        let total: u64 = groups.iter().map(|group| group.count).sum();
        let seen = match (bool, names_shapes) {
            (true, _) => true,
            (false, true) => total >= 2 * groups.len() as u64,
            (false, false) => groups.iter().all(|group| group.count >= 3),
        };
        seen && differ(groups)
    }
}

/// The value of a tag.
pub(super) fn constant(tag: &Tag) -> Value {
    if DISCRIMINATORS[tag.key].boolean { json!(&*tag.value == "true") } else { json!(tag.value) }
}

/// Whether two of the groups cannot be told as one: a key is in all objects of one and in none of another,
/// or its types have nothing in common.
fn differ(groups: &[&Group]) -> bool {
    let mut keys: BTreeMap<&str, (bool, u64, u8)> = BTreeMap::new();
    for group in groups {
        for field in &group.fields.list {
            let types = field.shape.type_bits();
            let entry = keys.entry(field.key.text()).or_insert((false, 0, u8::MAX));
            entry.0 |= field.count == group.count;
            entry.1 += 1;
            entry.2 &= if types == 0 { u8::MAX } else { types };
        }
    }
    let count = groups.len() as u64;
    groups.iter().any(|group| group.fields.map.is_some())
        || keys.values().any(|(whole, groups, types)| *whole && *groups < count || *types == 0)
}

/// What all values have been, where the keys of objects are data.
pub(super) fn map(group: &Group, cautious: bool) -> Option<Shape> {
    let fields = &group.fields;
    if let Some(map) = &fields.map {
        return Some((**map).clone());
    }
    let keys = fields.list.len();
    let data = keys > 0 && fields.list.iter().all(|field| is_data(field.key.text()));
    let filled: u64 = fields.list.iter().map(|field| field.count).sum();
    // Many keys, none of which is always there, and few of which are in one object.
    let sparse = !cautious
        && keys >= MANY_KEYS
        && fields.list.iter().all(|field| field.count < group.count)
        && filled < group.count * keys as u64 / 4;
    if !(data || sparse) || !alike(fields) {
        return None;
    }
    let mut all = Shape::default();
    fields.list.iter().for_each(|field| all.join(field.shape.clone()));
    Some(all)
}

/// Whether the values of all keys have the same type, and objects mostly the same keys.
fn alike(fields: &Fields) -> bool {
    let types = fields.list.iter().fold(0, |types, field| types | field.shape.type_bits());
    if types.count_ones() > 1 {
        return false;
    }
    let objects: Vec<&Objects> =
        fields.list.iter().filter_map(|field| field.shape.objects.as_deref()).collect();
    let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = 0;
    for field in objects.iter().flat_map(|objects| &objects.groups).flat_map(|group| &group.fields.list) {
        *keys.entry(field.key.text()).or_default() += 1;
        all += 1;
    }
    objects.is_empty() || 2 * all >= keys.len() * objects.len()
}
