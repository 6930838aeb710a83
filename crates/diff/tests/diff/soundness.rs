//! Random schemas with small mutations: the reported changes are checked by the validator and by the schema algebra.

use crate::support::{assert_witnesses, changes, worst};
use agentnative_contract::Schema;
use agentnative_diff::ChangeSeverity;
use jsonschema::canonical::{self, Containment};
use serde_json::{Map, Value, json};

/// Deterministic random number generator.
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn choose<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let at = self.below(all.len());
        &all[at]
    }
}

fn schema(rng: &mut Rng, depth: usize) -> Value {
    let is_leaf = depth == 0;
    match rng.below(if is_leaf { 9 } else { 19 }) {
        0 => json!({ "type": "string" }),
        1 => json!({ "type": "integer" }),
        2 => json!({ "type": "number", "minimum": rng.below(3) }),
        3 => json!({ "enum": [rng.choose(&["a", "b"]), rng.choose(&["ab", ""])] }),
        4 => json!({ "type": ["string", "null"], "minLength": rng.below(3) }),
        5 => json!({ "type": "string", "pattern": rng.choose(&["^a", "b$", "^[ab]*$", "^(a|ab)$"]) }),
        6 => json!({ "const": rng.below(3) }),
        7 => json!({ "type": "integer", "maximum": rng.below(3), "multipleOf": 1 + rng.below(2) }),
        8 => json!({ "type": "boolean" }),
        9 => json!({ "type": "array", "items": schema(rng, depth - 1), "minItems": rng.below(2) }),
        10 => {
            json!({ "type": "array", "prefixItems": [schema(rng, depth - 1)], "items": rng.choose(&[false, true]) })
        }
        11 => json!({ "anyOf": [schema(rng, depth - 1), schema(rng, depth - 1)] }),
        12 => json!({ "oneOf": [tagged(rng, "a", depth), tagged(rng, "b", depth)] }),
        13 => json!({ "allOf": [schema(rng, depth - 1), object(rng, depth)] }),
        14 => json!({ "type": "object", "additionalProperties": schema(rng, depth - 1) }),
        15 => {
            let mut schema = object(rng, depth);
            schema["if"] = json!({ "properties": { "a": { "const": rng.choose(&["a", "b"]) } } });
            schema["then"] = json!({ "required": ["b"] });
            schema
        }
        _ => object(rng, depth),
    }
}

fn tagged(rng: &mut Rng, tag: &str, depth: usize) -> Value {
    json!({ "type": "object", "properties": { "a": { "const": tag }, "b": schema(rng, depth - 1) },
            "required": if rng.below(2) == 0 { json!(["a"]) } else { json!(["a", "b"]) } })
}

fn object(rng: &mut Rng, depth: usize) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for key in ["a", "b", "c"] {
        if rng.below(3) > 0 {
            properties.insert(key.to_owned(), schema(rng, depth - 1));
            if rng.below(2) == 0 {
                required.push(key);
            }
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties, "required": required });
    match rng.below(4) {
        0 => schema["additionalProperties"] = json!(false),
        1 => schema["maxProperties"] = json!(2),
        _ => {}
    }
    schema
}

