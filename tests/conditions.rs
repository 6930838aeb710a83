//! Verdicts on made-up targets under conditions of their own: terminals on stdin, colours, lost output, no home.

use crate::made_up::{Answer, Call, PROBES, conforming, data, ended, seen, seen_with_help, verdict};
use agentnative::catalogue::Check;
use agentnative::check::{Recording, judge};
use agentnative::model::{CheckId, CheckResult, ProbeId, Status, Variant};
use agentnative::run::{Chunk, End, FileLock, Leftover, Observation, Starvation, Waiting};
use std::time::Duration;

fn is(result: &CheckResult, status: Status, part: &str) {
    assert_eq!(result.status, status, "{part}: {} {:?}", result.message, result.evidence);
    assert!(result.message.contains(part), "{part}: {}", result.message);
}

fn is_blocked_by(result: &CheckResult, id: CheckId) {
    assert_eq!(result.status, Status::Unverified, "{}", result.message);
    assert!(result.blocked_by.iter().any(|cause| cause.id == id), "{id}: {}", result.message);
}

fn is_list(call: &Call) -> bool {
    call.args.first().is_some_and(|word| word == "list") && call.args.iter().all(|arg| arg != "--help")
}

/// `conforming`, but for the calls of `list` under this condition.
fn under(variant: Variant, answer: impl Fn(&Call) -> Answer) -> impl Fn(&Call) -> Answer {
    move |call| if is_list(call) && call.variant == variant { answer(call) } else { conforming(call) }
}

fn waits(stderr: &str) -> Answer {
    Answer(String::new(), stderr.to_owned(), End::Waited)
}

#[test]
fn a_question_is_told_from_a_filter() {
    let of = |stderr: &'static str| {
        verdict(CheckId::P1TtyDetection, PROBES, under(Variant::TerminalIn, move |_| waits(stderr)))
    };
    is(&of("Go on? [y/N] "), Status::Warn, "waits for an answer on the terminal");
    is(&of("Pick one:\n> a\n  b\n"), Status::Warn, "waits for an answer on the terminal");
    is(&of(""), Status::Pass, "");
    let filter = |call: &Call| match call.variant {
        Variant::TerminalIn | Variant::OpenStdin if is_list(call) => waits(""),
        _ => conforming(call),
    };
    is(&verdict(CheckId::P1TtyDetection, PROBES, filter), Status::Pass, "");
    let slow = |_: &Call| Answer("working\n".into(), String::new(), End::TimedOut);
    let result = verdict(CheckId::P1TtyDetection, PROBES, under(Variant::TerminalIn, slow));
    is(&result, Status::Unverified, "list · json · terminal-in did not end");
    let dies = verdict(CheckId::P1TtyDetection, PROBES, under(Variant::TerminalIn, |_| ended(1, "", "no\n")));
    is(&dies, Status::Pass, "");
}

#[test]
fn what_waits_without_a_terminal_is_told_once() {
    let always = |call: &Call| if is_list(call) { waits("Go on? ") } else { conforming(call) };
    is_blocked_by(&verdict(CheckId::P1TtyDetection, PROBES, always), CheckId::P2Completes);
    let on_stdin = |call: &Call| match call.variant {
        Variant::TerminalIn | Variant::OpenStdin if is_list(call) => waits("Go on? "),
        _ => conforming(call),
    };
    is_blocked_by(&verdict(CheckId::P1TtyDetection, PROBES, on_stdin), CheckId::P2Completes);
    let always = |call: &Call| if is_list(call) { ended(3, "", "broken\n") } else { conforming(call) };
    is_blocked_by(&verdict(CheckId::P4WriteError, PROBES, always), CheckId::P2ExitSuccess);
}

