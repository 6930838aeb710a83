//! The values of records on a tape, filled by events or directly by the reader.

use strict_json::{
    Event, JsonType, ReadOptions, ReadSummary, Sink, Tape, TapeKey, TapeNode, read_lines,
    read_lines_in_memory,
};

/// Prints each complete record as text, with the offset of each value.
#[derive(Default)]
struct TapePrinter {
    /// Whether the reader may write valid records to the tape directly.
    direct: bool,
    tape: Tape,
    line: u64,
    records: Vec<String>,
}

impl Sink for TapePrinter {
    fn begin_record(&mut self, line: u64, offset: u64) {
        self.line = line;
        self.tape.clear(offset, offset);
    }
    fn tape(&mut self) -> Option<&mut Tape> {
        self.direct.then_some(&mut self.tape)
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
    *out += &format!("{:?}@{} {} ", value.json_type(), value.offset(), value.cell_count());
    let mut length = 0;
    for (key, inner) in value.members() {
        let first = value.members().find(|(other, _)| *other == key).map(|(_, value)| value.offset());
        assert_eq!(value.member(&TapeKey::new(key)).map(TapeNode::offset), first, "{key}");
        *out += &format!("{key:?}: ");
        print(inner, out);
        length += 1;
    }
    for element in value.elements() {
        print(element, out);
        length += 1;
    }
    if value.has_type(JsonType::Array) || value.has_type(JsonType::Object) {
        assert_eq!(value.count(), length);
    }
    *out += &format!("{:?} ", value.as_bool());
    if length == 0 {
        *out += value.text();
    }
}

/// Reads these lines in three ways and returns the summaries and records: by events, directly from a reader, and
/// directly from memory.
pub fn read_three_ways(
    bytes: &[u8],
    sizes: &[usize],
    options: &ReadOptions,
) -> [(ReadSummary, Vec<String>); 3] {
    let sink = |direct| TapePrinter { direct, ..TapePrinter::default() };
    let (mut one, mut two, mut three) = (sink(false), sink(true), sink(true));
    let by_events = read_lines(bytes, options, &mut one).expect("memory can be read");
    let pieces = super::chunked_reader::ChunkedReader::new(bytes, sizes);
    let direct = read_lines(pieces, options, &mut two).expect("memory can be read");
    let from_memory = read_lines_in_memory(bytes, options, &mut three);
    [(by_events, one.records), (direct, two.records), (from_memory, three.records)]
}
