//! The tripwire programs: their scripts, and the log of their calls.

use crate::{TripwireCall, TripwirePurpose};

/// Returns the script that replaces a program with this purpose. It appends its name, the number of its arguments and
/// the arguments, each ended by a NUL, to the file `trip.log` beside its folder.
pub(super) fn script(purpose: TripwirePurpose) -> String {
    const LOG_CALL: &str = "#!/bin/sh\n{ printf '%s\\0%s\\0' \"${0##*/}\" $#; \
                        if [ $# -gt 0 ]; then printf '%s\\0' \"$@\"; fi; } >>\"${0%/*}.log\"\n";
    // A pager prints its files, without its options.
    const PRINT_FILES: &str = "for arg; do\n    shift\n    case $arg in -* | +*) ;; *) set -- \"$@\" \"$arg\" ;; esac\n\
                       done\nexec /bin/cat -- \"$@\"\n";
    match purpose {
        TripwirePurpose::Pager => format!("{LOG_CALL}{PRINT_FILES}"),
        TripwirePurpose::Browser | TripwirePurpose::Editor => LOG_CALL.to_owned(),
    }
}

/// Parses the log of the tripwire programs, up to the first incomplete entry.
pub(super) fn parse_log(log: &[u8]) -> Vec<TripwireCall> {
    let mut fields = log.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let mut trips = Vec::new();
    while let (Some(program), Some(count)) =
        (fields.next(), fields.next().and_then(|n| n.parse::<usize>().ok()))
    {
        let args: Vec<String> = fields.by_ref().take(count).collect();
        if args.len() < count || trips.len() == MAX_TRIPS {
            break;
        }
        trips.push(TripwireCall { program, args });
    }
    trips
}

/// Maximum number of calls that are reported for a run.
const MAX_TRIPS: usize = 100;

#[cfg(test)]
mod tests {
    use super::parse_log;
    use crate::TripwireCall;

    fn trip(program: &str, args: &[&str]) -> TripwireCall {
        TripwireCall { program: program.into(), args: args.iter().map(|arg| (*arg).to_owned()).collect() }
    }

    #[test]
    fn a_log_is_parsed_up_to_the_first_incomplete_entry() {
        let less = trip("less", &["-R", "two\nlines", ""]);
        let log = b"less\x003\0-R\0two\nlines\0\0vi\x000\0";
        assert_eq!(parse_log(log), [less.clone(), trip("vi", &[])]);
        assert_eq!(parse_log(&log[..log.len() - 3]), [less]);
        for broken in [&b""[..], b"less", b"less\0", b"less\0x\0a\0", b"less\x0099\0a\0", b"\0\0"] {
            assert_eq!(parse_log(broken), [], "{broken:?}");
        }
    }
}
