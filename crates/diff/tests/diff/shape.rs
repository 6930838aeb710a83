//! The shape that is built while reading equals the shape of the values in memory.

use agentnative_contract::type_keys;
use agentnative_diff::shape::{Kind, Kinds, Shape, ShapeBuilder};
use proptest::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use strict_json::{JsonType, ReadOptions, read_document, read_lines_in_memory};
use xxhash_rust::xxh3::xxh3_64;

/// A shape with everything that a comparison uses.
#[derive(Debug, Default, PartialEq)]
struct Node {
    types: BTreeMap<JsonType, u64>,
    members: BTreeMap<String, Node>,
    items: Option<Box<Node>>,
    kinds: Kinds,
}

impl From<&Shape> for Node {
    fn from(shape: &Shape) -> Self {
        Self {
            types: shape.types().map(|of| (of, shape.count_of_type(of))).collect(),
            members: shape.members().map(|(key, member)| (key.to_owned(), member.into())).collect(),
            items: shape.items().map(|items| Box::new(items.into())),
            kinds: shape.kinds().clone(),
        }
    }
}

impl Node {
    /// Takes the kinds of the elements if there are no records.
    fn with_element_kinds(mut self) -> Self {
        if let Some(items) = self.items.as_ref().filter(|_| self.kinds.whole.is_empty()) {
            self.kinds = items.kinds.clone();
        }
        self.members =
            self.members.into_iter().map(|(key, member)| (key, member.with_element_kinds())).collect();
        self.items = self.items.map(|items| Box::new(items.with_element_kinds()));
        self
    }
}

/// Counts a value. Returns the sum of the hashes of the values in it.
fn count(node: &mut Node, value: &Value, key: Option<&str>) -> u64 {
    *node.types.entry(value.into()).or_default() += 1;
    let key_hash = key.map_or(0, |key| xxh3_64(key.as_bytes())).rotate_left(17);
    match value {
        Value::Null => 0,
        Value::String(text) if text.contains("json") => 0,
        Value::String(text) => key_hash ^ xxh3_64(text.as_bytes()),
        Value::Number(number) => key_hash ^ xxh3_64(&number.as_f64().unwrap().to_bits().to_le_bytes()),
        Value::Bool(value) => key_hash ^ xxh3_64(value.to_string().as_bytes()),
        Value::Array(items) => items
            .iter()
            .fold(0, |sum, item| sum.wrapping_add(count(node.items.get_or_insert_default(), item, None))),
        Value::Object(members) => {
            let values = members.iter().fold(0, |sum: u64, (key, value)| {
                sum.wrapping_add(count(node.members.entry(key.clone()).or_default(), value, Some(key)))
            });
            if key.is_none() {
                add(&mut node.kinds, members, values);
            }
            values
        }
    }
}