#[test]
fn of_two_checks_that_see_a_wait_one_tells_it() {
    let waiting = |call: &Call| if is_list(call) { waits("Go on? ") } else { conforming(call) };
    let of = |ids: &[CheckId]| {
        let checks: Vec<&Check> = ids.iter().map(|id| id.check()).collect();
        judge(&seen(PROBES, &checks, waiting), &checks).unwrap().results
    };
    is(&of(&[CheckId::P2Completes])[0], Status::Fail, "waits for input that never comes");
    let both = of(&[CheckId::P1NoPrompt, CheckId::P2Completes, CheckId::P2OutputJson]);
    is(&both[0], Status::Fail, "waits for input that never comes");
    is_blocked_by(&both[1], CheckId::P1NoPrompt);
    is_blocked_by(&both[2], CheckId::P1NoPrompt);
    let slow = |_: &Call| Answer(String::new(), String::new(), End::TimedOut);
    is_blocked_by(&verdict(CheckId::P1NoPrompt, PROBES, under(Variant::Plain, slow)), CheckId::P2Completes);
}

#[test]
fn what_an_older_recording_does_not_tell_is_unverified() {
    for id in [CheckId::P1NoPrompt, CheckId::P6NoPager, CheckId::P1NoBrowser] {
        let config = "[[probe]]\nname = 'list'\nargs = ['list']\nlogin = true\n";
        let mut recording = seen(config, &[id.check()], conforming);
        let of = |recording: &Recording| judge(recording, &[id.check()]).unwrap().results.remove(0);
        assert_ne!(of(&recording).status, Status::Unverified, "{id}");
        recording.observations.iter_mut().for_each(|seen| seen.outcome.trips = None);
        is(&of(&recording), Status::Unverified, "the recording does not say which programs");
    }
}

#[test]
fn a_login_is_asked_for_where_the_help_lists_one() {
    const ID: CheckId = CheckId::P1NoBrowser;
    let help = b"Commands:\n  list  List\n  login  Sign in\n";
    let of = |settings: &str| {
        let config = format!("{settings}\n[[probe]]\nname = 'list'\nargs = ['list']\n");
        judge(&seen_with_help(help, &config, &[ID.check()], conforming), &[ID.check()])
            .unwrap()
            .results
            .remove(0)
    };
    is(&of(""), Status::Unverified, "the help lists the command `login`");
    is(&of("[target]\nlacks = ['login']"), Status::NotApplicable, "no login according to its configuration");
    is(&verdict(ID, PROBES, conforming), Status::NotApplicable, "no command that signs in");
}

#[test]
fn a_run_that_did_not_have_its_time_shows_nothing() {
    const ID: CheckId = CheckId::P2Completes;
    let hangs = |_: &Call| Answer(String::new(), String::new(), End::TimedOut);
    let recording = seen(PROBES, &[ID.check()], under(Variant::Plain, hangs));
    let with = |change: &dyn Fn(&mut Observation)| {
        let mut recording = recording.clone();
        recording.observations.iter_mut().filter(|seen| seen.end == End::TimedOut).for_each(change);
        judge(&recording, &[ID.check()]).unwrap().results.remove(0)
    };
    let starved = |withheld: u64| {
        let (withheld, elapsed) = (Duration::from_millis(withheld), Duration::from_secs(10));
        with(&|seen| seen.outcome.starvation = Some(Starvation { withheld, elapsed }))
    };
    is(&with(&|_| ()), Status::Fail, "the command did not end within 10 s");
    is(&starved(999), Status::Fail, "the command did not end within 10 s");
    is(&starved(1_000), Status::Unverified, "the machine gave list · json 9 s of 10 s");
    is(&starved(8_760), Status::Unverified, "the machine gave list · json 1.2 s of 10 s");
    // So it is where the other runs of the call were skipped.
    let mut alone = recording.clone();
    let list = ProbeId::declared("list");
    alone.observations.retain(|seen| seen.end == End::TimedOut || seen.key.probe != list);
    let (withheld, elapsed) = (Duration::from_secs(7), Duration::from_secs(10));
    for seen in &mut alone.observations {
        seen.outcome.starvation = Some(Starvation { withheld, elapsed });
    }
    let result = judge(&alone, &[ID.check()]).unwrap().results.remove(0);
    is(&result, Status::Unverified, "the machine gave list · json 3 s of 10 s");
    assert_eq!((result.message.contains("see p2-completes"), result.blocked_by), (false, Vec::new()));
    is(&with(&|seen| seen.outcome.in_parallel = true), Status::Unverified, "and was not repeated alone");
    let locked = |path: Option<&str>, holder: Option<&str>| {
        let (path, holder) = (path.map(str::to_owned), holder.map(str::to_owned));
        with(&|seen| seen.outcome.lock = Some(FileLock { path: path.clone(), holder: holder.clone() }))
    };
    let result = locked(Some("/a/lock"), None);
    is(&result, Status::Unverified, "list · json waited for a lock on `/a/lock` that another run held");
    is(&locked(None, Some("cargo")), Status::Unverified, "waited for a lock on a file that `cargo` held");
}

