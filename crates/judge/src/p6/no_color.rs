//! `p6-no-color`: no colours in pipes, with `NO_COLOR`, or on a terminal without colours.

use crate::context::{CheckContext, RunView};
use crate::kit::{declare_success, moves_cursor};
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CallGroup, CheckId, ExploredOrigin, OutputFormat, Stream, Variant};
use agentnative_core::probe::Probe;
use std::io::Read as _;

/// Maximum number of bytes of a stream that are searched for escape sequences.
const MAX_SEARCHED: u64 = 8 << 20;
const ESCAPE: u8 = 0x1b;

/// Judges `p6-no-color`: no colour in pipes, with `NO_COLOR`, or on a terminal without colours.
pub fn no_color(context: &CheckContext) -> Judgement {
    let under = |variant| {
        let help = context
            .derived_probes(DerivedKind::Help)
            .flat_map(move |probe| context.runs_under(probe, variant));
        let runs = context.declared_under(variant).filter(|run| !may_print_escapes(run.probe));
        runs.chain(help)
    };
    let text = |run: &RunView| run.format() == OutputFormat::Text;
    let piped = under(Variant::ColourPipe)
        .filter(text)
        .map(|run| finds_nothing(&run, "pipe", "an escape sequence in a pipe", find_escape));
    let disabled = under(Variant::NoColour).filter(text).map(|run| match run.observation.key.nth {
        0 => finds_nothing(&run, "no-color", "a colour despite NO_COLOR=1", find_colour),
        _ => finds_nothing(&run, "dumb", "an escape sequence despite TERM=dumb", find_escape),
    });
    let no_data_probes = context.data_probes().next().is_none();
    let undecided =
        no_data_probes.then(|| inconclusive(format!("only help was run: {}", declare_success(""))));
    Judgement::from_assertions(piped.chain(disabled).chain(undecided), declare_success(""))
}

/// True for an explored call that may print escape sequences on purpose: it contains some, or selects colours.
fn may_print_escapes(probe: &Probe) -> bool {
    let selects =
        |arg: &String| ["color", "colour", "ansi"].iter().any(|word| arg.to_lowercase().contains(word));
    let is_hallucinated = |origin: &ExploredOrigin| origin.group == CallGroup::Hallucinated;
    probe.explored.as_ref().is_some_and(is_hallucinated)
        || probe.explored.is_some() && probe.call.args.iter().any(selects)
}

/// Passes if `find` finds no escape sequence in stdout and stderr. `find` returns the offset of a sequence in bytes.
/// `kind` and `what` describe it in the failure.
fn finds_nothing(run: &RunView, kind: &str, what: &str, find: fn(&[u8]) -> Option<usize>) -> Assertion {
    for stream in Stream::ALL {
        let mut bytes = Vec::new();
        // An unreadable capture counts as empty.
        let _ = run.bytes(stream).reader().take(MAX_SEARCHED).read_to_end(&mut bytes);
        if let Some(offset) = find(&bytes) {
            if stream == Stream::Stderr && moves_cursor(&bytes[offset + 1..]) {
                let what = format!("stderr of {} contains sequences that redraw it", run.label());
                return inconclusive(run.blocked_by(CheckId::P7NoSpinner, what));
            }
            return run.failed_at_offset(kind, stream, offset as u64, what);
        }
        if run.bytes(stream).len() > MAX_SEARCHED {
            return inconclusive(run.too_long());
        }
    }
    // The output of a rejected call is not its normal output.
    if !run.probe.is_kind(DerivedKind::Help) {
        run.plain()?.usable()?;
    }
    run.ended()?;
    Ok(())
}

fn find_escape(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(ESCAPE, bytes)
}

/// Returns the byte offset of the first escape sequence that sets a colour (ECMA-48, SGR 30 to 38, 40 to 48, 90 to 97,
/// 100 to 107).
fn find_colour(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(ESCAPE, bytes).find(|offset| {
        let Some(rest) = bytes[offset + 1..].strip_prefix(b"[") else { return false };
        let end = rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'));
        let Some(end) = end.filter(|end| rest[*end] == b'm') else { return false };
        let parameters = String::from_utf8_lossy(&rest[..end]).into_owned();
        let mut codes = parameters.split([';', ':']).map(|code| code.parse::<u16>().unwrap_or(0));
        codes.any(|code| matches!(code, 30..=38 | 40..=48 | 90..=97 | 100..=107))
    })
}

#[cfg(test)]
mod tests {
    use super::{find_colour, find_escape};

    #[test]
    fn colours_are_distinguished_from_other_sequences() {
        for (text, offset) in [
            ("\x1b[31mred", Some(0)),
            ("a\x1b[1;97mb", Some(1)),
            ("\x1b[38;5;9m", Some(0)),
            ("\x1b[48:2::1:2:3m", Some(0)),
            ("\x1b[1m\x1b[104m", Some(4)),
            ("\x1b[1;4m bold \x1b[0m", None),
            ("\x1b[39m\x1b[49m", None),
            ("\x1b[31", None),
            ("\x1b[31A", None),
            ("\x1b]8;;https://example.com/31m\x07", None),
            ("[31m", None),
        ] {
            assert_eq!(find_colour(text.as_bytes()), offset, "{text:?}");
        }
        assert_eq!(find_escape(b"a\x1b[0m"), Some(1));
        assert_eq!(find_escape(b"a[0m"), None);
    }
}
