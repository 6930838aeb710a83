//! References of every draft: their targets are compared, and dangling ones are undecided.

use crate::support::{changes, rules};
use agentnative_contract::{Contract, ExitSpec, Framing, OutputSpec, Payload};
use agentnative_diff::{ChangeSeverity, compare};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Returns the rules that are reported if the target type changes from integer to number.
fn rules_of_widening(schema: impl Fn(&str) -> Value) -> Vec<String> {
    assert!(changes(&schema("integer"), &schema("integer")).is_empty());
    rules(&changes(&schema("integer"), &schema("number")))
}

#[test]
fn every_kind_of_reference_is_followed() {
    let object = |reference: Value| json!({ "type": "object", "properties": { "a": reference } });
    let with = |mut schema: Value, members: Value| {
        schema.as_object_mut().unwrap().append(&mut members.as_object().unwrap().clone());
        schema
    };
    let draft = |name: &str| format!("http://json-schema.org/{name}/schema#");
    type SchemaFn<'a> = Box<dyn Fn(&str) -> Value + 'a>;
    let all: [(&str, SchemaFn<'_>); 7] = [
        (
            "a pointer with escapes",
            Box::new(|kind| {
                with(
                    object(json!({ "$ref": "#/$defs/a~1b%20c" })),
                    json!({ "$defs": { "a/b c": { "type": kind } } }),
                )
            }),
        ),
        (
            "an anchor",
            Box::new(|kind| {
                let defs = json!({ "$defs": { "n": { "$anchor": "n", "type": kind } } });
                with(object(json!({ "$ref": "#n" })), defs)
            }),
        ),
        (
            "a resource within, by its own address",
            Box::new(|kind| {
                let defs = json!({ "$id": "https://example.com/dir/root.json",
                    "$defs": { "n": { "$id": "n.json", "$ref": "#/$defs/m", "$defs": { "m": { "type": kind } } } } });
                with(object(json!({ "$ref": "n.json" })), defs)
            }),
        ),
        (
            "a place of a tuple of draft 7",
            Box::new(|kind| {
                let defs = json!({ "$schema": draft("draft-07"),
                    "definitions": { "p": { "items": [{ "type": kind }], "additionalItems": false } } });
                with(object(json!({ "$ref": "#/definitions/p/items/0" })), defs)
            }),
        ),
        (
            "an ID of draft 4",
            Box::new(|kind| {
                let defs = json!({ "$schema": draft("draft-04"), "definitions": { "n": { "id": "#n", "type": kind } } });
                with(object(json!({ "$ref": "#n", "type": "string" })), defs)
            }),
        ),
        (
            "a dynamic anchor that is the only one",
            Box::new(|kind| {
                let defs = json!({ "$defs": { "n": { "$dynamicAnchor": "n", "type": kind } } });
                with(object(json!({ "$dynamicRef": "#n" })), defs)
            }),
        ),
        (
            "the document itself, through a reference",
            Box::new(
                |kind| json!({ "type": "object", "properties": { "a": { "type": kind }, "b": { "$ref": "#" } } }),
            ),
        ),
    ];
    for (name, schema) in all {
        assert_eq!(rules_of_widening(schema), ["diff-integer-became-number"], "{name}");
    }
}

#[test]
fn other_documents_are_followed_or_undecided() {
    let spec = |kind: &str, is_included: bool| OutputSpec {
        framing: Some(Framing::Document),
        schema: Some(json!({ "$ref": "file:///a/main.json" })),
        documents: BTreeMap::from([
            (
                "file:///a/main.json".to_owned(),
                json!({ "properties": { "n": { "$ref": "more.json#/$defs/n" } } }),
            ),
            (
                if is_included { "file:///a/more.json" } else { "file:///a/other.json" }.to_owned(),
                json!({ "$defs": { "n": { "type": kind } } }),
            ),
        ]),
        ..OutputSpec::default()
    };
    let rules_between = |old: OutputSpec, new: OutputSpec| rules(&compare(&[old], &[new]));
    assert_eq!(rules_between(spec("integer", true), spec("number", true)), ["diff-integer-became-number"]);
    assert_eq!(rules_between(spec("integer", false), spec("number", false)), ["diff-undecided"]);
    assert!(
        rules_between(spec("integer", false), spec("integer", true)).contains(&"diff-undecided".to_owned())
    );
}

#[test]
fn a_dangling_reference_is_undecided_at_its_pointer_only() {
    let schema = |reference: &str, kind: &str| json!({ "type": "object", "properties": { "a": { "$ref": reference }, "b": { "type": kind } } });
    let found = changes(&schema("#/$defs/x", "string"), &schema("#/$defs/y", "string"));
    assert_eq!(rules(&found), ["diff-undecided"]);
    assert_eq!((found[0].class, found[0].pointer.as_str()), (ChangeSeverity::Undecided, "/a"));
    let found = changes(&schema("#/$defs/x", "integer"), &schema("#/$defs/x", "number"));
    assert_eq!(rules(&found), ["diff-integer-became-number", "diff-undecided"]);
    let two = |kind: &str| {
        json!({ "type": "object", "properties": { "a": { "$dynamicRef": "#n" } },
            "$defs": { "n": { "$dynamicAnchor": "n", "type": kind },
                       "m": { "$id": "m", "$dynamicAnchor": "n", "type": kind } } })
    };
    assert_eq!(rules(&changes(&two("integer"), &two("number"))), ["diff-undecided"]);
}

/// An unknown part may have changed although both sides have the same text.
#[test]
fn an_unknown_part_is_never_equal() {
    let unknown = |kind: &str, members: Value| {
        let mut schema = json!({ "$dynamicRef": "#n",
            "$defs": { "n": { "$dynamicAnchor": "n", "type": kind }, "m": { "$id": "m", "$dynamicAnchor": "n" } } });
        schema.as_object_mut().unwrap().append(&mut members.as_object().unwrap().clone());
        schema
    };
    for members in [
        json!({ "type": "null" }),
        json!({ "enum": ["a", "b"] }),
        json!({ "enum": [{}, { "a": 1 }] }),
        json!({ "type": "array" }),
        json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
    ] {
        let found = changes(&unknown("string", members.clone()), &unknown("null", members.clone()));
        assert_eq!(rules(&found), ["diff-undecided"], "{members}");
    }
    let listed = changes(&unknown("string", json!({ "type": "string" })), &json!({ "enum": ["a"] }));
    assert_eq!(rules(&listed), ["diff-enum-closed", "diff-undecided"]);
}

#[test]
fn a_long_chain_of_references_is_followed_to_its_end_or_undecided() {
    let chain = |link: fn(Value) -> Value, links: usize, end: &str, mut schema: Value| {
        let link = |nth: usize| link(json!({ "$ref": format!("#/$defs/{}", nth + 1) }));
        let mut all: Map<String, Value> = (0..links).map(|nth| (nth.to_string(), link(nth))).collect();
        all.insert(links.to_string(), json!({ "type": end }));
        schema["$defs"] = all.into();
        schema
    };
    let starts = |reference: Value| {
        [
            reference.clone(),
            json!({ "type": "object", "required": ["a"], "properties": { "a": reference } }),
            json!({ "type": "array", "items": reference }),
        ]
    };
    for links in [10, 200, 499, 600, 3_000] {
        for start in starts(json!({ "$ref": "#/$defs/0" })) {
            let side = |end: &str| chain(|link| link, links, end, start.clone());
            assert_eq!(rules(&changes(&side("integer"), &side("number"))), ["diff-integer-became-number"]);
            assert_eq!(changes(&side("integer"), &side("integer")), []);
        }
        let link = |link: Value| json!({ "allOf": [link], "minimum": 1 });
        for start in starts(json!({ "$ref": "#/$defs/0" })) {
            let side = |end: &str| chain(link, links, end, start.clone());
            let found = changes(&side("integer"), &side("number"));
            assert!(
                matches!(found[0].class, ChangeSeverity::Breaking | ChangeSeverity::Undecided),
                "{links}: {found:?}"
            );
        }
        let start = json!({ "type": "array", "contains": { "$ref": "#/$defs/0" } });
        let side = |end: &str| chain(|link| link, links, end, start.clone());
        let found = changes(&side("integer"), &side("number"));
        assert!(
            matches!(found[0].class, ChangeSeverity::Breaking | ChangeSeverity::Undecided),
            "{links}: {found:?}"
        );
    }
}

#[test]
fn a_keyword_of_another_draft_has_no_effect() {
    let never = json!({ "not": {} });
    for (draft, keyword, value) in [
        ("https://json-schema.org/draft/2020-12/schema", "$recursiveRef", json!("#")),
        ("http://json-schema.org/draft-07/schema#", "prefixItems", json!([never])),
        ("http://json-schema.org/draft-07/schema#", "unevaluatedProperties", json!(false)),
        ("http://json-schema.org/draft-06/schema#", "if", json!(true)),
        ("http://json-schema.org/draft-04/schema#", "const", json!(1)),
    ] {
        let schema = |more: &[(&str, Value)]| {
            let mut schema = json!({ "$schema": draft, "type": "array", "else": never });
            schema
                .as_object_mut()
                .unwrap()
                .extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
            schema
        };
        assert_eq!(changes(&schema(&[]), &schema(&[(keyword, value)])), [], "{keyword}");
    }
}

/// A failing probe with an event contract prints no events on either side.
#[test]
fn a_stream_that_stays_empty_is_no_change() {
    let contract = Contract::bundled("opencode-run").unwrap();
    let ends = |stdout| OutputSpec {
        exits: vec![ExitSpec { codes: vec![1], stdout, ..ExitSpec::default() }],
        ..OutputSpec::from_contract(&contract)
    };
    let rules_between = |old, new| rules(&compare(&[ends(Some(old))], &[ends(Some(new))]));
    assert!(rules_between(Payload::Nothing, Payload::Nothing).is_empty());
    assert!(!rules_between(Payload::Whole, Payload::Nothing).is_empty());
}