#[test]
fn a_process_that_had_no_time_to_end_is_not_left_behind() {
    for id in [CheckId::P2Completes, CheckId::P6Sigterm] {
        let config =
            "[[probe]]\nname = 'list'\nargs = ['list']\nworkspace = true\ninterrupt = { after = 'x' }\n";
        let mut recording = seen(config, &[id.check()], |call| match call.args.first() {
            Some(word) if word == "list" => ended(143, "", ""),
            _ => conforming(call),
        });
        for seen in &mut recording.observations {
            seen.outcome.signalled = Some(Duration::ZERO);
            seen.outcome.left_behind =
                vec![Leftover { pid: 7, name: b"child".to_vec(), survives: false, detached: false }];
        }
        let of = |recording: &Recording| judge(recording, &[id.check()]).unwrap().results.remove(0);
        is(&of(&recording), Status::Fail, "");
        for seen in &mut recording.observations {
            let (withheld, elapsed) = (Duration::from_millis(800), Duration::from_secs(1));
            seen.outcome.starvation = Some(Starvation { withheld, elapsed });
        }
        is(&of(&recording), Status::Unverified, "0.2 s of 1 s");
    }
}

#[test]
fn a_run_that_still_works_on_its_debug_output_does_not_hang() {
    const ID: CheckId = CheckId::P2Completes;
    let config = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let judged = |nth, waiting| {
        let slow = |call: &Call| match (call.variant, call.nth) {
            (Variant::HostileEnv, own) if own == nth && is_list(call) => {
                Answer(String::new(), "log\n".into(), End::TimedOut)
            }
            // Several conditions at once: those of one are then tried alone.
            (Variant::Tty, 1) if is_list(call) => Answer(String::new(), "log\n".into(), End::TimedOut),
            _ => conforming(call),
        };
        let mut recording = seen(config, &[ID.check()], slow);
        recording.observations.iter_mut().for_each(|seen| seen.outcome.waiting = Some(waiting));
        judge(&recording, &[ID.check()]).unwrap().results.remove(0)
    };
    is(&judged(1, Waiting::Busy), Status::Unverified, "was still working after 10 s, and its plain run ends");
    is(&judged(1, Waiting::Asleep), Status::Fail, "it was asleep");
    is(&judged(0, Waiting::Busy), Status::Fail, "it was using the CPU");
}

#[test]
fn a_daemon_that_keeps_nobody_waiting_is_not_left_behind() {
    let check = [CheckId::P2Completes.check()];
    let judged = |detached, survives, held_open| {
        let mut recording = seen("[[probe]]\nname = 'list'\nargs = ['list']\n", &check, conforming);
        for seen in &mut recording.observations {
            seen.outcome.left_behind =
                vec![Leftover { pid: 7, name: b"daemon".to_vec(), survives, detached }];
            seen.outcome.held_open = held_open;
        }
        judge(&recording, &check).unwrap().results.remove(0).status
    };
    assert_eq!(judged(true, false, false), Status::Pass);
    assert_eq!(judged(false, false, false), Status::Fail, "in the session of the command");
    assert_eq!(judged(true, false, true), Status::Fail, "it holds the output");
    assert_eq!(judged(true, true, false), Status::Fail, "it cannot be ended");
}

