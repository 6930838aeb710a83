//! Values beside the schemas of their places.

use crate::canonicalize::Canonicalizer;
use crate::typed_schema::{TypedSchema, accepts_nothing};
use crate::variants::variant_names;
use crate::walk::{addresses, full_schema};
use agentnative_contract::{Schema, Violation};
use serde_json::{Map, Value};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use strict_json::{JsonType, Key, TapeNode, escape_token, unescape_token};

/// Errors by which alternatives are compared, at most.
const MAX_ERRORS: usize = 20;
/// The weight of a tag of another variant, in errors.
const TAG_WEIGHT: usize = 1_000;

/// A schema as alternatives.
pub(super) struct Node<'b> {
    pub alts: Vec<Alternative<'b>>,
}

/// One alternative of a schema.
pub(super) struct Alternative<'b> {
    pub schema: TypedSchema<'b>,
    /// Its name among the objects of a union.
    name: Option<String>,
    compiled: OnceCell<Option<Schema>>,
    /// Keys of objects are named at all.
    names_keys: bool,
    /// What is below, by key; of arrays, by place in a tuple.
    named: RefCell<HashMap<String, Below<'b>>>,
    /// What is below under any other key, or at any other place.
    others: OnceCell<Below<'b>>,
}

/// What the schema says of a member or an element.
#[derive(Clone)]
struct Below<'b> {
    node: Option<Rc<Node<'b>>>,
    key: KeyKind,
}

/// How a schema knows a key.
#[derive(Clone, Copy, PartialEq)]
enum KeyKind {
    /// By its name.
    Named,
    /// As any key of a map, or element of an array.
    Any,
    /// Not at all, and allows it.
    Open,
    /// Not at all, and forbids it.
    Closed,
}

impl<'b> Alternative<'b> {
    fn new(schema: TypedSchema<'b>, name: Option<String>) -> Self {
        let names_keys = !schema.named_keys().is_empty() || !schema.key_patterns().is_empty();
        let (compiled, named, others) = (OnceCell::new(), RefCell::default(), OnceCell::new());
        Self { schema, name, compiled, names_keys, named, others }
    }

    /// Whether it names a key.
    fn names(&self, key: &str) -> bool {
        let schema = &self.schema;
        let has = |keys: Option<&Map<String, Value>>| keys.is_some_and(|keys| keys.contains_key(key));
        schema.required.contains(key)
            || schema.forbidden.contains(key)
            || schema.keys.iter().any(|keys| has(keys.named))
            || schema.tags.contains_key(key)
    }
}

/// The schemas of a place: several where a value is valid under several variants of a union.
pub(super) type Place<'b> = Vec<Rc<Node<'b>>>;

/// The alternatives that concern a value: those that accept it, else the nearest one.
pub(super) struct Fit<'n, 'b> {
    pub alts: Vec<&'n Alternative<'b>>,
    /// The name of the variant, where there are others.
    variant: Option<&'n str>,
}

/// A value that a pointer names, and what the schema says there.
#[derive(Clone)]
pub(super) struct Located<'t, 'b> {
    pub value: TapeNode<'t>,
    pub place: Place<'b>,
    pub pointer: String,
    /// The pointer with `*` for each element of an array and each key of a map.
    pub general: String,
    /// The variants of unions that it is in, the outer one first.
    pub variant: Vec<String>,
}

/// What a walk over a value meets.
pub(super) enum Unnamed<'w, 't, 'b> {
    /// A value of this type at this place.
    Type(&'w str, JsonType),
    /// A key that the schema does not name, and its value.
    Key(&'w str, &'w Located<'t, 'b>),
}

/// The schemas of one side, by place.
pub(super) struct Schemas<'b> {
    pub side: Canonicalizer<'b>,
    nodes: RefCell<HashMap<Vec<usize>, Rc<Node<'b>>>>,
}

impl<'b> Schemas<'b> {
    pub fn new(side: Canonicalizer<'b>) -> Self {
        Self { side, nodes: RefCell::default() }
    }

