//! `p4-config-named`: an invalid configuration is refused with the code for it, and with the path of the file.

use crate::context::{CheckContext, RunView};
use crate::verdict::{Assertion, Judgement};
use agentnative_core::model::{Stream, Variant};

/// The exit code for an invalid configuration (`EX_CONFIG` of sysexits.h).
const CONFIG: i32 = 78;
/// Commands of these names set what is in a configuration file.
const CONFIGURES: [&str; 4] = ["config", "configure", "preferences", "settings"];

/// `p4-config-named`
pub fn config_named(context: &CheckContext) -> Judgement {
    let profile = context.profile;
    let Some(file) = &profile.conventions.config_file else {
        let command = profile.commands.iter().find(|name| CONFIGURES.contains(&name.as_str()));
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
    let judged = with_invalid_file(context).filter_map(|run| of_run(&run, file));
    Judgement::of(judged, "no declared call was seen to read the configuration file: declare one that does")
}

/// Whether a declared call refuses an invalid configuration file with the code for it.
pub(super) fn refuses_invalid_file(context: &CheckContext) -> bool {
    with_invalid_file(context).any(|run| run.exit() == Some(CONFIG))
}

/// The calls that give data otherwise, with an invalid configuration file.
fn with_invalid_file<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = RunView<'a>> {
    let calls = context.probes.iter().filter(|probe| {
        !probe.is_cut_short() && (probe.is_declared() || probe.of().is_some()) && probe.gives_data()
    });
    calls.flat_map(|probe| context.runs_under(probe, Variant::Bare))
}

/// None where nothing shows that the file was read.
fn of_run(run: &RunView, file: &str) -> Option<Assertion> {
    let plain = run.plain().ok()?;
    // What goes wrong without the file as well, or names it, says nothing of it.
    let named = run.names(file) && !plain.names(file);
    if plain.exit() != run.probe.exit {
        return None;
    }
    Some(match run.exited() {
        Err(reason) => Err(reason.into()),
        Ok(code) if Some(code) == plain.exit() && !named => return None,
        Ok(CONFIG) if run.names(file) => Ok(()),
        Ok(CONFIG) => {
            let detail = format!("the message does not contain the path of the invalid file, `{file}`");
            run.failed_at_reason("unnamed", Stream::Stderr, detail)
        }
        Ok(code) => {
            let detail = format!(
                "with an invalid configuration file, the command exits with {code}; expected {CONFIG}"
            );
            run.failed_at_reason("exit", Stream::Stderr, detail)
        }
    })
}
