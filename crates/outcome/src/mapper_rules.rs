//! Applies the rules of a mapper file to events.

use super::artifacts::{ArtifactChange, file_changes, write_operation};
use super::calls::Update;
use super::json::parse;
use super::mapper_file::{
    Activity, Call, ChangedFile, Failure, Many, MapperFile, Pointer, Repeated, Rule, Step, UsageOf,
};
use super::session::{self, Session, error_line};
use super::state::{MapResult, State};
use super::types::{CallStatus, ErrorDetails};
use super::usage::Usage;
use strict_json::{Tape, TapeNode};

/// The first and the last time of an event, in milliseconds since 1970.
type Times = (Option<f64>, Option<f64>);

impl MapperFile {
    /// True if a stream can begin with the event.
    pub(super) fn is_head(&self, event: TapeNode<'_>) -> bool {
        self.first.contain_type(&self.kind.joined(event))
    }

    /// Applies an event to the state. `known` is true if the stream is known to be one of this agent.
    pub(super) fn map_event(&self, state: &mut State, event: TapeNode<'_>, known: bool) -> MapResult {
        let mut patterns = self.is.iter().chain(self.also.iter().filter(|_| known));
        if !patterns.any(|pattern| pattern.matches(event)) {
            return MapResult::Unknown;
        }
        let kind = self.kind.joined(event);
        let mut rules = self.rules.iter();
        let rule = rules.find(|rule| rule.on.contain_type(&kind) && rule.when.matches(event));
        let id = rule.and_then(|rule| rule.session.read(event)).or_else(|| self.session.read(event));
        let Some(session) = state.session(id.as_deref()) else { return MapResult::Ignored };
        let mut times: Times = (None, None);
        for time in self.time.0.iter().filter_map(|pointer| pointer.time(event)) {
            session.record_time(Some(time));
            times = (times.0.or(Some(time)), Some(time));
        }
        session.start = session.start.or(times.0);
        if self.end.0.is_empty() || self.end.contain_type(&kind) {
            session.assistant.completed = times.1.or(session.assistant.completed);
        }
        let Some(rule) = rule else { return MapResult::Ignored };
        rule.apply(session, event, times);
        state.is_document |= rule.document.is_some();
        MapResult::Understood
    }
}

impl Rule {
    /// Applies the rule to an event, or to an element in it.
    fn apply(&self, session: &mut Session, event: TapeNode<'_>, times: Times) {
        self.set_state(session, event);
        let id = self.id.string(event).unwrap_or_else(|| session.event.to_string());
        if self.user.is_given() {
            session.add_user_message(&id, &self.user.read(event).unwrap_or_default(), times.0);
        }
        match self.step {
            Some(Step::New) => session.begin_step(&id, times.0),
            Some(Step::AfterCalls) => session.begin_step_after_calls(times.0),
            Some(Step::Message) => session.texts.set_last_message(&id),
            None => {}
        }
        self.text.read(event).into_iter().for_each(|text| session.add_text(&text));
        self.delta.read(event).into_iter().for_each(|text| session.append_text(&text));
        self.reasoning.read(event).into_iter().for_each(|text| session.add_reasoning(&text));
        for part in &self.parts {
            let elements = part.each.iter().flat_map(|each| each.values(event));
            elements
                .filter(|element| part.when.matches(*element))
                .for_each(|element| part.apply(session, element, times));
        }
        if let Some(call) = &self.call {
            call.update(session, event, times, None);
        }
        if let Some(result) = &self.result {
            result.update(session, event, times, Some(result.status(event)));
        }
        self.set_totals(session, event);
        self.error.iter().for_each(|error| error.apply(session, event));
        if let Some(error) = &self.answer_error {
            session.assistant.error = error.when.matches(event).then(|| error.details(event));
        }
    }

    /// Sets what the event reports about the agent and its activity.
    fn set_state(&self, session: &mut Session, event: TapeNode<'_>) {
        match self.activity {
            Some(Activity::Busy) => session.activity = session::Activity::Busy,
            Some(Activity::Idle) => session.activity = session::Activity::Idle,
            None => {}
        }
        let agent = &mut session.assistant;
        for (value, text) in [
            (&mut session.version, &self.version),
            (&mut agent.model, &self.model),
            (&mut agent.provider, &self.provider),
        ] {
            *value = text.string(event).or(value.take());
        }
        if let Some(retry) = &self.retry {
            session.add_retry(retry.reason.read(event).as_deref(), retry.attempt.number(event));
        }
        self.warning.read(event).into_iter().for_each(|warning| session.warnings.add(&warning));
    }