#[test]
fn when_records_arrive_shows_nothing_on_a_busy_machine() {
    const ID: CheckId = CheckId::P2JsonlPrompt;
    let config = "[[probe]]\nname = 'list'\nargs = ['list']\nstream = true\n";
    let mut recording = seen(config, &[ID.check()], conforming);
    for seen in &mut recording.observations {
        let spread = if seen.key.variant == Variant::Plain { 10 } else { 5_000 };
        let chunk = |end, at| Chunk { end, at: Duration::from_millis(at) };
        seen.outcome.stdout.chunks = vec![chunk(1, 0), chunk(seen.stdout.bytes.len(), spread)];
    }
    let of = |recording: &Recording| judge(recording, &[ID.check()]).unwrap().results.remove(0);
    is(&of(&recording), Status::Warn, "all records arrive within 10 ms at the end");
    let slow = recording.observations.iter().position(|seen| seen.key.variant != Variant::Plain).unwrap();
    let mut starved = |withheld, elapsed| {
        let (withheld, elapsed) = (Duration::from_millis(withheld), Duration::from_secs(elapsed));
        recording.observations[slow].outcome.starvation = Some(Starvation { withheld, elapsed });
        of(&recording)
    };
    is(&starved(4_900, 5), Status::Warn, "all records arrive within 10 ms at the end");
    is(&starved(4_970, 5), Status::Unverified, "0 s of 5 s");
    is(&starved(4_970, 90), Status::Unverified, "the machine held up the records of list");
}

const NO_INPUT: &str = "
    [target]
    flags.no_input = ['--batch']
    [[probe]]
    name = 'list'
    args = ['list']
";

/// Asks on a full terminal; with `--batch` it does there what `silent` says.
fn asks(silent: impl Fn(&Call) -> Answer) -> impl Fn(&Call) -> Answer {
    move |call| match (call.variant, call.args.iter().any(|arg| arg == "--batch")) {
        (Variant::FullTerminal, true) => silent(call),
        (Variant::FullTerminal, false) => Answer("Go on? ".into(), String::new(), End::Waited),
        _ => conforming(call),
    }
}

#[test]
fn the_option_that_disables_prompts_is_judged_where_something_asks() {
    let of = |answer: &dyn Fn(&Call) -> Answer| verdict(CheckId::P1NoInput, NO_INPUT, answer);
    is(&of(&asks(conforming)), Status::Pass, "1 probe asks a question on a terminal without the option");
    is(&of(&asks(|_| ended(2, "pass --yes\n", ""))), Status::Pass, "");
    is(
        &of(&asks(|_| Answer("Sure? ".into(), String::new(), End::Waited))),
        Status::Fail,
        "in spite of `--batch`",
    );
    is(&of(&conforming), Status::Unverified, "no probe asks a question on a terminal");
    let rejects = |call: &Call| match call.args.iter().any(|arg| arg == "--batch") {
        true => ended(2, "", "unknown option --batch\n"),
        false => asks(conforming)(call),
    };
    is_blocked_by(&of(&rejects), CheckId::P6GlobalFlags);
    let undeclared = verdict(CheckId::P1NoInput, PROBES, conforming);
    is(&undeclared, Status::NotApplicable, "`flags.no_input`");
}

#[test]
fn output_that_is_lost_is_a_failure_of_any_kind() {
    let of =
        |answer: fn(&Call) -> Answer| verdict(CheckId::P4WriteError, PROBES, under(Variant::Full, answer));
    is(&of(|_| data("")), Status::Warn, "could be written to stdout, but the exit code is 0");
    is(&of(|_| ended(120, "", "")), Status::Pass, "");
    is(&of(|_| Answer(String::new(), String::new(), End::Signaled(6))), Status::Pass, "");
    is(&of(|_| waits("")), Status::Unverified, "did not end");
    let silent = |call: &Call| if is_list(call) { data("") } else { conforming(call) };
    is(&verdict(CheckId::P4WriteError, PROBES, silent), Status::Unverified, "");
}

#[test]
fn escapes_are_judged_by_what_the_environment_asks_for() {
    let of =
        |variant, answer: fn(&Call) -> Answer| verdict(CheckId::P6NoColor, PROBES, under(variant, answer));
    let bold = |_: &Call| data("\u{1b}[1mone\u{1b}[0m\n");
    is(&of(Variant::ColourPipe, bold), Status::Fail, "an escape sequence in a pipe");
    is(&of(Variant::NoColour, bold), Status::Fail, "TERM=dumb");
    is(&of(Variant::NoColour, |call| bold_if(call.nth == 0)), Status::Pass, "");
    is(&of(Variant::Tty, bold), Status::Pass, "");
    let coloured = |_: &Call| ended(0, "one\n", "\u{1b}[31mred\u{1b}[0m\n");
    is(&of(Variant::NoColour, coloured), Status::Fail, "NO_COLOR=1");
    let redrawn = |_: &Call| ended(0, "one\n", "\u{1b}[2Kworking\n");
    is_blocked_by(&of(Variant::ColourPipe, redrawn), CheckId::P7NoSpinner);
    is(&of(Variant::NoColour, |_| waits("")), Status::Unverified, "did not end");
}

