//! Strategies for documents and for schemas that constrain them.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Generates any value, with keys and strings that the schemas mention.
pub fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just("message.part.updated".to_owned()),
        Just("assistant".to_owned()),
        Just("tool".to_owned()),
        Just("completed".to_owned()),
        Just(String::new()),
        any::<String>(),
        "[a-c]{1,3}"
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-3..3_i64).prop_map(Value::from),
        (-6..6_i64).prop_map(|half| json!(half as f64 / 2.0)),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let key = prop_oneof![
            Just("a".to_owned()),
            Just("b".to_owned()),
            Just("type".to_owned()),
            "[a-e]{1,2}",
            any::<String>()
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Returns a schema of objects with this `type`.
fn branch(name: &str, of_a: &Value) -> Value {
    json!({ "required": ["type"], "type": "object", "properties": { "type": { "const": name }, "a": of_a } })
}

/// Generates a schema that constrains values of [`value`].
pub fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "integer"})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"minimum": -1.5})),
        Just(json!({"exclusiveMaximum": 2})),
        Just(json!({"multipleOf": 0.5})),
        Just(json!({"minLength": 2})),
        Just(json!({"pattern": "^[ab]+$"})),
        Just(json!({"enum": [1, 1.0, "a", null, {"a": 1}, [1]]})),
        Just(json!({"const": 2})),
        Just(json!({"uniqueItems": true})),
        Just(json!({"maxItems": 2, "minItems": 1})),
        Just(json!({"maxProperties": 2})),
        Just(json!({"required": ["a"]})),
        Just(json!(false)),
        Just(json!(true)),
        Just(json!({"propertyNames": {"maxLength": 1}})),
        Just(json!({"contains": {"type": "integer"}})),
        Just(json!({"type": ["integer", "string", "object"]})),
        Just(json!({"enum": ["a", "b", "ab"]})),
        Just(json!({"minimum": -1, "maximum": 2})),
        Just(json!({"exclusiveMinimum": -2, "exclusiveMaximum": 1})),
        Just(json!({"maxLength": 1})),
        Just(json!({"required": ["type", "a"], "minProperties": 2})),
        value().prop_map(|value| json!({ "const": value })),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|inner| json!({"properties": {"a": inner}, "additionalProperties": false})),
            inner.clone().prop_map(|inner| json!({"type": "array", "items": inner, "minItems": 1})),
            inner.clone().prop_map(|inner| json!({ "additionalProperties": inner })),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| json!({ "anyOf": [one, other] })),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| json!({ "oneOf": [one, other] })),
            (inner.clone(), inner.clone())
                .prop_map(|(one, other)| json!({ "allOf": [one, other], "unevaluatedProperties": false })),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| json!({ "if": one, "then": other })),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| json!({ "if": one, "else": other })),
            (inner.clone(), inner.clone())
                .prop_map(|(one, other)| json!({ "prefixItems": [one], "items": other })),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| {
                json!({ "patternProperties": { "^a": one }, "additionalProperties": other })
            }),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| {
                json!({ "required": ["b"], "properties": { "a": one }, "additionalProperties": other })
            }),
            (inner.clone(), inner.clone(), prop::sample::select(vec!["anyOf", "oneOf"])).prop_map(
                |(one, other, keyword)| json!({ keyword: [branch("a", &one), branch("b", &other)] })
            ),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| {
                let case = |name: &str, then: &Value| {
                    let test = json!({ "properties": { "type": { "const": name } }, "required": ["type"] });
                    json!({ "if": test, "then": then })
                };
                json!({ "allOf": [case("a", &one), case("b", &other)] })
            }),
            inner.prop_map(|inner| json!({ "not": inner })),
        ]
    })
}
