//! Lengths beyond any example, and more alternatives than can be compared pairwise: the comparison still completes.

use crate::own_process::in_own_process;
use crate::support::{assert_witnesses, changes, rules};
use serde_json::{Value, json};

/// Slightly more than an example has, more than fits into memory, the largest integers, and beyond.
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
fn a_value_too_long_for_an_example_hides_no_other_change() {
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
                assert_witnesses(&long, &any, &loosened);
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
fn an_example_of_repeated_elements_has_a_bounded_length() {
    for length in lengths() {
        let repeated = json!({ "type": "array", "minItems": length, "items": { "enum": [1, 2] } });
        let mut unique = repeated.clone();
        unique["uniqueItems"] = json!(true);
        assert_eq!(rules(&changes(&unique, &repeated)), ["diff-unique-loosened"], "{length}");
    }
}

#[test]
fn very_many_alternatives_hide_no_other_change() {
    in_own_process("sizes::very_many_alternatives_hide_no_other_change", || {
        let any: Vec<Value> = (0..30_000).map(|number| json!({ "const": number })).collect();
        let side = |required: &[&str]| {
            json!({ "type": "object", "required": required,
                    "properties": { "a": { "anyOf": any }, "b": { "type": "integer" } } })
        };
        let found = changes(&side(&["a", "b"]), &side(&["a"]));
        assert_eq!(rules(&found), ["diff-key-optional"], "{found:#?}");
    });
}