    /// The alternatives of a conjunction of schemas.
    pub fn node(&self, schemas: &[&'b Value]) -> Rc<Node<'b>> {
        let followed = self.side.followed(schemas);
        let key = addresses(&followed);
        if let Some(known) = self.nodes.borrow().get(&key) {
            return Rc::clone(known);
        }
        let alts = self.side.alternatives(&followed);
        let objects: Vec<TypedSchema<'b>> =
            alts.iter().filter(|alt| alt.json_type() == JsonType::Object).cloned().collect();
        let names = if objects.len() > 1 { variant_names(&self.side, &objects) } else { Vec::new() };
        let mut names = names.into_iter();
        let named = |schema: TypedSchema<'b>| {
            let name = if schema.json_type() == JsonType::Object { names.next() } else { None };
            Alternative::new(schema, name)
        };
        let node = Rc::new(Node { alts: alts.into_iter().map(named).collect() });
        self.nodes.borrow_mut().insert(key, Rc::clone(&node));
        node
    }

    fn compiled<'a>(&self, alt: &'a Alternative<'b>) -> Option<&'a Schema> {
        let compile = || Schema::compile(&full_schema(&self.side, &alt.schema)).ok();
        alt.compiled.get_or_init(compile).as_ref()
    }

    /// Whether an alternative accepts a value.
    pub fn accepts(&self, alt: &Alternative<'b>, value: TapeNode<'_>) -> bool {
        self.compiled(alt).is_none_or(|schema| schema.accepts(value))
    }

    /// The first ways in which a value violates an alternative.
    pub fn violations(&self, alt: &Alternative<'b>, value: TapeNode<'_>, most: usize) -> Vec<Violation> {
        self.compiled(alt).map_or_else(Vec::new, |schema| schema.node_violations(value, most).0)
    }

    /// The alternatives of a place that concern a value.
    pub fn fit<'n>(&self, place: &'n Place<'b>, value: TapeNode<'_>) -> Fit<'n, 'b> {
        let all = place.iter().flat_map(|node| &node.alts);
        let of_type: Vec<&Alternative<'b>> =
            all.filter(|alt| alt.schema.json_type() == value.json_type()).collect();
        if of_type.len() < 2 || !value.is(JsonType::Object) && !value.is(JsonType::Array) {
            return Fit { alts: of_type, variant: None };
        }
        let accepting: Vec<_> = of_type.iter().copied().filter(|alt| self.accepts(alt, value)).collect();
        let nearest = || of_type.iter().copied().min_by_key(|alt| self.distance(alt, value));
        let alts = if accepting.is_empty() { nearest().into_iter().collect() } else { accepting };
        let variant = match alts.as_slice() {
            [only] => only.name.as_deref(),
            _ => None,
        };
        Fit { alts, variant }
    }

    /// How far a value is from an alternative.
    fn distance(&self, alt: &Alternative<'b>, value: TapeNode<'_>) -> usize {
        let weight = |violation: &Violation| {
            let is_tag = violation.pointer.matches('/').count() == 1
                && matches!(violation.keyword.as_deref(), Some("const" | "enum"));
            if is_tag { TAG_WEIGHT } else { 1 }
        };
        self.violations(alt, value, MAX_ERRORS).iter().map(weight).sum()
    }