/// Mutates one subschema.
fn mutated(rng: &mut Rng, schema: &Value) -> Value {
    let mut places = Vec::new();
    subschemas(schema, String::new(), &mut places);
    let mut new = schema.clone();
    let at = rng.choose(&places).clone();
    let place = new.pointer_mut(&at).unwrap();
    let members =
        place.as_object().map(|members| members.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    match rng.below(4) {
        0 => *place = self::schema(rng, 1),
        1 if !members.is_empty() => {
            let key = rng.choose(&members).clone();
            place.as_object_mut().unwrap().remove(&key);
        }
        2 if members.iter().any(|key| key == "required") => {
            let keys = ["a", "b", "c"];
            place["required"] = json!([rng.choose(&keys)]);
        }
        _ => *place = json!({ "anyOf": [place.clone(), self::schema(rng, 0)] }),
    }
    new
}

fn subschemas(schema: &Value, at: String, out: &mut Vec<String>) {
    out.push(at.clone());
    for keyword in ["properties", "prefixItems", "anyOf", "oneOf", "allOf"] {
        match schema.get(keyword) {
            Some(Value::Object(all)) => {
                all.iter()
                    .for_each(|(name, schema)| subschemas(schema, format!("{at}/{keyword}/{name}"), out));
            }
            Some(Value::Array(all)) => {
                all.iter()
                    .enumerate()
                    .for_each(|(nth, schema)| subschemas(schema, format!("{at}/{keyword}/{nth}"), out));
            }
            _ => {}
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(schema) = schema.get(keyword).filter(|schema| schema.is_object()) {
            subschemas(schema, format!("{at}/{keyword}"), out);
        }
    }
}

fn document(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth == 0 { 12 } else { 24 }) {
        0 => Value::Null,
        1 => json!(true),
        2..=4 => json!(rng.below(4)),
        5 => json!(0.5),
        6..=11 => json!(rng.choose(&["", "a", "b", "ab", "x"])),
        12..=14 => (0..rng.below(3)).map(|_| document(rng, depth - 1)).collect(),
        _ => {
            let mut members = Map::new();
            for key in ["a", "b", "c", "d"] {
                if rng.below(5) > 1 {
                    members.insert(key.to_owned(), document(rng, depth - 1));
                }
            }
            Value::Object(members)
        }
    }
}

fn covers(wide: &Value, narrow: &Value) -> Option<bool> {
    let canonical = |schema: &Value| canonical::options().offline().canonicalize(schema).ok();
    match canonical(wide)?.covers(&canonical(narrow)?).ok()? {
        Containment::Yes => Some(true),
        Containment::No => Some(false),
        Containment::Unknown => None,
    }
}

#[test]
fn no_random_breaking_change_is_missed_or_false() {
    let pairs: u64 = std::env::var("DIFF_PAIRS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let (mut missed, mut false_positives, mut breaking, mut decided) = (Vec::new(), Vec::new(), 0, 0);
    for nth in 0..pairs {
        let mut rng = Rng(0x9e37_79b9_7f4a_7c15 ^ (nth + 1).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let old = schema(&mut rng, 2);
        let new = mutated(&mut rng, &old);
        let found = changes(&old, &new);
        let worst_class = worst(&found);
        assert_witnesses(&old, &new, &found);
        breaking += usize::from(worst_class == Some(ChangeSeverity::Breaking));
        decided += usize::from(worst_class != Some(ChangeSeverity::Undecided));
        let rules: Vec<&str> = found.iter().map(|change| change.rule.as_str()).collect();
        let pair = format!("{nth}\n  old {old}\n  new {new}\n  told {rules:?}");
        if worst_class == Some(ChangeSeverity::Breaking) && covers(&old, &new) == Some(true) {
            false_positives.push(pair);
            continue;
        }
        if worst_class.is_some_and(|worst_class| worst_class <= ChangeSeverity::Risky) {
            continue;
        }
        if covers(&old, &new) == Some(false) {
            missed.push(format!("{pair}\n  by the algebra"));
            continue;
        }
        let (before, after) = (Schema::compile(&old).unwrap(), Schema::compile(&new).unwrap());
        for _ in 0..60 {
            let document = document(&mut rng, 3);
            if after.violations(&document).is_empty() && !before.violations(&document).is_empty() {
                missed.push(format!("{pair}\n  by {document}"));
                break;
            }
        }
    }
    assert!(
        missed.is_empty(),
        "{} of {pairs} are missed\n{}",
        missed.len(),
        missed.iter().take(8).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(
        false_positives.is_empty(),
        "{} of {pairs} are false\n{}",
        false_positives.len(),
        false_positives.iter().take(8).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(
        breaking as u64 > pairs / 4 && decided as u64 > pairs * 9 / 10,
        "{breaking} breaking, {decided} decided"
    );
}
