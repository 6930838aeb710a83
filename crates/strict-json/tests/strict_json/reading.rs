//! Tests of the strict reader through its public API.

use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};
use strict_json::{
    Problem, ProblemKind, ProblemKind::*, ProblemSeverity, ReadOptions, ReadSummary, Sink, find_span, locate,
    read_document, read_lines, read_records, read_value,
};

fn document(bytes: impl AsRef<[u8]>) -> ReadSummary {
    read_document(bytes.as_ref(), &ReadOptions::default(), &mut ()).unwrap()
}

fn lines(bytes: impl AsRef<[u8]>) -> ReadSummary {
    read_lines(bytes.as_ref(), &ReadOptions::default(), &mut ()).unwrap()
}

type ReducedProblem = (ProblemKind, u64, u64, u64, String);

/// Returns kind, offset, line, column and pointer of each problem.
fn reduce(problems: &[Problem]) -> Vec<ReducedProblem> {
    problems
        .iter()
        .map(|p| (p.kind, p.position.offset, p.position.line, p.position.column, p.pointer.clone()))
        .collect()
}

#[track_caller]
fn expect(summary: &ReadSummary, expected: &[(ProblemKind, u64, u64, u64, &str)]) {
    let expected: Vec<ReducedProblem> =
        expected.iter().map(|e| (e.0, e.1, e.2, e.3, e.4.to_string())).collect();
    assert_eq!(reduce(&summary.problems), expected, "{:?}", summary.problems);
}

