//! Compiles a schema of draft 2019-09 or 2020-12 for the acceptor.

use super::{
    ANY_TYPE, Acceptor, Choice, Constraint, INTEGER, LazyRegex, Limit, Member, ObjectCheck, ValueCheck,
    short_number,
};
use referencing::{Draft, Resolver};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::OnceLock;
use strict_json::{JsonType, TapeKey};

/// Keywords that do not affect validity. In drafts 2019-09 and 2020-12, `format` is such an annotation.
const ANNOTATIONS: [&str; 14] = [
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
];

/// Keywords that together become one [`ObjectCheck`].
const OBJECT_KEYWORDS: [&str; 5] =
    ["properties", "required", "additionalProperties", "minProperties", "maxProperties"];

/// Compiles a schema; returns `None` if the acceptor knows none of its constraints. Dangling references are left to the
/// validator.
pub(in super::super) fn compile(schema: &Value, resolver: &Resolver<'_>, draft: Draft) -> Option<Acceptor> {
    let mut compilation = Compilation { schemas: Vec::new(), known: HashMap::new(), depth: 0 };
    let root = compilation.schema(schema, resolver, draft);
    let is_useful = compilation.schemas.iter().flatten().any(|check| !matches!(check, Constraint::Unknown));
    is_useful.then_some(Acceptor { schemas: compilation.schemas, root })
}

struct Compilation {
    schemas: Vec<Vec<Constraint>>,
    /// Index of each schema that is compiled or in progress, by the address of its JSON value.
    known: HashMap<usize, usize>,
    /// Number of schemas in progress, each inside the previous one.
    depth: usize,
}

/// Maximum depth of nesting and references; deeper schemas are left to the validator.
const MAX_DEPTH: usize = 100;
/// Maximum number of keys that the schema of an object names. Larger schemas are left to the validator, because the
/// hashes of their keys would collide.
const MAX_MEMBERS: usize = 4096;

impl Compilation {
    /// Compiles a schema, unless it is already compiled, and returns its index in `schemas`.
    fn schema(&mut self, schema: &Value, resolver: &Resolver<'_>, outer: Draft) -> usize {
        let address = std::ptr::from_ref(schema).addr();
        if let Some(index) = self.known.get(&address) {
            return *index;
        }
        let index = self.schemas.len();
        if self.depth == MAX_DEPTH {
            self.schemas.push(vec![Constraint::Unknown]);
            return index;
        }
        self.depth += 1;
        self.known.insert(address, index);
        self.schemas.push(Vec::new());
        let checks = match schema {
            Value::Bool(true) => Vec::new(),
            Value::Bool(false) => vec![Constraint::Never],
            Value::Object(members) => {
                let draft = outer.detect(schema);
                let inner = resolver.in_subresource(draft.create_resource_ref(schema));
                match (draft, inner) {
                    (Draft::Draft201909 | Draft::Draft202012, Ok(resolver)) => {
                        self.checks(members, &resolver, draft)
                    }
                    _ => vec![Constraint::Unknown],
                }
            }
            _ => vec![Constraint::Unknown],
        };
        self.depth -= 1;
        self.schemas[index] = checks;
        index
    }

    fn checks(
        &mut self,
        schema: &Map<String, Value>,
        resolver: &Resolver<'_>,
        draft: Draft,
    ) -> Vec<Constraint> {
        let mut checks = Vec::new();
        if OBJECT_KEYWORDS.iter().any(|keyword| schema.contains_key(*keyword)) {
            checks.push(self.object(schema, resolver, draft).map_or(Constraint::Unknown, Constraint::Object));
        }
        for (keyword, value) in schema {
            let check = self.keyword(keyword, value, schema, resolver, draft);
            checks.extend(check.unwrap_or_else(|| vec![Constraint::Unknown]));
        }
        // Cheap checks come first; they reject most values.
        checks.sort_by_key(|check| match check {
            Constraint::Never | Constraint::Types(_) | Constraint::Strings(_) | Constraint::Scalars(_) => 0,
            Constraint::Object(_) | Constraint::Items(_) | Constraint::Choice(_) | Constraint::Schema(_) => 2,
            Constraint::AnyOf(_) | Constraint::OneOf(_) | Constraint::Not(_) | Constraint::If { .. } => 3,
            _ => 1,
        });
        checks
    }

