//! Lengths that no sample can have, and more alternatives than can be held to each other: the comparison goes on.

use crate::alone::alone;
use crate::support::{changes, hold_witnesses, rules};
use serde_json::{Value, json};

/// A little more than a sample has, more than fits into memory, the greatest integers, and beyond them.
fn lengths() -> [Value; 6] {
    [
        json!(3_000),
        json!(4_000_000_000_u64),
        json!(1_u64 << 63),
        json!(u64::MAX - 1),
        json!(u64::MAX),
        json!(1e30),
    ]
}

#[test]
fn a_value_that_is_too_long_to_be_made_leaves_the_other_changes() {
    for (kind, keyword) in [("string", "minLength"), ("array", "minItems"), ("object", "minProperties")] {
        for length in lengths() {
            let side = |required: &[&str]| {
                let mut long = json!({ "type": kind });
                long[keyword] = length.clone();
                json!({ "type": "object", "required": required,
                        "properties": { "a": long, "b": { "type": "integer" } } })
            };
            let (old, new) = (side(&["a", "b"]), side(&["a"]));
            let found = changes(&old, &new);
            assert_eq!(rules(&found), ["diff-key-optional"], "{keyword} {length}: {found:#?}");
        }
    }
}

#[test]
fn a_length_of_any_size_is_compared() {
    for (kind, keyword) in [("string", "Length"), ("array", "Items"), ("object", "Properties")] {
        for length in lengths() {
            for bound in ["min", "max"] {
                let mut long = json!({ "type": kind });
                long[format!("{bound}{keyword}")] = length.clone();
                let any = json!({ "type": kind });
                let loosened = changes(&long, &any);
                assert_eq!(rules(&loosened), ["diff-length-loosened"], "{bound}{keyword} {length}");
                hold_witnesses(&long, &any, &loosened);
                assert_eq!(
                    rules(&changes(&any, &long)),
                    ["diff-length-tightened"],
                    "{bound}{keyword} {length}"
                );
            }
        }
    }
}

#[test]
fn elements_that_may_be_repeated_are_no_more_than_a_sample_has() {
    for length in lengths() {
        let repeated = json!({ "type": "array", "minItems": length, "items": { "enum": [1, 2] } });
        let mut unique = repeated.clone();
        unique["uniqueItems"] = json!(true);
        assert_eq!(rules(&changes(&unique, &repeated)), ["diff-unique-loosened"], "{length}");
    }
}

#[test]
fn a_great_many_alternatives_leave_the_other_changes() {
    alone("sizes::a_great_many_alternatives_leave_the_other_changes", || {
        let any: Vec<Value> = (0..30_000).map(|number| json!({ "const": number })).collect();
        let side = |required: &[&str]| {
            json!({ "type": "object", "required": required,
                    "properties": { "a": { "anyOf": any }, "b": { "type": "integer" } } })
        };
        let found = changes(&side(&["a", "b"]), &side(&["a"]));
        assert_eq!(rules(&found), ["diff-key-optional"], "{found:#?}");
    });
}
