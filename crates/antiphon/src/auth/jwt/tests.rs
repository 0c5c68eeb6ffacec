//! Each thing that can be wrong with a token, and the line in the log about it.

use std::sync::LazyLock;

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ring::{
    rand::SystemRandom,
    signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair, RsaPublicKeyComponents},
};
use serde_json::{Value, json};

use super::{Algorithm, JwtVerifier, KeySet, claims::Seconds, token::LONGEST};
use crate::auth::{Principal, Refusal};

const NOW: Seconds = 1_800_000_000;
const ISSUER: &str = "https://auth.example";
const HERE: &str = "https://mcp.example/mcp";

/// Made for these tests, and known to everybody.
const RSA: &str = "MIIEowIBAAKCAQEA6uvbpQp+HBTvK+OrKa2ZLi7nCneLFXciuJS4Z4OMI7fH0g2vjBqQjUxdfzkayQIppsmg9qRg4uenPtvF\
KcZ+tVAQUlGnikBtJI4prrJf5GSdmHY6ZZMT0heZGBloLc2LHUZDnm1iI+eko32Tin32btgF8OevYWs/eWgEqpYlGmGrA2fc\
N5J3Jjhk/wlqD8SNiOOwTE0C715qFrNjCiOlW4Kv/hyynaERaSyzuTRgmyAPtxZvvj4Oq6zP1bzIzI0DKIia1maEMtKaxuPt\
gZmAoTFefuFoZIvuyGINNK7TFkNuYkeJA7gRQKCHwugmCgh9Z+Qwn2kn4vhO7RQeyRLBQwIDAQABAoIBAAhyb6TpEizHUexF\
lO98NwBSnmshbkZY0M5LRrAuKjlUj+JNLK1AfUcfYlNDRePJaJ7/LAMCWRt/keNwOpAse3zggp27IueVNnd0hyopbspDFemY\
ArSJS9Knl5EmxLi05dYpIyBMtZUt7J0WVFpL+jL1II2Pfx5lIVSnuVc6692daMp33yfQPp76VQiFCyMQlO8fSwXvTisHtiVf\
MDoK6g6dOd0h4DuGGOtN8g7nf22xtw2ZOm4rPKTVGJLVrpLJf3GhQlKtThhD6wOFIcKHLw3xgNBhHrFavVAVk6csm2THRvj0\
svQVZE3GHbZVmFHOyR08758Y0zLL3BDInDQUvDECgYEA9cpvd9lrQ3ZzdUJhOEbUBLrtQBRadOVe2zFTCoxzoPmc4SyXrwAr\
KfDSGBScJPIYpvz2st4pbSFulLujM1OBQOAea1Fn8GkilmRt3loaQNJCB7B/3011ZpDOHoHd3f1LH+aBR4qPSwtsFrM/CyEi\
Satjm9cEGm8eI1thY8reG7MCgYEA9K3YOPKdWa9W/vZHp5ar/EMaADC96OBZfUm4KrrxWcRYXdpLBHDUbGWFNUUm8bZ78sTZ\
LP+e/7g5aCOT6usNJWYorvTEQ8UfnCfINjECQULXyp/kYR1zV9bLowGoUf5V7Fwyd30kK2JMIC/yQSj7nJ8cYUkwK1BuQXGT\
xUrovDECgYA8Hn3RVM7Vu31WKxxYhYqKdaZeTBwsB4aCGrhzFhOaRjPHJ/8aAPKN2aep2DCxIL5C6hD1gz2iwdCodJTgkwZE\
dg06trizpyOcoYf2IRfWzxbzhopgdjPHGJgyAhXgnHnpnZn1g8C03GBd1Q4QjNQ0LMW6codAZ/l5MHrLy+0z3QKBgB/4Mv9F\
2/9i5JgNr9Ea47/jOJt7wuSRo7+2CSU0JeLXv8ALjK+42liLbztFnNAKSumuhL3XbHv3IzETLPmN2rrfPUOW4aoFMJsjq4pB\
Hw1N4YotGBcEVRTOEO9sgQStmaZ3aXSpWjd88XtnKF0RMMcHFxszB+Mw8CcG4wrtPbmRAoGBAJq3lybbFVSPHRVjpx2gRABF\
cdsyp9paGyFJB1rgUbQ29+cKqLuQ19yMyq0yINN3ELmYxE4YJzRoiGcioYjOiiuUGX5qO5CjcAYqmlnzlJxd3UZa2dp48NvM\
hcq+RzhYMD8TcYrA3a5wcJUvIlIiHaKcVF+FeP84DBTjXyhy5Bwo";

