//! Groups the occurrences of changes in a sample. Occurrences of one rule and one constraint at one position form one
//! change.

use super::side::SampleSide;
use crate::catalogue::change_rule;
use crate::change::{Change, ChangeSeverity, Evidence, SamplePosition};
use crate::predicates::contains;
use crate::typed_schema::type_bit;
use serde_json::Value;
use std::collections::HashMap;
use strict_json::JsonType;

/// Maximum number of different changes. Occurrences of further changes are only counted.
const MAX_CHANGES: usize = 1_000;
/// Maximum number of added keys at one object that are separate changes. Further keys form one change.
const MAX_KEYS: usize = 50;
/// Maximum number of values listed per change.
const MAX_VALUES: usize = 12;
/// Maximum number of positions listed per change.
const MAX_PLACES: usize = 3;
/// Maximum number of pointers whose types are recorded.
const MAX_TYPED_POINTERS: usize = 100_000;

/// One occurrence of a change in a record.
#[derive(Debug, Clone, Default)]
pub(super) struct Occurrence {
    /// ID of the rule, such as `diff-key-added`. It describes the change from the schema (old) to the sample (new).
    pub rule: &'static str,
    /// Severity of the change, if it differs from the first one that the rule lists.
    pub class: Option<ChangeSeverity>,
    pub event: Option<String>,
    pub variant: Vec<String>,
    /// JSON Pointer in the record, with `*` for each element of an array and each key of a map, such as `/items/*/id`.
    pub pointer: String,
    /// The violated constraint, such as the location of a keyword in the schema. It distinguishes changes with the same
    /// rule and pointer.
    pub constraint: String,
    /// Two messages: the first if the sample is the old version, the second if it is the new one.
    pub messages: [String; 2],
    pub value: Option<Value>,
    /// JSON type of the value, as a bit set.
    pub types: u8,
    /// Whether the change is an added key of an object.
    pub is_key: bool,
    pub location: SamplePosition,
}

impl Occurrence {
    pub fn new(rule: &'static str) -> Self {
        Self { rule, ..Self::default() }
    }

    /// Sets the same message whether the sample is the old or the new version.
    pub fn message(self, message: String) -> Self {
        Self { messages: [message.clone(), message], ..self }
    }
}

