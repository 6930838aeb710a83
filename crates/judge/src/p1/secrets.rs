//! Secrets: the user can pass them in a file or on stdin, and the target neither prints nor stores them.

use crate::context::{CheckContext, RunView};
use crate::kit::display_exit;
use crate::undeclared::UndeclaredFeature;
use crate::verdict::{Assertion, Finding, Judgement, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::Feature;
use agentnative_core::model::{Evidence, OutputFormat, Stream, Variant};
use agentnative_core::probe::Probe;
use agentnative_core::run::{Area, Leak, LeakEncoding, LeakPlace};
use strict_json::sanitize;

/// Words in the names of commands that probably need a secret.
const WITH_SECRET: [&str; 5] = ["auth", "login", "signin", "token", "whoami"];

/// Judges `p1-secret-path`: a secret can be passed in a file or on stdin.
pub fn path(context: &CheckContext) -> Judgement {
    let Some(secret) = &context.profile.conventions.secret else { return judge_undeclared_secret(context) };
    let mut probes = context.sources().filter(|probe| probe.call.secret).peekable();
    if probes.peek().is_none() {
        return judge_undeclared_secret(context);
    }
    if secret.file.is_none() && secret.stdin.is_none() {
        let detail = format!(
            "the secret can only be passed in the variable {}, which every child process can read: read it from a file or from stdin as well, then declare `secret.file` or `secret.stdin`",
            secret.env
        );
        return Judgement::violated(vec![Finding::new(
            "variable-only",
            Evidence { detail, ..Evidence::default() },
        )]);
    }
    let other_ways = [DerivedKind::SecretFile, DerivedKind::SecretStdin];
    let assertions = probes.flat_map(|probe| {
        let calls = other_ways.into_iter().flat_map(|kind| context.derived_from(kind, probe));
        calls.map(|call| compare_with_secret_in_variable(context, probe, call)).collect::<Vec<_>>()
    });
    Judgement::from_assertions(assertions, "no call passed the secret in another way than in the variable")
}

fn judge_undeclared_secret(context: &CheckContext) -> Judgement {
    if context.profile.conventions.secret.is_some() {
        return Judgement::unverified(
            "`secret` is declared, but no probe needs it: declare one with `secret = true`",
        );
    }
    let undeclared = UndeclaredFeature {
        feature: Feature::Secret,
        words: &WITH_SECRET,
        no_probe: "no probe has `secret`",
        declare: "`secret` under [target] and a probe with `secret = true`",
        lacking: "the target needs no secret",
        does: "seems to need a secret",
    };
    undeclared.judgement(context)
}

/// Passes if `call` has the same exit code and output as `probe`. `call` receives the secret in a file or on stdin,
/// `probe` in an environment variable.
fn compare_with_secret_in_variable(context: &CheckContext, probe: &Probe, call: &Probe) -> Assertion {
    let format = call.formats.first().copied().unwrap_or_default();
    let Some(run) = context.plain_run(call, format) else {
        return inconclusive(format!("{} was not run", call.name));
    };
    let with_variable = match format {
        OutputFormat::Text => context.derived_from(DerivedKind::NoFormat, probe).next().or(Some(probe)),
        _ => Some(probe),
    };
    let Some(with_variable) =
        with_variable.and_then(|with_variable| context.plain_run(with_variable, format))
    else {
        return inconclusive(format!("{} was not run with the variable", probe.name));
    };
    with_variable.usable()?;
    let code = run.exited()?;
    if Some(code) != with_variable.exit() {
        let detail = format!(
            "with the secret passed in this way, the command exits with {code}, expected {} as with the variable",
            display_exit(with_variable.exit())
        );
        return run.failed_at_reason("exit-code", Stream::Stderr, detail);
    }
    let (Some(own), Some(other)) =
        (run.normalized_lines(Stream::Stdout), with_variable.normalized_lines(Stream::Stdout))
    else {
        return Err(run.too_long().into());
    };
    if own == other {
        return Ok(());
    }
    if format == OutputFormat::Text {
        let text = context.plain_run(probe, format).and_then(|text| text.normalized_lines(Stream::Stdout));
        let again = context.repeated_runs(probe, format)?;
        if again.iter().any(|again| again.normalized_lines(Stream::Stdout) != text) {
            return inconclusive(format!("the output of {} changes from run to run", with_variable.label()));
        }
    }
    let line = own.iter().zip(&other).take_while(|(own, other)| own == other).count();
    let detail = "the output differs from that with the variable, first in this line";
    run.failed_at_line("output", Stream::Stdout, line, detail)
}

/// Judges `p1-secret-silent`: a secret is neither printed nor written to a file.
pub fn judge_secret_silence(context: &CheckContext) -> Judgement {
    let has_secret_call = |probe: &&Probe| {
        let declared = probe.is_declared() && probe.has_secret(context.profile);
        let kinds = [DerivedKind::SecretFile, DerivedKind::SecretStdin, DerivedKind::Verbose];
        declared && !probe.runs_only_in_scenarios() || kinds.into_iter().any(|kind| probe.is_kind(kind))
    };
    let mut probes = context.probes.iter().copied().filter(has_secret_call).peekable();
    if probes.peek().is_none() {
        return judge_undeclared_secret(context);
    }
    let is_judged = |run: &RunView| matches!(run.variant(), Variant::Plain | Variant::HostileEnv);
    let runs = probes.flat_map(|probe| context.runs_of(probe)).filter(is_judged);
    Judgement::from_assertions(runs.map(|run| keeps_secret(&run)), "no call with the secret was made")
}

fn keeps_secret(run: &RunView) -> Assertion {
    let Some(leaks) = &run.observation.leaks else {
        run.ended()?;
        return inconclusive(format!(
            "{} was not searched for the secret: its value is shorter than 6 bytes, or the call wrote too much",
            run.label()
        ));
    };
    let source = run.context.source_of(run.probe).unwrap_or(run.probe);
    let stores = source.call.login || source.effect.is_some();
    match leaks.iter().find(|leak| !(stores && is_credential_file(leak))) {
        None => {
            run.ended()?;
            Ok(())
        }
        Some(leak) => leaked(run, leak),
    }
}

/// True if the leaked secret is in a file for credentials: a file in a hidden place of the home, such as
/// `.config/mycli/token`, that only its owner can access.
fn is_credential_file(leak: &Leak) -> bool {
    let LeakPlace::File(Area::Home, path, mode) = &leak.place else { return false };
    let file = |path: &str| path.starts_with(".config/") || path.starts_with(".local/share/");
    mode & 0o077 == 0 && (file(path) || path.starts_with('.'))
}

fn leaked(run: &RunView, leak: &Leak) -> Assertion {
    let form = match leak.form {
        LeakEncoding::Plain => "",
        LeakEncoding::Base64 => " in Base64",
        LeakEncoding::Percent => " in percent-encoding",
    };
    // The line is not shown, because the report would leak the secret as well.
    let printed = |stream: Stream, offset: u64| {
        let detail = format!("{} contains the secret{form}, at byte {offset}", stream.name());
        let evidence = Evidence { stream: Some(stream), offset: Some(offset), ..run.evidence(detail) };
        Err(Finding::new("printed", evidence).into())
    };
    match &leak.place {
        LeakPlace::Stdout(offset) => printed(Stream::Stdout, *offset),
        LeakPlace::Stderr(offset) => printed(Stream::Stderr, *offset),
        LeakPlace::File(area, path, _) => {
            let home = if *area == Area::Home { "~/" } else { "" };
            let path = sanitize::sanitize_capped(path, 60);
            run.failed("written", format!("the call writes the secret{form} to `{home}{path}`"))
        }
    }
}
