//! Tests that records on a tape have the same values and problems, whether they come as events or at once.

use crate::properties::nearly_json;
use crate::tape_printer::read_three_ways;
use proptest::prelude::*;
use strict_json::{KeyMap, ReadOptions, ReadSummary, Sink, Tape, TapeKey, read_lines_in_memory};

fn assert_same(bytes: &[u8], sizes: &[usize]) -> ReadSummary {
    let [by_events, at_once, at_hand] = read_three_ways(bytes, sizes, &ReadOptions::default());
    assert_eq!(by_events, at_once);
    assert_eq!(by_events, at_hand);
    by_events.0
}

/// Generates lines similar to those of programs: various strings, numbers and keys, compact and with spaces.
fn line() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        "[a-c]{0,20}",
        r#"(\\[nrtbf/"\\]|[a-z é😀]){0,12}"#,
        r"(\\u(00e9|0000|ffff|fdd0|d83d\\ude00|d800|dc00)|x){0,4}",
        "\\PC{0,24}",
        Just("\u{fffe}".to_owned()),
        Just("a\tb".to_owned()),
    ];
    let number = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        "-?[0-9]{1,18}(\\.[0-9]{0,3})?([eE][-+]?[0-9]{0,3})?",
        Just(format!("0.{}", "1".repeat(200))),
        Just(format!("1{}", "0".repeat(400))),
    ];
    let leaf = prop_oneof![
        text.clone().prop_map(|text| format!("\"{text}\"")),
        number,
        prop::sample::select(vec!["true", "false", "null", "nul", "NaN", "+1", "[]", "{}"])
            .prop_map(str::to_owned),
    ];
    let value = leaf.prop_recursive(4, 40, 6, move |inner| {
        let key =
            prop_oneof!["[ab]{0,3}", "[ab]{7,9}", "[ab]{15,18}", "type|sessionID|messageID", text.clone()];
        let member = (key, inner.clone(), prop::sample::select(vec![":", ": ", " : "]));
        let member = member.prop_map(|(key, value, colon)| format!("\"{key}\"{colon}{value}"));
        let comma = prop::sample::select(vec![",", ", ", " ,"]);
        prop_oneof![
            (prop::collection::vec(inner, 0..6), comma.clone())
                .prop_map(|(all, comma)| format!("[{}]", all.join(comma))),
            (prop::collection::vec(member, 0..6), comma)
                .prop_map(|(all, comma)| format!("{{{}}}", all.join(comma))),
        ]
    });
    let end = prop::sample::select(vec!["", "", " ", "\r", ",", "}", "\r\r", "\r "]);
    (value, end).prop_map(|(value, end)| format!("{{\"v\":{value}}}{end}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_read_at_once_give_the_same_values(bytes in nearly_json(), sizes in prop::collection::vec(1usize..90, 1..6)) {
        assert_same(&bytes, &sizes);
    }

    #[test]
    fn lines_read_at_once_give_the_same_values(lines in prop::collection::vec(line(), 1..6), size in 1usize..300) {
        assert_same(lines.join("\n").as_bytes(), &[size]);
        assert_same((lines.join("\n") + "\n").as_bytes(), &[size]);
    }
}

/// Counts the records that come at once, and the events.
#[derive(Default)]
struct Counter {
    tape: Tape,
    records: u64,
    events: u64,
}

impl Sink for Counter {
    fn begin_record(&mut self, _: u64, offset: u64) {
        self.tape.clear(offset, offset);
    }
    fn tape(&mut self) -> Option<&mut Tape> {
        Some(&mut self.tape)
    }
    fn end_record(&mut self, _: u64, _: bool) {
        self.records += u64::from(self.tape.root().is_some());
    }
    fn event(&mut self, _: strict_json::Event<'_>) {
        self.events += 1;
    }
}

#[test]
fn records_without_problems_come_at_once() {
    let record =
        r#"{"type":"a","n":[-0.5e-3,12,true,null,{}],"text":"é\n\u00e9\ud83d\ude00","type2": {"a" : 1 }}"#;
    let mut sink = Counter::default();
    let lines = format!("{record}\n{record}\r\n{record} \n");
    let summary = read_lines_in_memory(lines.as_bytes(), &ReadOptions::default(), &mut sink);
    assert_eq!((summary.complete, sink.records, sink.events), (3, 3, 0));
}