type OccurrenceKey = (&'static str, Option<String>, Vec<String>, String, String);

/// All occurrences of one change: the first one, and the values, types and positions of all.
struct ChangeGroup {
    first: Occurrence,
    values: Vec<Value>,
    types: u8,
    evidence: Evidence,
}

/// Collects the occurrences of all changes in a sample, grouped by change.
pub(super) struct Occurrences {
    pub side: SampleSide,
    groups: Vec<ChangeGroup>,
    index_by_key: HashMap<OccurrenceKey, usize>,
    /// Number of added keys that are separate changes, by rule and pointer of their object.
    listed_keys: HashMap<(&'static str, String), usize>,
    /// JSON types of the values at each pointer, as a bit set.
    types: HashMap<String, u8>,
    /// Number of occurrences of changes beyond the first [`MAX_CHANGES`] changes.
    omitted: u64,
}

impl Occurrences {
    pub fn new(side: SampleSide) -> Self {
        Self {
            side,
            groups: Vec::new(),
            index_by_key: HashMap::new(),
            listed_keys: HashMap::new(),
            types: HashMap::new(),
            omitted: 0,
        }
    }

    /// Records that a value of the JSON type occurs at a pointer.
    pub fn record_type(&mut self, pointer: &str, json_type: JsonType) {
        if let Some(types) = self.types.get_mut(pointer) {
            *types |= type_bit(json_type);
        } else if self.types.len() < MAX_TYPED_POINTERS {
            self.types.insert(pointer.to_owned(), type_bit(json_type));
        }
    }

    pub fn add(&mut self, mut occurrence: Occurrence) {
        let known = self.index_by_key.get(&key_of(&occurrence)).copied();
        if known.is_none() && occurrence.is_key {
            self.merge_further_keys(&mut occurrence);
        }
        let key = key_of(&occurrence);
        let known = known.or_else(|| self.index_by_key.get(&key).copied());
        let group = match known {
            Some(index) => &mut self.groups[index],
            None if self.groups.len() == MAX_CHANGES => return self.omitted += 1,
            None => {
                self.index_by_key.insert(key, self.groups.len());
                let (values, evidence) = (Vec::new(), Evidence::default());
                self.groups.push(ChangeGroup { first: occurrence.clone(), values, types: 0, evidence });
                let last = self.groups.len() - 1;
                &mut self.groups[last]
            }
        };
        group.types |= occurrence.types;
        group.evidence.count += 1;
        if group.evidence.places.len() < MAX_PLACES {
            group.evidence.places.push(occurrence.location);
        }
        let values = group.values.len();
        group
            .values
            .extend(occurrence.value.filter(|value| values < MAX_VALUES && !contains(&group.values, value)));
    }

    /// Turns an added key into one of "further keys" of its object if [`MAX_KEYS`] keys are already listed there.
    fn merge_further_keys(&mut self, occurrence: &mut Occurrence) {
        let parent = occurrence.pointer.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
        let listed_keys = self.listed_keys.entry((occurrence.rule, parent.clone())).or_default();
        *listed_keys += 1;
        if *listed_keys > MAX_KEYS {
            occurrence.pointer = format!("{parent}/*");
            occurrence.messages =
                ["the schema does not name further keys", "further keys are new"].map(str::to_owned);
        }
    }

    /// Returns the changes, sorted by descending severity, then by their first position. `incomplete` is the number of
    /// violations that were not examined; an undecided change reports them.
    pub fn into_changes(self, incomplete: u64) -> Vec<Change> {
        let Self { side, groups, types, omitted, .. } = self;
        let mut changes: Vec<Change> = groups.into_iter().map(|group| group.change(side, &types)).collect();
        if omitted + incomplete > 0 {
            let message =
                format!("the sample has {} further differences that are not listed", omitted + incomplete);
            changes.push(Change::undecided(message));
        }
        let first = |change: &Change| {
            let place = change.evidence.as_ref().and_then(|evidence| evidence.places.first());
            place.map(|place| (place.record, place.line, place.column))
        };
        changes.sort_by_key(|change| (change.class, first(change)));
        changes
    }
}

fn key_of(occurrence: &Occurrence) -> OccurrenceKey {
    let Occurrence { rule, event, variant, pointer, constraint, .. } = occurrence;
    (rule, event.clone(), variant.clone(), pointer.clone(), constraint.clone())
}

impl ChangeGroup {
    fn change(self, side: SampleSide, types: &HashMap<String, u8>) -> Change {
        let Occurrence {
            rule: forward_rule,
            class,
            event,
            variant,
            pointer,
            messages: [old_message, new_message],
            ..
        } = self.first;
        let is_new = side == SampleSide::New;
        let other_types = types.get(&pointer).copied().unwrap_or_default() & !self.types;
        let rule_id = match forward_rule {
            forward_rule if is_new => forward_rule,
            // A sample does not show whether the key was always present.
            "diff-key-added" => "diff-optional-key-removed",
            "diff-type-widened" if other_types == 0 => "diff-type-changed",
            forward_rule => change_rule(forward_rule)
                .and_then(|rule| rule.examples.first())
                .map_or(forward_rule, |example| &example.back),
        };
        let default_class =
            change_rule(rule_id).and_then(|rule| rule.classes.first().copied()).unwrap_or_default();
        let message = if is_new { new_message } else { old_message };
        let value = match self.values.len() {
            0 => None,
            1 => self.values.into_iter().next(),
            _ => Some(Value::Array(self.values)),
        };
        let (old, new) = if is_new { (None, value) } else { (value, None) };
        Change {
            event,
            variant,
            pointer,
            evidence: Some(self.evidence),
            ..Change::new(rule_id, class.unwrap_or(default_class), message).with_old_and_new(old, new)
        }
    }
}