#[test]
fn problems_of_a_document_have_kind_position_and_pointer() {
    type Case<'a> = (&'a [u8], &'a [(ProblemKind, u64, u64, u64, &'a str)]);
    let cases: &[Case] = &[
        (b"{}", &[]),
        (b" \n[1, true, \"x\", null, -1.5e3] \r\n", &[]),
        (b"\xef\xbb\xbf{}", &[(Bom, 0, 1, 1, "")]),
        (b"\xff\xfe{\0}\0", &[(Bom, 0, 1, 1, "")]),
        (b"\xef\xbb\xbf", &[(Bom, 0, 1, 1, ""), (Empty, 3, 1, 2, "")]),
        (b"", &[(Empty, 0, 1, 1, "")]),
        (b" \n ", &[(Empty, 3, 2, 2, "")]),
        (b"{\"a\":[\"\xc3\xa9\xff\"]}", &[(InvalidUtf8, 9, 1, 9, "/a/0")]),
        (b"[1]\xe2\x82", &[(InvalidUtf8, 3, 1, 4, "")]),
        (b"[1,\0]", &[(Nul, 3, 1, 4, "/1")]),
        (b"[\"a\0\"]", &[(Nul, 3, 1, 4, "/0")]),
        (b"[\"a\tb\"]", &[(ControlInString, 3, 1, 4, "/0")]),
        (b"[\"a\nb\"]", &[(ControlInString, 3, 1, 4, "/0")]),
        (b"\x1b[32m{}", &[(Control, 0, 1, 1, "")]),
        (b"{}\x1b[0m", &[(Control, 2, 1, 3, "")]),
        ("{}\u{9b}0m".as_bytes(), &[(Control, 2, 1, 3, "")]),
        (b"Fetching\n{}", &[(Syntax, 0, 1, 1, "")]),
        (b"{\"a\":1,\n \"b\" 2}", &[(Syntax, 13, 2, 6, "/b")]),
        (b"{\"a\":1,}", &[(Syntax, 7, 1, 8, "")]),
        (b"{\"o\":{\"a\":1 x}}", &[(Syntax, 12, 1, 13, "/o")]),
        (b"{a:1}", &[(Syntax, 1, 1, 2, "")]),
        (b"[1,,2]", &[(Syntax, 3, 1, 4, "/1")]),
        (b"[0,01]", &[(Syntax, 4, 1, 5, "/1")]),
        (b"[1.]", &[(Syntax, 3, 1, 4, "/0")]),
        (b"[-]", &[(Syntax, 2, 1, 3, "/0")]),
        (b"[tru]", &[(Syntax, 1, 1, 2, "/0")]),
        (b"['a']", &[(Syntax, 1, 1, 2, "/0")]),
        (b"{\"a\":{\"b\":[1,", &[(Truncated, 13, 1, 14, "/a/b/1")]),
        (b"{\"a\":{\"b\":[1\n", &[(Truncated, 13, 2, 1, "/a/b")]),
        (b"\"abc", &[(Truncated, 4, 1, 5, "")]),
        (b"[\"\\u12", &[(Truncated, 6, 1, 7, "/0")]),
        (b"[\"\\ud800", &[(Truncated, 8, 1, 9, "/0")]),
        (b"[tru", &[(Truncated, 4, 1, 5, "/0")]),
        (b"-", &[(Truncated, 1, 1, 2, "")]),
        (b"{}\n{}", &[(Trailing, 3, 2, 1, "")]),
        (b"{} // done", &[(Trailing, 3, 1, 4, "")]),
        ("{\"é\":1,\"b\":{},\"\\u00e9\":2}".as_bytes(), &[(DuplicateKey, 15, 1, 15, "/é")]),
        (b"{\"a/b~\":{\"k\":1,\"k\":1}}", &[(DuplicateKey, 15, 1, 16, "/a~1b~0/k")]),
        (b"{\"a\":{\"a\":1},\"b\":{\"a\":1}}", &[]),
        (
            b"{\"\\ud800\":1,\"\\ud801\":2}",
            &[(UnpairedSurrogate, 2, 1, 3, ""), (UnpairedSurrogate, 13, 1, 14, "")],
        ),
        (
            b"[\"x\\ud800\\n\",\"\\udc00\"]",
            &[(UnpairedSurrogate, 3, 1, 4, "/0"), (UnpairedSurrogate, 14, 1, 15, "/1")],
        ),
        (b"[\"\\ud83d\\ude00\"]", &[]),
        (
            b"[NaN, -Infinity, inf]",
            &[(NonFinite, 1, 1, 2, "/0"), (NonFinite, 6, 1, 7, "/1"), (NonFinite, 17, 1, 18, "/2")],
        ),
        (b"nan", &[(NonFinite, 0, 1, 1, "")]),
        (
            b"[\"\\x41\",\"\\u00g0\", \"\\\xc3\xa9\"]",
            &[
                (InvalidEscape, 2, 1, 3, "/0"),
                (InvalidEscape, 9, 1, 10, "/1"),
                (InvalidEscape, 19, 1, 20, "/2"),
            ],
        ),
        (b"[9007199254740991,-9007199254740991,9007199254740992]", &[(IntegerRange, 36, 1, 37, "/2")]),
        (
            b"[-9007199254740992 ,123456789012345678901234567890]",
            &[(IntegerRange, 1, 1, 2, "/0"), (IntegerRange, 20, 1, 21, "/1")],
        ),
        (
            b"[1e400,-1E+309,1e308,0e999999999999999999999]",
            &[(Overflow, 1, 1, 2, "/0"), (Overflow, 7, 1, 8, "/1")],
        ),
        (
            b"[1.7976931348623158e308,1.7976931348623159e308,0.00001e999]",
            &[(Overflow, 24, 1, 25, "/1"), (Overflow, 47, 1, 48, "/2")],
        ),
        (b"[1e-400, 1.0E-99999999999999999999]", &[]),
        (
            "[\"a\u{fffe}\u{ffe}\u{1ffff}\u{fdd0}\"]".as_bytes(),
            &[(Noncharacter, 3, 1, 4, "/0"), (Noncharacter, 9, 1, 6, "/0"), (Noncharacter, 13, 1, 7, "/0")],
        ),
        (
            b"[\"\\uFFFF\",\"\\ud83f\\udffe\"]",
            &[(Noncharacter, 2, 1, 3, "/0"), (Noncharacter, 11, 1, 12, "/1")],
        ),
        (b"[1,\r2]\r", &[(BareCr, 3, 1, 4, ""), (BareCr, 6, 1, 7, "")]),
    ];
    for (bytes, expected) in cases {
        eprintln!("{}", bytes.escape_ascii());
        expect(&document(bytes), expected);
    }
}

