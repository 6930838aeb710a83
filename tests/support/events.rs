//! A sink that records all events, to compare readers that get their bytes in different chunks.

use strict_json::{Event, Sink};

/// All events as text; string parts are separate events, since their boundaries must not depend on the chunks.
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
