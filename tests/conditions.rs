//! Verdicts on simulated targets under special conditions: terminals on stdin, colours, a full disk, no home folder.

use crate::simulated_target::{
    Call, CallResult, PROBES, conforming, exited, record, record_with_help, records, success, verdict,
};
use agentnative::catalogue::Check;
use agentnative::check::{Recording, judge};
use agentnative::model::{CheckId, CheckResult, OutputFormat, ProbeId, Status, Variant};
use agentnative::run::{Chunk, FileLock, Leftover, Observation, RunEnd, Starvation, TripwireCall, Waiting};
use std::time::Duration;

/// Asserts the status of a result and a part of its message.
fn expect(result: &CheckResult, status: Status, part: &str) {
    assert_eq!(result.status, status, "{part}: {} {:?}", result.message, result.evidence);
    assert!(result.message.contains(part), "{part}: {}", result.message);
}

fn assert_blocked_by(result: &CheckResult, id: CheckId) {
    assert_eq!(result.status, Status::Unverified, "{}", result.message);
    assert!(result.blocked_by.iter().any(|cause| cause.id == id), "{id}: {}", result.message);
}

fn is_list(call: &Call) -> bool {
    call.args.first().is_some_and(|word| word == "list") && call.args.iter().all(|arg| arg != "--help")
}

/// A conforming target, except for calls of `list` in one variant.
fn with_list_in(variant: Variant, answer: impl Fn(&Call) -> CallResult) -> impl Fn(&Call) -> CallResult {
    move |call| if is_list(call) && call.variant == variant { answer(call) } else { conforming(call) }
}

fn waiting_for_input(stderr: &str) -> CallResult {
    CallResult(String::new(), stderr.to_owned(), RunEnd::Waited)
}

#[test]
fn a_question_is_distinguished_from_a_filter() {
    let verdict_of = |stderr: &'static str| {
        verdict(
            CheckId::P1TtyDetection,
            PROBES,
            with_list_in(Variant::TerminalIn, move |_| waiting_for_input(stderr)),
        )
    };
    expect(&verdict_of("Go on? [y/N] "), Status::Warn, "waits for an answer on the terminal");
    expect(&verdict_of("Pick one:\n> a\n  b\n"), Status::Warn, "waits for an answer on the terminal");
    expect(&verdict_of(""), Status::Pass, "");
    let filter = |call: &Call| match call.variant {
        Variant::TerminalIn | Variant::OpenStdin if is_list(call) => waiting_for_input(""),
        _ => conforming(call),
    };
    expect(&verdict(CheckId::P1TtyDetection, PROBES, filter), Status::Pass, "");
    let slow = |_: &Call| CallResult("working\n".into(), String::new(), RunEnd::TimedOut);
    let result = verdict(CheckId::P1TtyDetection, PROBES, with_list_in(Variant::TerminalIn, slow));
    expect(&result, Status::Unverified, "list · json · terminal-in did not end");
    let fails = verdict(
        CheckId::P1TtyDetection,
        PROBES,
        with_list_in(Variant::TerminalIn, |_| exited(1, "", "no\n")),
    );
    expect(&fails, Status::Pass, "");
}

