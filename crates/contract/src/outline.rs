//! A JSON Schema as an indented outline for people.

use serde_json::{Map, Value};

/// Maximum depth at which references are followed.
const MAX_DEPTH: usize = 12;

/// A line of the outline of a JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineLine {
    /// The nesting depth in the schema, from 0.
    pub depth: usize,
    /// The name of a key, `[]` for the elements of an array, or a condition such as `when ok is true`.
    pub name: String,
    /// The constraints of the schema on this value, such as `string length <= 80`.
    pub what: String,
}

/// Returns the outline of a JSON Schema, in the order of the schema.
pub fn outline(schema: &Value) -> Vec<OutlineLine> {
    let mut outline = Outline { root: schema, lines: Vec::new(), following: Vec::new() };
    outline.add_node_lines(0, "(root)", schema);
    outline.lines
}

struct Outline<'a> {
    root: &'a Value,
    lines: Vec<OutlineLine>,
    /// The references on the path to the current schema; they are not followed again.
    following: Vec<&'a str>,
}

impl<'a> Outline<'a> {
    fn add_node_lines(&mut self, depth: usize, name: &str, schema: &'a Value) {
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(true) => return self.line(depth, name, "anything".to_owned()),
            _ => return self.line(depth, name, "nothing".to_owned()),
        };
        let outer = self.following.len();
        let what = constraints(members);
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            match target {
                Some(target) if !self.following.contains(&reference) && depth < MAX_DEPTH => {
                    self.following.push(reference);
                    self.add_node_lines(depth, name, target);
                }
                _ => self.line(depth, name, format!("as {reference}")),
            }
        } else {
            self.line(depth, name, what);
        }
        self.children(depth + 1, members);
        self.following.truncate(outer);
    }

    fn children(&mut self, depth: usize, members: &'a Map<String, Value>) {
        let required: Vec<&str> = elements(members, "required").filter_map(Value::as_str).collect();
        let properties = members.get("properties").and_then(Value::as_object);
        for (key, value) in properties.into_iter().flatten() {
            let optional = if required.contains(&key.as_str()) { "" } else { "?" };
            self.add_node_lines(depth, &format!("{key}{optional}"), value);
        }
        let named = |key: &&str| properties.is_some_and(|properties| properties.contains_key(*key));
        let undescribed: Vec<&str> = required.into_iter().filter(|key| !named(key)).collect();
        if !undescribed.is_empty() {
            self.line(depth, "required", undescribed.join(", "));
        }
        if let Some(items) = members.get("items") {
            self.add_node_lines(depth, "[]", items);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for branch in elements(members, keyword) {
                match branch.as_object() {
                    // The parent's line lists constant alternatives.
                    Some(branch) if branch.contains_key("const") => {}
                    Some(branch) if keyword == "allOf" && !branch.contains_key("$ref") => {
                        self.children(depth, branch)
                    }
                    _ => {
                        self.add_node_lines(depth, if keyword == "allOf" { "and" } else { "either" }, branch)
                    }
                }
            }
        }
        if let Some(condition) = members.get("if") {
            let condition = describe_condition(condition);
            for (keyword, words) in
                [("then", format!("when {condition}")), ("else", format!("unless {condition}"))]
            {
                if let Some(branch) = members.get(keyword) {
                    self.add_node_lines(depth, &words, branch);
                }
            }
        }
    }

    fn line(&mut self, depth: usize, name: &str, what: String) {
        self.lines.push(OutlineLine { depth, name: name.to_owned(), what });
    }
}

/// Returns the elements of a keyword whose value is an array; none if the schema does not have it.
fn elements<'a>(members: &'a Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'a Value> {
    members.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// Summarises the constraints of a schema in a few words, such as `string length <= 80`.
fn constraints(members: &Map<String, Value>) -> String {
    let mut words = Vec::new();
    let list = |value: &Value| match value {
        Value::Array(values) => values.iter().map(quoted).collect::<Vec<_>>().join(" | "),
        other => quoted(other),
    };
    if let Some(value) = members.get("const").or_else(|| members.get("enum")) {
        words.push(list(value));
    } else if let Some(value) = members.get("type") {
        words.push(list(value).replace('"', ""));
    }
    let constants: Vec<String> =
        elements(members, "oneOf").filter_map(|branch| branch.get("const").map(quoted)).collect();
    if !constants.is_empty() {
        words.push(constants.join(" | "));
    }
    for (key, sign) in [
        ("minimum", ">="),
        ("exclusiveMinimum", ">"),
        ("maximum", "<="),
        ("exclusiveMaximum", "<"),
        ("minLength", "length >="),
        ("maxLength", "length <="),
        ("minItems", "elements >="),
        ("maxItems", "elements <="),
        ("minProperties", "keys >="),
        ("pattern", "like"),
        ("not", "not"),
    ] {
        if let Some(value) = members.get(key) {
            words.push(format!("{sign} {}", value.get("const").map_or_else(|| quoted(value), quoted)));
        }
    }
    if members.get("additionalProperties").or_else(|| members.get("unevaluatedProperties"))
        == Some(&Value::Bool(false))
    {
        words.push("no other keys".to_owned());
    }
    if let Some(description) = members.get("description").and_then(Value::as_str) {
        words.push(format!("- {description}"));
    }
    words.join(" ")
}

fn quoted(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("\"{text}\""))
}

/// Describes the schema of the keyword `if`, such as `ok is true and id is present`.
fn describe_condition(schema: &Value) -> String {
    let Some(members) = schema.as_object() else { return quoted(schema) };
    let properties = members.get("properties").and_then(Value::as_object);
    let tests = properties.into_iter().flatten().map(|(key, value)| {
        let value = value.as_object().map_or_else(String::new, constraints);
        format!("{key} is {value}")
    });
    let required = elements(members, "required").filter_map(Value::as_str);
    let present = required.filter(|key| properties.is_none_or(|properties| !properties.contains_key(*key)));
    let all: Vec<String> = tests.chain(present.map(|key| format!("{key} is present"))).collect();
    if all.is_empty() { quoted(schema) } else { all.join(" and ") }
}
