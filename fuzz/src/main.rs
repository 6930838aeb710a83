//! Fuzzes targets without nightly Rust; see the README of this folder.

use fuzz::drive::{Limits, calls, drive, keep_panics};
use fuzz::{TARGETS, Target, corpus, target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str =
    "usage: fuzz [--seconds N] [--seed N] [TARGET…]   fuzz targets, N seconds in all [default: 60]
       fuzz --run TARGET FILE…                   run a target on files
       fuzz --seeds FOLDER TARGET                write the seeds of a target to a folder";

/// A target that takes longer for one input hangs.
const LONGEST: u64 = 60;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["--run", name, files @ ..] if !files.is_empty() => named(name).and_then(|target| run(target, files)),
        ["--seeds", folder, name] => named(name).and_then(|target| write_seeds(target, Path::new(folder))),
        others => fuzz_all(others),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn named(name: &str) -> Result<&'static Target, String> {
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
    for (nth, seed) in corpus::seeds(target).iter().enumerate() {
        fs::write(folder.join(format!("seed-{nth}")), seed).map_err(failed)?;
    }
    Ok(true)
}

/// Fuzzes the targets that the arguments name; whether nothing was found.
fn fuzz_all(arguments: &[&str]) -> Result<bool, String> {
    let (mut seconds, mut seed, mut targets) = (60, 1, Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut number = || rest.next().and_then(|text| text.parse().ok()).ok_or_else(|| USAGE.to_owned());
        match *argument {
            "--seconds" => seconds = number()?,
            "--seed" => seed = number()?,
            option if option.starts_with('-') => return Err(USAGE.to_owned()),
            name => targets.push(named(name)?),
        }
    }
    if targets.is_empty() {
        targets.extend(TARGETS);
    }
    let folder = corpus::path("target/fuzzing");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    keep_panics();
    std::thread::spawn({
        let folder = folder.clone();
        move || watch(folder)
    });
    let time = Duration::from_secs(seconds) / u32::try_from(targets.len()).unwrap_or(u32::MAX);
    let finds: usize = targets.iter().map(|target| fuzz_one(target, seed, time, &folder)).sum();
    Ok(finds == 0)
}

/// Fuzzes one target; gives the number of finds.
fn fuzz_one(target: &Target, seed: u64, time: Duration, folder: &Path) -> usize {
    let running = folder.join(format!("{}-running", target.name));
    let outcome = drive(target, seed, Limits { time, inputs: u64::MAX }, Some(&running));
    // It was not there if nothing ran.
    let _ = fs::remove_file(&running);
    println!(
        "{:12} {:8} inputs, the slowest {} ms, {} finds",
        target.name,
        outcome.inputs,
        outcome.slowest.as_millis(),
        outcome.finds.len()
    );
    for (nth, find) in outcome.finds.values().enumerate() {
        let file = folder.join(format!("{}-{seed}-{nth}", target.name));
        let kept = fs::write(&file, &find.input).map_or_else(|error| error.to_string(), |()| String::new());
        println!("  {} {kept}\n    {}", file.display(), find.message.replace('\n', "\n    "));
    }
    outcome.finds.len()
}

/// Ends the process if one input takes too long.
fn watch(folder: PathBuf) {
    let (mut last, mut same) = (calls(), 0);
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = calls();
        same = if now == last { same + 1 } else { 0 };
        last = now;
        if same > LONGEST {
            println!("a target takes longer than {LONGEST} s: its input is {}/*-running", folder.display());
            std::process::exit(1);
        }
    }
}
