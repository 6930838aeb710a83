//! Two schemas side by side.

use super::alt::{Alt, Kind, Node};
use super::expand::Expander;
use super::found::{Found, harmless};
use super::validator;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::rc::Rc;

/// Pairs of schemas that are compared, at most; and one in another, at most.
const PAIRS: usize = 20_000;
const DEEP: usize = 150;

/// What came of a pair; nothing while it is compared.
type Told = Option<Rc<Vec<Found>>>;

/// Compares schemas of two bundles.
pub(super) struct Walker<'a> {
    pub old: Expander<'a>,
    pub new: Expander<'a>,
    /// What came of a pair, by where its schemas are; nothing while it is compared.
    known: HashMap<(Vec<usize>, Vec<usize>), Told>,
    /// The same for pairs of alternatives.
    pairs: HashMap<(String, String), Told>,
    depth: usize,
}

impl<'a> Walker<'a> {
    pub fn new(old: &'a Value, new: &'a Value) -> Self {
        let (old, new) = (Expander { root: old }, Expander { root: new });
        Self { old, new, known: HashMap::new(), pairs: HashMap::new(), depth: 0 }
    }

    /// What changed from one node to the other.
    pub fn nodes(&mut self, old: &Node<'a>, new: &Node<'a>) -> Rc<Vec<Found>> {
        let (old, new) = (&self.old.followed(old), &self.new.followed(new));
        let key = (addresses(old), addresses(new));
        match self.known.get(&key) {
            Some(Some(found)) => return Rc::clone(found),
            // Within itself, a pair differs as much as it differs outside.
            Some(None) => return Rc::default(),
            None => {}
        }
        if self.known.len() > PAIRS || self.depth > DEEP {
            let message = "the schemas are too large to be compared as a whole: this part was not looked at";
            return Rc::new(vec![Found::undecided(message)]);
        }
        self.known.insert(key.clone(), None);
        self.depth += 1;
        let found = if self.old.schema(old) == self.new.schema(new) {
            Vec::new()
        } else {
            let (old, new) = (self.old.alternatives(old), self.new.alternatives(new));
            self.alternatives(&old, &new)
        };
        self.depth -= 1;
        let found = Rc::new(found);
        self.known.insert(key, Some(Rc::clone(&found)));
        found
    }

