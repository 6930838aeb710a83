//! `p1-no-browser`: calls without a user do not open a browser.

use crate::context::{CheckContext, RunView};
use crate::undeclared::UndeclaredFeature;
use crate::verdict::{Assertion, Judgement};
use agentnative_core::config::Feature;
use agentnative_core::model::Variant;
use agentnative_core::run::TripwirePurpose;

const SIGN_IN_COMMANDS: [&str; 5] = ["login", "log-in", "signin", "sign-in", "auth"];

/// Judges `p1-no-browser`: without a terminal, no browser is opened.
pub fn no_browser(context: &CheckContext) -> Judgement {
    let runs = context.sources().flat_map(|probe| context.runs_of(probe));
    let is_judged = |run: &RunView| matches!(run.variant(), Variant::Plain | Variant::Tty);
    let assertions: Vec<Assertion> = runs.filter(is_judged).map(|run| opens_no_browser(&run)).collect();
    if context.sources().any(|probe| probe.call.login) || assertions.iter().any(Result::is_err) {
        return Judgement::from_assertions(assertions, "declare a probe that signs in with `login = true`");
    }
    let undeclared = UndeclaredFeature {
        feature: Feature::Login,
        words: &SIGN_IN_COMMANDS,
        no_probe: "no probe has `login`",
        declare: "one that begins to sign in with `login = true`",
        lacking: "the target has no login",
        does: "signs in",
    };
    undeclared.judgement(context)
}

fn opens_no_browser(run: &RunView) -> Assertion {
    if let Some(trip) = run.called_program(TripwirePurpose::Browser)? {
        let detail = format!("the command opens a browser (`{trip}`); expected an address on stderr");
        return run.failed("browser", detail);
    }
    run.ended()?;
    Ok(())
}
