//! Detection of what a run waits for.

use super::{python, run, run_all, sh};
use crate::runs::{spec, text};
use agentnative::model::Variant;
use agentnative::run::{RunEnd, Waiting, resolve};
use std::ffi::OsStr;

#[test]
fn an_open_stdin_without_data_reveals_prompts() {
    let shapes = [
        sh("printf 'Name: '; read -r name; echo $name", Variant::OpenStdin),
        sh("cat | sort", Variant::OpenStdin),
        python("input('Name: ')", Variant::OpenStdin),
        python(
            "import select, sys; print('ready', flush=True); select.select([sys.stdin], [], [])",
            Variant::OpenStdin,
        ),
        python(
            "import select, sys; p = select.poll(); p.register(0, select.POLLIN); p.poll()",
            Variant::OpenStdin,
        ),
        python(
            "import select, sys; p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()",
            Variant::OpenStdin,
        ),
        python(
            "import threading, sys; t = threading.Thread(target=sys.stdin.read); t.start(); t.join()",
            Variant::OpenStdin,
        ),
    ];
    let observations = run_all(shapes.into());
    for (n, one) in observations.iter().enumerate() {
        assert_eq!((&one.end, format!("{:?}", one.waiting)), (&RunEnd::Waited, "Some(Stdin)".into()), "{n}");
    }
    assert_eq!(text(&observations[0].stdout), "Name: ");
}

#[test]
fn a_process_that_can_continue_without_input_is_not_a_prompt() {
    let shapes = [
        sh("exit 0", Variant::OpenStdin),
        sh("sleep 1; echo done", Variant::OpenStdin),
        // Waits for stdin with a timeout.
        python(
            "import select, sys; select.select([sys.stdin], [], [], 2); print('done')",
            Variant::OpenStdin,
        ),
        // One thread reads, another one works.
        python(
            "import threading, sys, time, os\n\
             threading.Thread(target=sys.stdin.read, daemon=True).start()\n\
             time.sleep(2); print('done', flush=True); os._exit(0)",
            Variant::OpenStdin,
        ),
    ];
    for observation in run_all(shapes.into()) {
        assert_eq!(
            (&observation.end, observation.waiting),
            (&RunEnd::Exited(0), None),
            "{}",
            text(&observation.stdout)
        );
    }
}

#[test]
fn a_prompt_on_the_terminal_is_found() {
    let getpass = "import getpass; getpass.getpass()";
    let outcome = run(python(getpass, Variant::Tty));
    assert_eq!((&outcome.end, format!("{:?}", outcome.waiting)), (&RunEnd::Waited, "Some(Terminal)".into()));
    // Without a terminal, getpass fails.
    assert_eq!(run(python(getpass, Variant::Plain)).end, RunEnd::Exited(1));
}

#[test]
fn an_event_loop_that_listens_to_stdin_is_a_prompt() {
    let path = std::env::var_os("PATH");
    let Ok(node) = resolve(OsStr::new("node"), path.as_deref()) else {
        eprintln!("skipped: there is no node here");
        return;
    };
    let prompts = "require('readline').createInterface({input: process.stdin, output: process.stdout})\
                .question('Name: ', () => process.exit(3))";
    let has_a_timer = "process.stdin.resume(); setTimeout(() => process.exit(4), 1500)";
    let specs =
        [prompts, has_a_timer].map(|js| spec(node.to_str().unwrap(), &["-e", js], Variant::OpenStdin));
    let observations = run_all(specs.into());
    assert_eq!((&observations[0].end, observations[0].waiting), (&RunEnd::Waited, Some(Waiting::Stdin)));
    assert_eq!((&observations[1].end, observations[1].waiting), (&RunEnd::Exited(4), None));
}