#[test]
fn a_target_without_an_option_for_formats_is_judged_by_its_text() {
    let text = |found: fn(&Call) -> Answer, variant| {
        move |call: &Call| match call.args.iter().any(|arg| arg == "--output") {
            true => ended(2, "", "unknown option --output\n"),
            false if is_list(call) && call.variant == variant => found(call),
            false => conforming(call),
        }
    };
    let of = |id, variant, found: fn(&Call) -> Answer| {
        verdict(id, "[[probe]]\nname = 'list'\nargs = ['list']\n", text(found, variant))
    };
    is(&of(CheckId::P6NoColor, Variant::NoColour, |_| data("\u{1b}[31mone\n")), Status::Fail, "NO_COLOR");
    is(&of(CheckId::P6NoColor, Variant::Plain, conforming), Status::Pass, "");
    is(&of(CheckId::P1TtyDetection, Variant::TerminalIn, |_| waits("Go on? ")), Status::Warn, "waits");
    is(&of(CheckId::P4WriteError, Variant::Full, |_| data("")), Status::Warn, "exit code is 0");
    is(&of(CheckId::P4WriteError, Variant::Full, |_| ended(1, "", "full")), Status::Pass, "");
}

fn bold_if(bold: bool) -> Answer {
    data(if bold { "\u{1b}[1mone\u{1b}[0m\n" } else { "one\n" })
}

const CONFIG_FILE: &str = "
    [target]
    config_file = '.config/demo.toml'
    completions = ['completions', '{shell}']
    [[probe]]
    name = 'list'
    args = ['list']
";

/// Help, version and completions that say this in an environment of `bare`.
fn bare(nth: u8, answer: fn(&Call) -> Answer) -> impl Fn(&Call) -> Answer {
    move |call| match &call.args[..] {
        _ if call.variant == Variant::Bare && call.nth == nth => answer(call),
        [word, _] if word == "completions" => data("complete -W list demo\n"),
        _ => conforming(call),
    }
}

#[test]
fn help_and_version_end_as_usual_without_a_home_and_with_an_invalid_configuration() {
    const ID: CheckId = CheckId::P6BareEnvironment;
    let warns = |call: &Call| Answer(conforming(call).0, "no home\n".into(), End::Exited(0));
    is(&verdict(ID, CONFIG_FILE, bare(0, warns)), Status::Pass, "");
    is(&verdict(ID, PROBES, bare(0, warns)), Status::Pass, "`config_file` is not declared");
    for (nth, words) in [(0, "without HOME"), (1, "with an invalid configuration file")] {
        let fails = verdict(ID, CONFIG_FILE, bare(nth, |_| ended(78, "", "cannot read it\n")));
        is(&fails, Status::Warn, &format!("ends with 78 {words}, and otherwise with 0"));
        let dies =
            verdict(ID, CONFIG_FILE, bare(nth, |_| Answer(String::new(), String::new(), End::Signaled(6))));
        is(&dies, Status::Unverified, "was killed by signal 6 (SIGABRT): see p2-exit-consistent");
    }
}

#[test]
fn completions_are_scripts_with_the_name_of_the_target() {
    const ID: CheckId = CheckId::P6Completions;
    is(&verdict(ID, CONFIG_FILE, bare(0, |_| data("complete -W list demo\n"))), Status::Pass, "");
    let fails = verdict(ID, CONFIG_FILE, bare(1, |_| ended(78, "", "cannot read it\n")));
    is(&fails, Status::Fail, "ends with 78 with an invalid configuration file; expected 0");
    let words = verdict(ID, CONFIG_FILE, bare(0, |_| data("done\n")));
    is(&words, Status::Fail, "prints no script with the name `demo` without HOME");
}

