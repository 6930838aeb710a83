//! The values of records as they stand on a tape, whichever way they came onto it.

use strict_json::{
    Event, JsonType, Key, ReadOptions, Sink, Summary, Tape, TapeNode, read_lines, read_lines_at_hand,
};

/// Each whole record as text, with the place of each value.
#[derive(Default)]
struct OnTape {
    /// Records with nothing to report may come onto the tape at once.
    at_once: bool,
    tape: Tape,
    line: u64,
    records: Vec<String>,
}

impl Sink for OnTape {
    fn begin_record(&mut self, line: u64, offset: u64) {
        self.line = line;
        self.tape.clear(offset, offset);
    }
    fn tape(&mut self) -> Option<&mut Tape> {
        self.at_once.then_some(&mut self.tape)
    }
    fn end_record(&mut self, offset: u64, whole: bool) {
        let mut text = format!("{} to {offset}: ", self.line);
        if whole && let Some(root) = self.tape.root() {
            print(root, &mut text);
        }
        self.records.push(text);
    }
    fn event(&mut self, event: Event<'_>) {
        self.tape.event(event);
    }
}

fn print(value: TapeNode<'_>, out: &mut String) {
    *out += &format!("{:?}@{} {} ", value.json_type(), value.offset(), value.cells());
    let mut length = 0;
    for (key, inner) in value.pairs() {
        let first = value.pairs().find(|(other, _)| *other == key).map(|(_, value)| value.offset());
        assert_eq!(value.member(&Key::new(key)).map(TapeNode::offset), first, "{key}");
        *out += &format!("{key:?}: ");
        print(inner, out);
        length += 1;
    }
    for element in value.items() {
        print(element, out);
        length += 1;
    }
    if value.is(JsonType::Array) || value.is(JsonType::Object) {
        assert_eq!(value.count(), length);
    }
    *out += &format!("{:?} ", value.as_bool());
    if length == 0 {
        *out += value.text();
    }
}

/// What is reported of these lines and what they hold: as values come one by one, and as they come at once from a
/// reader and from memory.
pub fn three_ways(bytes: &[u8], sizes: &[usize], options: &ReadOptions) -> [(Summary, Vec<String>); 3] {
    let sink = |at_once| OnTape { at_once, ..OnTape::default() };
    let (mut one, mut two, mut three) = (sink(false), sink(true), sink(true));
    let by_events = read_lines(bytes, options, &mut one).expect("memory can be read");
    let pieces = super::pieces::Pieces::new(bytes, sizes);
    let at_once = read_lines(pieces, options, &mut two).expect("memory can be read");
    let at_hand = read_lines_at_hand(bytes, options, &mut three);
    [(by_events, one.records), (at_once, two.records), (at_hand, three.records)]
}
