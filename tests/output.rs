//! Output: the streams of results and errors, colour, JSON that is safe on a terminal, and writers that fail.

use agentnative_contract::error::{Error, ErrorKind, Issue, Place};
use agentnative_output::{
    ColorChoice, ColorEnv, Output, OutputConfig, OutputFormat, Page, StyledText, Tone, time_left, to_string,
    use_color,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::time::Duration;
use strict_json::sanitize::is_unsafe;

/// Returns what `act` writes to stdout and to stderr.
fn written(config: OutputConfig, act: impl FnOnce(&mut Output<&mut Vec<u8>, &mut Vec<u8>>)) -> [String; 2] {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    act(&mut Output::with_streams(config, &mut out, &mut err));
    [out, err].map(|bytes| String::from_utf8(bytes).unwrap())
}

const TEXT: OutputConfig = OutputConfig::plain(OutputFormat::Text);
const JSON: OutputConfig = OutputConfig::plain(OutputFormat::Json);
const JSONL: OutputConfig = OutputConfig::plain(OutputFormat::Jsonl);

#[test]
fn colour_depends_on_flag_environment_and_terminal() {
    use ColorChoice::{Always, Auto, Never};
    for (flag, no_color, force, term, terminal, expected) in [
        // Without a flag and variables, the terminal decides.
        (Auto, None, None, None, true, true),
        (Auto, None, None, None, false, false),
        (Auto, None, None, Some("xterm"), true, true),
        (Auto, None, None, Some("xterm"), false, false),
        // TERM=dumb has priority over the terminal.
        (Auto, None, None, Some("dumb"), true, false),
        (Auto, None, None, Some("dumb"), false, false),
        // CLICOLOR_FORCE has priority over both; an empty value and 0 are ignored.
        (Auto, None, Some("1"), Some("dumb"), false, true),
        (Auto, None, Some("1"), None, false, true),
        (Auto, None, Some("yes"), None, true, true),
        (Auto, None, Some("0"), None, false, false),
        (Auto, None, Some("0"), None, true, true),
        (Auto, None, Some("0"), Some("dumb"), true, false),
        (Auto, None, Some(""), None, false, false),
        (Auto, None, Some(""), None, true, true),
        // NO_COLOR has priority over these with any value; an empty value is ignored.
        (Auto, Some("1"), None, None, true, false),
        (Auto, Some("0"), None, None, true, false),
        (Auto, Some("1"), Some("1"), None, true, false),
        (Auto, Some(""), None, None, true, true),
        (Auto, Some(""), Some("1"), None, false, true),
        // The flag has priority over everything.
        (Always, Some("1"), None, Some("dumb"), false, true),
        (Always, None, None, None, false, true),
        (Never, None, Some("1"), None, true, false),
        (Never, None, None, Some("xterm"), true, false),
    ] {
        let env = ColorEnv {
            no_color: no_color.map(OsStr::new),
            clicolor_force: force.map(OsStr::new),
            term: term.map(OsStr::new),
            ..ColorEnv::default()
        };
        assert_eq!(use_color(flag, env, terminal), expected, "{flag:?} {env:?} {terminal}");
    }
    // CLICOLOR applies to terminals, FORCE_COLOR to all streams.
    for (no_color, force_color, clicolor, terminal, expected) in [
        (None, None, Some("0"), true, false),
        (None, None, Some("1"), true, true),
        (None, None, Some("1"), false, false),
        (None, Some("1"), Some("0"), false, true),
        (None, Some("3"), None, false, true),
        (None, Some("0"), None, true, false),
        (None, Some("false"), None, true, false),
        (None, Some(""), None, false, false),
        (Some("1"), Some("1"), None, true, false),
    ] {
        let env = ColorEnv {
            no_color: no_color.map(OsStr::new),
            force_color: force_color.map(OsStr::new),
            clicolor: clicolor.map(OsStr::new),
            ..ColorEnv::default()
        };
        assert_eq!(use_color(ColorChoice::Auto, env, terminal), expected, "{env:?} {terminal}");
    }
}

#[test]
fn json_formats_have_neither_colour_nor_progress() {
    for format in [OutputFormat::Json, OutputFormat::Jsonl] {
        let config = OutputConfig::from_environment(format, ColorChoice::Always, false);
        assert!(!config.color_stdout && !config.color_stderr && !config.progress);
    }
    let config = OutputConfig::from_environment(OutputFormat::Text, ColorChoice::Always, false);
    assert!(config.color_stdout && config.color_stderr);
}

#[test]
fn a_document_is_one_line_in_the_envelope() {
    let [out, err] = written(JSON, |output| output.document("list", true, &["a\nb"]).unwrap());
    assert_eq!(out, "{\"ok\":true,\"command\":\"list\",\"data\":[\"a\\nb\"]}\n");
    assert_eq!(err, "");
}

#[test]
fn each_record_is_flushed() {
    #[derive(Default)]
    struct Sink {
        pending: Vec<u8>,
        flushed: Vec<Vec<u8>>,
    }
    impl Write for &mut Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.pending.extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            let pending = std::mem::take(&mut self.pending);
            self.flushed.push(pending);
            Ok(())
        }
    }
    let mut sink = Sink::default();
    let mut output = Output::with_streams(JSONL, &mut sink, io::sink());
    output.record(&json!({"n": 1})).unwrap();
    output.record(&json!({"n": 2})).unwrap();
    assert_eq!(sink.flushed, [b"{\"n\":1}\n", b"{\"n\":2}\n"]);
}

