//! `p6-locale`: text does not need an encoding beyond ASCII.

use crate::context::{CheckContext, RunView};
use crate::kit::declare_success;
use crate::verdict::{Assertion, Judgement};
use agentnative_core::model::{ASCII_LOCALE, OutputFormat, Stream, Variant};

/// Judges `p6-locale`: calls in text end as usual in a locale whose encoding is ASCII.
pub fn locale(context: &CheckContext) -> Judgement {
    let calls = context.data_probes().filter_map(|probe| context.plain_run(probe, OutputFormat::Text));
    let mut is_beyond_ascii = false;
    let mut assertions: Vec<Assertion> = Vec::new();
    for plain in calls {
        is_beyond_ascii |=
            plain.lines(Stream::Stdout).is_some_and(|lines| lines.iter().any(|line| !line.is_ascii()));
        let in_ascii = context.run(plain.probe, OutputFormat::Text, Variant::HostileEnv, ASCII_LOCALE);
        assertions.extend(in_ascii.map(|run| ends_as_usual(&run, &plain)));
    }
    if !is_beyond_ascii && !assertions.is_empty() && assertions.iter().all(Result::is_ok) {
        return Judgement::NotApplicable("no text contains a character beyond ASCII".to_owned());
    }
    Judgement::from_assertions(assertions, declare_success("text"))
}

fn ends_as_usual(run: &RunView, plain: &RunView) -> Assertion {
    plain.usable()?;
    let (code, expected) = (run.exited()?, plain.exited()?);
    if code != expected {
        let detail = format!("exits with {code} in this locale, expected {expected}");
        return run.failed_at_reason("exit-code", Stream::Stderr, detail);
    }
    if run.bytes(Stream::Stdout).is_empty() && !plain.bytes(Stream::Stdout).is_empty() {
        return run.failed_at_reason("no-output", Stream::Stderr, "prints nothing in this locale");
    }
    Ok(())
}