#[test]
fn problems_of_json_lines_have_kind_position_and_pointer() {
    type Case<'a> = (&'a str, u64, &'a [(ProblemKind, u64, u64, u64, &'a str)]);
    let cases: &[Case] = &[
        ("", 0, &[]),
        ("{}\n{\"a\":1}\r\n", 2, &[]),
        ("{}\n{}", 2, &[(NoFinalNewline, 5, 2, 3, "")]),
        (
            "\n{}\n  \n{}\n \n",
            2,
            &[(BlankLine, 0, 1, 1, ""), (BlankLine, 6, 3, 3, ""), (BlankLine, 11, 5, 2, "")],
        ),
        (
            "{}\n[1]\n3\n\"x\"\nnull\n",
            5,
            &[
                (NotObject, 3, 2, 1, ""),
                (NotObject, 7, 3, 1, ""),
                (NotObject, 9, 4, 1, ""),
                (NotObject, 13, 5, 1, ""),
            ],
        ),
        ("{}\nFetching data\n{}\n", 3, &[(Syntax, 3, 2, 1, "")]),
        ("{}\n2024-01-01 INFO\n[warn] x\n{}\n", 4, &[(Trailing, 7, 2, 5, ""), (Syntax, 20, 3, 2, "/0")]),
        ("{\"a\":1} {\"a\":2}\n{}\n", 2, &[(Trailing, 8, 1, 9, "")]),
        // Torn in the middle, torn at the end, and two halves on one line.
        ("{\"a\":[1,2\n{\"a\":2}\n", 2, &[(Torn, 9, 1, 10, "/a")]),
        ("{\"a\":[1,\n{\"a\":2}\n", 2, &[(Torn, 8, 1, 9, "/a/1")]),
        ("{\"a\":\n\n{\"a\":2}\n", 2, &[(Torn, 5, 1, 6, "/a")]),
        ("{\"a\":1,\nERROR: out\n{}\n", 3, &[(Torn, 7, 1, 8, ""), (Syntax, 8, 2, 1, "")]),
        ("{\"a\":\"x\n{}\n", 2, &[(Torn, 7, 1, 8, "/a")]),
        ("{\"a\":\"x\\\n{}\n", 2, &[(Torn, 8, 1, 9, "/a")]),
        ("{\"a\":\"x\\u1\n{}\n", 2, &[(Torn, 10, 1, 11, "/a")]),
        ("{\"a\":tr\n{\"a\":1.\n{}\n", 3, &[(Torn, 7, 1, 8, "/a"), (Torn, 15, 2, 8, "/a")]),
        ("{}\n{\"a\":1", 2, &[(Torn, 9, 2, 7, "")]),
        ("{}\n{\"a\":1,\n", 2, &[(Torn, 10, 2, 8, "")]),
        ("{}\n{\n", 2, &[(Torn, 4, 2, 2, "")]),
        ("{\"a\":\"{\"a\":2}\n{}\n", 2, &[(Syntax, 8, 1, 9, "")]),
        // Pretty-printed.
        ("{\n  \"a\": [\n    {\n      \"b\": 1\n    }\n  ]\n}\n{}\n", 2, &[(MultiLine, 0, 1, 1, "")]),
        ("{}\n[\n{\"a\":1},\n{\"a\":2}\n]\n{}\n", 3, &[(MultiLine, 3, 2, 1, "")]),
        ("{\n\"a\": [\n{\n\"b\": 1\n}\n]\n}\n", 1, &[(MultiLine, 0, 1, 1, "")]),
        ("{\"a\": 1,\n \"b\": 2}\n{}\n", 2, &[(MultiLine, 0, 1, 1, "")]),
        ("{\n  \"a\": 1,\n  x\n  \"b\": 2\n}\n{}\n", 2, &[(MultiLine, 0, 1, 1, ""), (Syntax, 14, 3, 3, "")]),
        ("{\n  \"a\": 1\n{\"a\":1}\n", 2, &[(MultiLine, 0, 1, 1, ""), (Syntax, 11, 3, 1, "")]),
        ("{\n  \"a\": 1\n", 1, &[(MultiLine, 0, 1, 1, ""), (Torn, 11, 3, 1, "")]),
        // Problems inside records, with their position in the input.
        ("{}\n{\"é\":1,\"é\":NaN}\n", 2, &[(DuplicateKey, 11, 2, 8, "/é"), (NonFinite, 16, 2, 12, "/é")]),
        ("{}\n\u{feff}{}\n", 2, &[(Bom, 3, 2, 1, "")]),
        (
            "\r{}\n{\"a\":1}\r",
            2,
            &[(BareCr, 0, 1, 1, ""), (BareCr, 11, 2, 8, ""), (NoFinalNewline, 12, 2, 9, "")],
        ),
        ("\x1b[2K\r{}\n{}\n", 2, &[(Control, 0, 1, 1, "")]),
    ];
    for (text, records, expected) in cases {
        eprintln!("{}", text.escape_debug());
        let summary = lines(text);
        expect(&summary, expected);
        assert_eq!(summary.records, *records);
        assert_eq!(summary.bytes, text.len() as u64);
    }
    let summary = lines(b"{\"a\":\"\xff\"}\n{}\n\xfe\n{\"b\":1}\n");
    expect(&summary, &[(InvalidUtf8, 6, 1, 7, "/a"), (InvalidUtf8, 13, 3, 1, "")]);
    assert_eq!((summary.records, summary.complete), (4, 2));
}