    /// What changed from some alternatives to others.
    pub fn alternatives(&mut self, old: &[Alt<'a>], new: &[Alt<'a>]) -> Vec<Found> {
        let mut out = Vec::new();
        let (before, after) = (kinds(old), kinds(new));
        if before & after == 0 && before != 0 && after != 0 {
            out.push(self.changed(old, new));
            return out;
        }
        self.kinds_added(old, new, &mut out);
        kinds_removed(old, new, &mut out);
        for kind in Kind::ALL {
            let of = |alts: &[Alt<'a>]| -> Vec<Alt<'a>> {
                alts.iter().filter(|alt| alt.kind() == kind).cloned().collect()
            };
            let (old, new) = (of(old), of(new));
            if old.is_empty() || new.is_empty() {
                continue;
            }
            match kind {
                Kind::Array | Kind::Object => out.extend(self.composites(kind, &old, &new)),
                _ => out.extend(self.scalars(&old, &new)),
            }
        }
        out
    }

    /// Other types than before, all of them.
    fn changed(&mut self, old: &[Alt<'a>], new: &[Alt<'a>]) -> Found {
        let (before, after) = (kinds(old), kinds(new));
        let (array, object) = (Kind::Array.bit(), Kind::Object.bit());
        let rule = match (before, after) {
            (before, after) if before == array && after == object => "diff-array-became-object",
            (before, after) if before == object && after == array => "diff-object-became-array",
            _ => "diff-type-changed",
        };
        let (was, is) = (brief(old), brief(new));
        let shown = self.sample_of(new);
        Found::breaking(rule, format!("it was {was}, it is {is}"))
            .old(names(old))
            .new_value(names(new))
            .shown(shown)
    }

    fn kinds_added(&mut self, old: &[Alt<'a>], new: &[Alt<'a>], out: &mut Vec<Found>) {
        let added = kinds(new) & !kinds(old);
        if added == 0 {
            return;
        }
        let alts: Vec<Alt<'a>> = new.iter().filter(|alt| alt.kinds & added != 0).cloned().collect();
        let shown = self.sample_of(&alts);
        let found = if added == Kind::Null.bit() {
            Found::breaking("diff-null-added", format!("it may be null now; it was {}", brief(old)))
        } else {
            let message = format!("it may be {} now, too; it was {}", brief(&alts), brief(old));
            Found::breaking("diff-type-widened", message)
        };
        out.push(found.old(names(old)).new_value(names(new)).shown(shown));
    }

    /// Compares alternatives that are arrays or objects.
    pub fn composites(&mut self, kind: Kind, old: &[Alt<'a>], new: &[Alt<'a>]) -> Vec<Found> {
        if let ([old], [new]) = (old, new) {
            return self.pair(kind, old, new);
        }
        self.unions(kind, old, new)
    }

    /// Compares one alternative with another of the same type.
    pub fn pair(&mut self, kind: Kind, old: &Alt<'a>, new: &Alt<'a>) -> Vec<Found> {
        let key = (identity(old), identity(new));
        match self.pairs.get(&key) {
            Some(Some(found)) => return found.to_vec(),
            Some(None) => return Vec::new(),
            None => {}
        }
        self.pairs.insert(key.clone(), None);
        let found = self.compared(kind, old, new);
        self.pairs.insert(key, Some(Rc::new(found.clone())));
        found
    }

    fn compared(&mut self, kind: Kind, old: &Alt<'a>, new: &Alt<'a>) -> Vec<Found> {
        let mut out = Vec::new();
        if let (Some(before), Some(after)) = (&old.values, &new.values) {
            // Whole documents that are listed.
            let added = after.iter().filter(|value| !before.contains(value));
            out.extend(added.map(|value| {
                Found::breaking("diff-enum-value-added", format!("the value {} is new", short(value)))
                    .new_value(value.clone())
                    .shown(Some(value.clone()))
            }));
            let removed = before.iter().filter(|value| !after.contains(value));
            out.extend(removed.map(|value| {
                Found::compatible("diff-enum-value-removed", format!("the value {} is gone", short(value)))
                    .old(value.clone())
            }));
            return out;
        }
        if old.values.is_some() || new.values.is_some() {
            let (wide, narrow) = (whole(&self.old, old), whole(&self.new, new));
            out.push(match validator::covers(&wide, &narrow) {
                Some(true) => Found::compatible("diff-enum-closed", "only some values are left"),
                Some(false) => {
                    let shown = self.sample_of(std::slice::from_ref(new));
                    Found::breaking("diff-enum-opened", "other values are possible now").shown(shown)
                }
                None => Found::undecided("it cannot be told whether other values are possible now"),
            });
            return out;
        }
        self.lengths(kind, old, new, &mut out);
        match kind {
            Kind::Array => self.arrays(old, new, &mut out),
            _ => self.objects(old, new, &mut out),
        }
        self.conditions(old, new, &mut out);
        out
    }

    /// Compares what is compared as a whole.
    pub fn conditions(&mut self, old: &Alt<'a>, new: &Alt<'a>, out: &mut Vec<Found>) {
        let missing: Vec<_> = old.conditions.iter().filter(|one| !new.conditions.contains(one)).collect();
        let extra = new.conditions.iter().filter(|one| !old.conditions.contains(one)).count();
        let mut dropped = false;
        for condition in &missing {
            let parts = ["oneOf", "anyOf", "if"];
            let union = parts.iter().any(|keyword| condition.schema.get(keyword).is_some());
            if union && !harmless(out) {
                // What is wrong in one of the parts is told already.
                dropped = true;
                continue;
            }
            let holds = if condition.opaque {
                None
            } else {
                validator::covers(&condition.schema, &whole(&self.new, new))
            };
            let text = short(&condition.schema);
            match holds {
                Some(true) => {}
                Some(false) => {
                    dropped = true;
                    let shown = self.against(condition.schema.clone(), new);
                    let message = format!("a condition does not hold any longer: {text}");
                    let found = Found::breaking("diff-condition-loosened", message);
                    out.push(found.old(condition.schema.clone()).shown(shown));
                }
                None => {
                    dropped = true;
                    let message = format!("it cannot be told whether this still holds: {text}");
                    out.push(Found::undecided(message).old(condition.schema.clone()));
                }
            }
        }
        if extra > 0 && !dropped {
            let added: Vec<Value> = new
                .conditions
                .iter()
                .filter(|one| !old.conditions.contains(one))
                .map(|one| one.schema.clone())
                .collect();
            let still =
                added.iter().all(|schema| validator::covers(schema, &whole(&self.old, old)) == Some(true));
            if !still {
                let message = format!("a further condition holds: {}", short(&added[0]));
                out.push(Found::compatible("diff-condition-tightened", message).new_value(added[0].clone()));
            }
        }
    }
}

/// All that an alternative says, in one schema.
pub(super) fn whole(expander: &Expander<'_>, alt: &Alt<'_>) -> Value {
    let mut schema = expander.schema(&alt.sources);
    let kind = if alt.integer { "integer" } else { alt.kind().name() };
    schema["type"] = json!(kind);
    if !alt.tags.is_empty() {
        let tags = alt.tags.iter().map(|(key, value)| (key.clone(), json!({ "const": value })));
        schema["properties"] = Value::Object(tags.collect());
    }
    schema
}

/// What tells an alternative from others: the schemas that say something in it, not those that lead there.
fn identity(alt: &Alt<'_>) -> String {
    let leads = |schema: &Value| {
        let only = |key: &String| {
            ["$ref", "allOf", "anyOf", "oneOf", "$defs", "definitions"].contains(&key.as_str())
        };
        alt.conditions.is_empty() && schema.as_object().is_some_and(|members| members.keys().all(only))
    };
    let said: Vec<&Value> = alt.sources.iter().copied().filter(|schema| !leads(schema)).collect();
    format!("{} {} {:?} {:?} {:?}", alt.kinds, alt.integer, addresses(&said), alt.tags, alt.values)
}

fn addresses(node: &Node<'_>) -> Vec<usize> {
    let mut all: Vec<usize> =
        node.iter().map(|schema| std::ptr::from_ref::<Value>(schema) as usize).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn kinds(alts: &[Alt<'_>]) -> u8 {
    alts.iter().fold(0, |bits, alt| bits | alt.kinds)
}

fn kinds_removed(old: &[Alt<'_>], new: &[Alt<'_>], out: &mut Vec<Found>) {
    let removed = kinds(old) & !kinds(new);
    if removed == 0 {
        return;
    }
    let alts: Vec<Alt<'_>> = old.iter().filter(|alt| alt.kinds & removed != 0).cloned().collect();
    let found = if removed == Kind::Null.bit() {
        Found::compatible("diff-null-removed", "it is never null now".to_owned())
    } else if new.is_empty() {
        Found::compatible("diff-type-narrowed", "there is nothing now".to_owned())
    } else {
        Found::compatible("diff-type-narrowed", format!("it is no longer {}", brief(&alts)))
    };
    out.push(found.old(names(old)).new_value(names(new)));
}

/// The types, as JSON.
pub(super) fn names(alts: &[Alt<'_>]) -> Value {
    let mut all: Vec<&str> = Vec::new();
    for alt in alts {
        let integers = alts.iter().filter(|alt| alt.kind() == Kind::Number).all(|alt| alt.integer);
        let name = if alt.kind() == Kind::Number && integers { "integer" } else { alt.kind().name() };
        if !all.contains(&name) {
            all.push(name);
        }
    }
    match all.as_slice() {
        [only] => json!(only),
        _ => json!(all),
    }
}

/// The types, in words.
pub(super) fn brief(alts: &[Alt<'_>]) -> String {
    let names = names(alts);
    let all: Vec<&str> = match &names {
        Value::String(only) => vec![only.as_str()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let article = |name: &&str| match *name {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {name}"),
        _ => format!("a {name}"),
    };
    if all.len() == Kind::ALL.len() {
        return "anything".to_owned();
    }
    match all.iter().map(article).collect::<Vec<_>>().as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [many @ .., last] => format!("{} or {last}", many.join(", ")),
    }
}

/// A value in a few characters.
pub(super) fn short(value: &Value) -> String {
    strict_json::sanitize::capped(value.to_string(), 80)
}
