//! What a reader gives, however its bytes arrive.

use strict_json::{Event, Sink};

/// All events as text; parts of a string apart, since their cuts must not depend on the reader's.
#[derive(Default, PartialEq, Debug)]
pub struct Events(pub Vec<String>);

impl Sink for Events {
    fn begin_record(&mut self, line: u64, offset: u64) {
        self.0.push(format!("record {line} {offset}"));
    }
    fn end_record(&mut self, offset: u64, whole: bool) {
        self.0.push(format!("end {offset} {whole}"));
    }
    fn event(&mut self, event: Event<'_>) {
        if let Event::Key(_, text)
        | Event::String(_, text)
        | Event::StringPart(_, text)
        | Event::Number(_, text) = event
        {
            assert!(text.len() <= 65_536, "{}", text.len());
        }
        self.0.push(format!("{event:?}"));
    }
}
