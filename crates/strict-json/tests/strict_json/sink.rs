//! Tests of sinks: text that is not needed, problems, and server-sent events.

use strict_json::{Event, Problem, ProblemKind, ReadOptions, ReadSummary, Sink, read_document, read_lines};

/// Records all events except those of values under the key `skip`.
#[derive(Default)]
struct Recorder {
    skip: bool,
    depth: usize,
    events: Vec<String>,
    problems: Vec<(ProblemKind, bool)>,
}

impl Sink for Recorder {
    fn wants_key(&mut self, key: &[u8]) -> bool {
        let wanted = !self.skip || self.depth < 2;
        self.skip &= !(wanted && key != b"skip");
        wanted
    }
    fn wants_text(&self) -> bool {
        !self.skip
    }
    fn problem(&mut self, kind: ProblemKind, kept: Option<&Problem>) {
        assert!(kept.is_none_or(|problem| problem.kind == kind));
        self.problems.push((kind, kept.is_some()));
    }
    fn begin_record(&mut self, line: u64, offset: u64) {
        self.events.push(format!("{line}@{offset}"));
    }
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin(..) => self.depth += 1,
            Event::End(_) => self.depth -= 1,
            Event::StringPart(_, text) => self.events.push(format!("part of {}", text.len())),
            Event::Key(_, text) => {
                self.skip = text == "skip";
                self.events.push(text.to_owned());
            }
            Event::String(_, text) | Event::Number(_, text) => self.events.push(text.to_owned()),
            _ => {}
        }
    }
}

fn document(text: &str) -> (Recorder, ReadSummary) {
    let mut recorder = Recorder::default();
    let summary = read_document(text.as_bytes(), &ReadOptions::default(), &mut recorder).unwrap();
    (recorder, summary)
}

#[test]
fn unwanted_text_is_read_without_events() {
    let text = r#"{"a":"x","skip":{"k":"plain","e":"\"\\\/\b\f\n\r\té","u":"\u00e9\ud83d\ude00","n":[1,NaN]},"b":2.5}"#;
    let (recorder, summary) = document(text);
    assert_eq!(recorder.events, ["a", "x", "skip", "b", "2.5"]);
    assert_eq!(summary.count(ProblemKind::NonFinite), 1);
    let long = format!(r#"{{"skip":"{}\n","b":"{}"}}"#, "x".repeat(300_000), "y".repeat(100_000));
    assert_eq!(document(&long).0.events, ["skip", "b", "part of 65536", &"y".repeat(100_000 - 65_536)]);
}

#[test]
fn problems_in_unwanted_text_are_reported() {
    for (text, kind) in [
        (r#""\x""#, ProblemKind::InvalidEscape),
        (r#""a\n\q""#, ProblemKind::InvalidEscape),
        (r#""\ud800""#, ProblemKind::UnpairedSurrogate),
        ("\"\u{ffff}\\n\"", ProblemKind::Noncharacter),
        ("\"\\n\u{ffff}\"", ProblemKind::Noncharacter),
        ("\"a\\n\u{1}\"", ProblemKind::ControlInString),
        ("\"\\n\0\"", ProblemKind::Nul),
        (r#""open\n"#, ProblemKind::Truncated),
        (r#"{"d":1,"d":2}"#, ProblemKind::DuplicateKey),
        ("9007199254740993", ProblemKind::IntegerRange),
    ] {
        let wanted = document(&format!(r#"{{"keep":{text}}}"#)).1;
        let unwanted = document(&format!(r#"{{"skip":{text}}}"#)).1;
        assert_eq!(unwanted.problems.len(), 1, "{text}: {unwanted:?}");
        assert_eq!(unwanted.problems[0].kind, kind);
        assert_eq!(unwanted.problems[0].position, wanted.problems[0].position, "{text}");
    }
}

#[test]
fn sinks_receive_all_problems_also_those_beyond_the_limit() {
    let options = ReadOptions { max_problems: 1, ..ReadOptions::default() };
    let mut recorder = Recorder::default();
    read_lines(&b"{}\nno\n[]\nno\n"[..], &options, &mut recorder).unwrap();
    let expected =
        [(ProblemKind::Syntax, true), (ProblemKind::NotObject, true), (ProblemKind::Syntax, false)];
    assert_eq!(recorder.problems, expected);
    assert_eq!(recorder.events, ["1@0", "2@3", "3@6", "4@9"]);
}

#[test]
fn records_in_server_sent_events() {
    let stream = b":ping\r\nevent: x\nid: 7\nretry: 1\ndata: {\"a\":1}\n\ndata:{\"a\":2}\r\n\r\n{\"a\":3}\n";
    let options = ReadOptions { event_stream: true, ..ReadOptions::default() };
    let mut recorder = Recorder::default();
    let summary = read_lines(&stream[..], &options, &mut recorder).unwrap();
    assert!(summary.problems.is_empty(), "{:?}", summary.problems);
    assert_eq!((summary.records, summary.complete, summary.bytes), (3, 3, stream.len() as u64));
    assert_eq!(recorder.events, ["5@37", "a", "1", "7@51", "a", "2", "9@62", "a", "3"]);
    // Positions are relative to the whole stream; a field name without a colon is not a field.
    let mut recorder = Recorder::default();
    let summary = read_lines(&b"data: {\"a\":}\ndata\nid\n: end"[..], &options, &mut recorder).unwrap();
    let positions: Vec<_> =
        summary.problems.iter().map(|one| (one.position.line, one.position.column)).collect();
    assert_eq!(positions, [(1, 12), (2, 1), (3, 1)]);
    // Without the option, such lines are not records.
    let summary = read_lines(&stream[..], &ReadOptions::default(), &mut ()).unwrap();
    assert_eq!(summary.complete, 1);
}