    /// Sets what the event reports about the run until now.
    fn set_totals(&self, session: &mut Session, event: TapeNode<'_>) {
        if self.answer.is_given() {
            session.answer = self.answer.string(event);
        }
        if let Some(request) = &self.request {
            session.add_request(&request.usage(event));
        }
        if let Some(usage) = &self.usage {
            session.usage = usage.usage(event);
        }
        session.steps = self.steps.number(event).or(session.steps);
        session.duration = self.duration.number(event).or(session.duration);
        if let Some(document) = &self.document {
            session.hidden_call_count = Some(document.calls.number(event));
        }
    }
}

impl Call {
    fn status(&self, event: TapeNode<'_>) -> CallStatus {
        let failed = self.failed.as_ref().is_some_and(|pattern| pattern.matches(event))
            || self.succeeded.as_ref().is_some_and(|pattern| !pattern.matches(event));
        if failed { CallStatus::Error } else { CallStatus::Completed }
    }

    /// Updates the call that begins (`status` is `None`) or ends with the event.
    fn update(&self, session: &mut Session, event: TapeNode<'_>, times: Times, status: Option<CallStatus>) {
        let (id, name) = (self.id.read(event).unwrap_or_default(), self.name.read(event));
        let now = if status.is_none() { times.0 } else { times.1 };
        let input = self.input.as_ref().and_then(|input| input.value(event));
        let parsed = input.and_then(|input| parse(input.as_str()?));
        let input = parsed.as_ref().and_then(Tape::root).or(input);
        let update = Update::begin_or_end(&id, now, status);
        session.update_call(Update {
            name: name.as_deref(),
            start: self.start.as_ref().and_then(|start| start.time(event)).or(update.start),
            file_changes: match &self.file {
                Some(file) => file.change(event).into_iter().collect(),
                None => file_changes(name.as_deref(), input),
            },
            input: input.map(TapeNode::to_value),
            output: self.output.json_text(event),
            ..update
        });
    }
}

impl ChangedFile {
    fn change(&self, event: TapeNode<'_>) -> Option<ArtifactChange> {
        let path = self.path.string(event).filter(|_| self.when.matches(event))?;
        let operation = self.existed.value(event).and_then(TapeNode::as_bool).map(write_operation);
        let size = self.content.read(event).map(|content| content.len() as u64);
        Some(ArtifactChange::of_file(path, operation, size))
    }
}

impl UsageOf {
    fn usage(&self, event: TapeNode<'_>) -> Usage {
        let objects = self.at.0.iter().map(|at| at.values(event)).find(|objects| !objects.is_empty());
        let objects = objects.unwrap_or_else(|| vec![event]);
        let sum = |pointers: &Many<Pointer>| {
            objects.iter().filter_map(|object| pointers.number(*object)).reduce(|sum, number| sum + number)
        };
        let usage = Usage {
            input: sum(&self.input),
            output: sum(&self.output),
            reasoning: sum(&self.reasoning),
            cache_read: sum(&self.cache_read),
            cache_write: sum(&self.cache_write),
            cost: sum(&self.cost),
        };
        let usage = if self.input_has_cache { usage.without_cached_input() } else { usage };
        let exceeds_total = !self.total.0.is_empty() && usage.total() > sum(&self.total);
        if self.output_has_reasoning || exceeds_total { usage.without_reasoning_output() } else { usage }
    }
}

impl Failure {
    fn details(&self, event: TapeNode<'_>) -> ErrorDetails {
        ErrorDetails {
            kind: self.kind.string(event),
            message: self.message.string(event),
            ..ErrorDetails::default()
        }
    }

    fn apply(&self, session: &mut Session, event: TapeNode<'_>) {
        if self.unless.as_ref().is_some_and(|pattern| pattern.matches(event)) {
            return session.recover();
        }
        if !self.when.matches(event) {
            return;
        }
        let details = self.details(event);
        match (self.repeated, &session.error) {
            (Repeated::Replaces, _) | (Repeated::Ignored, None) => session.error = Some(details),
            (Repeated::Ignored, Some(_)) => {}
            (Repeated::Warning, None) if session.activity != session::Activity::Idle => {
                session.error = Some(details);
            }
            (Repeated::Warning, Some(error)) if error_line(error) == error_line(&details) => {}
            (Repeated::Warning, _) => session.warnings.add(&error_line(&details)),
        }
    }
}