    /// Compiles a keyword to constraints, none for an annotation; returns `None` for an unknown keyword.
    fn keyword(
        &mut self,
        keyword: &str,
        value: &Value,
        schema: &Map<String, Value>,
        resolver: &Resolver<'_>,
        draft: Draft,
    ) -> Option<Vec<Constraint>> {
        let mut inner = |value: &Value| self.schema(value, resolver, draft);
        Some(vec![match keyword {
            "type" => Constraint::Types(type_bits(value)?),
            "const" => one_of(std::slice::from_ref(value))?,
            "enum" => one_of(value.as_array()?)?,
            "minLength" => Constraint::Length { min: value.as_u64()?, max: u64::MAX },
            "maxLength" => Constraint::Length { min: 0, max: value.as_u64()? },
            "minimum" => limit(Limit::Min, value)?,
            "maximum" => limit(Limit::Max, value)?,
            "exclusiveMinimum" => limit(Limit::ExclusiveMin, value)?,
            "exclusiveMaximum" => limit(Limit::ExclusiveMax, value)?,
            "minItems" => Constraint::Elements { min: size(value)?, max: usize::MAX },
            "maxItems" => Constraint::Elements { min: 0, max: size(value)? },
            "pattern" => {
                Constraint::Pattern(LazyRegex { text: value.as_str()?.into(), compiled: OnceLock::new() })
            }
            "items" if !value.is_array() && !schema.contains_key("prefixItems") => {
                Constraint::Items(inner(value))
            }
            "$ref" => {
                let resolved = resolver.lookup(value.as_str()?).ok()?;
                let (schema, resolver, draft) = resolved.into_inner();
                Constraint::Schema(self.schema(schema, &resolver, draft))
            }
            "allOf" => return Some(self.all_of(value.as_array()?, resolver, draft)),
            "anyOf" | "oneOf" => {
                let branches: Vec<usize> = value.as_array()?.iter().map(inner).collect();
                let choice = self.choice_of(&branches).map(Constraint::Choice);
                let combine = if keyword == "anyOf" { Constraint::AnyOf } else { Constraint::OneOf };
                choice.unwrap_or_else(|| combine(branches))
            }
            "not" => Constraint::Not(inner(value)),
            "if" => Constraint::If {
                test: inner(value),
                then: schema.get("then").map(&mut inner),
                otherwise: schema.get("else").map(&mut inner),
            },
            "then" | "else" => return Some(Vec::new()),
            other
                if OBJECT_KEYWORDS.contains(&other)
                    || ANNOTATIONS.contains(&other)
                    || other.starts_with("x-") =>
            {
                return Some(Vec::new());
            }
            _ => return None,
        }])
    }

    fn object(
        &mut self,
        schema: &Map<String, Value>,
        resolver: &Resolver<'_>,
        draft: Draft,
    ) -> Option<ObjectCheck> {
        if schema.contains_key("patternProperties") && schema.contains_key("additionalProperties") {
            return None;
        }
        let mut members: Vec<(&str, Member)> = Vec::new();
        if let Some(properties) = schema.get("properties") {
            for (key, value) in properties.as_object()? {
                members.push((key, Member { value: self.value_check(value, resolver, draft), bit: 0 }));
            }
        }
        let additional =
            schema.get("additionalProperties").map(|value| self.value_check(value, resolver, draft));
        let additional = additional.unwrap_or(ValueCheck::Types(ANY_TYPE));
        let mut required = 0;
        let names = schema.get("required").map_or(Some([].as_slice()), |value| Some(value.as_array()?));
        for (number, name) in names?.iter().enumerate() {
            let (name, bit) = (name.as_str()?, 1_u64.checked_shl(u32::try_from(number).ok()?)?);
            required |= bit;
            match members.iter_mut().find(|(key, _)| *key == name) {
                Some((_, member)) => member.bit |= bit,
                None => members.push((name, Member { value: additional, bit })),
            }
        }
        if members.len() > MAX_MEMBERS {
            return None;
        }
        let bound = |keyword: &str, none| schema.get(keyword).map_or(Some(none), size);
        Some(ObjectCheck {
            members: members.into_iter().map(|(key, member)| (TapeKey::new(key), member)).collect(),
            required,
            additional,
            min: bound("minProperties", 0)?,
            max: bound("maxProperties", usize::MAX)?,
        })
    }

    /// Compiles the schema of a member.
    fn value_check(&mut self, schema: &Value, resolver: &Resolver<'_>, draft: Draft) -> ValueCheck {
        let index = self.schema(schema, resolver, draft);
        match self.schemas.get(index).map_or([].as_slice(), Vec::as_slice) {
            [Constraint::Types(types)] => ValueCheck::Types(*types),
            _ => ValueCheck::Schema(index),
        }
    }

