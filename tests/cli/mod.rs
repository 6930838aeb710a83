//! The command line, as a caller sees it: exit codes, streams, formats, files.

mod agents;
mod baseline;
mod budget;
mod bundles;
mod calls;
mod changes;
mod check;
mod commands;
mod diff;
mod errors;
mod evidence;
mod exits;
mod folders;
mod infer;
mod init;
mod live;
mod loops;
mod manual;
mod record;
mod report;
mod settings;
mod source;
mod support;
mod surroundings;
mod terminal;