#[test]
fn problems_beyond_the_limit_are_counted() {
    let options = ReadOptions { max_problems: 2, ..ReadOptions::default() };
    let text = format!("{}1e400", "NaN,".repeat(1000));
    let summary = read_document(format!("[{text}]").as_bytes(), &options, &mut ()).unwrap();
    assert_eq!(summary.problems.len(), 3);
    assert_eq!((summary.count(NonFinite), summary.count(Overflow)), (1000, 1));
    assert_eq!(
        (summary.count_severity(ProblemSeverity::Strict), summary.count_severity(ProblemSeverity::Interop)),
        (1000, 1)
    );
    assert!(summary.rejected());
    assert_eq!(summary.first_of_severity(ProblemSeverity::Interop).map(|p| p.kind), Some(Overflow));
}

#[test]
fn messages_name_expected_and_found_in_printable_ascii() {
    for (bytes, message) in [
        (&b"Fetching data"[..], "expected a JSON value, found `Fetching`"),
        (b"{}\x1b[0m", "expected only white space after the document, found 0x1b"),
        ("[é]".as_bytes(), "expected a JSON value or `]`, found U+00E9"),
        (b"[1", "expected `,` or `]`, found the end of the input"),
        (b"\"\xff\"", "expected UTF-8, found 0xff"),
        (b"[-inf]", "expected a JSON value, found `-inf`: JSON has no such number"),
    ] {
        assert_eq!(document(bytes).problems[0].message, message);
    }
    let escape = document("\"\\\u{202e}\"").problems[0].message.clone();
    assert!(escape.is_ascii() && !escape.bytes().any(|byte| byte.is_ascii_control()), "{escape}");
}

#[test]
fn depth_is_bounded_without_recursion() {
    let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(document(nested(512)).problems.is_empty());
    let pointer = "/0".repeat(512);
    expect(&document(nested(513)), &[(Depth, 512, 1, 513, &pointer)]);
    let million = document("[".repeat(1_000_000));
    assert_eq!((million.problems.len(), million.count(Depth)), (1, 1));
    let deep = ReadOptions { max_depth: 2_000_000, ..ReadOptions::default() };
    let objects = "{\"\":[".repeat(500_000) + &"]}".repeat(500_000);
    assert!(read_document(objects.as_bytes(), &deep, &mut ()).unwrap().problems.is_empty());
    let lines = lines("[".repeat(100_000) + "\n{}\n");
    assert_eq!((lines.count(Depth), lines.records, lines.complete), (1, 2, 1));
}

#[test]
fn keys_are_compared_up_to_a_limit() {
    let object = |keys: usize| -> String {
        let members: Vec<String> = (0..keys).map(|key| format!("\"{key}\":0")).collect();
        format!("{{{},\"7\":1}}", members.join(","))
    };
    for keys in [8, 32, 33, 34, 1000] {
        let summary = document(object(keys));
        assert_eq!((summary.count(DuplicateKey), summary.unchecked_keys), (1, 0), "{keys}");
    }
    let summary = document(object(917_504 + 5));
    assert_eq!((summary.count(DuplicateKey), summary.unchecked_keys), (1, 5));
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_parsing_cases_have_expected_results() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora/json-parsing"));
    let (mut accepted, mut rejected) = (0, 0);
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let summary = document(std::fs::read(&path).unwrap());
        if name.starts_with("y_") {
            accepted += 1;
            // RFC 8259 allows duplicate keys; strict readers reject them.
            let duplicates = u64::from(name.contains("duplicated_key"));
            assert_eq!(
                summary.count_severity(ProblemSeverity::Structural),
                0,
                "{name}: {:?}",
                summary.problems
            );
            assert_eq!(
                summary.count_severity(ProblemSeverity::Strict),
                duplicates,
                "{name}: {:?}",
                summary.problems
            );
        } else if name.starts_with("n_") {
            rejected += 1;
            assert!(summary.rejected(), "{name}");
        }
    }
    assert_eq!((accepted, rejected), (95, 188));
}

#[test]
fn values_are_built_within_the_budget() {
    let options = ReadOptions::default();
    let text = b"{\"a\":1,\"b\":[true,null,\"\\u00e9\",-2.5,NaN],\"a\":{\"c\":18446744073709551615}}";
    let document = read_value(&text[..], &options, 1000).unwrap();
    assert_eq!(document.value, Some(json!({"a": {"c": u64::MAX}, "b": [true, null, "é", -2.5, null]})));
    let document = read_value(&text[..], &options, text.len() as u64 - 1).unwrap();
    assert!(document.value.is_none() && document.too_large && document.summary.complete == 1);
    let long = serde_json::to_string(&"é\n".repeat(100_000)).unwrap();
    let document = read_value(long.as_bytes(), &options, 1 << 20).unwrap();
    assert_eq!(document.value, Some(Value::String("é\n".repeat(100_000))));
    assert!(read_value(&b"{} x"[..], &options, 99).unwrap().value.is_none());

    let mut records = Vec::new();
    let text = "{\"a\":1}\n{\"a\":\n[\"too large for the budget\"]\n{\"b\":2}\n";
    let summary = read_records(text.as_bytes(), &options, 16, |record| records.push(record)).unwrap();
    let built: Vec<_> = records.iter().map(|r| (r.line, r.offset, r.value.clone())).collect();
    assert_eq!(
        built,
        [(1, 0, Some(json!({"a": 1}))), (4, 43, Some(json!({"b": 2})))],
        "{:?}",
        summary.problems
    );
}

