//! Finds the schemas that apply to each part of a value. A schema is a tree of alternatives, each for one JSON type.

use crate::canonicalize::Canonicalizer;
use crate::schema_comparer::{addresses, full_schema};
use crate::typed_schema::{TypedSchema, accepts_nothing};
use crate::variants::variant_names;
use agentnative_contract::{Schema, Violation};
use serde_json::{Map, Value};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use strict_json::{JsonType, TapeKey, TapeNode, escape_token, unescape_token};

/// Maximum number of errors of an alternative that are counted to find the nearest one.
const MAX_ERRORS: usize = 20;
/// How many errors a violated `const` or `enum` of a key counts for, because such a key usually identifies a variant.
const TAG_WEIGHT: usize = 1_000;

/// A schema as a list of alternatives. It accepts a value if one of them does.
pub(super) struct SchemaNode<'b> {
    pub alts: Vec<Alternative<'b>>,
}

/// One alternative of a schema, with the cached schemas of its members or elements.
pub(super) struct Alternative<'b> {
    pub schema: TypedSchema<'b>,
    /// Name of the variant, if the schema is a union of several kinds of objects.
    name: Option<String>,
    compiled: OnceCell<Option<Schema>>,
    /// Whether the schema names keys, or patterns of keys, of its objects.
    names_keys: bool,
    /// Cached schemas of members, by key, or of tuple elements, by index.
    named: RefCell<HashMap<String, ChildSchema<'b>>>,
    /// Cached schema of all members or elements that are not in `named`.
    others: OnceCell<ChildSchema<'b>>,
}

/// Schema of a member or an element, and how it describes the key.
#[derive(Clone)]
struct ChildSchema<'b> {
    node: Option<Rc<SchemaNode<'b>>>,
    key: KeyKind,
}

/// How a schema describes a key.
#[derive(Clone, Copy, PartialEq)]
enum KeyKind {
    /// The schema names the key.
    Named,
    /// The schema describes all keys of a map or all elements of an array alike.
    Any,
    /// The schema does not name the key, and allows it.
    Open,
    /// The schema does not name the key, and forbids it.
    Closed,
}

impl<'b> Alternative<'b> {
    fn new(schema: TypedSchema<'b>, name: Option<String>) -> Self {
        let names_keys = !schema.named_keys().is_empty() || !schema.key_patterns().is_empty();
        let (compiled, named, others) = (OnceCell::new(), RefCell::default(), OnceCell::new());
        Self { schema, name, compiled, names_keys, named, others }
    }

    /// Returns whether the schema mentions `key`, for example in `properties` or `required`.
    fn names(&self, key: &str) -> bool {
        let schema = &self.schema;
        let has = |keys: Option<&Map<String, Value>>| keys.is_some_and(|keys| keys.contains_key(key));
        schema.required.contains(key)
            || schema.forbidden.contains(key)
            || schema.keys.iter().any(|keys| has(keys.properties))
            || schema.tags.contains_key(key)
    }
}

/// Schemas that apply to one value. There are several if the parent value is valid under several variants of a union.
pub(super) type Nodes<'b> = Vec<Rc<SchemaNode<'b>>>;

/// The alternatives that accept a value; if none does, the one with the fewest violations.
pub(super) struct Matching<'n, 'b> {
    pub alts: Vec<&'n Alternative<'b>>,
    /// Name of the matching variant. `None` if several accept the value, or the schema has only one.
    variant: Option<&'n str>,
}

/// A part of a record: its value, its position, and the schemas that apply to it.
#[derive(Clone)]
pub(super) struct Located<'t, 'b> {
    pub value: TapeNode<'t>,
    pub nodes: Nodes<'b>,
    pub pointer: String,
    /// JSON Pointer to the value, with `*` for each element of an array and each key of a map, such as `/items/*/id`.
    pub general_pointer: String,
    /// Names of the union variants that the value is in, the outermost first.
    pub variant: Vec<String>,
}

/// What [`Schemas::walk`] reports to its callback.
pub(super) enum Visit<'w, 't, 'b> {
    /// The type of a value, with its JSON Pointer in general form, such as `/items/*/id`.
    Type(&'w str, JsonType),
    /// A key that the schema allows but does not name, with its value.
    UnnamedKey(&'w str, &'w Located<'t, 'b>),
}

/// Converts schemas to [`SchemaNode`]s and caches them.
pub(super) struct Schemas<'b> {
    pub side: Canonicalizer<'b>,
    nodes: RefCell<HashMap<Vec<usize>, Rc<SchemaNode<'b>>>>,
}

impl<'b> Schemas<'b> {
    pub fn new(side: Canonicalizer<'b>) -> Self {
        Self { side, nodes: RefCell::default() }
    }

