//! `p7-no-spinner`: without a terminal, stderr consists of lines that are never redrawn.

use crate::context::{CheckContext, RunView};
use crate::kit::moves_cursor;
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::model::{CallGroup, OutputFormat, Stream, Variant};
use agentnative_core::probe::Probe;
use std::io::Read as _;

/// Maximum number of bytes of stderr that are searched.
const MAX_SEARCHED: u64 = 8 << 20;

/// Judges `p7-no-spinner`: without a terminal, stderr is not redrawn.
pub fn no_spinner(context: &CheckContext) -> Judgement {
    // A call with control characters may print them.
    let has_controls = |probe: &&Probe| {
        probe.explored.as_ref().is_some_and(|origin| origin.group == CallGroup::Hallucinated)
    };
    let runs =
        context.sources().filter(|probe| !has_controls(probe)).flat_map(|probe| context.runs_of(probe));
    let plain = runs.filter(|run| run.variant() == Variant::Plain && !is_error_object(run));
    Judgement::from_assertions(plain.map(|run| has_no_redraw(&run)), "declare a probe")
}

/// True if stderr must contain only an error object. Another check judges it.
fn is_error_object(run: &RunView) -> bool {
    let on_stderr = run.context.profile.conventions.errors == Stream::Stderr;
    on_stderr && run.format() != OutputFormat::Text && !run.probe.prints_data()
}

fn has_no_redraw(run: &RunView) -> Assertion {
    let bytes = run.bytes(Stream::Stderr);
    let mut text = Vec::new();
    if let Err(error) = bytes.reader().take(MAX_SEARCHED).read_to_end(&mut text) {
        return inconclusive(format!("stderr of {} could not be read: {error}", run.label()));
    }
    let Some(redraw) = first_redraw(&text) else { return run.exited().map(drop).map_err(Into::into) };
    let (kind, offset, what) = match redraw {
        Redraw::Return(offset) => ("carriage-return", offset, "a carriage return that overwrites a line"),
        Redraw::Cursor(offset) => ("cursor", offset, "a sequence that moves the cursor or erases"),
    };
    let detail = format!("stderr contains {what}, although it is not a terminal");
    match strict_json::locate(bytes.reader(), offset as u64) {
        Ok(offset) => run.failed_at(kind, Stream::Stderr, offset, detail),
        Err(_) => run.failed(kind, detail),
    }
}

/// A carriage return or a cursor sequence that overwrites earlier output, with its offset in bytes.
#[derive(Debug, PartialEq, Eq)]
enum Redraw {
    Return(usize),
    Cursor(usize),
}

/// Returns the first carriage return or escape sequence that overwrites output; `None` if there is none. Colours, and
/// CR LF at the end of a line, overwrite nothing.
fn first_redraw(text: &[u8]) -> Option<Redraw> {
    memchr::memchr2_iter(b'\r', 0x1b, text).find_map(|offset| match text[offset] {
        b'\r' => {
            let next = text[offset..].iter().find(|byte| **byte != b'\r');
            (next != Some(&b'\n')).then_some(Redraw::Return(offset))
        }
        _ => moves_cursor(&text[offset + 1..]).then_some(Redraw::Cursor(offset)),
    })
}

#[cfg(test)]
mod tests {
    use super::{Redraw, first_redraw};

    #[test]
    fn the_first_redraw_is_found() {
        for (text, expected) in [
            ("- a\r- b\n", Redraw::Return(3)),
            ("10%\r", Redraw::Return(3)),
            ("ok\r\n\rloading\n", Redraw::Return(4)),
            ("\u{1b}[32mgreen\u{1b}[0m \u{1b}[2Kx", Redraw::Cursor(15)),
            ("\u{1b}[?25l", Redraw::Cursor(0)),
            ("\u{1b}[1A", Redraw::Cursor(0)),
            ("\u{1b}7\u{1b}8", Redraw::Cursor(0)),
            ("\u{1b}[s", Redraw::Cursor(0)),
        ] {
            assert_eq!(first_redraw(text.as_bytes()), Some(expected), "{text:?}");
        }
    }

    #[test]
    fn lines_and_colours_are_not_redraws() {
        for text in [
            "",
            "one\ntwo\n",
            "one\r\ntwo\r\r\n",
            "\u{1b}[1;31merror\u{1b}[0m: x\n",
            "\u{1b}]8;;https://example.org\u{7}link\u{1b}]8;;\u{7}\n",
            "\u{1b}[?2004h",
            "\u{1b}",
            "\u{1b}[",
            "10%\n20%\n",
        ] {
            assert_eq!(first_redraw(text.as_bytes()), None, "{text:?}");
        }
    }
}
