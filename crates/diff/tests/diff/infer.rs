//! Schema inference: every sample is valid, the order of samples is irrelevant, and records, maps, closed sets and
//! event types are distinguished.

use crate::own_process::in_own_process;
use agentnative_contract::{Framing, Schema};
use agentnative_diff::infer::{Inference, InferenceOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

fn infer_from(inference: &mut Inference, text: &str, framing: Framing, threads: usize) {
    let problems = inference.add_input(text.as_bytes(), Some(framing), threads, &mut |_| ()).unwrap();
    assert_eq!(problems, [], "{text}");
}

fn lines(samples: &[Value]) -> String {
    samples.iter().map(|sample| format!("{sample}\n")).collect()
}

fn infer(samples: &[Value]) -> Value {
    let mut inference = Inference::new();
    infer_from(&mut inference, &lines(samples), Framing::Lines, 1);
    let mut schema = inference.schema(&InferenceOptions::default());
    assert!(schema.as_object_mut().unwrap().remove("$schema").is_some());
    schema
}

fn repeated(samples: &[Value], times: usize) -> Vec<Value> {
    samples.iter().cycle().take(samples.len() * times).cloned().collect()
}

/// Generates values as programs print them: few keys and words, so that values have something in common.
fn value() -> impl Strategy<Value = Value> {
    let texts = prop::sample::select(vec![
        "a",
        "done",
        "error",
        "two words",
        "",
        "2026-03-01T10:00:00Z",
        "2026-02-29T10:00:00Z",
        "9f8e7d6c-1234-4321-8765-0123456789ab",
        "https://example.org/a%20b?c#d",
        "https://example.org:99999/",
        "é\u{0}\u{202e}",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter_map("finite", |number| serde_json::Number::from_f64(number).map(Value::from)),
        Just(json!(1.0)),
        texts.prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "type", "kind", "event", "ok", "success", "status", "role", "id", "a", "b/c", "2026", "", "~",
    ]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6).prop_map(|members| {
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Value>()
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn every_sample_is_valid(samples in prop::collection::vec(value(), 1..30), threshold in 0..3_u64) {
        let mut inference = Inference::new();
        infer_from(&mut inference, &lines(&samples), Framing::Lines, 1);
        for rules in [
            InferenceOptions { enum_threshold: threshold, tuples: 1, for_other_data: false },
            InferenceOptions { enum_threshold: threshold, tuples: 1, for_other_data: true },
            InferenceOptions::default(),
        ] {
            let schema = inference.schema(&rules);
            let compiled = Schema::compile(&schema).unwrap();
            for sample in &samples {
                let violations = compiled.violations(sample);
                prop_assert!(violations.is_empty(), "{sample}\n{schema:#}\n{violations:?}");
            }
        }
    }

    #[test]
    fn order_and_grouping_of_samples_make_no_difference(
        samples in prop::collection::vec(value(), 1..30).prop_shuffle(),
        order in any::<prop::sample::Index>(),
        seed in any::<u64>(),
    ) {
        let rules = InferenceOptions { enum_threshold: 2, tuples: 1, for_other_data: false };
        let mut one = Inference::new();
        infer_from(&mut one, &lines(&samples), Framing::Lines, 1);
        let mut others = samples.clone();
        others.sort_by_key(|sample| (sample.to_string().len() as u64).wrapping_mul(seed | 1));
        let (first, second) = others.split_at(order.index(others.len()));
        let mut two = Inference::new();
        infer_from(&mut two, &lines(second), Framing::Lines, 2);
        for sample in first {
            infer_from(&mut two, &sample.to_string(), Framing::Document, 1);
        }
        prop_assert_eq!(one.schema(&rules), two.schema(&rules));
        prop_assert_eq!(one.records(), two.records());
    }
}

#[test]
fn keys_that_are_always_present_are_required() {
    let schema = infer(&[json!({"a": 1, "b": "x"}), json!({"a": 2})]);
    let expected = json!({"type": "object", "required": ["a"],
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}});
    assert_eq!(schema, expected);
}

#[test]
fn a_fraction_turns_integers_into_numbers() {
    assert_eq!(infer(&[json!({"a": 1})])["properties"]["a"], json!({"type": "integer"}));
    assert_eq!(infer(&[json!({"a": 1}), json!({"a": 1.5})])["properties"]["a"], json!({"type": "number"}));
    let nullable = infer(&[json!({"a": 1}), json!({"a": null})]);
    assert_eq!(nullable["properties"]["a"], json!({"type": ["integer", "null"]}));
}

#[test]
fn arrays_are_empty_uniform_or_tuples() {
    let of = |arrays: &[Value]| infer(&arrays.iter().map(|array| json!({ "a": array })).collect::<Vec<_>>());
    let items = |schema: Value| schema["properties"]["a"].clone();
    assert_eq!(items(of(&[json!([]), json!([])])), json!({"type": "array"}));
    let uniform = json!({"type": "array", "items": {"type": "integer"}});
    assert_eq!(items(of(&[json!([1, 2]), json!([3, 4]), json!([5, 6])])), uniform);
    assert_eq!(items(of(&[json!([1, 2]), json!([])])), uniform);
    let pair = [json!(["x", 1]), json!(["y", 2]), json!(["z", 3])];
    let tuple = json!({"type": "array", "items": false, "minItems": 2,
        "prefixItems": [{"type": "string"}, {"type": "integer"}]});
    assert_eq!(items(of(&pair)), tuple);
    // Two arrays are not enough evidence, and another length is evidence to the contrary.
    let list = json!({"type": "array", "items": {"type": ["string", "integer"]}});
    assert_eq!(items(of(&pair[..2])), list);
    assert_eq!(items(of(&[&pair[..], &[json!(["w"])]].concat())), list);
}

#[test]
fn a_closed_set_needs_strong_evidence() {
    let of = |words: &[&str], times| {
        let samples: Vec<Value> = words.iter().map(|word| json!({ "a": word })).collect();
        infer(&repeated(&samples, times))["properties"]["a"].clone()
    };
    assert_eq!(of(&["read", "write"], 20), json!({"type": "string", "enum": ["read", "write"]}));
    let open = json!({"type": "string"});
    assert_eq!(of(&["read", "write"], 19), open);
    // A single value does not exclude others; identifiers, paths and versions are never a closed set.
    assert_eq!(of(&["read"], 100), open);
    assert_eq!(of(&["ses_1a", "ses_2b"], 100), open);
    assert_eq!(of(&["src/main.rs", "src/lib.rs"], 100), open);
    let forty: Vec<String> = (0..40).map(|nth| format!("id-{}", "x".repeat(nth))).collect();
    assert_eq!(of(&forty.iter().map(String::as_str).collect::<Vec<_>>(), 100), open);
    // A word that occurred only once suggests that there are more.
    let mut samples = repeated(&[json!({"a": "read"}), json!({"a": "write"})], 100);
    samples.push(json!({"a": "append"}));
    assert_eq!(infer(&samples)["properties"]["a"], open);
    samples.push(json!({"a": "append"}));
    assert_eq!(infer(&samples)["properties"]["a"]["enum"], json!(["append", "read", "write"]));
    samples.push(json!({"a": null}));
    assert_eq!(infer(&samples)["properties"]["a"]["enum"], json!(["append", "read", "write", null]));
}

#[test]
fn a_format_is_inferred_if_all_samples_have_it() {
    let of = |texts: &[&str]| {
        let samples: Vec<Value> = texts.iter().map(|text| json!({ "a": text })).collect();
        infer(&samples)["properties"]["a"]["format"].clone()
    };
    assert_eq!(of(&["2026-03-01T10:00:00Z", "2024-02-29T23:59:59.123+05:30"]), "date-time");
    assert_eq!(of(&["9f8e7d6c-1234-4321-8765-0123456789ab"]), "uuid");
    assert_eq!(of(&["https://example.org/a?b=%20", "http://127.0.0.1:8080"]), "uri");
    for other in ["2026-02-29T10:00:00Z", "2026-03-01", "2026-03-01T24:00:00Z", "", "https://a b/", "c:/x"] {
        assert_eq!(of(&[other]), Value::Null, "{other}");
        assert_eq!(of(&["2026-03-01T10:00:00Z", other]), Value::Null, "{other}");
    }
}

#[test]
fn keys_that_are_data_make_a_map() {
    let files = infer(&[json!({"src/a.rs": {"lines": 3}}), json!({"src/b.rs": {"lines": 4}})]);
    let values =
        json!({"type": "object", "required": ["lines"], "properties": {"lines": {"type": "integer"}}});
    assert_eq!(files, json!({"type": "object", "additionalProperties": values}));
    // Many names, each of them rarely present.
    let names: Vec<Value> =
        (b'a'..=b'z').map(|letter| json!({format!("name{}", char::from(letter)): 1})).collect();
    assert_eq!(infer(&names), json!({"type": "object", "additionalProperties": {"type": "integer"}}));
    // A wide record stays a record, and so does one whose values have nothing in common.
    let wide: Value = (b'a'..=b'z').map(|letter| (format!("name{}", char::from(letter)), json!(1))).collect();
    assert_eq!(infer(&[wide.clone(), wide])["required"].as_array().unwrap().len(), 26);
    let record = infer(&[json!({"2xx": 1, "4xx": "none"})]);
    assert_eq!(record["required"], json!(["2xx", "4xx"]));
    // The limits hold for any keys.
    let many: Vec<Value> = (0..2000).map(|nth| json!({format!("k{nth}"): [nth]})).collect();
    assert_eq!(infer(&many)["additionalProperties"], json!({"type": "array", "items": {"type": "integer"}}));
}

#[test]
fn each_type_of_event_has_its_own_shape() {
    let events = [
        json!({"type": "start", "id": "x"}),
        json!({"type": "text", "part": {"type": "plain", "text": "a"}}),
        json!({"type": "text", "part": {"type": "link", "href": "b"}}),
        json!({"type": "text", "part": {"type": "plain", "text": "a"}}),
        json!({"type": "text", "part": {"type": "link", "href": "b"}}),
        json!({"type": "end", "code": 0}),
    ];
    let schema = infer(&events);
    let shapes = schema["oneOf"].as_array().unwrap();
    let types: Vec<&Value> = shapes.iter().map(|shape| &shape["properties"]["type"]["const"]).collect();
    assert_eq!(types, ["end", "start", "text"]);
    assert_eq!(shapes[0]["required"], json!(["code", "type"]));
    let parts = shapes[2]["properties"]["part"]["oneOf"].as_array().unwrap();
    assert_eq!(parts[0]["required"], json!(["href", "type"]));
    assert_eq!(parts[1]["required"], json!(["text", "type"]));

    let mut inference = Inference::new();
    infer_from(&mut inference, &lines(&events), Framing::Lines, 2);
    let variants = inference.variants("type", &InferenceOptions::default()).unwrap();
    let found: Vec<(&Value, u64)> = variants.iter().map(|variant| (&variant.tag, variant.count)).collect();
    assert_eq!(found, [(&json!("end"), 1), (&json!("start"), 1), (&json!("text"), 4)]);
    infer_from(&mut inference, "{\"other\":1}\n", Framing::Lines, 1);
    assert!(inference.variants("type", &InferenceOptions::default()).is_none());
}

#[test]
fn success_and_error_are_separate_variants() {
    for key in ["ok", "success"] {
        let schema = infer(&[json!({key: true, "data": 1}), json!({key: false, "error": "no"})]);
        let shapes = schema["oneOf"].as_array().unwrap();
        assert_eq!(shapes[0]["properties"][key], json!({"const": false}));
        assert_eq!(shapes[0]["required"].as_array().unwrap().len(), 2);
        assert_eq!(shapes[1]["properties"]["data"], json!({"type": "integer"}));
        // Objects with the same shape are one shape.
        let same = infer(&[json!({key: true, "data": 1}), json!({key: false, "data": 2})]);
        assert_eq!(same["properties"][key], json!({"type": "boolean"}));
    }
}

#[test]
fn a_type_that_is_data_is_not_a_tag() {
    let mut samples: Vec<Value> = (0..100).map(|nth| json!({"type": format!("type{nth}"), "a": 1})).collect();
    assert_eq!(infer(&samples)["properties"]["type"], json!({"type": "string"}));
    samples.truncate(2);
    samples.push(json!({"type": "of two words", "a": 1}));
    assert_eq!(infer(&samples)["properties"]["type"], json!({"type": "string"}));
}

#[test]
fn large_values_have_the_same_shape_as_small_ones() {
    in_own_process("infer::large_values_have_the_same_shape_as_small_ones", || {
        let element = |nth: u64| {
            json!({"type": if nth.is_multiple_of(3) { "a" } else { "b" }, "id": format!("id{nth}"), "at": [nth, "x"],
                "more": {"n": if nth.is_multiple_of(3) { json!(nth) } else { json!(0.5) }, "e": [], "b": "b"}, "c": null})
        };
        let few: Vec<Value> = (0..60).map(element).collect();
        let many: Vec<Value> = (0..20_000).map(element).collect();
        let numbers: Vec<u64> = (0..200_000).collect();
        let small = json!({"first": few, "then": {"deep": [few]}, "type": "x", "numbers": [1, 2, 3, 4, 5, 6, 7, 8, 9]});
        let large = json!({"first": many, "then": {"deep": [many]}, "type": "x", "numbers": numbers});
        assert_eq!(infer(&[small.clone(), small]), infer(&[large.clone(), large]));
        let keys: Value = (0..100_000).map(|nth| (format!("{nth}"), json!({"a": [1, "x"]}))).collect();
        let values = json!({"type": "object", "required": ["a"], "properties":
            {"a": {"type": "array", "items": false, "minItems": 2, "prefixItems": [{"type": "integer"}, {"type": "string"}]}}});
        assert_eq!(infer(&[keys]), json!({"type": "object", "additionalProperties": values}));
    });
}

#[test]
fn a_long_line_and_many_chunks_are_read() {
    in_own_process("infer::a_long_line_and_many_chunks_are_read", || {
        let long = json!({"type": "long", "text": "x".repeat(17 << 20)});
        let short: Vec<Value> =
            (0..50_000).map(|nth| json!({"type": "short", "n": nth, "pad": "y".repeat(40)})).collect();
        let text = lines(&short) + &lines(&[long]) + &lines(&short);
        for threads in [1, 4] {
            let mut inference = Inference::new();
            infer_from(&mut inference, &text, Framing::Lines, threads);
            assert_eq!(inference.records(), 100_001);
            assert_eq!(inference.bytes(), text.len() as u64);
            let variants = inference.variants("type", &InferenceOptions::default()).unwrap();
            assert_eq!(variants.iter().map(|variant| variant.count).collect::<Vec<_>>(), [1, 100_000]);
        }
    });
}

#[test]
fn invalid_samples_are_reported_in_order_with_their_positions() {
    let good: String =
        (0..100_000).map(|nth| format!("{{\"n\":{nth},\"pad\":\"{}\"}}\n", "y".repeat(30))).collect();
    let text = format!("{good}{{\"a\":1,\"a\":2}}\n{good}{{\"a\":}}\n");
    for threads in [1, 4] {
        let mut inference = Inference::new();
        let problems =
            inference.add_input(text.as_bytes(), Some(Framing::Lines), threads, &mut |_| ()).unwrap();
        let first = &problems[0];
        assert_eq!(
            (first.line, first.column, first.rule.as_str()),
            (Some(100_001), Some(8), "duplicate-key")
        );
        assert_eq!(first.pointer, "/a");
    }
}

#[test]
fn the_framing_is_detected_from_the_beginning() {
    let records = |text: &str| {
        let mut inference = Inference::new();
        let problems = inference.add_input(text.as_bytes(), None, 1, &mut |_| ()).unwrap();
        (inference.records(), problems.len())
    };
    assert_eq!(records("{\"a\":1}\n{\"a\":2}\n"), (2, 0));
    assert_eq!(records("{\"a\":1}\n"), (1, 0));
    assert_eq!(records("{\n\"a\":1}\n"), (1, 0));
    assert_eq!(records("[\n{\"a\":1}\n,\n{\"a\":1}\n]"), (1, 0));
    assert_eq!(records("{}\n\n"), (1, 0));
    assert_eq!(records(""), (0, 1));
}

#[test]
fn samples_with_too_many_positions_are_an_error() {
    in_own_process("infer::samples_with_too_many_positions_are_an_error", || {
        let inner =
            |a: usize, b: usize| -> Value { (0..100).map(|c| (format!("c{a}x{b}y{c}"), json!(1))).collect() };
        let middle = |a: usize| -> Value { (0..100).map(|b| (format!("b{b}"), inner(a, b))).collect() };
        let outer: Value = (0..100).map(|a| (format!("a{a}"), middle(a))).collect();
        let text = outer.to_string();
        let error = Inference::new().add_input(text.as_bytes(), None, 1, &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("different positions"), "{error}");
    });
}

#[test]
fn values_of_any_depth_are_accepted() {
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let mut inference = Inference::new();
    infer_from(&mut inference, &deep, Framing::Document, 1);
    let schema = inference.schema(&InferenceOptions::default());
    assert!(
        Schema::compile(&schema).unwrap().violations(&serde_json::from_str("[[[]]]").unwrap()).is_empty()
    );
}
