//! The guide shows the configuration that is tried.

#[test]
fn the_guide_quotes_the_configuration() {
    let guide = include_str!("../../docs/deployment.md");
    let site = include_str!("../proxy.conf");
    assert!(
        guide.contains(&format!("```nginx\n{site}```\n")),
        "docs/deployment.md has another configuration than interop/proxy.conf"
    );
}
