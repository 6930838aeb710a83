//! What is on the streams of a run: data, text or nothing on standard output, and where a failed run says why.

use super::change::{Change, Class};
use super::outputs::{OutputComparison, is_text};
use agentnative_contract::{Errors, Framing, OutputFormat, OutputSpec, Payload, Stream};

impl OutputComparison<'_> {
    /// Compares what standard output holds; gives whether its data can be compared any further.
    pub fn stdout(&mut self) -> bool {
        let (Some(was), Some(is)) = (self.old.stdout(), self.new.stdout()) else { return self.framing() };
        let format = self.new.format.or(self.old.format);
        let class = match format {
            Some(OutputFormat::Text) => class_of_text(was, is),
            Some(OutputFormat::Jsonl) => class_of_lines(was, is),
            None if self.old.framing == Some(Framing::Lines) => class_of_lines(was, is),
            _ => class_of_document(was, is),
        };
        let data = |payload| matches!(payload, Payload::Whole | Payload::Part);
        if let Some(class) = class {
            let phrase = |spec, payload| phrase(spec, payload, format);
            let message =
                format!("stdout contains {}; before: {}", phrase(self.new, is), phrase(self.old, was));
            let found = Change::new("diff-stdout-changed", class, message);
            self.add(found.old(was.name()).new_value(is.name()));
        } else if format != Some(OutputFormat::Text) && was == Payload::Any && is == Payload::Any {
            let message = "stdout is not JSON on either side and was not compared";
            self.add(Change::undecided(message));
        } else if self.old.events.is_some() && is == Payload::Nothing && was != Payload::Nothing {
            let message = "the new stream has no records: event types and their order were not compared";
            self.add(Change::undecided(message));
        }
        data(was) && data(is) && self.framing()
    }

    /// Whether the data can be compared any further.
    fn framing(&mut self) -> bool {
        match (self.old.framing, self.new.framing) {
            (Some(old), Some(new)) if old != new => {
                let message = format!("the framing changed from {} to {}", framed(old), framed(new));
                let found = Change::breaking("diff-framing-changed", message);
                self.add(found.old(old.name()).new_value(new.name()));
                false
            }
            (Some(old), None) => {
                let message = "the old side has data; the new side has no information about its data";
                self.add(Change::undecided(message).old(old.name()));
                false
            }
            _ => true,
        }
    }

    /// Compares where a failed run says why; gives whether that moved to the other stream.
    pub fn error_channel(&mut self) -> bool {
        let (old, new) = (self.old, self.new);
        // An error on standard output is compared with what that stream holds.
        let lines = new.format.or(old.format) == Some(OutputFormat::Jsonl);
        let compared =
            |errors: &Errors| errors.stream == Stream::Stdout && !lines && old.stdout() != new.stdout();
        let change = match (&old.errors, &new.errors) {
            (Some(was), Some(is)) if was.stream != is.stream => {
                if !self.is_beside_output(was, is) {
                    let (was, is) = (was.stream.name(), is.stream.name());
                    let message = format!("errors moved from {was} to {is}");
                    self.add(Change::breaking("diff-error-stream-changed", message).old(was).new_value(is));
                    return true;
                }
                if was.stream == Stream::Stdout {
                    return false;
                }
                gone(was)
            }
            (Some(was), Some(is)) if was.stream == Stream::Stdout && was.stream == is.stream => return false,
            (Some(was), Some(is)) if was.schema.is_some() && is_text(new, is) => {
                let message = "the error on stderr is text; before: a JSON object";
                Change::breaking("diff-error-removed", message).old("object").new_value("text")
            }
            (Some(was), Some(is)) if is.schema.is_some() && is_text(old, was) => {
                let message = "the error on stderr is a JSON object; before: text";
                Change::compatible("diff-error-added", message).old("text").new_value("object")
            }
            (Some(was), None) if fails(new) && compared(was) => return false,
            (Some(was), None) if fails(new) => gone(was),
            (Some(was), None) => {
                Change::undecided("the new side has no information about the stream of errors")
                    .old(was.stream.name())
            }
            (None, Some(is)) if fails(old) && !compared(is) => {
                let message = format!("a failed run now reports its reason on {}", is.stream.name());
                Change::compatible("diff-error-added", message).old("nothing").new_value(is.stream.name())
            }
            _ => return false,
        };
        self.add(change);
        false
    }

    /// Whether text on standard error came or went beside an output that is there as before, so that no
    /// error moved.
    fn is_beside_output(&self, was: &Errors, is: &Errors) -> bool {
        let words = is_text(self.old, was) && is_text(self.new, is);
        let output = self.old.stdout().filter(|payload| *payload != Payload::Nothing);
        words && output.is_some() && output == self.new.stdout()
    }
}

/// That the error is gone from its stream.
fn gone(was: &Errors) -> Change {
    let stream = was.stream.name();
    let (class, what) = match was.schema {
        Some(_) => (Class::Breaking, "error object"),
        None => (Class::Risky, "error text"),
    };
    let found = Change::new("diff-error-removed", class, format!("the {what} on {stream} was removed"));
    found.old(stream).new_value("nothing")
}

/// Whether runs were seen that failed.
fn fails(spec: &OutputSpec) -> bool {
    spec.is_learnt() && !spec.exits.is_empty() && spec.exits.iter().all(|exit| !exit.codes.contains(&0))
}

pub(super) fn framed(framing: Framing) -> &'static str {
    match framing {
        Framing::Document => "one JSON document",
        Framing::Lines => "JSON Lines",
        Framing::Array => "one JSON array of events",
    }
}

/// What standard output holds, in words.
fn phrase(spec: &OutputSpec, payload: Payload, format: Option<OutputFormat>) -> String {
    match (payload, spec.framing) {
        (Payload::Nothing, _) => "nothing".to_owned(),
        (Payload::Any, _) if format == Some(OutputFormat::Text) => "text".to_owned(),
        (Payload::Any, _) => "text that is not JSON".to_owned(),
        (Payload::Whole, framing) => framing.map_or("data", framed).to_owned(),
        (Payload::Part, framing) => {
            format!("{} in some runs and nothing in others", framing.map_or("data", framed))
        }
    }
}

/// Whom it breaks that text came or went; none where nothing changed.
const fn class_of_text(was: Payload, is: Payload) -> Option<Class> {
    match (was, is) {
        (Payload::Any, Payload::Nothing) => Some(Class::Risky),
        (Payload::Nothing, Payload::Any) => Some(Class::Compatible),
        _ => None,
    }
}

/// The same where JSON lines are asked for: no line is a stream as well.
const fn class_of_lines(was: Payload, is: Payload) -> Option<Class> {
    match (was, is) {
        (Payload::Any, Payload::Any) => None,
        (Payload::Nothing, Payload::Any) => Some(Class::Risky),
        (_, Payload::Any) => Some(Class::Breaking),
        (Payload::Any, _) => Some(Class::Compatible),
        _ => None,
    }
}

/// The same where one document is asked for.
const fn class_of_document(was: Payload, is: Payload) -> Option<Class> {
    match (was, is) {
        (Payload::Whole, Payload::Whole)
        | (Payload::Part, Payload::Part)
        | (Payload::Any, Payload::Any)
        | (Payload::Nothing, Payload::Nothing) => None,
        (Payload::Whole | Payload::Part, _) if !matches!(is, Payload::Whole) => Some(Class::Breaking),
        (_, Payload::Whole | Payload::Part) => Some(Class::Compatible),
        _ => Some(Class::Risky),
    }
}
