//! The variants of a union in changes.

use crate::support::changes;
use serde_json::{Value, json};

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Returns the rule and the variants of each change.
fn rules_with_variants(old: &Value, new: &Value) -> Vec<(String, Vec<String>)> {
    changes(old, new).into_iter().map(|change| (change.rule, change.variant)).collect()
}

fn of_type(name: &str, more: Value) -> Value {
    let mut properties = json!({ "type": { "const": name } });
    for (key, schema) in more.as_object().unwrap() {
        properties[key] = schema.clone();
    }
    let required: Vec<&str> = properties.as_object().unwrap().keys().map(String::as_str).collect();
    object(properties.clone(), &required)
}

#[test]
fn a_change_names_its_variants() {
    let union = |a: Value, b: Value, c: Value| json!({ "oneOf": [of_type("a", a), of_type("b", b), of_type("c", c)] });
    let (full, less) = (json!({ "x": { "type": "string" } }), json!({}));
    let old = union(full.clone(), full.clone(), full.clone());
    let removed = "diff-key-removed".to_owned();
    for (new, variant) in [
        (union(less.clone(), full.clone(), full.clone()), vec!["`type` \"a\"".to_owned()]),
        (union(less.clone(), full, less.clone()), vec!["`type` \"a\" or `type` \"c\"".to_owned()]),
        // A change of all variants names none.
        (union(less.clone(), less.clone(), less), Vec::new()),
    ] {
        assert_eq!(rules_with_variants(&old, &new), [(removed.clone(), variant)]);
    }
}

#[test]
fn a_nested_variant_is_named_after_the_outer_one() {
    let outer = |inner: Value| {
        let parts = json!({ "part": { "oneOf": [of_type("text", json!({})), of_type("file", inner)] } });
        json!({ "oneOf": [of_type("begin", json!({})), of_type("part", parts)] })
    };
    let found = rules_with_variants(&outer(json!({ "path": { "type": "string" } })), &outer(json!({})));
    let variant = ["`type` \"part\"".to_owned(), "`type` \"file\"".to_owned()];
    assert_eq!(found, [("diff-key-removed".to_owned(), variant.to_vec())]);
}

#[test]
fn variants_without_a_common_tag_are_named_by_their_keys() {
    let old = object(json!({ "id": {}, "a": {}, "b": {} }), &["id", "a", "b"]);
    let new = json!({ "anyOf": [
        object(json!({ "id": {}, "a": {}, "b": {} }), &["id", "a"]),
        object(json!({ "id": {}, "a": {}, "b": {} }), &["id", "b"]),
    ]});
    let found = rules_with_variants(&old, &new);
    let optional = |name: &str| ("diff-key-optional".to_owned(), vec![format!("`{name}`")]);
    assert_eq!(found, [optional("a"), optional("b")]);
}