fn bad_config() -> Error {
    let issue = |file: &str, line, column, message: &str| Issue {
        place: Some(Place { file: file.into(), line, column }),
        message: message.into(),
    };
    Error::config("agentnative.toml has 3 errors")
        .issues(vec![
            issue("agentnative.toml", 3, 14, "unknown key `frmat`; expected `formats`"),
            issue("schemas/\u{1b}[2Jx.json", 0, 0, "no such file"),
            Issue { place: None, message: "no target\n::error::x".into() },
        ])
        .hint("run agentnative init")
}

#[test]
fn an_error_in_text_mode_is_plain_lines_on_stderr() {
    let [out, err] = written(TEXT, |output| output.error(&bad_config()));
    assert_eq!(out, "");
    assert_eq!(
        err,
        "error: agentnative.toml has 3 errors\n\
         \x20 agentnative.toml:3:14: unknown key `frmat`; expected `formats`\n\
         \x20 schemas/\\x1b[2Jx.json: no such file\n\
         \x20 no target\\x0a::error::x\n\
         hint: run agentnative init\n"
    );
}

#[test]
fn an_error_in_a_json_mode_is_one_line_on_stderr() {
    for config in [JSON, JSONL] {
        let [out, err] = written(config, |output| output.error(&bad_config()));
        assert_eq!(out, "");
        assert_eq!(err.matches('\n').count(), 1);
        assert!(!err.contains('\x1b'));
        assert_eq!(
            serde_json::from_str::<Value>(&err).unwrap(),
            json!({
                "error": "configuration error",
                "kind": "config",
                "message": "agentnative.toml has 3 errors",
                "issues": [
                    {"file": "agentnative.toml", "line": 3, "column": 14,
                     "message": "unknown key `frmat`; expected `formats`"},
                    {"file": "schemas/\u{1b}[2Jx.json", "message": "no such file"},
                    {"message": "no target\n::error::x"},
                ],
                "hint": "run agentnative init",
            })
        );
    }
    let [_, err] = written(JSON, |output| output.error(&Error::usage("no")));
    assert_eq!(err, "{\"error\":\"usage error\",\"kind\":\"usage\",\"message\":\"no\",\"issues\":[]}\n");
}

