//! Compares the streams of two output specifications: what stdout contains, and which stream reports errors.

use super::change::{Change, ChangeSeverity};
use super::outputs::{OutputComparison, is_text};
use agentnative_contract::{ErrorSpec, Framing, OutputFormat, OutputSpec, Payload, Stream};

impl OutputComparison<'_> {
    /// Compares what stdout contains. Returns whether both versions have data whose schemas can be compared.
    pub fn compare_stdout(&mut self) -> bool {
        let (Some(before), Some(after)) = (self.old.stdout(), self.new.stdout()) else {
            return self.compare_framing();
        };
        let format = self.new.format.or(self.old.format);
        let class = match format {
            Some(OutputFormat::Text) => class_of_text(before, after),
            Some(OutputFormat::Jsonl) => class_of_lines(before, after),
            None if self.old.framing == Some(Framing::Lines) => class_of_lines(before, after),
            _ => class_of_document(before, after),
        };
        let has_data = |payload| matches!(payload, Payload::Whole | Payload::Part);
        if let Some(class) = class {
            let contents_phrase = |spec, payload| contents_phrase(spec, payload, format);
            let message = format!(
                "stdout contains {}; before: {}",
                contents_phrase(self.new, after),
                contents_phrase(self.old, before)
            );
            let change = Change::new("diff-stdout-changed", class, message);
            self.add(change.old(before.name()).new_value(after.name()));
        } else if format != Some(OutputFormat::Text) && before == Payload::Any && after == Payload::Any {
            let message = "stdout is not JSON on either side and was not compared";
            self.add(Change::undecided(message));
        } else if self.old.events.is_some() && after == Payload::Nothing && before != Payload::Nothing {
            let message = "the new stream has no records: event types and their order were not compared";
            self.add(Change::undecided(message));
        }
        has_data(before) && has_data(after) && self.compare_framing()
    }

    /// Compares the framing of stdout (one document, JSON Lines). Returns whether the schemas of the data can be
    /// compared.
    fn compare_framing(&mut self) -> bool {
        match (self.old.framing, self.new.framing) {
            (Some(old), Some(new)) if old != new => {
                let message =
                    format!("the framing changed from {} to {}", framing_phrase(old), framing_phrase(new));
                let change = Change::breaking("diff-framing-changed", message);
                self.add(change.old(old.name()).new_value(new.name()));
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

    /// Compares which stream reports errors. Returns true only if errors moved from one stream to the other.
    pub fn compare_error_stream(&mut self) -> bool {
        let (old, new) = (self.old, self.new);
        // An error on stdout is compared as the contents of stdout.
        let lines = new.format.or(old.format) == Some(OutputFormat::Jsonl);
        let compared =
            |errors: &ErrorSpec| errors.stream == Stream::Stdout && !lines && old.stdout() != new.stdout();
        let change = match (&old.errors, &new.errors) {
            (Some(before), Some(after)) if before.stream != after.stream => {
                if !self.is_next_to_unchanged_output(before, after) {
                    let (before, after) = (before.stream.name(), after.stream.name());
                    let message = format!("errors moved from {before} to {after}");
                    self.add(
                        Change::breaking("diff-error-stream-changed", message).old(before).new_value(after),
                    );
                    return true;
                }
                if before.stream == Stream::Stdout {
                    return false;
                }
                removed_error(before)
            }
            (Some(before), Some(after))
                if before.stream == Stream::Stdout && before.stream == after.stream =>
            {
                return false;
            }
            (Some(before), Some(after)) if before.schema.is_some() && is_text(new, after) => {
                let message = "the error on stderr is text; before: a JSON object";
                Change::breaking("diff-error-removed", message).old("object").new_value("text")
            }
            (Some(before), Some(after)) if after.schema.is_some() && is_text(old, before) => {
                let message = "the error on stderr is a JSON object; before: text";
                Change::compatible("diff-error-added", message).old("text").new_value("object")
            }
            (Some(before), None) if always_fails(new) && compared(before) => return false,
            (Some(before), None) if always_fails(new) => removed_error(before),
            (Some(before), None) => {
                Change::undecided("the new side has no information about the stream of errors")
                    .old(before.stream.name())
            }
            (None, Some(after)) if always_fails(old) && !compared(after) => {
                let message = format!("a failed run now reports its reason on {}", after.stream.name());
                Change::compatible("diff-error-added", message).old("nothing").new_value(after.stream.name())
            }
            _ => return false,
        };
        self.add(change);
        false
    }

    /// Returns whether errors are text in both versions, and stdout has unchanged contents. Then text on stderr
    /// appeared or disappeared, and no error moved.
    fn is_next_to_unchanged_output(&self, before: &ErrorSpec, after: &ErrorSpec) -> bool {
        let is_text_only = is_text(self.old, before) && is_text(self.new, after);
        let output = self.old.stdout().filter(|payload| *payload != Payload::Nothing);
        is_text_only && output.is_some() && output == self.new.stdout()
    }
}

/// Creates the change for an error that is no longer reported. `before` is how the old version reported it.
fn removed_error(before: &ErrorSpec) -> Change {
    let stream = before.stream.name();
    let (class, name) = match before.schema {
        Some(_) => (ChangeSeverity::Breaking, "error object"),
        None => (ChangeSeverity::Risky, "error text"),
    };
    let change = Change::new("diff-error-removed", class, format!("the {name} on {stream} was removed"));
    change.old(stream).new_value("nothing")
}

/// Returns whether all observed runs failed: none exited with 0.
fn always_fails(spec: &OutputSpec) -> bool {
    spec.is_inferred() && !spec.exits.is_empty() && spec.exits.iter().all(|exit| !exit.codes.contains(&0))
}

pub(super) fn framing_phrase(framing: Framing) -> &'static str {
    match framing {
        Framing::Document => "one JSON document",
        Framing::Lines => "JSON Lines",
        Framing::Array => "one JSON array of events",
    }
}

/// Describes the contents of stdout in words, such as "one JSON document".
fn contents_phrase(spec: &OutputSpec, payload: Payload, format: Option<OutputFormat>) -> String {
    match (payload, spec.framing) {
        (Payload::Nothing, _) => "nothing".to_owned(),
        (Payload::Any, _) if format == Some(OutputFormat::Text) => "text".to_owned(),
        (Payload::Any, _) => "text that is not JSON".to_owned(),
        (Payload::Whole, framing) => framing.map_or("data", framing_phrase).to_owned(),
        (Payload::Part, framing) => {
            format!("{} in some runs and nothing in others", framing.map_or("data", framing_phrase))
        }
    }
}

/// Returns the severity of a change of stdout in text format; `None` if nothing changed.
const fn class_of_text(before: Payload, after: Payload) -> Option<ChangeSeverity> {
    match (before, after) {
        (Payload::Any, Payload::Nothing) => Some(ChangeSeverity::Risky),
        (Payload::Nothing, Payload::Any) => Some(ChangeSeverity::Compatible),
        _ => None,
    }
}

/// Returns the severity of a change of stdout in JSON Lines; `None` if nothing changed. An empty stdout is a valid
/// stream without records.
const fn class_of_lines(before: Payload, after: Payload) -> Option<ChangeSeverity> {
    match (before, after) {
        (Payload::Any, Payload::Any) => None,
        (Payload::Nothing, Payload::Any) => Some(ChangeSeverity::Risky),
        (_, Payload::Any) => Some(ChangeSeverity::Breaking),
        (Payload::Any, _) => Some(ChangeSeverity::Compatible),
        _ => None,
    }
}

/// Returns the severity of a change of stdout that contains one JSON document; `None` if nothing changed.
const fn class_of_document(before: Payload, after: Payload) -> Option<ChangeSeverity> {
    match (before, after) {
        (Payload::Whole, Payload::Whole)
        | (Payload::Part, Payload::Part)
        | (Payload::Any, Payload::Any)
        | (Payload::Nothing, Payload::Nothing) => None,
        (Payload::Whole | Payload::Part, _) if !matches!(after, Payload::Whole) => {
            Some(ChangeSeverity::Breaking)
        }
        (_, Payload::Whole | Payload::Part) => Some(ChangeSeverity::Compatible),
        _ => Some(ChangeSeverity::Risky),
    }
}