/// An issuer with a key of each kind.
struct Issuer {
    rsa: RsaKeyPair,
    p256: EcdsaKeyPair,
    p384: EcdsaKeyPair,
    ed: Ed25519KeyPair,
}

static KEYS: LazyLock<Issuer> = LazyLock::new(|| {
    let random = SystemRandom::new();
    let ecdsa = |how| {
        let key = EcdsaKeyPair::generate_pkcs8(how, &random).expect("a key");
        EcdsaKeyPair::from_pkcs8(how, key.as_ref(), &random).expect("a key")
    };
    let rsa = STANDARD.decode(RSA).expect("base64");
    let ed = Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
    Issuer {
        rsa: RsaKeyPair::from_der(&rsa).expect("a key"),
        p256: ecdsa(&signature::ECDSA_P256_SHA256_FIXED_SIGNING),
        p384: ecdsa(&signature::ECDSA_P384_SHA384_FIXED_SIGNING),
        ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).expect("a key"),
    }
});

fn text(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Issuer {
    fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        let rsa = |how: &'static dyn signature::RsaEncoding| {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            let signed = self.rsa.sign(how, &random, message, &mut signature);
            signed.expect("a signature");
            signature
        };
        let ecdsa = |key: &EcdsaKeyPair| {
            let signature = key.sign(&random, message).expect("a signature");
            signature.as_ref().to_vec()
        };
        match algorithm {
            "RS256" => rsa(&signature::RSA_PKCS1_SHA256),
            "RS384" => rsa(&signature::RSA_PKCS1_SHA384),
            "RS512" => rsa(&signature::RSA_PKCS1_SHA512),
            "PS256" => rsa(&signature::RSA_PSS_SHA256),
            "PS384" => rsa(&signature::RSA_PSS_SHA384),
            "PS512" => rsa(&signature::RSA_PSS_SHA512),
            "ES256" => ecdsa(&self.p256),
            "ES384" => ecdsa(&self.p384),
            "EdDSA" => self.ed.sign(message).as_ref().to_vec(),
            _ => Vec::new(),
        }
    }

    fn jwks(&self) -> Value {
        let public: RsaPublicKeyComponents<Vec<u8>> = self.rsa.public().into();
        let point = |key: &EcdsaKeyPair, curve: &str, kid: &str| {
            let bytes = key.public_key().as_ref();
            let (x, y) = bytes[1..].split_at(bytes.len() / 2);
            json!({"kty": "EC", "crv": curve, "kid": kid, "x": text(x), "y": text(y)})
        };
        json!({"keys": [
            {
                "kty": "RSA", "kid": "rsa", "use": "sig",
                "n": text(public.n),
                "e": text(public.e),
            },
            point(&self.p256, "P-256", "p256"),
            point(&self.p384, "P-384", "p384"),
            {
                "kty": "OKP", "crv": "Ed25519", "kid": "ed", "alg": "EdDSA",
                "x": text(self.ed.public_key().as_ref()),
            },
        ]})
    }
}

fn header() -> Value {
    json!({"alg": "EdDSA", "typ": "at+jwt", "kid": "ed"})
}

fn claims() -> Value {
    json!({
        "iss": ISSUER,
        "aud": HERE,
        "exp": NOW + 300,
        "nbf": NOW - 300,
        "iat": NOW - 300,
        "sub": "ada",
        "client_id": "desk",
        "scope": "files:read files:write",
        "tenant": "north",
    })
}

/// With other values; `null` takes one out.
fn with(mut object: Value, change: &Value) -> Value {
    for (name, value) in change.as_object().expect("an object") {
        match value {
            Value::Null => _ = object.as_object_mut().expect("an object").remove(name),
            value => object[name] = value.clone(),
        }
    }
    object
}

