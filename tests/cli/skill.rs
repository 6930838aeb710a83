//! `skill install`: the folders of the agents, and files that differ.

use super::support::Folder;
use std::fs;

const SKILL: &str = include_str!("../../skills/agentnative/SKILL.md");

#[test]
fn the_skill_is_installed_where_agents_look_for_it_and_replaces_nothing_without_force() {
    let folder = Folder::new();
    let file = |agent: &str| folder.path().join(agent).join("skills/agentnative/SKILL.md");
    let install = |words: &[&str]| folder.run(&[&["skill", "install", "--project"], words].concat());

    let planned = install(&["--dry-run", "--json"]).data();
    assert_eq!(planned["dry_run"], true);
    assert_eq!(planned["files"][0]["change"], "created");
    assert!(!file(".agents").exists() && !file(".claude").exists());

    assert_eq!(
        install(&[]).out,
        "wrote ./.agents/skills/agentnative/SKILL.md\nwrote ./.claude/skills/agentnative/SKILL.md\n"
    );
    for agent in [".agents", ".claude"] {
        assert_eq!(fs::read_to_string(file(agent)).unwrap(), SKILL);
    }
    assert_eq!(
        install(&["--for", "gemini,opencode"]).out,
        "./.agents/skills/agentnative/SKILL.md is up to date\n"
    );

    fs::write(file(".claude"), "other").unwrap();
    let refused = install(&["--for", "claude,droid", "--json"]);
    assert_eq!((refused.code, refused.error()["kind"].as_str()), (Some(78), Some("config")));
    assert_eq!(fs::read_to_string(file(".claude")).unwrap(), "other");
    assert!(!file(".factory").exists(), "all files are examined before the first is written");
    let replaced = install(&["--for", "claude", "--force", "--json"]).data();
    assert_eq!(replaced["files"][0]["change"], "replaced");
    assert_eq!(fs::read_to_string(file(".claude")).unwrap(), SKILL);
}
