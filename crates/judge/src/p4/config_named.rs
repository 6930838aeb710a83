//! `p4-config-named`: with an invalid configuration file, a command exits with 78 and names the file.

use crate::context::{CheckContext, RunView};
use crate::verdict::{Assertion, Judgement};
use agentnative_core::model::{Stream, Variant};

/// The exit code for an invalid configuration (`EX_CONFIG` of sysexits.h).
const EXIT_CONFIG: i32 = 78;
/// Names of commands that change a configuration file.
const CONFIGURING_COMMANDS: [&str; 4] = ["config", "configure", "preferences", "settings"];

/// Judges `p4-config-named`: with an invalid configuration file, a command exits with 78 and names the file.
pub fn config_named(context: &CheckContext) -> Judgement {
    let profile = context.profile;
    let Some(file) = &profile.conventions.config_file else {
        let command = profile.commands.iter().find(|name| CONFIGURING_COMMANDS.contains(&name.as_str()));
        return match command {
            Some(command) => Judgement::unverified(format!(
                "the help lists the command `{command}`, but no `config_file` is declared: declare the path of the configuration file in the home folder"
            )),
            None => Judgement::NotApplicable(
                "no `config_file` is declared, and the help has no command that configures the target"
                    .to_owned(),
            ),
        };
    };
    let judged = with_invalid_file(context).filter_map(|run| judge_run(&run, file));
    Judgement::from_assertions(judged, "no declared call reads the configuration file: declare one that does")
}

/// True if at least one declared call exits with 78 when the configuration file is invalid.
pub(super) fn rejects_invalid_file(context: &CheckContext) -> bool {
    with_invalid_file(context).any(|run| run.exit() == Some(EXIT_CONFIG))
}

/// Returns the runs with an invalid configuration file. Without this file, the calls print data.
fn with_invalid_file<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = RunView<'a>> {
    let calls = context.probes.iter().copied().filter(|probe| {
        !probe.has_special_end() && (probe.is_declared() || probe.source().is_some()) && probe.prints_data()
    });
    calls.flat_map(|probe| context.runs_under(probe, Variant::Bare))
}

/// Judges a run with an invalid configuration file: it has to exit with 78 and to name the path `file`. `None` if
/// nothing shows that the call reads the file.
fn judge_run(run: &RunView, file: &str) -> Option<Assertion> {
    let plain = run.plain().ok()?;
    // A failure without the file as well, or a message that always names it, shows nothing.
    let named = run.mentions(file) && !plain.mentions(file);
    if plain.exit() != run.probe.exit {
        return None;
    }
    Some(match run.exited() {
        Err(reason) => Err(reason.into()),
        Ok(code) if Some(code) == plain.exit() && !named => return None,
        Ok(EXIT_CONFIG) if run.mentions(file) => Ok(()),
        Ok(EXIT_CONFIG) => {
            let detail = format!("the message does not contain the path of the invalid file, `{file}`");
            run.failed_at_reason("unnamed", Stream::Stderr, detail)
        }
        Ok(code) => {
            let detail = format!(
                "with an invalid configuration file, the command exits with {code}; expected {EXIT_CONFIG}"
            );
            run.failed_at_reason("exit", Stream::Stderr, detail)
        }
    })
}
