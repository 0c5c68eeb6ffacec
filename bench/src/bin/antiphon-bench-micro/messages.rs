//! The messages that are read, as the contract has them.

/// What every request says of its client.
pub(crate) const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"antiphon-bench","version":"0.1.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#,
);

/// What is echoed.
pub(crate) const TEXT: &str = "Low water at the north quay, sounding 10000001, wind slack.";
/// What is confirmed.
pub(crate) const ACTION: &str = "deploy 10000001";

/// A call of this tool.
pub(crate) fn call(tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":10000001,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{META}}}}}"#
    )
}

/// The arguments of an `echo`.
pub(crate) fn echo_arguments() -> String {
    format!(r#"{{"text":"{TEXT}"}}"#)
}

/// The arguments of a `confirm`.
pub(crate) fn confirm_arguments() -> String {
    format!(r#"{{"action":"{ACTION}"}}"#)
}

/// The second leg of a `confirm`, with this state.
pub(crate) fn retry(state: &str) -> String {
    let arguments = confirm_arguments();
    let answers = r#"{"confirm":{"action":"accept","content":{"ok":true}}}"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":210000001,"method":"tools/call","params":{{"name":"confirm","arguments":{arguments},"inputResponses":{answers},"_meta":{META},"requestState":"{state}"}}}}"#
    )
}
