//! The Rust code in `docs/library.md` compiles; `mycli` in the page is the program of this package here.

use agentnative_contract::error::Result;

fn example() -> Result<()> {
    // begin
    use agentnative::check::{Selection, Session, SessionOptions, TargetSelector};
    use agentnative::config::ProbeConfig;

    let target = TargetSelector::command([env!("CARGO_BIN_EXE_agentnative")]);
    let probes = vec![ProbeConfig::from_flag("list")?];
    let options = SessionOptions { probes, ..SessionOptions::default() };
    let report = Session::new(target, options).check(&Selection::default().resolve()?)?;
    assert!(report.conformant);
    // end
    Ok(())
}

#[test]
fn the_code_in_the_page_is_compiled() {
    // It is not run: `examples/check_a_command.rs` is.
    let _: fn() -> Result<()> = example;
    let (_, code) = include_str!("library.rs").split_once("    // begin\n").unwrap();
    let code = code.split_once("    // end\n").unwrap().0;
    let code = code.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)));
    let code = code.collect::<String>().replace("EXE_agentnative", "EXE_mycli");
    let page = include_str!("../docs/library.md");
    let shown = page.split_once("```rust\n").unwrap().1.split_once("```").unwrap().0;
    assert_eq!(shown, code);
}
