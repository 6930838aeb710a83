//! Shapes of objects. Objects are grouped by their tag, such as `"type": "start"`; each group has its members.

use super::model::{Field, Fields, Group, Objects, Shape, Tag};
use agentnative_contract::DISCRIMINATORS;
use strict_json::{TapeKey, TapeNode};
use xxhash_rust::xxh3::xxh3_64;

/// Maximum number of different values of a tag key. A key with more values is no tag.
const MAX_TAG_VALUES: usize = 64;
/// Number of members that are compared with a key one after another, beginning with the expected member, before a
/// binary search.
const LOOKAHEAD: usize = 8;
/// Maximum length of a key, in bytes. An object with a longer key counts as a map.
const MAX_KEY_BYTES: usize = 256;

impl Objects {
    /// Creates a shape from groups. `former_tags` are the indices of keys that have too many values to be tags.
    pub fn from_parts(former_tags: &[usize], groups: Vec<Group>) -> Self {
        let former_tags = former_tags.iter().fold(0, |bits, key| bits | 1 << key);
        let mut all = Self { former_tags, ..Self::default() };
        groups.into_iter().for_each(|group| all.add(group));
        all
    }

    /// Returns whether a key is no tag any more, because it has too many values. `key` is its index in
    /// [`DISCRIMINATORS`].
    pub fn is_former_tag(&self, key: usize) -> bool {
        self.former_tags & (1 << key) != 0
    }

    /// Returns the index of the group with a tag, or of the group without a tag. A missing group is added.
    pub fn group_index(&mut self, tag: Option<(usize, &str)>) -> usize {
        if let Some(index) = self.groups.iter().position(|group| group.tag() == tag) {
            return index;
        }
        if let Some((key, _)) = tag
            && self.tag_value_count(key) >= MAX_TAG_VALUES
        {
            self.demote_tag(key);
            return self.group_index(None);
        }
        self.groups.push(Group { tag: tag.map(Tag::new), ..Group::default() });
        self.groups.len() - 1
    }

    fn tag_value_count(&self, key: usize) -> usize {
        self.groups.iter().filter(|group| group.tag.as_ref().is_some_and(|tag| tag.key == key)).count()
    }

    /// Makes a key no tag any more: merges its groups into the group without a tag. `key` is its index in
    /// [`DISCRIMINATORS`].
    pub fn demote_tag(&mut self, key: usize) {
        self.former_tags |= 1 << key;
        let of_key = |group: &Group| group.tag.as_ref().is_some_and(|tag| tag.key == key);
        let (joined, kept) = std::mem::take(&mut self.groups).into_iter().partition(of_key);
        self.groups = kept;
        let joined: Vec<Group> = joined;
        for mut group in joined {
            group.tag = None;
            self.add(group);
        }
        self.last_group = 0;
    }

    fn add(&mut self, mut group: Group) {
        if group.tag.as_ref().is_some_and(|tag| self.is_former_tag(tag.key)) {
            group.tag = None;
        }
        let index = self.group_index(group.tag());
        let target = &mut self.groups[index];
        target.count += group.count;
        target.fields.join(group.fields);
    }

    pub fn join(&mut self, other: Self) {
        for key in 0..DISCRIMINATORS.len() {
            if other.is_former_tag(key) && !self.is_former_tag(key) {
                self.demote_tag(key);
            }
        }
        other.groups.into_iter().for_each(|group| self.add(group));
        self.kinds.join(other.kinds);
    }

    pub fn positions(&self) -> usize {
        self.groups.iter().map(|group| 1 + group.fields.positions()).sum()
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
    /// Creates a member with count 0.
    pub fn new(key: &str) -> Self {
        Self { key: TapeKey::new(key), hash: xxh3_64(key.as_bytes()), count: 0, shape: Shape::default() }
    }
}

impl Fields {
    /// Creates the members of a group. If `map` is given, it is the shape of all values, and the keys are dropped.
    pub fn from_parts(list: Vec<Field>, map: Option<Shape>) -> Self {
        let mut all = Self::default();
        all.join(Self { members: list, map: map.map(Box::new), ..Self::default() });
        all
    }

    /// Returns `Ok` with the index of a key in `list`, or `Err` with the position in `order` at which it must be
    /// inserted.
    pub fn find(&self, key: &str) -> Result<usize, usize> {
        let found =
            self.order.binary_search_by(|index| self.members[usize::from(*index)].key.text().cmp(key));
        found.map(|position| usize::from(self.order[position]))
    }

    fn insert(&mut self, position: usize, field: Field) -> usize {
        let index = self.members.len();
        self.order.insert(position, index as u16);
        self.members.push(field);
        index
    }

    /// Returns the index of a key in `list` if it is `next` or one of the few indices after it.
    #[inline]
    pub fn find_near(&self, key: TapeNode<'_>, next: usize) -> Option<usize> {
        let near = next..self.members.len().min(next + LOOKAHEAD);
        near.into_iter().find(|index| key.is_named(&self.members[*index].key))
    }

    /// Returns `Ok` with the index of a key in `list`, or `Err` with the hash of the key if the members are a map. A
    /// new key is added.
    pub fn find_or_insert(&mut self, key: &str) -> Result<usize, u64> {
        if self.map.is_none() {
            match self.find(key) {
                Ok(index) => return Ok(index),
                Err(position) if self.members.len() < self.max_keys && key.len() <= MAX_KEY_BYTES => {
                    return Ok(self.insert(position, Field::new(key)));
                }
                Err(_) => {}
            }
        }
        Err(xxh3_64(key.as_bytes()))
    }

    /// Counts one occurrence of a key that `search` found. Returns the hash of the key, and the shape of its values.
    pub fn count_occurrence(&mut self, found: Result<usize, u64>) -> (u64, &mut Shape) {
        match found {
            Ok(index) => {
                let field = &mut self.members[index];
                field.count += 1;
                (field.hash, &mut field.shape)
            }
            Err(hash) => (hash, self.make_map()),
        }
    }

    pub fn get(&self, key: &str) -> Option<&Field> {
        self.find(key).ok().map(|index| &self.members[index])
    }

    /// Returns the members in the order of their keys.
    pub fn sorted(&self) -> impl Iterator<Item = &Field> {
        self.order.iter().map(|index| &self.members[usize::from(*index)])
    }

    /// Drops the keys: merges the shapes of all members into one shape, and returns it.
    pub fn make_map(&mut self) -> &mut Shape {
        let Self { members: list, order, map, .. } = self;
        order.clear();
        map.get_or_insert_with(|| {
            let mut all = Box::<Shape>::default();
            list.drain(..).for_each(|field| all.merge(field.shape));
            all
        })
    }

    pub fn join(&mut self, other: Self) {
        if let Some(map) = other.map {
            self.make_map().merge(*map);
        }
        for field in other.members {
            if let Some(map) = &mut self.map {
                map.merge(field.shape);
                continue;
            }
            match self.find(field.key.text()) {
                Ok(index) => {
                    let own = &mut self.members[index];
                    own.count += field.count;
                    own.shape.merge(field.shape);
                }
                Err(_) if self.members.len() >= self.max_keys => self.make_map().merge(field.shape),
                Err(position) => {
                    self.insert(position, field);
                }
            }
        }
    }

    pub fn positions(&self) -> usize {
        let map = self.map.as_ref().map_or(0, |map| map.positions());
        map + self.members.iter().map(|field| 1 + field.shape.positions()).sum::<usize>()
    }
}