    /// Returns the node for a list of schemas that all apply to a value. The same list always gives the same node.
    pub fn node(&self, schemas: &[&'b Value]) -> Rc<SchemaNode<'b>> {
        let schemas = self.side.follow_all(schemas);
        let key = addresses(&schemas);
        if let Some(known) = self.nodes.borrow().get(&key) {
            return Rc::clone(known);
        }
        let alts = self.side.alternatives(&schemas);
        let objects: Vec<TypedSchema<'b>> =
            alts.iter().filter(|alt| alt.json_type() == JsonType::Object).cloned().collect();
        let names = if objects.len() > 1 { variant_names(&self.side, &objects) } else { Vec::new() };
        let mut names = names.into_iter();
        let named = |schema: TypedSchema<'b>| {
            let name = if schema.json_type() == JsonType::Object { names.next() } else { None };
            Alternative::new(schema, name)
        };
        let node = Rc::new(SchemaNode { alts: alts.into_iter().map(named).collect() });
        self.nodes.borrow_mut().insert(key, Rc::clone(&node));
        node
    }

    fn compiled<'a>(&self, alt: &'a Alternative<'b>) -> Option<&'a Schema> {
        let compile = || Schema::compile(&full_schema(&self.side, &alt.schema)).ok();
        alt.compiled.get_or_init(compile).as_ref()
    }

    /// Returns whether an alternative accepts a value. An alternative that cannot be compiled accepts all values.
    pub fn accepts(&self, alt: &Alternative<'b>, value: TapeNode<'_>) -> bool {
        self.compiled(alt).is_none_or(|schema| schema.accepts(value))
    }

    /// Returns at most `max` violations of an alternative by a value.
    pub fn violations(&self, alt: &Alternative<'b>, value: TapeNode<'_>, max: usize) -> Vec<Violation> {
        self.compiled(alt).map_or_else(Vec::new, |schema| schema.node_violations(value, max).0)
    }

    /// Returns the alternatives that accept a value or, if none does, the one with the fewest violations.
    pub fn matching<'n>(&self, nodes: &'n Nodes<'b>, value: TapeNode<'_>) -> Matching<'n, 'b> {
        let all = nodes.iter().flat_map(|node| &node.alts);
        let same_type: Vec<&Alternative<'b>> =
            all.filter(|alt| alt.schema.json_type() == value.json_type()).collect();
        if same_type.len() < 2 || !value.has_type(JsonType::Object) && !value.has_type(JsonType::Array) {
            return Matching { alts: same_type, variant: None };
        }
        let accepting: Vec<_> = same_type.iter().copied().filter(|alt| self.accepts(alt, value)).collect();
        let nearest = || same_type.iter().copied().min_by_key(|alt| self.distance(alt, value));
        let alts = if accepting.is_empty() { nearest().into_iter().collect() } else { accepting };
        let variant = match alts.as_slice() {
            [only] => only.name.as_deref(),
            _ => None,
        };
        Matching { alts, variant }
    }

    /// Returns how far a value is from an alternative: the number of violations, where a violated `const` or `enum` of
    /// a key counts [`TAG_WEIGHT`].
    fn distance(&self, alt: &Alternative<'b>, value: TapeNode<'_>) -> usize {
        let weight = |violation: &Violation| {
            let is_tag = violation.pointer.matches('/').count() == 1
                && matches!(violation.keyword.as_deref(), Some("const" | "enum"));
            if is_tag { TAG_WEIGHT } else { 1 }
        };
        self.violations(alt, value, MAX_ERRORS).iter().map(weight).sum()
    }