#[test]
fn pointers_are_located_as_bytes_and_bytes_as_positions() {
    let text =
        r#"{"a": [1, {"b/c": "x"}], "": {"~": null}, "n": {"k": 1}, "n": {"k": 23}, "m": {"k": 1}, "m": 0}"#;
    let find = |pointer: &str| {
        let span = find_span(text.as_bytes(), pointer).unwrap()?;
        Some(&text[usize::try_from(span.start).unwrap()..usize::try_from(span.end).unwrap()])
    };
    assert_eq!(find(""), Some(text));
    assert_eq!(find("/a"), Some("[1, {\"b/c\": \"x\"}]"));
    assert_eq!(find("/a/0"), Some("1"));
    assert_eq!(find("/a/1/b~1c"), Some("\"x\""));
    assert_eq!(find("/"), Some("{\"~\": null}"));
    assert_eq!(find("//~0"), Some("null"));
    assert_eq!(find("/n/k"), Some("23"));
    for absent in ["a", "/b", "/a/2", "/a/01", "/a/0/x", "/a/-", "/m/k"] {
        assert_eq!(find(absent), None, "{absent}");
    }
    let at = |offset| {
        let position = locate("é\nab\u{1f600}c".as_bytes(), offset).unwrap();
        (position.offset, position.line, position.column)
    };
    assert_eq!(
        [at(0), at(2), at(3), at(5), at(9), at(99)],
        [(0, 1, 1), (2, 1, 2), (3, 2, 1), (5, 2, 3), (9, 2, 4), (10, 2, 5)]
    );
}

#[test]
fn many_problems_take_linear_time() {
    let many = 1_000_000;
    let text = format!("[\"{}\"]", "\u{ffff}".repeat(many));
    assert_eq!(document(text).count(Noncharacter), many as u64);
    assert_eq!(lines(b"\x80\n".repeat(many)).count(InvalidUtf8), many as u64);
    assert_eq!(lines("x\u{e9}\n".repeat(many)).count(Syntax), many as u64);
    assert_eq!(lines("\n".repeat(many)).count(BlankLine), many as u64);
    let member = format!("{{\"{}\":", "k".repeat(2000));
    let summary = document(member.repeat(500) + "[" + &"NaN,".repeat(many) + "0]" + &"}".repeat(500));
    assert_eq!(summary.count(NonFinite), many as u64);
    assert!(summary.problems.iter().all(|problem| problem.pointer.len() < 70_000));
}

#[test]
fn records_are_passed_on_before_more_is_read_and_a_sink_can_stop() {
    use std::cell::Cell;
    /// Returns one record for each read; fails if the sink has not received the records before it.
    struct OneRecordPerRead<'a>(&'a Cell<u64>, u64);
    impl Read for OneRecordPerRead<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            assert_eq!(self.0.get(), self.1, "all records that were read have been given");
            self.1 += 1;
            (&b"{\"a\":\"\\u00e9\\n\",\"b\":-1}\n"[..]).read(buffer)
        }
    }
    struct Count<'a>(&'a Cell<u64>);
    impl Sink for Count<'_> {
        fn end_record(&mut self, _offset: u64, whole: bool) {
            assert!(whole);
            self.0.set(self.0.get() + 1);
        }
        fn is_done(&self) -> bool {
            self.0.get() == 3
        }
    }
    let records = Cell::new(0);
    let summary =
        read_lines(OneRecordPerRead(&records, 0), &ReadOptions::default(), &mut Count(&records)).unwrap();
    assert_eq!((records.get(), summary.records, summary.problems.len()), (3, 3, 0));
}

#[test]
fn errors_of_the_reader_are_returned() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("broken"))
        }
    }
    let reader = (&b"{\"a\":"[..]).chain(Broken);
    assert_eq!(read_document(reader, &ReadOptions::default(), &mut ()).unwrap_err().to_string(), "broken");
}
