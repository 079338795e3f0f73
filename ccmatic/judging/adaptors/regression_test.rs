//! {{subject}}, {{version}}, breaks the rule "{{rule}}" with {{value}}. Expected: {{threshold}}.
//!
//! Copy this file to tests/judge_{{name}}.rs in the crate {{crate}}, and run `cargo test --test judge_{{name}}`. The
//! test builds the crate and plays the scenario, so it passes as soon as the crate has a fix. It needs the program
//! ccmatic. The Cargo.toml of a published crate may also need `autotests = true`.

use std::process::Command;

const SCENARIO: &str = r#"{{scenario}}"#;

#[test]
fn keeps_the_rule() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("{{name}}.json");
    std::fs::write(&file, SCENARIO).unwrap();
    let done = Command::new("ccmatic")
        .args(["judge", "run", "{{subject}}", "{{option}}", "{{rule}}", "--source", env!("CARGO_MANIFEST_DIR"), "--scenario"])
        .arg(&file)
        .output()
        .expect("the program ccmatic");
    let text = [done.stdout, done.stderr].concat();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&text));
}
