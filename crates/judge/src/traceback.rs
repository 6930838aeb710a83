//! Finds the tracebacks and panics that runtimes print for unhandled errors.

/// Maximum number of lines between the first line of a traceback and a stack frame.
const MAX_DISTANCE: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traceback {
    /// Index (from 0) of the line that names the error or begins the traceback.
    pub line: usize,
    /// Name of the runtime that printed the traceback, such as `Python`.
    pub runtime: &'static str,
}

/// Returns the first traceback in the lines of a stream.
pub fn find(lines: &[String]) -> Option<Traceback> {
    let lines: Vec<&str> = lines.iter().map(|line| strip_box(line)).collect();
    (0..lines.len()).find_map(|index| {
        let found = |(line, runtime)| Traceback { line, runtime };
        runtime_of_traceback(&lines, index)
            .map(|runtime| found((index, runtime)))
            .or_else(|| by_frames(&lines, index).map(found))
    })
}

/// Returns a line without the characters of a box around it, which the Python library Rich draws, or of the margin of
/// an exception group.
fn strip_box(line: &str) -> &str {
    const SIDES: [char; 12] = ['│', '╭', '╮', '╰', '╯', '─', '┌', '┐', '└', '┘', '|', '+'];
    let inner = line.trim_start().trim_start_matches(SIDES);
    if inner.len() == line.trim_start().len() { line } else { inner.trim_end_matches(SIDES).trim_end() }
}

/// Returns the name of the runtime, such as `Python`, whose traceback begins in line `index`.
fn runtime_of_traceback(lines: &[&str], index: usize) -> Option<&'static str> {
    let line = lines[index];
    let below = &lines[index + 1..lines.len().min(index + 1 + MAX_DISTANCE)];
    let next = |holds: &dyn Fn(&str) -> bool| below.iter().any(|line| holds(line));
    let crashed = |begin: &str, holds: &dyn Fn(&str) -> bool| line.starts_with(begin) && next(holds);
    if line.trim().trim_start_matches("Exception Group ").starts_with("Traceback (most recent call last)")
        && next(&is_python_frame)
    {
        Some("Python")
    } else if line.starts_with("thread '") && (line.contains("' panicked at ") || rust_with_id(line)) {
        Some("Rust")
    } else if (line.starts_with("panic: ") || line.starts_with("fatal error: "))
        && next(&|line| line.starts_with("goroutine ") && line.ends_with("]:"))
    {
        Some("Go")
    } else if crashed("Exception in thread \"", &|line| frame(line).is_some_and(is_java_frame)) {
        Some("Java")
    } else if crashed("Unhandled exception. ", &|line| frame(line).is_some_and(|frame| frame.contains('('))) {
        Some(".NET")
    } else if crashed("PHP Fatal error:  Uncaught ", &|line| line.starts_with("Stack trace:")) {
        Some("PHP")
    } else if is_ruby(line) {
        Some("Ruby")
    } else if line.starts_with("[UnhandledPromiseRejection") {
        Some("Node.js")
    } else {
        None
    }
}

/// Recognizes a traceback whose first stack frame is in line `index`. Returns the index of the line above that names
/// the error, and the name of the runtime.
fn by_frames(lines: &[&str], index: usize) -> Option<(usize, &'static str)> {
    let first = frame(lines[index])?;
    let is_head = |line: &&str| {
        line.starts_with(|char: char| !char.is_whitespace())
            && (line.contains("Error") || line.contains("Exception"))
    };
    let from = index.saturating_sub(MAX_DISTANCE);
    let head = from + lines[from..index].iter().rposition(is_head)?;
    let frames = lines[index..].iter().take_while(|line| frame(line).is_some()).count();
    // One frame counts directly below its error; several frames also below the details of the error.
    let is_near = head + 1 == index || frames > 1 || lines[index..].iter().any(|line| is_footer(line));
    if is_java_frame(first) && first.contains(".java:") {
        Some((head, "Java"))
    } else if is_near && (has_place(first) || first.ends_with("(<anonymous>)")) {
        Some((head, "Node.js"))
    } else {
        None
    }
}

/// Returns the text after `at` in a stack frame of Java, .NET or Node.js, such as `at run (/srv/tool.js:3:9)`. `None`
/// for other lines.
fn frame(line: &str) -> Option<&str> {
    line.strip_prefix([' ', '\t'])?.trim_start().strip_prefix("at ")
}

fn is_java_frame(frame: &str) -> bool {
    frame.contains('(') && frame.ends_with(')') || frame.contains(".java:")
}

fn is_python_frame(line: &str) -> bool {
    let line = line.trim_start();
    // Rich prints the location as `/srv/tool.py:22 in main`.
    let is_rich = || {
        line.split_once(" in ")
            .and_then(|(place, _)| place.rsplit_once(':'))
            .is_some_and(|(_, number)| is_number(number))
    };
    line.starts_with("File \"") || is_rich()
}

/// True for the version line that Node.js and Bun print below an error that ends the program.
fn is_footer(line: &str) -> bool {
    ["Node.js v", "Bun v"].iter().any(|name| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()))
    })
}

/// True for a Rust panic with a thread ID, as printed since Rust 1.91:
/// `thread 'main' (123) panicked at src/main.rs:2:5:`.
fn rust_with_id(line: &str) -> bool {
    let rest = line.rsplit_once("' (").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once(") panicked at ")).is_some_and(|(id, _)| is_number(id))
}