    /// Returns the schema of a member or an element of an alternative. `token` is its key or index.
    fn child(&self, alt: &Alternative<'b>, token: &str) -> ChildSchema<'b> {
        let (is_named, has_patterns) = match alt.schema.json_type() {
            JsonType::Array => (token.parse().is_ok_and(|nth: usize| nth < alt.schema.tuple_length()), false),
            _ => (alt.names(token), !alt.schema.key_patterns().is_empty()),
        };
        if !is_named && !has_patterns {
            return alt.others.get_or_init(|| self.compute_child(alt, token, is_named)).clone();
        }
        if let Some(known) = alt.named.borrow().get(token) {
            return known.clone();
        }
        let child = self.compute_child(alt, token, is_named);
        if is_named {
            alt.named.borrow_mut().insert(token.to_owned(), child.clone());
        }
        child
    }

    fn compute_child(&self, alt: &Alternative<'b>, token: &str, is_named: bool) -> ChildSchema<'b> {
        let is_array = alt.schema.json_type() == JsonType::Array;
        let mut schemas = match token.parse() {
            Ok(nth) if is_array => alt.schema.element(nth),
            _ => alt.schema.property(token),
        };
        let has_unknown = || alt.schema.conditions.iter().any(|condition| condition.opaque);
        schemas.retain(|schema| !is_trivial(schema));
        let key = match () {
            () if is_named => KeyKind::Named,
            () if is_array => KeyKind::Any,
            () if accepts_nothing(&schemas) => KeyKind::Closed,
            () if !schemas.is_empty() || !alt.names_keys || has_unknown() => KeyKind::Any,
            () => KeyKind::Open,
        };
        ChildSchema { node: (!schemas.is_empty()).then(|| self.node(&schemas)), key }
    }

    /// Returns the schemas that the matching alternatives have for one member of an object or one element of an array;
    /// `token` is the key or index. The second value is the way in which these schemas describe the key.
    fn child_nodes(&self, matching: &Matching<'_, 'b>, token: &str) -> (Nodes<'b>, KeyKind) {
        let mut nodes: Nodes<'b> = Vec::new();
        let mut kind = None;
        for alt in &matching.alts {
            let child = self.child(alt, token);
            kind = match (kind, child.key) {
                (None, key) => Some(key),
                (Some(KeyKind::Named), _) | (_, KeyKind::Named) => Some(KeyKind::Named),
                (Some(known), key) if known == key => Some(key),
                _ => Some(KeyKind::Any),
            };
            if let Some(node) = child.node
                && !nodes.iter().any(|known| Rc::ptr_eq(known, &node))
            {
                nodes.push(node);
            }
        }
        (nodes, kind.unwrap_or(KeyKind::Named))
    }

    fn root<'t>(&self, nodes: &Nodes<'b>, value: TapeNode<'t>) -> Located<'t, 'b> {
        let (pointer, general_pointer, variant) = Default::default();
        Located { value, nodes: nodes.clone(), pointer, general_pointer, variant }
    }

    /// Returns the names of the union variants that a value is in, the outermost first. The variant of the value itself
    /// comes last.
    pub fn variant(&self, at: &Located<'_, 'b>) -> Vec<String> {
        let own = self.matching(&at.nodes, at.value).variant.map(str::to_owned);
        at.variant.iter().cloned().chain(own).collect()
    }

    /// Returns the value at a JSON Pointer with its schemas. If the pointer leads to no value, returns the last
    /// existing value on its path.
    pub fn locate<'t>(&self, nodes: &Nodes<'b>, root: TapeNode<'t>, pointer: &str) -> Located<'t, 'b> {
        let mut at = self.root(nodes, root);
        for token in pointer.split('/').skip(1) {
            let token = unescape_token(token);
            let Some(value) = at.value.get(&TapeKey::new(&token)) else { break };
            let from = std::mem::take(&mut at.nodes);
            let matching = self.matching(&from, at.value);
            let (child, kind) = self.child_nodes(&matching, &token);
            let is_element = at.value.has_type(JsonType::Array) && matching.alts.is_empty();
            at.push_token(&token, if is_element { KeyKind::Any } else { kind }, matching.variant);
            (at.value, at.nodes) = (value, child);
        }
        at
    }

    /// Calls `visit` for a value and for all nested values that a schema describes.
    pub fn walk<'t>(&self, nodes: &Nodes<'b>, root: TapeNode<'t>, visit: &mut dyn FnMut(Visit<'_, 't, 'b>)) {
        if !nodes.is_empty() {
            self.walk_at(&mut self.root(nodes, root), visit);
        }
    }

    fn walk_at<'t>(&self, at: &mut Located<'t, 'b>, visit: &mut dyn FnMut(Visit<'_, 't, 'b>)) {
        visit(Visit::Type(&at.general_pointer, at.value.json_type()));
        let (value, nodes) = (at.value, std::mem::take(&mut at.nodes));
        if !value.has_type(JsonType::Object) && !value.has_type(JsonType::Array) {
            return;
        }
        let matching = self.matching(&nodes, value);
        if matching.alts.is_empty() {
            return;
        }
        let mut each = |token: &str, value: TapeNode<'t>| {
            let (child, kind) = self.child_nodes(&matching, token);
            if child.is_empty() && kind != KeyKind::Open {
                return;
            }
            let (lengths, variants) = ([at.pointer.len(), at.general_pointer.len()], at.variant.len());
            at.push_token(token, kind, matching.variant);
            (at.value, at.nodes) = (value, child);
            match kind {
                KeyKind::Open => visit(Visit::UnnamedKey(token, at)),
                _ => self.walk_at(at, visit),
            }
            at.pointer.truncate(lengths[0]);
            at.general_pointer.truncate(lengths[1]);
            at.variant.truncate(variants);
        };
        value.members().for_each(|(key, value)| each(key, value));
        value.elements().enumerate().for_each(|(nth, value)| each(&nth.to_string(), value));
    }
}

impl Located<'_, '_> {
    /// Appends a key or index to both pointers, and the name of a variant if there is one. The caller sets the value
    /// and its schemas.
    fn push_token(&mut self, token: &str, kind: KeyKind, variant: Option<&str>) {
        let escaped = escape_token(token);
        self.pointer.extend(["/", &escaped]);
        self.general_pointer.extend(["/", if kind == KeyKind::Any { "*" } else { &escaped }]);
        self.variant.extend(variant.map(str::to_owned));
    }
}

fn is_trivial(schema: &Value) -> bool {
    schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}
