//! The command line of the driver for stable Rust.

use fuzz::drive::{Limits, calls, capture_panics, drive};
use fuzz::{TARGETS, Target, corpus, target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str =
    "usage: fuzz [--seconds N] [--seed N] [TARGET…]   fuzz targets, N seconds in all [default: 60]
       fuzz --run TARGET FILE…                   run a target on files
       fuzz --seeds FOLDER TARGET                write the seeds of a target to a folder";

/// Maximum time for one input, in seconds; a target that takes longer hangs.
const MAX_SECONDS_PER_INPUT: u64 = 60;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["--run", name, files @ ..] if !files.is_empty() => {
            find_target(name).and_then(|target| run(target, files))
        }
        ["--seeds", folder, name] => {
            find_target(name).and_then(|target| write_seeds(target, Path::new(folder)))
        }
        arguments => fuzz_all(arguments),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn find_target(name: &str) -> Result<&'static Target, String> {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    target(name).ok_or_else(|| format!("unknown target `{name}`; expected one of {}", names.join(", ")))
}

fn run(target: &Target, files: &[&str]) -> Result<bool, String> {
    for file in files {
        (target.run)(&fs::read(file).map_err(|error| format!("{file}: {error}"))?);
        println!("{file}: passed");
    }
    Ok(true)
}

fn write_seeds(target: &Target, folder: &Path) -> Result<bool, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    for (index, seed) in corpus::seeds(target).iter().enumerate() {
        fs::write(folder.join(format!("seed-{index}")), seed).map_err(failed)?;
    }
    Ok(true)
}

/// Fuzzes the targets in the arguments; returns true if there are no finds.
fn fuzz_all(arguments: &[&str]) -> Result<bool, String> {
    let (mut seconds, mut seed, mut targets) = (60, 1, Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut number = || rest.next().and_then(|text| text.parse().ok()).ok_or_else(|| USAGE.to_owned());
        match *argument {
            "--seconds" => seconds = number()?,
            "--seed" => seed = number()?,
            option if option.starts_with('-') => return Err(USAGE.to_owned()),
            name => targets.push(find_target(name)?),
        }
    }
    if targets.is_empty() {
        targets.extend(TARGETS);
    }
    let folder = corpus::path("target/fuzzing");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    capture_panics();
    std::thread::spawn({
        let folder = folder.clone();
        move || watch_for_hangs(folder)
    });
    let time = Duration::from_secs(seconds) / u32::try_from(targets.len()).unwrap_or(u32::MAX);
    let finds: usize = targets.iter().map(|target| fuzz_one(target, seed, time, &folder)).sum();
    Ok(finds == 0)
}

/// Fuzzes one target; returns the number of finds.
fn fuzz_one(target: &Target, seed: u64, time: Duration, folder: &Path) -> usize {
    let input_file = folder.join(format!("{}-running", target.name));
    let result = drive(target, seed, Limits { time, inputs: u64::MAX }, Some(&input_file));
    // The file does not exist if no input ran.
    let _ = fs::remove_file(&input_file);
    println!(
        "{:12} {:8} inputs, the slowest {} ms, {} finds",
        target.name,
        result.inputs,
        result.slowest.as_millis(),
        result.finds.len()
    );
    for (index, find) in result.finds.values().enumerate() {
        let file = folder.join(format!("{}-{seed}-{index}", target.name));
        let error = fs::write(&file, &find.input).map_or_else(|error| error.to_string(), |()| String::new());
        println!("  {} {error}\n    {}", file.display(), find.message.replace('\n', "\n    "));
    }
    result.finds.len()
}

/// Ends the process if an input takes too long.
fn watch_for_hangs(folder: PathBuf) {
    let (mut last, mut unchanged_seconds) = (calls(), 0);
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = calls();
        unchanged_seconds = if now == last { unchanged_seconds + 1 } else { 0 };
        last = now;
        if unchanged_seconds > MAX_SECONDS_PER_INPUT {
            println!(
                "a target takes longer than {MAX_SECONDS_PER_INPUT} s: its input is {}/*-running",
                folder.display()
            );
            std::process::exit(1);
        }
    }
}
