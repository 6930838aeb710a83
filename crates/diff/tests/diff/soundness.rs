//! Made-up schemas and small changes of them: what is told of a pair is held to the validator and to the
//! algebra of schemas.

use crate::support::{changes, hold_witnesses, worst};
use agentnative_contract::Schema;
use agentnative_diff::Class;
use jsonschema::canonical::{self, Containment};
use serde_json::{Map, Value, json};

/// A source of numbers that gives the same ones each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let at = self.roll(all.len());
        &all[at]
    }
}

fn schema(dice: &mut Dice, depth: usize) -> Value {
    let deep = depth == 0;
    match dice.roll(if deep { 9 } else { 19 }) {
        0 => json!({ "type": "string" }),
        1 => json!({ "type": "integer" }),
        2 => json!({ "type": "number", "minimum": dice.roll(3) }),
        3 => json!({ "enum": [dice.of(&["a", "b"]), dice.of(&["ab", ""])] }),
        4 => json!({ "type": ["string", "null"], "minLength": dice.roll(3) }),
        5 => json!({ "type": "string", "pattern": dice.of(&["^a", "b$", "^[ab]*$", "^(a|ab)$"]) }),
        6 => json!({ "const": dice.roll(3) }),
        7 => json!({ "type": "integer", "maximum": dice.roll(3), "multipleOf": 1 + dice.roll(2) }),
        8 => json!({ "type": "boolean" }),
        9 => json!({ "type": "array", "items": schema(dice, depth - 1), "minItems": dice.roll(2) }),
        10 => {
            json!({ "type": "array", "prefixItems": [schema(dice, depth - 1)], "items": dice.of(&[false, true]) })
        }
        11 => json!({ "anyOf": [schema(dice, depth - 1), schema(dice, depth - 1)] }),
        12 => json!({ "oneOf": [tagged(dice, "a", depth), tagged(dice, "b", depth)] }),
        13 => json!({ "allOf": [schema(dice, depth - 1), object(dice, depth)] }),
        14 => json!({ "type": "object", "additionalProperties": schema(dice, depth - 1) }),
        15 => {
            let mut schema = object(dice, depth);
            schema["if"] = json!({ "properties": { "a": { "const": dice.of(&["a", "b"]) } } });
            schema["then"] = json!({ "required": ["b"] });
            schema
        }
        _ => object(dice, depth),
    }
}

fn tagged(dice: &mut Dice, tag: &str, depth: usize) -> Value {
    json!({ "type": "object", "properties": { "a": { "const": tag }, "b": schema(dice, depth - 1) },
            "required": if dice.roll(2) == 0 { json!(["a"]) } else { json!(["a", "b"]) } })
}

fn object(dice: &mut Dice, depth: usize) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for key in ["a", "b", "c"] {
        if dice.roll(3) > 0 {
            properties.insert(key.to_owned(), schema(dice, depth - 1));
            if dice.roll(2) == 0 {
                required.push(key);
            }
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties, "required": required });
    match dice.roll(4) {
        0 => schema["additionalProperties"] = json!(false),
        1 => schema["maxProperties"] = json!(2),
        _ => {}
    }
    schema
}

/// The schema with one place of it changed.
fn changed(dice: &mut Dice, schema: &Value) -> Value {
    let mut places = Vec::new();
    subschemas(schema, String::new(), &mut places);
    let mut new = schema.clone();
    let at = dice.of(&places).clone();
    let place = new.pointer_mut(&at).unwrap();
    let members =
        place.as_object().map(|members| members.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    match dice.roll(4) {
        0 => *place = self::schema(dice, 1),
        1 if !members.is_empty() => {
            let key = dice.of(&members).clone();
            place.as_object_mut().unwrap().remove(&key);
        }
        2 if members.iter().any(|key| key == "required") => {
            let keys = ["a", "b", "c"];
            place["required"] = json!([dice.of(&keys)]);
        }
        _ => *place = json!({ "anyOf": [place.clone(), self::schema(dice, 0)] }),
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

fn document(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth == 0 { 12 } else { 24 }) {
        0 => Value::Null,
        1 => json!(true),
        2..=4 => json!(dice.roll(4)),
        5 => json!(0.5),
        6..=11 => json!(dice.of(&["", "a", "b", "ab", "x"])),
        12..=14 => (0..dice.roll(3)).map(|_| document(dice, depth - 1)).collect(),
        _ => {
            let mut members = Map::new();
            for key in ["a", "b", "c", "d"] {
                if dice.roll(5) > 1 {
                    members.insert(key.to_owned(), document(dice, depth - 1));
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
fn no_made_up_break_is_missed_and_none_is_made_up() {
    let pairs: u64 = std::env::var("DIFF_PAIRS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let (mut missed, mut alarms, mut breaking, mut decided) = (Vec::new(), Vec::new(), 0, 0);
    for nth in 0..pairs {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (nth + 1).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let old = schema(&mut dice, 2);
        let new = changed(&mut dice, &old);
        let found = changes(&old, &new);
        let told = worst(&found);
        hold_witnesses(&old, &new, &found);
        breaking += usize::from(told == Some(Class::Breaking));
        decided += usize::from(told != Some(Class::Undecided));
        let rules: Vec<&str> = found.iter().map(|change| change.rule.as_str()).collect();
        let pair = format!("{nth}\n  old {old}\n  new {new}\n  told {rules:?}");
        if told == Some(Class::Breaking) && covers(&old, &new) == Some(true) {
            alarms.push(pair);
            continue;
        }
        if told.is_some_and(|told| told <= Class::Risky) {
            continue;
        }
        if covers(&old, &new) == Some(false) {
            missed.push(format!("{pair}\n  by the algebra"));
            continue;
        }
        let (before, after) = (Schema::compile(&old).unwrap(), Schema::compile(&new).unwrap());
        for _ in 0..60 {
            let document = document(&mut dice, 3);
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
        alarms.is_empty(),
        "{} of {pairs} are false\n{}",
        alarms.len(),
        alarms.iter().take(8).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(
        breaking as u64 > pairs / 4 && decided as u64 > pairs * 9 / 10,
        "{breaking} breaking, {decided} decided"
    );
}
