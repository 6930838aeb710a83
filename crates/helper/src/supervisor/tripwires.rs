//! The programs on tripwires: what they do when they are called, and what they tell.

use crate::{Purpose, Trip};

/// The script of a program: it appends its name, the number of its arguments and these, each ended by a NUL, to the
/// file `trip.log` beside the folder that it was called in.
pub(super) fn script(purpose: Purpose) -> String {
    const TELL: &str = "#!/bin/sh\n{ printf '%s\\0%s\\0' \"${0##*/}\" $#; \
                        if [ $# -gt 0 ]; then printf '%s\\0' \"$@\"; fi; } >>\"${0%/*}.log\"\n";
    // What it would show is shown, its options aside.
    const CAT: &str = "for arg; do\n    shift\n    case $arg in -* | +*) ;; *) set -- \"$@\" \"$arg\" ;; esac\n\
                       done\nexec /bin/cat -- \"$@\"\n";
    match purpose {
        Purpose::Pager => format!("{TELL}{CAT}"),
        Purpose::Browser | Purpose::Editor => TELL.to_owned(),
    }
}

/// The calls that a log tells of, as far as it is whole.
pub(super) fn read(log: &[u8]) -> Vec<Trip> {
    let mut words = log.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let mut trips = Vec::new();
    while let (Some(program), Some(count)) =
        (words.next(), words.next().and_then(|n| n.parse::<usize>().ok()))
    {
        let args: Vec<String> = words.by_ref().take(count).collect();
        if args.len() < count || trips.len() == MOST {
            break;
        }
        trips.push(Trip { program, args });
    }
    trips
}

/// More calls than this are not told.
const MOST: usize = 100;

#[cfg(test)]
mod tests {
    use super::read;
    use crate::Trip;

    fn trip(program: &str, args: &[&str]) -> Trip {
        Trip { program: program.into(), args: args.iter().map(|arg| (*arg).to_owned()).collect() }
    }

    #[test]
    fn a_log_is_read_as_far_as_it_is_whole() {
        let less = trip("less", &["-R", "two\nlines", ""]);
        let log = b"less\x003\0-R\0two\nlines\0\0vi\x000\0";
        assert_eq!(read(log), [less.clone(), trip("vi", &[])]);
        assert_eq!(read(&log[..log.len() - 3]), [less]);
        for broken in [&b""[..], b"less", b"less\0", b"less\0x\0a\0", b"less\x0099\0a\0", b"\0\0"] {
            assert_eq!(read(broken), [], "{broken:?}");
        }
    }
}