#[test]
fn items_whose_values_change_are_identified_at_any_depth() {
    let verdict_of = |plain: [&'static str; 3], slow: [&'static str; 3]| {
        let answer = move |call: &Call| match call.variant {
            _ if !is_list(call) => conforming(call),
            Variant::SlowReader => success(records(call, &slow)),
            _ => success(records(call, &plain)),
        };
        verdict(CheckId::P2OutputOrder, PROBES, answer)
    };
    let [a, b, c] = [
        r#"{"type":"match","data":{"path":"a","took":1}}"#,
        r#"{"type":"match","data":{"path":"b","took":2}}"#,
        r#"{"type":"end","data":{"path":"b","took":3}}"#,
    ];
    let [slow_a, slow_b] = [
        r#"{"type":"match","data":{"path":"a","took":7}}"#,
        r#"{"type":"match","data":{"path":"b","took":8}}"#,
    ];
    expect(&verdict_of([a, b, c], [slow_a, slow_b, c]), Status::Pass, "");
    expect(&verdict_of([a, b, c], [slow_b, c, slow_a]), Status::Warn, "another order");
    // Only the type is the same in both runs, and two items have the same.
    let [one, two] = [r#"{"type":"tick","at":1}"#, r#"{"type":"tick","at":2}"#];
    let [three, four] = [r#"{"type":"tick","at":3}"#, r#"{"type":"tick","at":4}"#];
    expect(&verdict_of([one, two, c], [three, four, c]), Status::Unverified, "has other items in each run");
}

#[test]
fn the_order_of_events_is_that_of_their_contract() {
    let (plain, slow) = ([r#"{"type":"a"}"#, r#"{"type":"b"}"#], [r#"{"type":"b"}"#, r#"{"type":"a"}"#]);
    let answer = |call: &Call| match call.variant {
        _ if !is_list(call) => conforming(call),
        Variant::SlowReader => success(records(call, &slow)),
        _ => success(records(call, &plain)),
    };
    let events =
        "[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['jsonl']\ncontract = 'opencode-events'\n";
    let verdict_of = |config| verdict(CheckId::P2OutputOrder, config, answer);
    expect(&verdict_of(events), Status::NotApplicable, "the contract states the order of the events");
    expect(&verdict_of(&events.replace("contract = 'opencode-events'\n", "")), Status::Warn, "another order");
}

#[test]
fn a_failing_probe_without_results_needs_the_key_of_a_result() {
    let verdict_of = |keys: &str| {
        let config = format!("[[probe]]\nname = 'list'\nargs = ['list']\nempty = true\n{keys}");
        let answer =
            |call: &Call| if is_list(call) { exited(1, records(call, &[]), "") } else { conforming(call) };
        verdict(CheckId::P2OutputEmpty, &config, answer)
    };
    expect(&verdict_of("exit = 1"), Status::Unverified, "list should fail, so its output is no data");
    expect(&verdict_of("exit = 1\nresult = true"), Status::Pass, "");
}

#[test]
fn a_wait_without_a_terminal_is_reported_by_one_check() {
    let always = |call: &Call| if is_list(call) { waiting_for_input("Go on? ") } else { conforming(call) };
    assert_blocked_by(&verdict(CheckId::P1TtyDetection, PROBES, always), CheckId::P2Completes);
    let on_stdin = |call: &Call| match call.variant {
        Variant::TerminalIn | Variant::OpenStdin if is_list(call) => waiting_for_input("Go on? "),
        _ => conforming(call),
    };
    assert_blocked_by(&verdict(CheckId::P1TtyDetection, PROBES, on_stdin), CheckId::P2Completes);
    let always = |call: &Call| if is_list(call) { exited(3, "", "broken\n") } else { conforming(call) };
    assert_blocked_by(&verdict(CheckId::P4WriteError, PROBES, always), CheckId::P2ExitSuccess);
}

#[test]
fn only_one_of_two_checks_reports_a_wait() {
    let waiting = |call: &Call| if is_list(call) { waiting_for_input("Go on? ") } else { conforming(call) };
    let results_of = |ids: &[CheckId]| {
        let checks: Vec<&Check> = ids.iter().map(|id| id.check()).collect();
        judge(&record(PROBES, &checks, waiting), &checks).unwrap().results
    };
    expect(&results_of(&[CheckId::P2Completes])[0], Status::Fail, "the command waits for input");
    let both = results_of(&[CheckId::P1NoPrompt, CheckId::P2Completes, CheckId::P2OutputJson]);
    expect(&both[0], Status::Fail, "the command waits for input");
    assert_blocked_by(&both[1], CheckId::P1NoPrompt);
    assert_blocked_by(&both[2], CheckId::P1NoPrompt);
    let slow = |_: &Call| CallResult(String::new(), String::new(), RunEnd::TimedOut);
    assert_blocked_by(
        &verdict(CheckId::P1NoPrompt, PROBES, with_list_in(Variant::Plain, slow)),
        CheckId::P2Completes,
    );
}

#[test]
fn a_recording_without_the_required_data_is_unverified() {
    for id in [CheckId::P1NoPrompt, CheckId::P6NoPager, CheckId::P1NoBrowser] {
        let config = "[[probe]]\nname = 'list'\nargs = ['list']\nlogin = true\n";
        let mut recording = record(config, &[id.check()], conforming);
        let result_of = |recording: &Recording| judge(recording, &[id.check()]).unwrap().results.remove(0);
        assert_ne!(result_of(&recording).status, Status::Unverified, "{id}");
        recording.observations.iter_mut().for_each(|run| run.outcome.trips = None);
        expect(&result_of(&recording), Status::Unverified, "the recording does not contain the programs");
    }
}

/// bat asks `less` for its version before it decides whether to start it.
#[test]
fn a_pager_that_is_asked_for_its_version_is_not_started() {
    let config = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let status_with = |args: &[&str]| {
        let mut recording = record(config, &[CheckId::P6NoPager.check()], conforming);
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let call = TripwireCall { program: "less".to_owned(), args };
        recording.observations.iter_mut().for_each(|run| run.outcome.trips = Some(vec![call.clone()]));
        judge(&recording, &[CheckId::P6NoPager.check()]).unwrap().results.remove(0).status
    };
    assert_eq!(status_with(&["--version"]), Status::NotApplicable);
    assert_eq!(status_with(&["-R"]), Status::Fail);
}

#[test]
fn a_login_probe_is_required_if_the_help_lists_a_login() {
    const ID: CheckId = CheckId::P1NoBrowser;
    let help = b"Commands:\n  list  List\n  login  Sign in\n";
    let verdict_with = |settings: &str| {
        let config = format!("{settings}\n[[probe]]\nname = 'list'\nargs = ['list']\n");
        judge(&record_with_help(help, &config, &[ID.check()], conforming), &[ID.check()])
            .unwrap()
            .results
            .remove(0)
    };
    expect(&verdict_with(""), Status::Unverified, "the help lists the command `login`");
    expect(
        &verdict_with("[target]\nlacks = ['login']"),
        Status::NotApplicable,
        "no login according to its configuration",
    );
    expect(&verdict(ID, PROBES, conforming), Status::NotApplicable, "no command that signs in");
}

#[test]
fn a_timeout_of_a_starved_run_is_no_evidence() {
    const ID: CheckId = CheckId::P2Completes;
    let hangs = |_: &Call| CallResult(String::new(), String::new(), RunEnd::TimedOut);
    let recording = record(PROBES, &[ID.check()], with_list_in(Variant::Plain, hangs));
    let verdict_with = |change: &dyn Fn(&mut Observation)| {
        let mut recording = recording.clone();
        recording.observations.iter_mut().filter(|run| run.end == RunEnd::TimedOut).for_each(change);
        judge(&recording, &[ID.check()]).unwrap().results.remove(0)
    };
    let when_starved = |withheld: u64| {
        let (withheld, elapsed) = (Duration::from_millis(withheld), Duration::from_secs(10));
        verdict_with(&|run| run.outcome.starvation = Some(Starvation { withheld, elapsed }))
    };
    expect(&verdict_with(&|_| ()), Status::Fail, "the command did not end within 10 s");
    expect(&when_starved(999), Status::Fail, "the command did not end within 10 s");
    expect(&when_starved(1_000), Status::Unverified, "the machine ran list · json for 9 s of 10 s");
    expect(&when_starved(8_760), Status::Unverified, "the machine ran list · json for 1.2 s of 10 s");
    // The result is the same if the other runs of the call were skipped.
    let mut single_run = recording.clone();
    let list = ProbeId::declared("list");
    single_run.observations.retain(|run| run.end == RunEnd::TimedOut || run.key.probe != list);
    let (withheld, elapsed) = (Duration::from_secs(7), Duration::from_secs(10));
    for run in &mut single_run.observations {
        run.outcome.starvation = Some(Starvation { withheld, elapsed });
    }
    let result = judge(&single_run, &[ID.check()]).unwrap().results.remove(0);
    expect(&result, Status::Unverified, "the machine ran list · json for 3 s of 10 s");
    assert_eq!((result.message.contains("see p2-completes"), result.blocked_by), (false, Vec::new()));
    expect(
        &verdict_with(&|run| run.outcome.in_parallel = true),
        Status::Unverified,
        "and was not repeated alone",
    );
    let when_locked = |path: Option<&str>, holder: Option<&str>| {
        let (path, holder) = (path.map(str::to_owned), holder.map(str::to_owned));
        verdict_with(&|run| run.outcome.lock = Some(FileLock { path: path.clone(), holder: holder.clone() }))
    };
    let result = when_locked(Some("/a/lock"), None);
    expect(&result, Status::Unverified, "list · json waited for a lock on `/a/lock` that another run held");
    expect(
        &when_locked(None, Some("cargo")),
        Status::Unverified,
        "waited for a lock on a file that `cargo` held",
    );
}

#[test]
fn a_process_of_a_starved_run_does_not_count_as_left_behind() {
    for id in [CheckId::P2Completes, CheckId::P6Sigterm] {
        let config =
            "[[probe]]\nname = 'list'\nargs = ['list']\nworkspace = true\ninterrupt = { after = 'x' }\n";
        let mut recording = record(config, &[id.check()], |call| match call.args.first() {
            Some(word) if word == "list" => exited(143, "", ""),
            _ => conforming(call),
        });
        for run in &mut recording.observations {
            run.outcome.signalled = Some(Duration::ZERO);
            run.outcome.left_behind =
                vec![Leftover { pid: 7, name: b"child".to_vec(), survives: false, detached: false }];
        }
        let result_of = |recording: &Recording| judge(recording, &[id.check()]).unwrap().results.remove(0);
        expect(&result_of(&recording), Status::Fail, "");
        for run in &mut recording.observations {
            let (withheld, elapsed) = (Duration::from_millis(800), Duration::from_secs(1));
            run.outcome.starvation = Some(Starvation { withheld, elapsed });
        }
        expect(&result_of(&recording), Status::Unverified, "0.2 s of 1 s");
    }
}

#[test]
fn a_run_that_is_busy_with_debug_output_does_not_hang() {
    const ID: CheckId = CheckId::P2Completes;
    let config = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let judged = |nth, waiting| {
        let slow = |call: &Call| match (call.variant, call.nth) {
            (Variant::HostileEnv, environment) if environment == nth && is_list(call) => {
                CallResult(String::new(), "log\n".into(), RunEnd::TimedOut)
            }
            // The run with combined conditions; each of its conditions is then tried alone.
            (Variant::Tty, 1) if is_list(call) => CallResult(String::new(), "log\n".into(), RunEnd::TimedOut),
            _ => conforming(call),
        };
        let mut recording = record(config, &[ID.check()], slow);
        recording.observations.iter_mut().for_each(|run| run.outcome.waiting = Some(waiting));
        judge(&recording, &[ID.check()]).unwrap().results.remove(0)
    };
    expect(
        &judged(1, Waiting::Busy),
        Status::Unverified,
        "was still working after 10 s, but its plain run ends",
    );
    expect(&judged(1, Waiting::Asleep), Status::Fail, "it was asleep");
    expect(&judged(0, Waiting::Busy), Status::Fail, "it was using the CPU");
}

#[test]
fn a_detached_daemon_does_not_count_as_left_behind() {
    let check = [CheckId::P2Completes.check()];
    let judged = |detached, survives, held_open| {
        let mut recording = record("[[probe]]\nname = 'list'\nargs = ['list']\n", &check, conforming);
        for run in &mut recording.observations {
            run.outcome.left_behind = vec![Leftover { pid: 7, name: b"daemon".to_vec(), survives, detached }];
            run.outcome.held_open = held_open;
        }
        judge(&recording, &check).unwrap().results.remove(0).status
    };
    assert_eq!(judged(true, false, false), Status::Pass);
    assert_eq!(judged(false, false, false), Status::Fail, "it is in the session of the command");
    assert_eq!(judged(true, false, true), Status::Fail, "it holds stdout open");
    assert_eq!(judged(true, true, false), Status::Fail, "it cannot be killed");
}

#[test]
fn arrival_times_of_a_starved_run_are_no_evidence() {
    const ID: CheckId = CheckId::P2JsonlPrompt;
    let config = "[[probe]]\nname = 'list'\nargs = ['list']\nstream = true\n";
    let mut recording = record(config, &[ID.check()], conforming);
    for run in &mut recording.observations {
        let spread = if run.key.variant == Variant::Plain { 10 } else { 5_000 };
        let chunk = |end, at| Chunk { end, at: Duration::from_millis(at) };
        run.outcome.stdout.chunks = vec![chunk(1, 0), chunk(run.stdout.bytes.len(), spread)];
    }
    let result_of = |recording: &Recording| judge(recording, &[ID.check()]).unwrap().results.remove(0);
    expect(&result_of(&recording), Status::Warn, "all records arrive within 10 ms at the end");
    let slow = recording.observations.iter().position(|run| run.key.variant != Variant::Plain).unwrap();
    let mut when_starved = |withheld, elapsed| {
        let (withheld, elapsed) = (Duration::from_millis(withheld), Duration::from_secs(elapsed));
        recording.observations[slow].outcome.starvation = Some(Starvation { withheld, elapsed });
        result_of(&recording)
    };
    expect(&when_starved(4_900, 5), Status::Warn, "all records arrive within 10 ms at the end");
    expect(&when_starved(4_970, 5), Status::Unverified, "0 s of 5 s");
    expect(
        &when_starved(4_970, 90),
        Status::Unverified,
        "the load of the machine delayed the records of list",
    );
}

const NO_INPUT: &str = "
    [target]
    flags.no_input = ['--batch']
    [[probe]]
    name = 'list'
    args = ['list']
";

/// A target that prompts on a full terminal unless `--batch` is given; `with_batch` is its answer then.
fn prompts(with_batch: impl Fn(&Call) -> CallResult) -> impl Fn(&Call) -> CallResult {
    move |call| match (call.variant, call.args.iter().any(|arg| arg == "--batch")) {
        (Variant::FullTerminal, true) => with_batch(call),
        (Variant::FullTerminal, false) => CallResult("Go on? ".into(), String::new(), RunEnd::Waited),
        _ => conforming(call),
    }
}

#[test]
fn the_option_that_disables_prompts_is_judged_if_a_probe_prompts() {
    let verdict_of = |answer: &dyn Fn(&Call) -> CallResult| verdict(CheckId::P1NoInput, NO_INPUT, answer);
    expect(
        &verdict_of(&prompts(conforming)),
        Status::Pass,
        "1 probe asks a question on a terminal without the option",
    );
    expect(&verdict_of(&prompts(|_| exited(2, "pass --yes\n", ""))), Status::Pass, "");
    expect(
        &verdict_of(&prompts(|_| CallResult("Sure? ".into(), String::new(), RunEnd::Waited))),
        Status::Fail,
        "despite `--batch`",
    );
    expect(&verdict_of(&conforming), Status::Unverified, "no probe asks a question on a terminal");
    let rejects = |call: &Call| match call.args.iter().any(|arg| arg == "--batch") {
        true => exited(2, "", "unknown option --batch\n"),
        false => prompts(conforming)(call),
    };
    assert_blocked_by(&verdict_of(&rejects), CheckId::P6GlobalFlags);
    let undeclared = verdict(CheckId::P1NoInput, PROBES, conforming);
    expect(&undeclared, Status::NotApplicable, "`flags.no_input`");
}

#[test]
fn lost_output_may_end_in_any_failure() {
    let verdict_of = |answer: fn(&Call) -> CallResult| {
        verdict(CheckId::P4WriteError, PROBES, with_list_in(Variant::Full, answer))
    };
    expect(&verdict_of(|_| success("")), Status::Warn, "could be written to stdout, but the exit code is 0");
    expect(&verdict_of(|_| exited(120, "", "")), Status::Pass, "");
    expect(&verdict_of(|_| CallResult(String::new(), String::new(), RunEnd::Signaled(6))), Status::Pass, "");
    expect(&verdict_of(|_| waiting_for_input("")), Status::Unverified, "did not end");
    let silent = |call: &Call| if is_list(call) { success("") } else { conforming(call) };
    expect(&verdict(CheckId::P4WriteError, PROBES, silent), Status::Unverified, "");
}

#[test]
fn escape_sequences_are_judged_by_the_environment() {
    let verdict_of = |variant, answer: fn(&Call) -> CallResult| {
        verdict(CheckId::P6NoColor, PROBES, with_list_in(variant, answer))
    };
    let bold = |_: &Call| success("\u{1b}[1mone\u{1b}[0m\n");
    expect(&verdict_of(Variant::ColourPipe, bold), Status::Fail, "an escape sequence in a pipe");
    expect(&verdict_of(Variant::NoColour, bold), Status::Fail, "TERM=dumb");
    expect(&verdict_of(Variant::NoColour, |call| bold_if(call.nth == 0)), Status::Pass, "");
    expect(&verdict_of(Variant::Tty, bold), Status::Pass, "");
    let coloured = |_: &Call| exited(0, "one\n", "\u{1b}[31mred\u{1b}[0m\n");
    expect(&verdict_of(Variant::NoColour, coloured), Status::Fail, "NO_COLOR=1");
    let redrawn = |_: &Call| exited(0, "one\n", "\u{1b}[2Kworking\n");
    assert_blocked_by(&verdict_of(Variant::ColourPipe, redrawn), CheckId::P7NoSpinner);
    expect(&verdict_of(Variant::NoColour, |_| waiting_for_input("")), Status::Unverified, "did not end");
}

#[test]
fn a_target_without_a_format_option_is_judged_by_its_text() {
    let text_only = |answer: fn(&Call) -> CallResult, variant| {
        move |call: &Call| match call.args.iter().any(|arg| arg == "--output") {
            true => exited(2, "", "unknown option --output\n"),
            false if is_list(call) && call.variant == variant => answer(call),
            false => conforming(call),
        }
    };
    let verdict_of = |id, variant, answer: fn(&Call) -> CallResult| {
        verdict(id, "[[probe]]\nname = 'list'\nargs = ['list']\n", text_only(answer, variant))
    };
    expect(
        &verdict_of(CheckId::P6NoColor, Variant::NoColour, |_| success("\u{1b}[31mone\n")),
        Status::Fail,
        "NO_COLOR",
    );
    expect(&verdict_of(CheckId::P6NoColor, Variant::Plain, conforming), Status::Pass, "");
    expect(
        &verdict_of(CheckId::P1TtyDetection, Variant::TerminalIn, |_| waiting_for_input("Go on? ")),
        Status::Warn,
        "waits",
    );
    expect(
        &verdict_of(CheckId::P4WriteError, Variant::Full, |_| success("")),
        Status::Warn,
        "exit code is 0",
    );
    expect(&verdict_of(CheckId::P4WriteError, Variant::Full, |_| exited(1, "", "full")), Status::Pass, "");
}

fn bold_if(bold: bool) -> CallResult {
    success(if bold { "\u{1b}[1mone\u{1b}[0m\n" } else { "one\n" })
}

const CONFIG_FILE: &str = "
    [target]
    config_file = '.config/demo.toml'
    completions = ['completions', '{shell}']
    [[probe]]
    name = 'list'
    args = ['list']
";

/// A conforming target with completions, except for the `nth` bare environment.
fn in_bare_environment(nth: u8, answer: fn(&Call) -> CallResult) -> impl Fn(&Call) -> CallResult {
    move |call| match &call.args[..] {
        _ if call.variant == Variant::Bare && call.nth == nth => answer(call),
        [word, _] if word == "completions" => success("complete -W list demo\n"),
        _ => conforming(call),
    }
}

#[test]
fn help_and_version_succeed_without_a_home_and_with_an_invalid_configuration() {
    const ID: CheckId = CheckId::P6BareEnvironment;
    let warns = |call: &Call| CallResult(conforming(call).0, "no home\n".into(), RunEnd::Exited(0));
    expect(&verdict(ID, CONFIG_FILE, in_bare_environment(0, warns)), Status::Pass, "");
    expect(
        &verdict(ID, PROBES, in_bare_environment(0, warns)),
        Status::Pass,
        "`config_file` is not declared",
    );
    for (nth, phrase) in [(0, "without HOME"), (1, "with an invalid configuration file")] {
        let fails =
            verdict(ID, CONFIG_FILE, in_bare_environment(nth, |_| exited(78, "", "cannot read it\n")));
        expect(&fails, Status::Warn, &format!("exits with 78 {phrase}, expected 0"));
        let crashes = verdict(
            ID,
            CONFIG_FILE,
            in_bare_environment(nth, |_| CallResult(String::new(), String::new(), RunEnd::Signaled(6))),
        );
        expect(&crashes, Status::Unverified, "was killed by signal 6 (SIGABRT): see p2-exit-consistent");
    }
}

#[test]
fn completions_are_scripts_that_name_the_target() {
    const ID: CheckId = CheckId::P6Completions;
    expect(
        &verdict(ID, CONFIG_FILE, in_bare_environment(0, |_| success("complete -W list demo\n"))),
        Status::Pass,
        "",
    );
    let fails = verdict(ID, CONFIG_FILE, in_bare_environment(1, |_| exited(78, "", "cannot read it\n")));
    expect(&fails, Status::Fail, "exits with 78 with an invalid configuration file, expected 0");
    let no_script = verdict(ID, CONFIG_FILE, in_bare_environment(0, |_| success("done\n")));
    expect(&no_script, Status::Fail, "prints no script with the name `demo` without HOME");
}

const VARIABLE_CONFIG: &str = "
    [target]
    env_flags = { '--loud' = 'DEMO_LOUD' }
    [[probe]]
    name = 'list'
    args = ['list']
";

/// A target that writes to stderr with `--loud`, or if `is_loud` accepts the value of its variable.
fn loud(is_loud: impl Fn(Option<&str>) -> bool) -> impl Fn(&Call) -> CallResult {
    move |call| {
        let has_flag = call.args.iter().any(|arg| arg == "--loud");
        if is_list(call) && (has_flag || is_loud(call.env.get("DEMO_LOUD").map(String::as_str))) {
            return CallResult(conforming(call).0, "reading\n".into(), RunEnd::Exited(0));
        }
        conforming(call)
    }
}

#[test]
fn a_variable_is_compared_with_its_option() {
    let verdict_of =
        |answer: &dyn Fn(&Call) -> CallResult| verdict(CheckId::P1EnvFlag, VARIABLE_CONFIG, answer);
    expect(&verdict_of(&loud(|value| value == Some("1"))), Status::Pass, "");
    expect(
        &verdict_of(&loud(|value| value.is_some())),
        Status::Fail,
        "`DEMO_LOUD=0` has an effect; expected none",
    );
    expect(
        &verdict_of(&loud(|value| matches!(value, Some("1" | "false")))),
        Status::Fail,
        "`DEMO_LOUD=false` has an effect",
    );
    expect(
        &verdict_of(&loud(|value| matches!(value, Some("1" | "")))),
        Status::Fail,
        "`DEMO_LOUD=` has an effect",
    );
    expect(&verdict_of(&loud(|_| false)), Status::Fail, "`DEMO_LOUD=1` has no effect");
    expect(&verdict_of(&conforming), Status::Unverified, "`--loud` has no effect on list");
    let rejects = |call: &Call| match call.args.iter().any(|arg| arg == "--loud") {
        true => exited(2, "", "unknown option --loud\n"),
        false => conforming(call),
    };
    expect(&verdict_of(&rejects), Status::Unverified, "`--loud` is rejected by list");
    expect(
        &verdict(CheckId::P1EnvFlag, PROBES, conforming),
        Status::NotApplicable,
        "no option with a variable",
    );
}

/// A target that writes to stderr if `is_loud` returns true. Its arguments: whether `--loud` is given, whether DEMO_LOUD
/// is 1, and whether the configuration file exists.
fn loud_by(is_loud: fn(bool, bool, bool) -> bool) -> impl Fn(&Call) -> CallResult {
    move |call| {
        let option = call.args.iter().any(|arg| arg == "--loud");
        let variable = call.env.get("DEMO_LOUD").is_some_and(|value| value == "1");
        let stderr =
            if is_loud(option, variable, call.variant != Variant::Unconfigured) { "reading\n" } else { "" };
        match is_list(call) {
            true => CallResult(conforming(call).0, stderr.into(), RunEnd::Exited(0)),
            false => conforming(call),
        }
    }
}

#[test]
fn an_option_and_its_variable_override_a_configuration_file_that_switches_them_off() {
    let config = VARIABLE_CONFIG.replace("[target]", "[target]\nconfig_file = '.config/demo.toml'");
    let verdict_of = |id, is_loud| verdict(id, &config, loud_by(is_loud));
    let (flag, precedence) = (CheckId::P1EnvFlag, CheckId::P6Precedence);

    expect(&verdict_of(flag, |option, variable, _| option || variable), Status::Pass, "");
    let passes = verdict_of(precedence, |option, variable, _| option || variable);
    expect(&passes, Status::Pass, "whether the configuration file sets these options is unknown");
    let passes = verdict(precedence, VARIABLE_CONFIG, loud_by(|option, variable, _| option || variable));
    expect(&passes, Status::Pass, "no configuration file was used");

    let over_variable = |option: bool, variable: bool, file: bool| option || variable && !file;
    let fails = verdict_of(precedence, over_variable);
    expect(&fails, Status::Warn, "the configuration file overrides `DEMO_LOUD=1`");
    assert_blocked_by(&verdict_of(flag, over_variable), precedence);
    let over_option = |option: bool, variable: bool, file: bool| (option || variable) && !file;
    expect(&verdict_of(precedence, over_option), Status::Warn, "the configuration file overrides `--loud`");
    assert_blocked_by(&verdict_of(flag, over_option), precedence);

    // The file has the effect of the option, so that nothing is shown.
    let switched_on = |option: bool, variable: bool, file: bool| option || variable || file;
    expect(&verdict_of(precedence, switched_on), Status::Unverified, "`--loud` has no effect on list");
    let ignored = |option: bool, _: bool, _: bool| option;
    expect(&verdict_of(flag, ignored), Status::Fail, "`DEMO_LOUD=1` has no effect");
    assert_blocked_by(&verdict_of(precedence, ignored), flag);
}

#[test]
fn a_target_that_needs_its_configuration_file_is_judged_with_it() {
    let config = VARIABLE_CONFIG.replace("[target]", "[target]\nconfig_file = '.config/demo.toml'");
    let needs_file = |call: &Call| match is_list(call) && call.variant == Variant::Unconfigured {
        true => exited(78, "", "no configuration\n"),
        false => loud_by(|option, _, _| option)(call),
    };
    let fails = verdict(CheckId::P1EnvFlag, &config, needs_file);
    expect(&fails, Status::Fail, "`DEMO_LOUD=1` has no effect");
}

/// A target that prints the format that `select` returns. Its arguments: the formats that `--output`, DEMO_OUTPUT and
/// the configuration file select.
fn selecting(
    in_file: OutputFormat,
    select: fn([Option<OutputFormat>; 3]) -> Option<OutputFormat>,
) -> impl Fn(&Call) -> CallResult {
    move |call| {
        let named = |name: &String| OutputFormat::ALL.into_iter().find(|format| format.name() == *name);
        let option = call.args.iter().skip_while(|arg| *arg != "--output").nth(1).and_then(named);
        let variable = call.env.get("DEMO_OUTPUT").and_then(named);
        let file = (call.variant != Variant::Unconfigured).then_some(in_file);
        let format = select([option, variable, file]).unwrap_or(OutputFormat::Text);
        conforming(&Call { format: if is_list(call) { format } else { call.format }, ..call.clone() })
    }
}

#[test]
fn an_option_and_its_variable_override_a_configuration_file_that_selects_a_format() {
    use OutputFormat::{Json, Text};
    let config = VARIABLE_CONFIG
        .replace("'--loud' = 'DEMO_LOUD'", "'--output' = 'DEMO_OUTPUT'")
        .replace("[target]", "[target]\nconfig_file = '.config/demo.toml'");
    let verdict_of = |id, file, select| verdict(id, &config, selecting(file, select));
    let (format, flag, precedence) = (CheckId::P2OutputFormat, CheckId::P1EnvFlag, CheckId::P6Precedence);
    for (file, other) in [(Json, "text"), (Text, "json")] {
        for id in [format, flag, precedence] {
            let conforms = |[option, variable, file]: [Option<OutputFormat>; 3]| option.or(variable).or(file);
            expect(&verdict_of(id, file, conforms), Status::Pass, "");
        }
        let over_variable =
            |[option, variable, file]: [Option<OutputFormat>; 3]| option.or(file).or(variable);
        let words = format!("the configuration file overrides `DEMO_OUTPUT={other}`");
        expect(&verdict_of(precedence, file, over_variable), Status::Warn, &words);
        expect(&verdict_of(flag, file, over_variable), Status::Pass, "");
        let ignored = |[option, _, file]: [Option<OutputFormat>; 3]| option.or(file);
        expect(
            &verdict_of(flag, file, ignored),
            Status::Fail,
            "`DEMO_OUTPUT=json` does not select the format",
        );
        assert_blocked_by(&verdict_of(precedence, file, ignored), flag);
    }
    // An option with the default value counts as missing.
    let over_option = |[option, variable, file]: [Option<OutputFormat>; 3]| {
        option.filter(|option| *option != Text).or(variable).or(file)
    };
    let words = "the configuration file overrides `--output text`";
    expect(&verdict_of(precedence, Json, over_option), Status::Warn, words);
    expect(&verdict_of(flag, Json, over_option), Status::Pass, "");
    let json_by_default =
        |[option, variable, _]: [Option<OutputFormat>; 3]| option.or(variable).or(Some(Json));
    expect(
        &verdict_of(format, Json, json_by_default),
        Status::Fail,
        "without a format flag, the output differs",
    );
}

#[test]
fn a_call_that_prompts_on_a_terminal_is_no_evidence_of_a_pager() {
    let prompts = |call: &Call| match call.variant {
        _ if call.args[0] != "remove" => conforming(call),
        Variant::Tty | Variant::NoPager => waiting_for_input("Sure? [y/N] "),
        _ => success("removed\n"),
    };
    let remove = "[[probe]]\nname = 'remove'\nargs = ['remove']\nformats = ['text']\n";
    let result = verdict(CheckId::P6NoPager, &format!("{PROBES}\n{remove}"), prompts);
    expect(&result, Status::NotApplicable, "no call starts a pager");
    expect(&verdict(CheckId::P6NoPager, remove, prompts), Status::Unverified, "remove");
}

#[test]
fn an_unknown_flag_is_also_tried_after_the_arguments() {
    const FORMAT_FIRST: &str = "[[probe]]\nname = 'list'\nargs = ['{format}', 'list']\n";
    const FLAG: &str = "--agentnative-unknown-flag";
    let verdict_of = |check: CheckId, with_flag_last: &dyn Fn(&Call) -> CallResult| {
        let answer = |call: &Call| {
            let mut call = call.clone();
            let is_last = call.args.len() > 1 && call.args.last().is_some_and(|arg| arg == FLAG);
            if is_last && call.args.iter().any(|arg| arg == "list") {
                return with_flag_last(&call);
            }
            call.args.retain(|arg| arg != "--output" && arg != call.format.name());
            conforming(&call)
        };
        verdict(check, FORMAT_FIRST, answer)
    };
    let rejects = |_: &Call| exited(2, "", "demo: too many arguments\n");
    expect(&verdict_of(CheckId::P4UnknownFlag, &rejects), Status::Pass, "");
    expect(&verdict_of(CheckId::P4NamesCulprit, &rejects), Status::Pass, "");
    let accepts = |call: &Call| conforming(&Call { args: vec!["list".to_owned()], ..call.clone() });
    let result = verdict_of(CheckId::P4UnknownFlag, &accepts);
    expect(&result, Status::Fail, FLAG);
    assert_eq!(result.evidence[0].probe.as_deref(), Some("list, unknown flag behind"));
}