#[test]
fn diagnostics_are_printed_only_in_text_without_quiet() {
    let written_with = |config| written(config, |output| output.diagnostic("2 probes\x1b[2J\n::warning::x"));
    assert_eq!(written_with(TEXT), ["", "2 probes\\x1b[2J\n\\x3a:warning::x\n"].map(str::to_owned));
    assert_eq!(written_with(OutputConfig { quiet: true, ..TEXT }), ["", ""]);
    assert_eq!(written_with(JSON), ["", ""]);
    assert_eq!(written_with(JSONL), ["", ""]);
}

#[test]
fn text_is_sanitized_and_colours_are_kept_if_enabled() {
    let raw = "\x1b[31mred\x1b[0m \x1b[2J\u{202e}\n::error::x";
    let [plain, _] = written(TEXT, |output| output.text(raw).unwrap());
    assert_eq!(plain, "\\x1b[31mred\\x1b[0m \\x1b[2J\\u{202e}\n\\x3a:error::x\n");
    let [colored, _] =
        written(OutputConfig { color_stdout: true, ..TEXT }, |output| output.text(raw).unwrap());
    assert_eq!(colored, "\x1b[31mred\x1b[0m \\x1b[2J\\u{202e}\n\\x3a:error::x\n");
    let [nothing, _] = written(TEXT, |output| output.text("").unwrap());
    assert_eq!(nothing, "");
}

#[test]
fn progress_is_one_line_that_is_cleared_before_other_output() {
    let config = OutputConfig { progress: true, width: 40, ..TEXT };
    let [out, err] = written(config, |output| {
        output.progress(Duration::ZERO, "1/9 list\x1b[2J");
        output.progress(Duration::from_secs(60), &"x".repeat(60));
        output.text("done").unwrap();
        output.diagnostic("note");
    });
    assert_eq!(out, "done\n");
    let cut = "x".repeat(38) + "…";
    assert_eq!(err, format!("\r\x1b[K1/9 list\\x1b[2J\r\x1b[K{cut}\r\x1b[Knote\n"));
}

#[test]
fn a_log_has_a_line_of_progress_at_intervals() {
    let log = |config| {
        let [out, err] = written(config, |output| {
            // The second sequence is a new phase, which has its own clock.
            for second in (0..100).chain(0..20) {
                output.progress(Duration::from_secs(second), &format!("{second}/100 runs"));
            }
        });
        assert_eq!(out, "");
        err
    };
    assert_eq!(log(TEXT), "10/100 runs\n40/100 runs\n70/100 runs\n10/100 runs\n");
    assert_eq!(log(OutputConfig { quiet: true, ..TEXT }), "");
    assert_eq!((log(JSON), log(JSONL)), (String::new(), String::new()));
    // On a terminal, progress is drawn even with `quiet`.
    let drawn = log(OutputConfig { quiet: true, progress: true, ..TEXT });
    assert!(drawn.ends_with("\r\x1b[K19/100 runs") && !drawn.contains('\n'), "{drawn:?}");
}

#[test]
fn the_remaining_time_is_estimated_from_the_completed_runs() {
    for (done, total, seconds, expected) in [
        (0, 10, 5.0, None),
        (1, 10, 0.5, None),
        (10, 10, 20.0, None),
        (11, 10, 20.0, None),
        (5, 10, 4.0, Some("about 4 s left")),
        (5, 10, 4.2, Some("about 5 s left")),
        (10, 84, 2.0, Some("about 15 s left")),
        (1, 61, 1.0, Some("about 60 s left")),
        (1, 84, 1.0, Some("about 2 min left")),
        (1, 84, 120.0, Some("about 3 h left")),
    ] {
        let left = time_left(done, total, Duration::from_secs_f64(seconds));
        assert_eq!(left.as_deref(), expected, "{done}/{total} after {seconds} s");
    }
}

