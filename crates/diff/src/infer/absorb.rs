//! Merges values, as lists of nodes, into the shapes of their places.

use super::nodes::{NodeKind, Nodes};
use super::objects::{KEYS, LONG_KEY};
use super::shape::{DEEPEST, Elements, Field, Fields, Objects, Shape};
use strict_json::JsonType;

/// Arrays longer than this are no tuples.
const TUPLE: usize = 8;

impl Shape {
    /// Merges what is between two nodes, at this depth, into the single object or array that it is.
    pub fn absorb_parts(&mut self, nodes: &Nodes, from: usize, to: usize, depth: usize) {
        let parts = nodes.parts(from, to);
        match (&mut self.objects, &mut self.arrays) {
            (Some(objects), _) => parts.for_each(|at| objects.groups[0].fields.absorb(nodes, at, depth)),
            (None, Some(arrays)) => parts.for_each(|at| arrays.elements.push(nodes, at, depth)),
            (None, None) => {}
        }
    }

    /// Merges the value at a node in, which is at this depth.
    pub fn absorb(&mut self, nodes: &Nodes, at: usize, depth: usize) {
        let node = nodes.node(at);
        if depth > DEEPEST {
            self.deep = true;
            return;
        }
        match node.kind {
            NodeKind::Value(JsonType::Null) => self.nulls += 1,
            NodeKind::Value(JsonType::Boolean) => self.bools += 1,
            NodeKind::Integer => self.integers += 1,
            NodeKind::Value(JsonType::Number) => self.numbers += 1,
            NodeKind::Value(JsonType::String) => {
                let strings = self.strings.get_or_insert_default();
                strings.count += 1;
                strings.formats = strings.formats.and(node.formats);
                if strings.choices.is_some() {
                    strings.choice(nodes.text(node), 1);
                }
            }
            NodeKind::Value(JsonType::Array) => self.array(nodes, at, depth),
            NodeKind::Value(JsonType::Object) => {
                self.objects.get_or_insert_default().absorb(nodes, at, depth);
            }
            NodeKind::Merged => self.join(nodes.merged(node).clone()),
            NodeKind::Key => {}
        }
    }

    fn array(&mut self, nodes: &Nodes, at: usize, depth: usize) {
        let elements = || nodes.parts(at + 1, nodes.node(at).end as usize);
        let arrays = self.arrays.get_or_insert_default();
        arrays.count += 1;
        if arrays.count == 1 {
            elements().for_each(|at| arrays.elements.push(nodes, at, depth + 1));
            return;
        }
        if let Elements::Tuple(places) = &mut arrays.elements
            && elements().take(places.len() + 1).count() == places.len()
        {
            places.iter_mut().zip(elements()).for_each(|(place, at)| place.absorb(nodes, at, depth + 1));
            return;
        }
        let list = arrays.elements.list();
        elements().for_each(|at| list.absorb(nodes, at, depth + 1));
    }
}

impl Elements {
    /// Adds an element to the only array so far.
    pub fn push(&mut self, nodes: &Nodes, at: usize, depth: usize) {
        match self {
            Self::Tuple(places) if places.len() < TUPLE => {
                let mut place = Shape::default();
                place.absorb(nodes, at, depth);
                places.push(place);
            }
            _ => self.list().absorb(nodes, at, depth),
        }
    }
}

impl Objects {
    /// Merges the object at a node in.
    pub fn absorb(&mut self, nodes: &Nodes, at: usize, depth: usize) {
        let node = nodes.node(at);
        let tag = nodes.tag(node).filter(|tag| !self.is_loose(tag.key));
        let known = self.groups.get(self.last).is_some_and(|group| group.tag.as_ref() == tag);
        if !known {
            self.last = self.group(tag);
        }
        let group = &mut self.groups[self.last];
        group.count += 1;
        let mut hint = 0;
        for at in nodes.parts(at + 1, node.end as usize) {
            hint = group.fields.absorb_near(nodes, at, depth + 1, hint) + 1;
        }
    }
}

impl Fields {
    /// Merges a member in, whose key is at this node.
    pub fn absorb(&mut self, nodes: &Nodes, at: usize, depth: usize) {
        self.absorb_near(nodes, at, depth, self.list.len());
    }

    /// As [`Fields::absorb`], where the key is perhaps the one of this index; gives the index.
    fn absorb_near(&mut self, nodes: &Nodes, at: usize, depth: usize, hint: usize) -> usize {
        let key = nodes.text(nodes.node(at)).unwrap_or_default();
        if let Some(map) = &mut self.map {
            map.absorb(nodes, at + 1, depth);
            return 0;
        }
        let index = match self.list.get(hint) {
            Some(field) if *field.key == *key => hint,
            _ => match self.find(key) {
                Ok(index) => index,
                Err(_) if self.list.len() >= KEYS || key.len() > LONG_KEY => {
                    self.map().absorb(nodes, at + 1, depth);
                    return 0;
                }
                Err(place) => {
                    self.insert(place, Field { key: key.into(), count: 0, shape: Shape::default() })
                }
            },
        };
        let field = &mut self.list[index];
        field.count += 1;
        field.shape.absorb(nodes, at + 1, depth);
        index
    }
}
