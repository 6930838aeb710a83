//! How a failing run says why.

use crate::context::{Accepted, CheckContext, RunView};
use crate::kit::{
    Misplaced, NO_FAILURE, SILENT, declare_failure, difference, display_exit, error_object, is_repeated,
    misplaced, repeats, unusable,
};
use crate::lines::has_words;
use crate::verdict::{Assertion, Judgement, Unmet, inconclusive};
use agentnative_core::catalogue::Derived;
use agentnative_core::model::{OutputFormat, Stream, Variant};
use agentnative_core::probe::Probe;
use agentnative_diff::shape::Shape;

/// `p2-stderr-diagnostics`
pub fn diagnostics(context: &CheckContext) -> Judgement {
    let assertions = failing(context).flat_map(|run| unless_stumbled(&run, |run| vec![diagnosed(run)]));
    Judgement::of(assertions.chain(not_shown(context, &OutputFormat::ALL)), declare_failure(""))
}

/// `p2-error-json`
pub fn error_json(context: &CheckContext) -> Judgement {
    let assertions = failing(context)
        .filter(|run| run.format().is_json())
        .flat_map(|run| unless_stumbled(&run, error_object));
    let not_shown = not_shown(context, &[OutputFormat::Json, OutputFormat::Jsonl]);
    Judgement::of(assertions.chain(not_shown), declare_failure("json or jsonl"))
}

/// A wrong call shows how the arguments are read, and nothing of how the target's own work fails: that takes a
/// declared probe, in each of these formats that the target gives data in.
fn not_shown(context: &CheckContext, formats: &[OutputFormat]) -> Option<Assertion> {
    let fails_in = |format| {
        let mut declared = context.failures().filter(|probe| probe.is_declared());
        declared.any(|probe| context.plain(probe, format).is_some())
    };
    let gives_data_in = |format: &OutputFormat| {
        !matches!(context.accepted(*format), Accepted::No(_))
            && context.data_probes().any(|probe| probe.formats.contains(format))
    };
    let given: Vec<OutputFormat> = formats.iter().copied().filter(gives_data_in).collect();
    let open: Vec<&str> = match given.is_empty() {
        true if formats.iter().any(|format| fails_in(*format)) => Vec::new(),
        true => formats.iter().map(|format| format.name()).collect(),
        false => given.into_iter().filter(|format| !fails_in(*format)).map(OutputFormat::name).collect(),
    };
    let fails = context.declared().any(|probe| !probe.gives_data());
    (!open.is_empty()).then(|| match fails {
        true => inconclusive(format!(
            "no probe fails in {}: {}",
            open.join(", "),
            declare_failure("these formats")
        )),
        false => inconclusive(NO_FAILURE),
    })
}

/// What a run says, unless it stumbled over the format itself: then it says nothing where a declared probe
/// does.
fn unless_stumbled(run: &RunView, judge: fn(&RunView) -> Vec<Assertion>) -> Vec<Assertion> {
    if !run.stumbles_over_format() {
        let told = |assertion: Assertion| assertion.map_err(|unmet| may_be_an_outcome(run, unmet));
        return judge(run).into_iter().map(told).collect();
    }
    let declared = run
        .context
        .failures()
        .any(|probe| probe.is_declared() && run.context.plain(probe, run.format()).is_some());
    let asking = run.probe.asking(run.format(), run.context.profile).join(" ");
    if declared {
        return Vec::new();
    }
    let missing = declare_failure("json or jsonl");
    vec![inconclusive(format!("the target accepts `{asking}` only after a command: {missing}"))]
}

impl RunView<'_> {
    /// Whether a derived call that is wrong was refused for its format option and not for what is wrong with
    /// it: programs with commands may accept the option only after one. In text, the message names what is
    /// wrong. Here it does not, and is no JSON, or names the option, which the help of the target does not list.
    pub fn stumbles_over_format(&self) -> bool {
        if self.probe.is_declared() || !self.format().is_json() {
            return false;
        }
        let Some(wrong) = self.probe.call.args.last() else { return false };
        let profile = self.context.profile;
        let text = self.context.plain(self.probe, OutputFormat::Text);
        let option = self.probe.asking(self.format(), profile).first();
        let names_option = || !profile.global_format && option.is_some_and(|option| self.names(option));
        text.is_some_and(|text| text.names(wrong))
            && !self.names(wrong)
            && (self.document(profile.conventions.errors).structural().is_some() || names_option())
    }
}