/// A writer that fails with this kind of error; the number of writes.
struct FailingWriter(io::ErrorKind, usize);
impl Write for FailingWriter {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        self.1 += 1;
        Err(self.0.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_ends_output_without_an_error() {
    let mut err = Vec::new();
    let mut output = Output::with_streams(JSONL, FailingWriter(io::ErrorKind::BrokenPipe, 0), &mut err);
    assert!(!output.is_closed());
    output.record(&1).unwrap();
    assert!(output.is_closed());
    output.record(&2).unwrap();
    output.text("x").unwrap();

    assert_eq!(err, b"");
}

#[test]
fn a_full_disk_is_an_error_and_a_closed_stderr_is_not() {
    let mut output = Output::with_streams(
        TEXT,
        FailingWriter(io::ErrorKind::StorageFull, 0),
        FailingWriter(io::ErrorKind::BrokenPipe, 0),
    );
    let error = output.text("x").unwrap_err();
    assert!(error.message.starts_with("cannot write to stdout: "), "{error}");
    assert_eq!((error.kind, error.exit_code()), (ErrorKind::Write, 1));
    output.error(&error);
    output.diagnostic("x");
}

#[test]
fn a_closed_pipe_of_the_system_ends_output_without_an_error() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut output = Output::with_streams(JSON, writer, io::sink());
    output.document("list", true, &vec![0; 100_000]).unwrap();
    assert!(output.is_closed());
}

#[test]
fn json_is_safe_on_a_terminal() {
    let value = json!({"k\u{9b}": "\x1b[2J \u{7f} \u{202e} \u{feff} \u{e0041} ##[error]x ##", "z": 1.5});
    let line = to_string(&value).unwrap();
    assert_eq!(
        line,
        "{\"k\\u009b\":\"\\u001b[2J \\u007f \\u202e \\ufeff \\udb40\\udc41 \\u0023#[error]x ##\",\"z\":1.5}"
    );
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
}

#[test]
fn a_value_that_json_cannot_represent_is_an_error_without_output() {
    let map = std::collections::BTreeMap::from([(vec![1], 2)]);
    let [out, _] = written(JSON, |output| assert!(output.document("x", true, &map).is_err()));
    assert_eq!(out, "");
}

#[test]
fn tables_align_and_wrap_their_last_column() {
    let mut page = Page::new(&OutputConfig { width: 50, ..TEXT });
    page.heading("Checks");
    page.table(
        2,
        [
            [
                StyledText::plain("p2-a"),
                StyledText::new(Tone::Success, "must"),
                StyledText::plain("a short one"),
            ]
            .into(),
            ["中文", "may", "words that go on until they no longer fit in a line"]
                .map(StyledText::plain)
                .into(),
        ],
    );
    page.paragraph(4, "One paragraph that is rather longer than the page is wide.\n  kept   as it is");
    page.labelled(0, &StyledText::plain("help: "), "wraps under the first word, and not under the label");
    assert_eq!(
        page.finish(),
        "\
Checks
  p2-a  must  a short one
  中文  may   words that go on until they no
              longer fit in a line
    One paragraph that is rather longer than the
    page is wide.
      kept   as it is
help: wraps under the first word, and not under
      the label
"
    );
}

#[test]
fn a_page_escapes_unsafe_characters() {
    let mut page = Page::new(&TEXT);
    page.line(0, &[StyledText::plain("a\x1b[2J\n")]);
    page.block(2, "{\n\t\"a\": \"\u{202e}\"\n}");
    assert_eq!(page.finish(), "a\\x1b[2J\\x0a\n  {\n      \"a\": \"\\u{202e}\"\n  }\n");
}

proptest! {
    #[test]
    fn json_is_safe_and_keeps_all_values(text in any::<String>(), more in "[#\\[a\\x00-\\x1f\\u{7f}-\\u{9f}\\u{200b}-\\u{206f}]*") {
        for value in [json!(text), json!({more.as_str(): [text, more]})] {
            let line = to_string(&value).unwrap();
            prop_assert!(!line.contains(is_unsafe));
            prop_assert!(!line.contains("##["));
            prop_assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        }
    }
}