const PAIR: &str = "
    [target]
    env_flags = { '--loud' = 'DEMO_LOUD' }
    [[probe]]
    name = 'list'
    args = ['list']
";

/// A target that is loud where `is_loud` says so of its variable.
fn loud(is_loud: impl Fn(Option<&str>) -> bool) -> impl Fn(&Call) -> Answer {
    move |call| {
        let has_flag = call.args.iter().any(|arg| arg == "--loud");
        if is_list(call) && (has_flag || is_loud(call.env.get("DEMO_LOUD").map(String::as_str))) {
            return Answer(conforming(call).0, "reading\n".into(), End::Exited(0));
        }
        conforming(call)
    }
}

#[test]
fn a_variable_is_compared_with_its_option() {
    let of = |answer: &dyn Fn(&Call) -> Answer| verdict(CheckId::P1EnvFlag, PAIR, answer);
    is(&of(&loud(|value| value == Some("1"))), Status::Pass, "");
    is(&of(&loud(|value| value.is_some())), Status::Fail, "`DEMO_LOUD=0` has an effect; expected none");
    is(
        &of(&loud(|value| matches!(value, Some("1" | "false")))),
        Status::Fail,
        "`DEMO_LOUD=false` has an effect",
    );
    is(&of(&loud(|value| matches!(value, Some("1" | "")))), Status::Fail, "`DEMO_LOUD=` has an effect");
    is(&of(&loud(|_| false)), Status::Fail, "`DEMO_LOUD=1` changes nothing");
    is(&of(&conforming), Status::Unverified, "`--loud` changes nothing in list");
    let rejects = |call: &Call| match call.args.iter().any(|arg| arg == "--loud") {
        true => ended(2, "", "unknown option --loud\n"),
        false => conforming(call),
    };
    is(&of(&rejects), Status::Unverified, "`--loud` is rejected by list");
    is(&verdict(CheckId::P1EnvFlag, PROBES, conforming), Status::NotApplicable, "no option with a variable");
}

#[test]
fn a_call_that_asks_on_a_terminal_shows_no_pager() {
    let asks = |call: &Call| match call.variant {
        _ if call.args[0] != "remove" => conforming(call),
        Variant::Tty | Variant::NoPager => waits("Sure? [y/N] "),
        _ => data("removed\n"),
    };
    let remove = "[[probe]]\nname = 'remove'\nargs = ['remove']\nformats = ['text']\n";
    let result = verdict(CheckId::P6NoPager, &format!("{PROBES}\n{remove}"), asks);
    is(&result, Status::NotApplicable, "no call starts a pager");
    is(&verdict(CheckId::P6NoPager, remove, asks), Status::Unverified, "remove");
}

#[test]
fn an_unknown_flag_is_tried_behind_the_arguments_as_well() {
    const IN_FRONT: &str = "[[probe]]\nname = 'list'\nargs = ['{format}', 'list']\n";
    const FLAG: &str = "--agentnative-unknown-flag";
    let of = |check: CheckId, behind: &dyn Fn(&Call) -> Answer| {
        let answer = |call: &Call| {
            let mut call = call.clone();
            let is_behind = call.args.len() > 1 && call.args.last().is_some_and(|arg| arg == FLAG);
            if is_behind && call.args.iter().any(|arg| arg == "list") {
                return behind(&call);
            }
            call.args.retain(|arg| arg != "--output" && arg != call.format.name());
            conforming(&call)
        };
        verdict(check, IN_FRONT, answer)
    };
    let refuses = |_: &Call| ended(2, "", "demo: too many arguments\n");
    is(&of(CheckId::P4UnknownFlag, &refuses), Status::Pass, "");
    is(&of(CheckId::P4NamesCulprit, &refuses), Status::Pass, "");
    let accepts = |call: &Call| conforming(&Call { args: vec!["list".to_owned()], ..call.clone() });
    let result = of(CheckId::P4UnknownFlag, &accepts);
    is(&result, Status::Fail, FLAG);
    assert_eq!(result.evidence[0].probe.as_deref(), Some("list, unknown flag behind"));
}