/// True for the first line of a Ruby error, such as `tool.rb:3:in 'Object#main': no such file (RuntimeError)`.
fn is_ruby(line: &str) -> bool {
    let place = [":in '", ":in `"].into_iter().find_map(|mark| Some(line.split_once(mark)?.0));
    place
        .and_then(|place| place.rsplit_once(':'))
        .is_some_and(|(file, number)| !file.is_empty() && !file.contains(' ') && is_number(number))
}

/// True if a stack frame ends in a line and a column number, as in `run (/srv/tool.js:3:9)`.
fn has_place(frame: &str) -> bool {
    let mut parts = frame.trim_end_matches([')', '{', ' ']).rsplit(':');
    let has_numbers = parts.next().is_some_and(is_number) && parts.next().is_some_and(is_number);
    // A time such as `10:30:00` has a number before both.
    has_numbers && parts.next().is_some_and(|file| file.contains(['/', '.', '\\']) || frame.contains('('))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::find;

    fn found(text: &str) -> Option<(&'static str, usize)> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        find(&lines).map(|found| (found.runtime, found.line))
    }

    #[test]
    fn each_runtime_is_recognised() {
        for (text, runtime, line) in [
            (
                "ERROR:root:it failed\nTraceback (most recent call last):\n  File \"/srv/t.py\", line 3, in <module>\n    x()\nKeyError: 1\n",
                "Python",
                1,
            ),
            (
                "  + Exception Group Traceback (most recent call last):\n  |   File \"/srv/t.py\", line 3, in <module>\n  | ExceptionGroup: many (1 sub-exception)\n",
                "Python",
                0,
            ),
            (
                "╭──────── Traceback (most recent call last) ────────╮\n│ /srv/t.py:22 in cli                               │\n│ ❱ 22 │   with open(path) as f:                     │\n╰───────────────────────────────────────────────────╯\nFileNotFoundError: [Errno 2]\n",
                "Python",
                0,
            ),
            (
                "Error: boom\n    at run (/srv/t.js:3:9)\n    at node:internal/main/run_main_module:28:49\n\nNode.js v20.20.2\n",
                "Node.js",
                0,
            ),
            (
                "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module './config'\nRequire stack:\n- /srv/cli.js\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)\n    at Module._load (node:internal/modules/cjs/loader:1051:27) {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n",
                "Node.js",
                4,
            ),
            (
                "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n1 !== 2\n\n    at Object.<anonymous> (/srv/t.js:1:19)\n    at Module._compile (node:internal/modules/cjs/loader:1554:14) {\n",
                "Node.js",
                0,
            ),
            (
                "/srv/t.js:1\n{\"a\":1,}\n       ^\n\nSyntaxError: Expected double-quoted property name in JSON at position 7\n    at JSON.parse (<anonymous>)\n    at Object.<anonymous> (/srv/t.js:1:6)\n",
                "Node.js",
                4,
            ),
            (
                "node:internal/process/promises:394\n      triggerUncaughtException(err, true);\n      ^\n\n[UnhandledPromiseRejection: This error originated by rejecting a promise.] {\n  code: 'ERR_UNHANDLED_REJECTION'\n}\n\nNode.js v20.20.2\n",
                "Node.js",
                4,
            ),
            ("error: Uncaught (in promise) Error: boom\n    at file:///srv/t.ts:1:7\n", "Node.js", 0),
            ("thread 'main' panicked at src/main.rs:2:5:\nboom\n", "Rust", 0),
            ("thread 'main' (123) panicked at src/main.rs:2:5:\nboom\n", "Rust", 0),
            ("panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/t.go:3 +0x1d\n", "Go", 0),
            ("/usr/local/bin/tool:3:in 'Object#main': no such file (RuntimeError)\n", "Ruby", 0),
            (
                "java.lang.RuntimeException: boom\n\tat com.x.Main.run(Main.java:3)\nCaused by: java.io.IOException: y\n",
                "Java",
                0,
            ),
            (
                "Exception in thread \"main\" java.lang.RuntimeException: boom\n\tat com.x.Main.run(Main.java:3)\n",
                "Java",
                0,
            ),
            (
                "Unhandled exception. System.Exception: boom\n   at Program.Main() in /srv/t.cs:line 3\n",
                ".NET",
                0,
            ),
            (
                "PHP Fatal error:  Uncaught Exception: boom in /srv/t.php:3\nStack trace:\n#0 {main}\n",
                "PHP",
                0,
            ),
        ] {
            assert_eq!(found(text), Some((runtime, line)), "{text}");
        }
    }

    #[test]
    fn similar_messages_are_not_tracebacks() {
        for text in [
            "cli: Traceback: none was recorded\n",
            "cli: Error: no train\n    at 10:30 from platform 3\n    at 11:30 from platform 4\n",
            "cli: Error: no train\n    at 10:30:00\n    at 11:30:00\n",
            "cli: Error in 2 files:\n    at least one record is broken\n",
            "╭─ Error ──────────────╮\n│ cannot read: no.txt  │\n╰──────────────────────╯\n",
            "cli: panic button pressed\n",
            "cli: cannot read\nCaused by: no such file\n",
            "cli: bad record in log.txt:3:9: Error: x\n  hint: see log.txt:3\n",
            "cli: the message \"Traceback (most recent call last)\" is in the log\n",
            "cli: 12:30:in 'the morning'\n",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