    /// Compiles the branches of `allOf`. Branches with `if` and `then` that test the same key of the object become one
    /// choice.
    fn all_of(&mut self, schemas: &[Value], resolver: &Resolver<'_>, draft: Draft) -> Vec<Constraint> {
        let mut checks = Vec::new();
        let mut choices: Vec<Choice> = Vec::new();
        for schema in schemas {
            let Some((key, string, then)) = match_const_condition(schema) else {
                checks.push(Constraint::Schema(self.schema(schema, resolver, draft)));
                continue;
            };
            let branch = (string.into(), self.schema(then, resolver, draft));
            let same = |choice: &&mut Choice| {
                choice.key.text() == key && choice.branches.iter().all(|(known, _)| **known != *string)
            };
            match choices.iter_mut().find(same) {
                Some(choice) => choice.branches.push(branch),
                None => {
                    choices.push(Choice { key: TapeKey::new(key), branches: vec![branch], otherwise: true })
                }
            }
        }
        checks.extend(choices.into_iter().map(Constraint::Choice));
        checks
    }

    /// Returns a choice by the string at one key, if each branch requires different strings at this key.
    fn choice_of(&self, branches: &[usize]) -> Option<Choice> {
        let keys = self.discriminators(*branches.first()?);
        keys.into_iter().find_map(|key| {
            let mut by_string: Vec<(Box<str>, usize)> = Vec::new();
            for branch in branches {
                for string in self.strings(*branch, key)? {
                    if by_string.iter().any(|(known, _)| known == string) {
                        return None;
                    }
                    by_string.push((string.clone(), *branch));
                }
            }
            Some(Choice { key: key.clone(), branches: by_string, otherwise: false })
        })
    }

    /// Returns the required keys of a schema at which it allows only strings from a list.
    fn discriminators(&self, schema: usize) -> Vec<&TapeKey> {
        let keys = self.required_members(schema).into_iter().map(|(key, _)| key);
        keys.filter(|key| self.strings(schema, key).is_some()).collect()
    }

    /// Returns the strings that a schema allows at a required key; `None` if the schema does not list them.
    fn strings(&self, schema: usize, key: &TapeKey) -> Option<&Vec<Box<str>>> {
        let members = self.required_members(schema);
        let (_, member) = members.into_iter().find(|(found, _)| *found == key)?;
        let ValueCheck::Schema(value) = member.value else { return None };
        self.schemas.get(value)?.iter().find_map(|check| match check {
            Constraint::Strings(strings) => Some(strings),
            _ => None,
        })
    }

    /// Returns the required members of an object schema, also of the schema that a reference leads to.
    fn required_members(&self, schema: usize) -> Vec<(&TapeKey, Member)> {
        let mut at = schema;
        // Limits chains of references, which may be circular.
        for _ in 0..16 {
            let checks = self.schemas.get(at).map_or([].as_slice(), Vec::as_slice);
            let object = checks.iter().find_map(|check| match check {
                Constraint::Object(object) => Some(object),
                _ => None,
            });
            if let Some(object) = object {
                let members = object.members.iter().filter(|(_, member)| member.bit != 0);
                return members.map(|(key, member)| (key, *member)).collect();
            }
            match checks {
                [Constraint::Schema(next)] => at = *next,
                _ => break,
            }
        }
        Vec::new()
    }
}

/// Matches `{"if": {"properties": {KEY: {"const": STRING}}, "required": [KEY]}, "then": SCHEMA}` and returns the key,
/// the string and the schema.
fn match_const_condition(schema: &Value) -> Option<(&str, &str, &Value)> {
    let schema = schema.as_object()?;
    let test = schema.get("if")?.as_object()?;
    let then = schema.get("then").filter(|_| schema.len() == 2 && test.len() == 2)?;
    let properties = test.get("properties")?.as_object()?;
    let (key, value) = properties.iter().next().filter(|_| properties.len() == 1)?;
    let value = value.as_object().filter(|value| value.len() == 1)?;
    let [required] = test.get("required")?.as_array()?.as_slice() else { return None };
    (required.as_str()? == key).then_some((key.as_str(), value.get("const")?.as_str()?, then))
}

fn one_of(values: &[Value]) -> Option<Constraint> {
    let strings: Option<_> = values.iter().map(|value| value.as_str().map(Into::into)).collect();
    let scalars = || values.iter().all(|value| !value.is_array() && !value.is_object());
    strings.map(Constraint::Strings).or_else(|| scalars().then(|| Constraint::Scalars(values.to_vec())))
}

fn limit(limit: Limit, value: &Value) -> Option<Constraint> {
    Some(Constraint::Limit(limit, short_number(&value.as_number()?.to_string())?))
}

fn size(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn type_bits(value: &Value) -> Option<u8> {
    let bit = |name: &Value| match name.as_str()? {
        "integer" => Some(INTEGER),
        name => JsonType::from_name(name).map(|json_type| 1 << json_type as u8),
    };
    match value {
        Value::Array(names) => names.iter().try_fold(0, |types, name| Some(types | bit(name)?)),
        name => bit(name),
    }
}