    /// What an alternative says of a member or an element.
    fn below(&self, alt: &Alternative<'b>, token: &str) -> Below<'b> {
        let (is_named, is_apart) = match alt.schema.json_type() {
            JsonType::Array => (token.parse().is_ok_and(|nth: usize| nth < alt.schema.tuple_length()), false),
            _ => (alt.names(token), !alt.schema.key_patterns().is_empty()),
        };
        if !is_named && !is_apart {
            return alt.others.get_or_init(|| self.say(alt, token, is_named)).clone();
        }
        if let Some(known) = alt.named.borrow().get(token) {
            return known.clone();
        }
        let below = self.say(alt, token, is_named);
        if is_named {
            alt.named.borrow_mut().insert(token.to_owned(), below.clone());
        }
        below
    }

    fn say(&self, alt: &Alternative<'b>, token: &str, is_named: bool) -> Below<'b> {
        let is_array = alt.schema.json_type() == JsonType::Array;
        let mut schemas = match token.parse() {
            Ok(nth) if is_array => alt.schema.element(nth),
            _ => alt.schema.property(token),
        };
        let is_unclear = || alt.schema.conditions.iter().any(|condition| condition.opaque);
        schemas.retain(|schema| !says_nothing(schema));
        let key = match () {
            () if is_named => KeyKind::Named,
            () if is_array => KeyKind::Any,
            () if accepts_nothing(&schemas) => KeyKind::Closed,
            () if !schemas.is_empty() || !alt.names_keys || is_unclear() => KeyKind::Any,
            () => KeyKind::Open,
        };
        Below { node: (!schemas.is_empty()).then(|| self.node(&schemas)), key }
    }

    /// What the schema says of the member or the element that a token names, and how it knows the key.
    fn step(&self, fit: &Fit<'_, 'b>, token: &str) -> (Place<'b>, KeyKind) {
        let mut place: Place<'b> = Vec::new();
        let mut kind = None;
        for alt in &fit.alts {
            let below = self.below(alt, token);
            kind = match (kind, below.key) {
                (None, key) => Some(key),
                (Some(KeyKind::Named), _) | (_, KeyKind::Named) => Some(KeyKind::Named),
                (Some(known), key) if known == key => Some(key),
                _ => Some(KeyKind::Any),
            };
            if let Some(node) = below.node
                && !place.iter().any(|known| Rc::ptr_eq(known, &node))
            {
                place.push(node);
            }
        }
        (place, kind.unwrap_or(KeyKind::Named))
    }

    fn root<'t>(&self, place: &Place<'b>, value: TapeNode<'t>) -> Located<'t, 'b> {
        let (pointer, general, variant) = Default::default();
        Located { value, place: place.clone(), pointer, general, variant }
    }

    /// The variants that a value is in, with the one that it is itself.
    pub fn variant(&self, at: &Located<'_, 'b>) -> Vec<String> {
        let own = self.fit(&at.place, at.value).variant.map(str::to_owned);
        at.variant.iter().cloned().chain(own).collect()
    }

    /// The value that a pointer names, or the last one on the way to it.
    pub fn locate<'t>(&self, place: &Place<'b>, root: TapeNode<'t>, pointer: &str) -> Located<'t, 'b> {
        let mut at = self.root(place, root);
        for token in pointer.split('/').skip(1) {
            let token = unescape_token(token);
            let Some(value) = at.value.get(&Key::new(&token)) else { break };
            let from = std::mem::take(&mut at.place);
            let fit = self.fit(&from, at.value);
            let (below, kind) = self.step(&fit, &token);
            let is_element = at.value.is(JsonType::Array) && fit.alts.is_empty();
            at.enter(&token, if is_element { KeyKind::Any } else { kind }, fit.variant);
            (at.value, at.place) = (value, below);
        }
        at
    }

    /// Goes over a value and all within it that the schema says something of.
    pub fn walk<'t>(&self, place: &Place<'b>, root: TapeNode<'t>, meet: &mut dyn FnMut(Unnamed<'_, 't, 'b>)) {
        if !place.is_empty() {
            self.walk_at(&mut self.root(place, root), meet);
        }
    }

    fn walk_at<'t>(&self, at: &mut Located<'t, 'b>, meet: &mut dyn FnMut(Unnamed<'_, 't, 'b>)) {
        meet(Unnamed::Type(&at.general, at.value.json_type()));
        let (value, place) = (at.value, std::mem::take(&mut at.place));
        if !value.is(JsonType::Object) && !value.is(JsonType::Array) {
            return;
        }
        let fit = self.fit(&place, value);
        if fit.alts.is_empty() {
            return;
        }
        let mut each = |token: &str, value: TapeNode<'t>| {
            let (below, kind) = self.step(&fit, token);
            if below.is_empty() && kind != KeyKind::Open {
                return;
            }
            let (lengths, variants) = ([at.pointer.len(), at.general.len()], at.variant.len());
            at.enter(token, kind, fit.variant);
            (at.value, at.place) = (value, below);
            match kind {
                KeyKind::Open => meet(Unnamed::Key(token, at)),
                _ => self.walk_at(at, meet),
            }
            at.pointer.truncate(lengths[0]);
            at.general.truncate(lengths[1]);
            at.variant.truncate(variants);
        };
        value.pairs().for_each(|(key, value)| each(key, value));
        value.items().enumerate().for_each(|(nth, value)| each(&nth.to_string(), value));
    }
}

impl Located<'_, '_> {
    /// Goes on to a member or an element, whose value and place are still to be set.
    fn enter(&mut self, token: &str, kind: KeyKind, variant: Option<&str>) {
        let escaped = escape_token(token);
        self.pointer.extend(["/", &escaped]);
        self.general.extend(["/", if kind == KeyKind::Any { "*" } else { &escaped }]);
        self.variant.extend(variant.map(str::to_owned));
    }
}

fn says_nothing(schema: &Value) -> bool {
    schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}
