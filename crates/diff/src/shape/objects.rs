//! What the objects at one place have been: in groups by a tag, each with its keys.

use super::model::{Field, Fields, Group, Objects, Shape, Tag};
use agentnative_contract::DISCRIMINATORS;
use strict_json::{Key, TapeNode};
use xxhash_rust::xxh3::xxh3_64;

/// More different values than this are no tag.
const VARIANTS: usize = 64;
/// So many keys are looked at, from the one that is expected on, before a key is searched for.
const NEAR: usize = 8;
/// Keys that are longer than this make an object a map.
const LONG_KEY: usize = 256;

impl Objects {
    /// These groups, where tags of these keys are none.
    pub fn of(loose: &[usize], groups: Vec<Group>) -> Self {
        let loose = loose.iter().fold(0, |bits, key| bits | 1 << key);
        let mut all = Self { loose, ..Self::default() };
        groups.into_iter().for_each(|group| all.add(group));
        all
    }

    /// Whether a tag key has had too many values.
    pub fn is_loose(&self, key: usize) -> bool {
        self.loose & (1 << key) != 0
    }

    /// The index of the group with this tag, which may be new.
    pub fn group(&mut self, tag: Option<(usize, &str)>) -> usize {
        if let Some(index) = self.groups.iter().position(|group| group.tag() == tag) {
            return index;
        }
        if let Some((key, _)) = tag
            && self.variants(key) >= VARIANTS
        {
            self.loosen(key);
            return self.group(None);
        }
        self.groups.push(Group { tag: tag.map(Tag::new), ..Group::default() });
        self.groups.len() - 1
    }

    fn variants(&self, key: usize) -> usize {
        self.groups.iter().filter(|group| group.tag.as_ref().is_some_and(|tag| tag.key == key)).count()
    }

    /// Joins the groups of this tag key with the one that has no tag.
    pub fn loosen(&mut self, key: usize) {
        self.loose |= 1 << key;
        let of_key = |group: &Group| group.tag.as_ref().is_some_and(|tag| tag.key == key);
        let (joined, kept) = std::mem::take(&mut self.groups).into_iter().partition(of_key);
        self.groups = kept;
        let joined: Vec<Group> = joined;
        for mut group in joined {
            group.tag = None;
            self.add(group);
        }
        self.last = 0;
    }

    fn add(&mut self, mut group: Group) {
        if group.tag.as_ref().is_some_and(|tag| self.is_loose(tag.key)) {
            group.tag = None;
        }
        let index = self.group(group.tag());
        let to = &mut self.groups[index];
        to.count += group.count;
        to.fields.join(group.fields);
    }

    pub fn join(&mut self, other: Self) {
        for key in 0..DISCRIMINATORS.len() {
            if other.is_loose(key) && !self.is_loose(key) {
                self.loosen(key);
            }
        }
        other.groups.into_iter().for_each(|group| self.add(group));
        self.kinds.join(other.kinds);
    }

    pub fn places(&self) -> usize {
        self.groups.iter().map(|group| 1 + group.fields.places()).sum()
    }
}

impl Group {
    pub fn tag(&self) -> Option<(usize, &str)> {
        self.tag.as_ref().map(|tag| (tag.key, &*tag.value))
    }
}

impl Tag {
    pub fn new((key, value): (usize, &str)) -> Self {
        Self { key, value: value.into() }
    }
}

impl Field {
    /// A key that no object had yet.
    pub fn new(key: &str) -> Self {
        Self { key: Key::new(key), hash: xxh3_64(key.as_bytes()), count: 0, shape: Shape::default() }
    }
}

impl Fields {
    /// These members, or what all of them have been.
    pub fn of(list: Vec<Field>, map: Option<Shape>) -> Self {
        let mut all = Self::default();
        all.join(Self { list, map: map.map(Box::new), ..Self::default() });
        all
    }

    /// The index of a key in `list`, or its place in `order`.
    pub fn find(&self, key: &str) -> Result<usize, usize> {
        let found = self.order.binary_search_by(|index| self.list[usize::from(*index)].key.text().cmp(key));
        found.map(|place| usize::from(self.order[place]))
    }

    fn insert(&mut self, place: usize, field: Field) -> usize {
        let index = self.list.len();
        self.order.insert(place, index as u16);
        self.list.push(field);
        index
    }

    /// The index of a key, perhaps the one that is expected next.
    #[inline]
    pub fn near(&self, key: TapeNode<'_>, next: usize) -> Option<usize> {
        let near = next..self.list.len().min(next + NEAR);
        near.into_iter().find(|index| key.is_named(&self.list[*index].key))
    }

    /// The index of a key, which may be new, or its hash in a map.
    pub fn search(&mut self, key: &str) -> Result<usize, u64> {
        if self.map.is_none() {
            match self.find(key) {
                Ok(index) => return Ok(index),
                Err(place) if self.list.len() < self.max_keys && key.len() <= LONG_KEY => {
                    return Ok(self.insert(place, Field::new(key)));
                }
                Err(_) => {}
            }
        }
        Err(xxh3_64(key.as_bytes()))
    }

    /// Counts a member that was searched for; returns the hash of its key, and its shape.
    pub fn count(&mut self, found: Result<usize, u64>) -> (u64, &mut Shape) {
        match found {
            Ok(index) => {
                let field = &mut self.list[index];
                field.count += 1;
                (field.hash, &mut field.shape)
            }
            Err(hash) => (hash, self.map()),
        }
    }

    /// The member of this key.
    pub fn get(&self, key: &str) -> Option<&Field> {
        self.find(key).ok().map(|index| &self.list[index])
    }

    /// The members, sorted by key.
    pub fn sorted(&self) -> impl Iterator<Item = &Field> {
        self.order.iter().map(|index| &self.list[usize::from(*index)])
    }

    /// What all values have been, from now on.
    pub fn map(&mut self) -> &mut Shape {
        let Self { list, order, map, .. } = self;
        order.clear();
        map.get_or_insert_with(|| {
            let mut all = Box::<Shape>::default();
            list.drain(..).for_each(|field| all.join(field.shape));
            all
        })
    }

    pub fn join(&mut self, other: Self) {
        if let Some(map) = other.map {
            self.map().join(*map);
        }
        for field in other.list {
            if let Some(map) = &mut self.map {
                map.join(field.shape);
                continue;
            }
            match self.find(field.key.text()) {
                Ok(index) => {
                    let own = &mut self.list[index];
                    own.count += field.count;
                    own.shape.join(field.shape);
                }
                Err(_) if self.list.len() >= self.max_keys => self.map().join(field.shape),
                Err(place) => {
                    self.insert(place, field);
                }
            }
        }
    }

    pub fn places(&self) -> usize {
        let map = self.map.as_ref().map_or(0, |map| map.places());
        map + self.list.iter().map(|field| 1 + field.shape.places()).sum::<usize>()
    }
}