fn add(kinds: &mut Kinds, members: &Map<String, Value>, values: u64) {
    let hash = |without: Option<&String>| {
        members.iter().filter(|(key, _)| Some(*key) != without).fold(0, |sum: u64, (key, value)| {
            sum.wrapping_add(xxh3_64(key.as_bytes()).rotate_left(8 * JsonType::from(value) as u32))
        })
    };
    let tag = members.iter().find(|(key, value)| value.is_string() && type_keys().any(|tag| tag == *key));
    let tag_value = tag.map_or(0, |(key, value)| count(&mut Node::default(), value, Some(key)));
    let untagged = (hash(tag.map(|(key, _)| key)), values.wrapping_sub(tag_value));
    for (kinds, (members, values)) in
        [(&mut kinds.whole, (hash(None), values)), (&mut kinds.untagged, untagged)]
    {
        let Kind { count, values: all } = kinds.entry(members).or_default();
        (*count, *all) = (*count + 1, all.wrapping_add(values));
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i32..3).prop_map(Value::from),
        any::<f32>().prop_map(|number| Value::from(f64::from(number))),
        "(json )?[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 120, 12, |inner| {
        let key = prop_oneof![4 => "[a-d]", 1 => "type|kind|event", 1 => "[a-z]{5}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..14).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn lines(text: &str) -> Node {
    let mut builder = ShapeBuilder::for_values();
    read_lines_in_memory(text.as_bytes(), &ReadOptions::default(), &mut builder);
    Node::from(&builder.finish())
}

fn document(text: &str) -> Shape {
    let mut builder = ShapeBuilder::for_values();
    read_document(text.as_bytes(), &ReadOptions::default(), &mut builder).unwrap();
    builder.finish()
}

proptest! {
    #[test]
    fn the_shape_equals_that_of_the_values(records in prop::collection::vec(json(), 0..6)) {
        let text: String = records.iter().map(|record| format!("{record}\n")).collect();
        let mut expected = Node::default();
        for record in &records {
            count(&mut expected, record, None);
        }
        let expected = expected.with_element_kinds();
        // Records are read at once, or event by event if a tab is between their values.
        for text in [text.replace('{', "{\t"), text] {
            prop_assert_eq!(&lines(&text), &expected);
        }
    }
}

#[test]
fn a_document_merged_in_parts_has_the_same_shape() {
    let item = |nth: u64| format!("{{\"type\":\"t{}\",\"id\":{nth},\"at\":[{nth},{{\"n\":null}}]}}", nth % 3);
    let items: Vec<String> = (0..30_000).map(item).collect();
    let inner = format!("{{\"list\":[{}],\"kind\":\"x\",\"end\":true}}", items.join(","));
    let text = format!("[{inner},{{\"first\":1,\"of\":[{inner}]}}]");
    let mut expected = Node::default();
    count(&mut expected, &serde_json::from_str(&text).unwrap(), None);
    assert_eq!(Node::from(&document(&text)), expected.with_element_kinds());
    // A truncated value is counted as far as it was read.
    let cut = document(&text[..text.len() - 70]);
    assert_eq!((cut.count(), cut.element_count(), cut.items().unwrap().object_count()), (1, 2, 2));
    assert_eq!(cut.items().unwrap().member("list").unwrap().element_count(), 30_000);
    assert_eq!(document("{\"a\":1,\"b\":").members().map(|(key, _)| key).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn long_strings_are_ignored_however_they_are_read() {
    const LONG: usize = 64 << 10;
    let of =
        |length: usize, space: &str| lines(&format!("{{{space}\"a\":\"{}\"}}\n", "é".repeat(length / 2)));
    assert_eq!(of(LONG, ""), of(LONG, "\t"));
    assert_eq!(of(LONG + 2, ""), of(LONG + 2, "\t"));
    assert_eq!(of(LONG + 2, ""), of(2 * LONG, ""));
    assert_ne!(of(LONG, ""), of(LONG + 2, ""));
}

#[test]
fn excess_keys_positions_and_kinds_are_omitted() {
    let keys = |count: usize| (0..count).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(",");
    let list = |count: usize| document(&format!("[{{{}}},{{\"k1\":1,\"new\":1}}]", keys(count)));
    let items = |count: usize| list(count).items().unwrap().clone();
    assert_eq!(
        (items(4000).members().count(), items(4000).is_map(), items(4000).total_count()),
        (4001, false, 4004)
    );
    assert_eq!(
        (items(5000).members().count(), items(5000).is_map(), items(5000).total_count()),
        (0, true, 5004)
    );
    assert_eq!(list(5000).kinds().whole.len(), 2);
    let many: Vec<String> = (0..2000).map(|n| format!("{{\"k{n}\":{n}}}")).collect();
    let kinds = |many: &[String]| document(&format!("[{}]", many.join(","))).kinds().clone();
    let few = kinds(&many);
    assert_eq!((few.count(), few.whole.len()), (1024, 1024));
    assert_eq!(few, kinds(&many.iter().rev().cloned().collect::<Vec<_>>()));
    let mut deep = &document(&format!("{}1{}", "[".repeat(200), "]".repeat(200)));
    let mut depth = 0;
    while let Some(items) = deep.items() {
        (deep, depth) = (items, depth + 1);
    }
    assert_eq!(depth, 96);
}