/// Plain runs of the probes that are expected to fail. A wrong call of ours that does not says nothing about
/// how failures are told: an unknown command may be data, and of a flag that is ignored it is enough where
/// nothing else is seen.
fn failing<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = RunView<'a>> {
    let declared = context.failures().any(Probe::is_declared);
    let counts = move |run: &RunView| {
        let failed = run.exit().is_some_and(|exit| exit != 0);
        failed || run.probe.is_declared() || !declared && !run.probe.is(Derived::UnknownCommand)
    };
    context
        .failures()
        .flat_map(|probe| OutputFormat::ALL.into_iter().map(move |format| (probe, format)))
        .filter_map(|(probe, format)| context.run(probe, format, Variant::Plain, 0))
        .filter(counts)
        // Without a flag, which is what a derived probe has for text, another format may come.
        .filter(|run| {
            let text = context.profile.conventions.default_format == OutputFormat::Text;
            text || run.format().is_json() || run.probe.is_declared()
        })
}

/// What is wrong with a failing run, with what to declare if it is no failure: when it printed a whole document,
/// or whole records, in the shape that a successful run has.
fn may_be_an_outcome(run: &RunView, unmet: Unmet) -> Unmet {
    let Unmet::Failed(mut finding) = unmet else { return unmet };
    let context = run.context;
    let like_data = [OutputFormat::Json, OutputFormat::Jsonl].into_iter().any(|format| {
        let Some(failed) = context.plain(run.probe, format).filter(RunView::has_values) else { return false };
        let data = context.data_probes().filter_map(|probe| context.plain(probe, format));
        let mut data = data.filter(|data| data.gave_data() && data.has_values());
        data.any(|data| is_like(&data.scan().shape, &failed.scan().shape))
    });
    if let Some(exit) = run.exit().filter(|_| like_data && run.probe.is_declared()) {
        let hint = format!(
            "; its JSON output has the shape of a success: if exit code {exit} is an outcome and not an error, declare `result = true` for `{}`",
            run.probe.name
        );
        finding.message.push_str(&hint);
        finding.evidence.detail.push_str(&hint);
    }
    Unmet::Failed(finding)
}

/// Whether a value has the shape of data, with all keys that are always there in it.
fn is_like(data: &Shape, value: &Shape) -> bool {
    let mut always = data.members().filter(|(_, member)| member.count() == data.objects());
    difference(data, value).is_none() && always.all(|(key, _)| value.member(key).is_some())
}

/// Every format: the reason is on stderr, and nothing of it on stdout. What an error object has to look
/// like is [`error_object`]'s.
fn diagnosed(run: &RunView) -> Assertion {
    let text = run.format() == OutputFormat::Text;
    // In text the words are enough to tell, whatever the formats are.
    if let Some(reason) = unusable(run).filter(|_| !text || run.exit().is_none_or(|exit| exit == 0)) {
        return Err(reason.into());
    }
    let (stdout, stderr) = (run.bytes(Stream::Stdout), run.bytes(Stream::Stderr));
    if !text {
        return match misplaced(run) {
            Some(Misplaced { problem, is_prose: true })
                if run.context.profile.conventions.errors == Stream::Stderr =>
            {
                let detail = match stderr.is_empty() || repeats(run) {
                    true => {
                        "a failing run prints text to stdout; expected its diagnostics on stderr".to_owned()
                    }
                    false => format!(
                        "a failing run prints text to stdout in addition to its error on stderr; {SILENT}"
                    ),
                };
                let lines = run.lines(Stream::Stdout).unwrap_or_default();
                let at = problem.at.line as usize - 1;
                // A frame around the words says nothing.
                match (at..lines.len()).find(|line| has_words(&lines[*line])) {
                    Some(line) if line != at => {
                        run.failed_at_line("prose-on-stdout", Stream::Stdout, line, detail)
                    }
                    _ => run.failed_at("prose-on-stdout", Stream::Stdout, problem.at, detail),
                }
            }
            _ => Ok(()),
        };
    }
    if stderr.is_empty() {
        return if stdout.is_empty() {
            run.failed_at_reason(
                "silent",
                Stream::Stderr,
                format!(
                    "exit code {} without a reason; expected a message on stderr",
                    display_exit(run.exit())
                ),
            )
        } else {
            let detail = "a failing run reports its reason on stdout; expected it on stderr";
            run.failed_at_reason("on-stdout", Stream::Stdout, detail)
        };
    }
    let (Some(said), Some(out)) = (run.lines(Stream::Stderr), run.lines(Stream::Stdout)) else {
        return inconclusive(format!("the output of {} is too large to compare", run.label()));
    };
    match out.iter().position(|line| is_repeated(line, &said)) {
        Some(line) => {
            let detail = "a line of the diagnostics is on stdout as well; expected it only on stderr";
            run.failed_at_line("repeated-on-stdout", Stream::Stdout, line, detail)
        }
        None => Ok(()),
    }
}
