//! What the objects at one place have been: in groups by a tag, each with its keys.

use super::shape::{Field, Fields, Group, Objects, Shape, Tag};
use agentnative_contract::DISCRIMINATORS;

/// More different values than this are no tag.
const VARIANTS: usize = 64;
/// An object with more different keys than this is a map.
pub(super) const KEYS: usize = 512;
/// Keys that are longer than this make an object a map.
pub(super) const LONG_KEY: usize = 256;

impl Objects {
    /// A single object.
    pub fn of_one() -> Self {
        Self { groups: vec![Group { count: 1, ..Group::default() }], ..Self::default() }
    }

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
    pub fn group(&mut self, tag: Option<&Tag>) -> usize {
        if let Some(index) = self.groups.iter().position(|group| group.tag.as_ref() == tag) {
            return index;
        }
        if let Some(tag) = tag
            && self.variants(tag.key) >= VARIANTS
        {
            self.loosen(tag.key);
            return self.group(None);
        }
        self.groups.push(Group { tag: tag.cloned(), ..Group::default() });
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
        let index = self.group(group.tag.as_ref());
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
    }

    pub fn places(&self) -> usize {
        self.groups.iter().map(|group| 1 + group.fields.places()).sum()
    }
}

impl Fields {
    /// These members, or what all of them have been.
    pub fn of(list: Vec<Field>, map: Option<Shape>) -> Self {
        let mut all = Self::default();
        all.join(Self { list, order: Vec::new(), map: map.map(Box::new) });
        all
    }

    /// The index of a key in `list`, or its place in `order`.
    pub fn find(&self, key: &str) -> Result<usize, usize> {
        let found = self.order.binary_search_by(|index| (*self.list[usize::from(*index)].key).cmp(key));
        found.map(|place| usize::from(self.order[place]))
    }

    pub fn insert(&mut self, place: usize, field: Field) -> usize {
        let index = self.list.len();
        self.order.insert(place, index as u16);
        self.list.push(field);
        index
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
        let Self { list, order, map } = self;
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
            match self.find(&field.key) {
                Ok(index) => {
                    let own = &mut self.list[index];
                    own.count += field.count;
                    own.shape.join(field.shape);
                }
                Err(_) if self.list.len() >= KEYS => self.map().join(field.shape),
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
