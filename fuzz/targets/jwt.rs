//! Tokens: nothing is let in but what the key signed, whatever stands in its parts.
#![no_main]

use std::sync::LazyLock;

use antiphon::auth::{
    Refusal, Verifier,
    jwt::{JwtVerifier, KeySet},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use libfuzzer_sys::fuzz_target;
use tokio::runtime::{Builder, Runtime};

/// The key of RFC 8037, appendix A. Nobody here has the other half.
const KEYS: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"ed","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().build().expect("a runtime"));

static VERIFIER: LazyLock<JwtVerifier> = LazyLock::new(|| {
    let keys = KeySet::from_json(KEYS).expect("a key");
    JwtVerifier::new("https://a.example", "https://mcp.example/mcp").keys(keys)
});

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    a_token(text);
    // Past the spelling: a header, claims and a signature, a line each.
    let mut lines = text.splitn(3, '\n');
    let parts = [(); 3].map(|()| URL_SAFE_NO_PAD.encode(lines.next().unwrap_or_default()));
    a_token(&parts.join("."));
    if let Ok(keys) = KeySet::from_json(text) {
        assert_ne!(format!("{keys:?}"), "[]");
    }
});

fn a_token(token: &str) {
    match RUNTIME.block_on(VERIFIER.verify(token)) {
        Err(Refusal::Invalid(why)) => {
            // Fixed words, of which a token is no part.
            assert!(why.len() < 100 && why.is_ascii());
        }
        other => panic!("{other:?}"),
    }
}