#[test]
fn problems_are_reported_among_records_that_come_at_once() {
    let clean = r#"{"type":"a","id":1}"#;
    let keys: String = (0..70).map(|number| format!("\"k{number}\":1,")).collect();
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(512), "]".repeat(512));
    let invalid = [
        r#"{"a":1,"a":2}"#,
        r#"{"abcdefgh":1,"b":{"abcdefgh":1},"abcdefgh":2}"#,
        r#"{"abcdefghijklmnopqrst":1,"abcdefghijklmnopqrst":2}"#,
        r#"{"\u0061":1,"a":2}"#,
        r#"{"a":9007199254740993}"#,
        r#"{"a":12345678901234567890}"#,
        r#"{"a":1e400}"#,
        r#"{"a":01}"#,
        r#"{"a":NaN}"#,
        r#"{"a":"\ud800"}"#,
        r#"{"a":"\uffff"}"#,
        "{\"a\":\"\u{fdd0}\"}",
        r#"{"a":"\x"}"#,
        "{\"a\":\"\u{1}\"}",
        "[1]",
        "",
        "\u{feff}{}",
        "{}{}",
        r#"{"a":1"#,
        "{\"a\":1\r}",
        "{\n}",
        &format!("{{{keys}\"k0\":1}}"),
        &deep,
    ];
    for record in invalid {
        let lines = format!("{clean}\n{clean}\n{record}\n{clean}\n");
        let summary = assert_same(lines.as_bytes(), &[usize::MAX]);
        assert!(!summary.problems.is_empty(), "{record}");
        assert_eq!(summary.problems[0].position.line, 3, "{record}");
        let bytes = [clean.as_bytes(), b"\n\xff\n", lines.as_bytes()].concat();
        assert_same(&bytes, &[7]);
    }
    // Long values are not problems.
    for record in [
        format!("{{{keys}\"a\":1}}"),
        format!("{{\"{}\":1}}", "k".repeat(20_000)),
        format!("{{\"a\":\"{}\"}}", "é\\n".repeat(60_000)),
        format!("{{\"a\":0.{}}}", "1".repeat(5000)),
    ] {
        let summary = assert_same(format!("{clean}\n{record}\n{clean}\n").as_bytes(), &[70_000]);
        assert_eq!(summary.problems, [], "{}", &record[..40]);
    }
}

#[test]
fn keys_of_all_lengths_are_found() {
    let names: Vec<String> =
        (0..40).flat_map(|length| ["a", "b"].map(|last| "x".repeat(length) + last)).collect();
    let members: Vec<String> = names.iter().map(|name| format!("\"{name}\":\"{name}\"")).collect();
    for chunk in members.chunks(20) {
        let mut tape = Tape::default();
        read_lines_in_memory(
            format!("{{{}}}\n", chunk.join(",")).as_bytes(),
            &ReadOptions::default(),
            &mut tape,
        );
        let root = tape.root().unwrap();
        let map: KeyMap<&str> = names.iter().map(|name| (TapeKey::new(name), name.as_str())).collect();
        let mut found = 0;
        for key in root.keys() {
            assert_eq!(map.get(key), Some(&key.value().text()));
            found += 1;
        }
        assert_eq!(found, 20);
        let present = names.iter().filter(|name| root.member(&TapeKey::new(name)).is_some());
        assert!(present.eq(names.iter().filter(|name| chunk.contains(&format!("\"{name}\":\"{name}\"")))));
        let empty: KeyMap<()> = [].into_iter().collect();
        assert!(root.keys().all(|key| empty.get(key).is_none()) && empty.is_empty());
    }
}

#[test]
fn large_maps_have_all_their_keys() {
    let map: KeyMap<u32> = (0..40_000).map(|number| (TapeKey::new(&format!("k{number}")), number)).collect();
    let mut tape = Tape::default();
    let line = b"{\"k0\":0,\"k32766\":1,\"k32767\":2,\"k39999\":3,\"k40000\":4}\n";
    read_lines_in_memory(line, &ReadOptions::default(), &mut tape);
    let found: Vec<Option<&u32>> = tape.root().unwrap().keys().map(|key| map.get(key)).collect();
    assert_eq!(found, [Some(&0), Some(&32_766), Some(&32_767), Some(&39_999), None]);
}
