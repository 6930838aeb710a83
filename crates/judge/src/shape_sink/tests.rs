use super::*;
use proptest::prelude::*;
use serde_json::{Map, Value};
use strict_json::{ReadOptions, read_lines};

/// Counts a value in its place, and gives its part of the hash of what it is a member of.
fn count(node: &mut Node, value: &Value, key: &str) -> u64 {
    let of = match value {
        Value::Null => JsonType::Null,
        Value::Bool(_) => JsonType::Boolean,
        Value::Number(_) => JsonType::Number,
        Value::String(_) => JsonType::String,
        Value::Array(_) => JsonType::Array,
        Value::Object(_) => JsonType::Object,
    };
    *node.types.entry(of).or_default() += 1;
    match value {
        Value::Null => 0,
        Value::String(text) if text.contains("json") => 0,
        Value::String(text) => key_hash(key) ^ xxh3_64(text.as_bytes()),
        Value::Number(number) => key_hash(key) ^ xxh3_64(&number.as_f64().unwrap().to_bits().to_le_bytes()),
        Value::Bool(value) => key_hash(key) ^ xxh3_64(value.to_string().as_bytes()),
        Value::Array(items) => items.iter().fold(0, |sum: u64, item| {
            let hash = count(node.items.get_or_insert_default(), item, "");
            if let Value::Object(members) = item {
                add(&mut node.kinds, members, hash);
            }
            sum.wrapping_add(hash)
        }),
        Value::Object(members) => members.iter().fold(0, |sum: u64, (key, value)| {
            sum.wrapping_add(count(node.keys.entry(key.clone()).or_default(), value, key))
        }),
    }
}

fn add(kinds: &mut Kinds, members: &Map<String, Value>, values: u64) {
    let types = |without: Option<&str>| {
        let mut one = Node::default();
        let left = members.iter().filter(|(key, _)| Some(key.as_str()) != without);
        for (key, value) in left {
            count(one.keys.entry(key.clone()).or_default(), value, key);
        }
        let names =
            one.keys.iter().map(|(key, node)| format!("{key}: {}", node.types.keys().next().unwrap().name()));
        names.collect::<Vec<_>>().join(", ")
    };
    let tag = members.iter().find(|(key, value)| value.is_string() && type_keys().any(|tag| tag == *key));
    let hash = tag.map_or(0, |(key, value)| count(&mut Node::default(), value, key));
    for (kinds, signature, values) in [
        (&mut kinds.whole, types(None), values),
        (&mut kinds.untagged, types(tag.map(|(key, _)| key.as_str())), values.wrapping_sub(hash)),
    ] {
        let kind = kinds.entry(signature).or_default();
        kind.count += 1;
        kind.values = kind.values.wrapping_add(values);
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

proptest! {
    #[test]
    fn the_shape_is_that_of_the_values(records in prop::collection::vec(json(), 0..6)) {
        let text: String = records.iter().map(|record| format!("{record}\n")).collect();
        let mut expected = Node::default();
        for record in &records {
            let hash = count(&mut expected, record, "");
            if let Value::Object(members) = record {
                add(&mut expected.kinds, members, hash);
            }
        }
        // Records that are read at once, and, where a tab is between their values, event by event.
        for text in [text.replace('{', "{\t"), text] {
            prop_assert_eq!(format!("{:?}", shape(&text)), format!("{expected:?}"));
        }
    }
}

fn shape(lines: &str) -> Shape {
    let mut sink = ShapeSink::default();
    read_lines(lines.as_bytes(), &ReadOptions::default(), &mut sink).unwrap();
    sink.finish()
}

#[test]
fn strings_that_come_in_parts_do_not_count_wherever_they_are_read() {
    let of = |length: usize, space: &str| {
        format!("{:?}", shape(&format!("{{{space}\"a\":\"{}\"}}\n", "é".repeat(length / 2))))
    };
    assert_eq!(of(LONG, ""), of(LONG, "\t"));
    assert_eq!(of(LONG + 2, ""), of(LONG + 2, "\t"));
    assert_eq!(of(LONG + 2, ""), of(2 * LONG, ""));
    assert_ne!(of(LONG, ""), of(LONG + 2, ""));
}

#[test]
fn keys_places_and_kinds_that_are_too_many_are_left_out() {
    let shape = |text: &str| {
        let mut sink = ShapeSink::default();
        strict_json::read_document(text.as_bytes(), &ReadOptions::default(), &mut sink).unwrap();
        sink.finish()
    };
    let keys = |count: usize| (0..count).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(",");
    let map = shape(&format!("[{{{}}},{{\"k1\":1,\"new\":1}}]", keys(5000)));
    let items = map.items.unwrap();
    assert_eq!((items.keys.len(), items.more_keys, items.keys["k1"].count()), (MAX_KEYS, true, 2));
    assert_eq!(map.kinds.whole.len(), 2);
    let many: Vec<String> = (0..2000).map(|n| format!("{{\"k{n}\":{n}}}")).collect();
    let many = shape(&format!("[{}]", many.join(",")));
    assert_eq!((many.kinds.count(), many.kinds.more), (MAX_KINDS as u64, true));
    let mut deep = &shape(&format!("{}1{}", "[".repeat(100), "]".repeat(100)));
    let mut depth = 0;
    while let Some(items) = &deep.items {
        (deep, depth) = (items, depth + 1);
    }
    assert_eq!(depth, MAX_DEPTH);
}