fn signed_text(header: &str, claims: &str) -> String {
    let named: Value = serde_json::from_str(header).unwrap_or_default();
    let message = format!("{}.{}", text(header), text(claims));
    let algorithm = named["alg"].as_str().unwrap_or_default();
    let signature = KEYS.sign(algorithm, message.as_bytes());
    format!("{message}.{}", text(signature))
}

fn signed(header: &Value, claims: &Value) -> String {
    signed_text(&header.to_string(), &claims.to_string())
}

fn verifier() -> JwtVerifier {
    let keys = KeySet::from_json(&KEYS.jwks().to_string()).expect("keys");
    JwtVerifier::new(ISSUER, HERE).keys(keys)
}

async fn verdict(verifier: &JwtVerifier, token: &str) -> Result<Principal, String> {
    match verifier.verify_at(token, NOW).await {
        Ok(principal) => Ok(principal),
        Err(Refusal::Invalid(why)) => {
            // AUTH-S-09; and nothing of a token is in the log.
            for part in token.split('.').filter(|part| part.len() > 8) {
                assert!(!why.contains(part), "{why}");
            }
            Err(why)
        }
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_good_token_says_who_calls() {
    let token = signed(&header(), &claims());
    let ada = verdict(&verifier(), &token).await.expect("let in");
    let expected = Principal::subject("ada").through("desk").issued_by(ISSUER);
    assert_eq!(ada, expected);
    assert!(ada.scopes.iter().eq(["files:read", "files:write"]));
    assert_eq!(ada.claim::<String>("tenant").as_deref(), Some("north"));
}

#[tokio::test]
async fn every_algorithm_with_its_key() {
    for (algorithm, kid) in [
        ("RS256", "rsa"),
        ("RS384", "rsa"),
        ("RS512", "rsa"),
        ("PS256", "rsa"),
        ("PS384", "rsa"),
        ("PS512", "rsa"),
        ("ES256", "p256"),
        ("ES384", "p384"),
        ("EdDSA", "ed"),
    ] {
        let named = json!({"alg": algorithm, "kid": kid});
        let token = signed(&named, &claims());
        verdict(&verifier(), &token).await.expect(algorithm);
        // Without a name there is only one that fits.
        let token = signed(&json!({"alg": algorithm}), &claims());
        verdict(&verifier(), &token).await.expect(algorithm);
        // Of another kind of key it is not.
        let other = if kid == "rsa" { "ed" } else { "rsa" };
        let token = signed(&json!({"alg": algorithm, "kid": other}), &claims());
        let why = verdict(&verifier(), &token).await.expect_err(algorithm);
        assert!(why.contains("(kid)"), "{why}");
        // And not if another algorithm is wanted.
        let unwanted = |it: &Algorithm| format!("{it:?}") != algorithm;
        let narrow = verifier().algorithms(Algorithm::ALL.into_iter().filter(unwanted));
        let token = signed(&named, &claims());
        let why = verdict(&narrow, &token).await.expect_err(algorithm);
        assert!(why.contains("algorithm"), "{why}");
    }
}

/// AUTH-S-07, AUTH-S-08, AUTH-S-10; RFC 8725.
#[tokio::test]
async fn what_is_wrong_with_a_token() {
    for (head, body, why) in [
        (json!({"alg": "none"}), json!({}), "header"),
        (json!({"alg": "None"}), json!({}), "header"),
        (json!({"alg": "HS256"}), json!({}), "algorithm"),
        (json!({"alg": "ES512"}), json!({}), "header"),
        (json!({"alg": null}), json!({}), "header"),
        (json!({"alg": 7}), json!({}), "header"),
        (json!({"kid": "other"}), json!({}), "(kid)"),
        (json!({"kid": ""}), json!({}), "(kid)"),
        (json!({"kid": 7}), json!({}), "header"),
        (json!({"crit": ["exp"]}), json!({}), "crit"),
        (json!({"crit": []}), json!({}), "crit"),
        (json!({"crit": ["b64"], "b64": false}), json!({}), "crit"),
        (json!({"enc": "A128GCM"}), json!({}), "encrypted"),
        (json!({"typ": "id_token+jwt"}), json!({}), "(typ)"),
        (json!({"typ": "logout+jwt"}), json!({}), "(typ)"),
        (json!({"typ": "dpop+jwt"}), json!({}), "(typ)"),
        (json!({"typ": ""}), json!({}), "(typ)"),
        (json!({}), json!({"iss": null}), "(iss)"),
        (json!({}), json!({"iss": "https://auth.example/"}), "(iss)"),
        (json!({}), json!({"iss": "HTTPS://auth.example"}), "(iss)"),
        (json!({}), json!({"iss": [ISSUER]}), "(iss)"),
        (json!({}), json!({"aud": null}), "for whom"),
        (
            json!({}),
            json!({"aud": "https://mcp.example/mcp/"}),
            "somebody else",
        ),
        (
            json!({}),
            json!({"aud": "https://mcp.example"}),
            "somebody else",
        ),
        (
            json!({}),
            json!({"aud": ["https://other.example"]}),
            "somebody else",
        ),
        (json!({}), json!({"aud": []}), "somebody else"),
        (json!({}), json!({"aud": {HERE: true}}), "somebody else"),
        (json!({}), json!({"exp": null}), "when it expires"),
        (json!({}), json!({"exp": NOW - 30}), "expired"),
        (json!({}), json!({"exp": 0}), "expired"),
        (json!({}), json!({"exp": -1}), "no time"),
        (json!({}), json!({"exp": "1900000000"}), "no time"),
        (json!({}), json!({"nbf": NOW + 31}), "not valid yet"),
        (json!({}), json!({"nbf": true}), "no time"),
        (json!({}), json!({"iat": NOW + 31}), "future"),
        (json!({}), json!({"cnf": {"jkt": "x"}}), "bound to a key"),
        (json!({}), json!({"sub": 7}), "not a text"),
        (json!({}), json!({"sub": ""}), "not a text"),
        (
            json!({}),
            json!({"sub": null, "client_id": null}),
            "neither",
        ),
        (json!({}), json!({"scope": 7}), "scopes"),
        (json!({}), json!({"scp": ["a", 7]}), "scopes"),
    ] {
        let token = signed(&with(header(), &head), &with(claims(), &body));
        let what = format!("{head} {body}");
        let told = verdict(&verifier(), &token).await.expect_err(&what);
        assert!(told.contains(why), "{what}: {told}");
    }
}

#[tokio::test]
async fn what_is_right_with_a_token() {
    for (head, body) in [
        (json!({"typ": null}), json!({})),
        (json!({"typ": "JWT"}), json!({})),
        (json!({"typ": "application/AT+JWT"}), json!({})),
        (json!({"kid": null}), json!({})),
        // Whoever sends a key along has shown nothing by it.
        (
            json!({"jwk": {"kty": "oct", "k": "c2VjcmV0"}, "jku": "https://x"}),
            json!({}),
        ),
        (json!({}), json!({"aud": ["https://other.example", HERE]})),
        (json!({}), json!({"exp": NOW - 29})),
        (json!({}), json!({"exp": NOW as f64 + 0.5})),
        (json!({}), json!({"exp": 1e300})),
        (json!({}), json!({"nbf": NOW + 30, "iat": NOW + 30})),
        (json!({}), json!({"nbf": null, "iat": null})),
        (json!({}), json!({"sub": null})),
        (json!({}), json!({"client_id": null, "azp": "desk"})),
        (
            json!({}),
            json!({"scope": null, "scp": ["files:read", "files:write"]}),
        ),
        (
            json!({}),
            json!({"scope": null, "scp": "files:read files:write"}),
        ),
    ] {
        let token = signed(&with(header(), &head), &with(claims(), &body));
        let what = format!("{head} {body}");
        let who = verdict(&verifier(), &token).await.expect(&what);
        assert_eq!(who.client.as_deref(), Some("desk"));
        assert!(
            who.scopes.iter().eq(["files:read", "files:write"]),
            "{what}"
        );
    }
    // Named by its owner, too.
    let token = signed(&header(), &with(claims(), &json!({"aud": "files"})));
    let two = verifier().accept_audience("files");
    verdict(&two, &token).await.expect("let in");
    // And with clocks that agree to the second.
    let token = signed(&header(), &with(claims(), &json!({"exp": NOW - 1})));
    let exact = verifier().leeway(std::time::Duration::ZERO);
    verdict(&exact, &token).await.expect_err("expired");
}

#[tokio::test]
async fn what_is_no_token_at_all() {
    let good = signed(&header(), &claims());
    let mut parts = good.split('.');
    let (head, body, signature) = (
        parts.next().expect("a header"),
        parts.next().expect("claims"),
        parts.next().expect("a signature"),
    );
    let long = "x".repeat(LONGEST + 1);
    let twice = signed_text(
        &header().to_string(),
        r#"{"iss":"a","iss":"https://auth.example"}"#,
    );
    let hidden = signed_text(
        &header().to_string(),
        &claims().to_string().replacen('{', r#"{"sub":"bob","#, 1),
    );
    let doubled = signed_text(
        r#"{"alg":"none","alg":"EdDSA","kid":"ed"}"#,
        &claims().to_string(),
    );
    let list = signed_text(&header().to_string(), "[]");
    for bad in [
        "",
        ".",
        "..",
        "...",
        "opaque",
        &format!("{head}.{body}"),
        &format!("{head}.{body}."),
        &format!("{head}.{body}.{signature}."),
        &format!("{head}.{body}.{signature}.x.y"),
        &format!("{head}.{body}.{signature}="),
        &format!("{head} .{body}.{signature}"),
        &format!("{head}.{body}.{}", &signature[1..]),
        &format!("{head}.{body}.{}", text([0; 64])),
        &format!("{}.{body}.{signature}", text("null")),
        &format!("{}.{body}.{signature}", text([0xff])),
        &long,
        &twice,
        &hidden,
        &doubled,
        &list,
    ] {
        verdict(&verifier(), bad).await.expect_err(bad);
    }
    // One part of one token with the rest of another.
    let other = signed(&header(), &with(claims(), &json!({"sub": "bob"})));
    let forged = format!(
        "{head}.{}.{signature}",
        other.split('.').nth(1).expect("claims")
    );
    let why = verdict(&verifier(), &forged).await.expect_err("forged");
    assert!(why.contains("signature"), "{why}");
}

/// The oldest trick: a public key as the secret of an HMAC.
#[tokio::test]
async fn a_public_key_is_no_secret() {
    let public = KEYS.jwks()["keys"][0]["n"].to_string();
    for algorithm in ["HS256", "HS384", "HS512"] {
        let message = format!(
            "{}.{}",
            text(json!({"alg": algorithm, "kid": "rsa"}).to_string()),
            text(claims().to_string())
        );
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, public.as_bytes());
        let signature = ring::hmac::sign(&key, message.as_bytes());
        let token = format!("{message}.{}", text(signature.as_ref()));
        let why = verdict(&verifier(), &token).await.expect_err("forged");
        assert!(why.contains("algorithm"), "{why}");
    }
}

#[test]
#[should_panic(expected = "tokens travel over https")]
fn keys_are_not_read_where_anybody_could_change_them() {
    _ = verifier().jwks_url("http://keys.example/keys");
}

#[test]
fn nothing_of_a_key_is_shown() {
    let shown = format!("{:?}", verifier());
    assert!(shown.contains(ISSUER), "{shown}");
    let x = KEYS.jwks()["keys"][3]["x"]
        .as_str()
        .expect("a text")
        .to_owned();
    assert!(!shown.contains(&x), "{shown}");
}

proptest::proptest! {
    /// Whatever comes, it is refused or of ours, and nothing panics.
    #[test]
    fn no_text_is_let_in(token in "[A-Za-z0-9_.-]{0,200}", header in ".{0,80}", body in ".{0,80}") {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        for token in [token, format!("{}.{}.AAAA", text(header), text(body))] {
            let told = runtime.block_on(verifier().verify_at(&token, NOW));
            proptest::prop_assert!(told.is_err());
        }
    }

    /// No bit of a token is without meaning.
    #[test]
    fn every_bit_counts(at in 0_usize..1000, bit in 0_u8..8) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let mut token = signed(&header(), &claims()).into_bytes();
        let at = at % token.len();
        token[at] ^= 1 << bit;
        if let Ok(token) = String::from_utf8(token) {
            let told = runtime.block_on(verifier().verify_at(&token, NOW));
            proptest::prop_assert!(told.is_err());
        }
    }
}
