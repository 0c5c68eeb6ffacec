//! Names that look like secrets, which no form may ask for (ELIC-S-12).

/// Words, and runs of words, that make a name look like a secret. Lower case; a blank stands
/// between two words, which a name may also write as one.
const SECRETS: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "passwort",
    "pwd",
    "pass word",
    "pass phrase",
    "passphrase",
    "pass code",
    "passcode",
    "pass key",
    "passkey",
    "pin",
    "pin code",
    "secret",
    "secrets",
    "token",
    "tokens",
    "jwt",
    "api key",
    "api keys",
    "access key",
    "account key",
    "private key",
    "secret key",
    "signing key",
    "encryption key",
    "ssh key",
    "client secret",
    "access token",
    "refresh token",
    "auth token",
    "auth code",
    "seed phrase",
    "recovery phrase",
    "recovery code",
    "backup code",
    "credential",
    "credentials",
    "cvv",
    "cvc",
    "cvv2",
    "cvc2",
    "card number",
    "card no",
    "credit card",
    "debit card",
    "card pan",
    "otp",
    "totp",
    "one time code",
    "verification code",
    "mfa code",
    "2fa code",
    "ssn",
    "social security number",
];

/// Whether a field of this name would ask for a secret. Words are told apart in `snake_case`,
/// `kebab-case` and `camelCase`; `passenger`, `tokenizer_count` and `secretary` are no secrets.
pub const fn looks_like_secret(name: &str) -> bool {
    let name = name.as_bytes();
    let mut at = 0;
    while at < name.len() {
        if starts_word(name, at) {
            let mut secret = 0;
            while secret < SECRETS.len() {
                if matches(name, at, SECRETS[secret].as_bytes()) {
                    return true;
                }
                secret += 1;
            }
        }
        at += 1;
    }
    false
}

/// Whether the words of `secret` stand at `at`, and end where a word ends.
const fn matches(name: &[u8], mut at: usize, secret: &[u8]) -> bool {
    let mut next = 0;
    while next < secret.len() {
        if secret[next] == b' ' {
            // `api_key`, `apiKey` and `apikey` alike.
            while at < name.len() && !name[at].is_ascii_alphanumeric() {
                at += 1;
            }
        } else {
            if at >= name.len() || name[at].to_ascii_lowercase() != secret[next] {
                return false;
            }
            at += 1;
        }
        next += 1;
    }
    at >= name.len() || starts_word(name, at) || !is_letter(name[at])
}

/// Whether a word starts at `at`.
const fn starts_word(name: &[u8], at: usize) -> bool {
    let this = name[at];
    if !this.is_ascii_alphanumeric() {
        return false;
    }
    if at == 0 {
        return true;
    }
    let before = name[at - 1];
    if !is_letter(before) {
        // After a mark; or a letter after a digit, as in `oauth2Token`.
        return !before.is_ascii_digit() || !this.is_ascii_digit();
    }
    if !this.is_ascii_uppercase() {
        return false;
    }
    // The P of `myPin`; or the K of `APIKey`.
    before.is_ascii_lowercase() || (at + 1 < name.len() && name[at + 1].is_ascii_lowercase())
}

/// Letters of other scripts count as letters, so that no word ends in the midst of `tökén`.
const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::looks_like_secret;

    #[test]
    fn secrets_are_found_in_every_spelling() {
        for name in [
            "password",
            "Password",
            "PASSWORD",
            "user_password",
            "user-password",
            "userPassword",
            "password1",
            "new_password_2",
            "passwd",
            "pwd",
            "dbPwd",
            "passphrase",
            "pass_phrase",
            "pin",
            "PIN",
            "card_pin",
            "myPin",
            "pinCode",
            "secret",
            "client_secret",
            "clientSecret",
            "token",
            "accessToken",
            "ACCESS_TOKEN",
            "github-token",
            "oauth2Token",
            "oauth2token",
            "api_key",
            "apiKey",
            "apikey",
            "APIKey",
            "API_KEY",
            "openai.api.key",
            "x-api-key",
            "access_key",
            "AWSAccessKey",
            "private_key",
            "privateKeyPem",
            "credential",
            "credentials",
            "cvv",
            "CVC",
            "card_number",
            "cardNumber",
            "credit_card",
            "otp",
            "totp",
            "otp_code",
            "ssn",
            "SSN",
            "social_security_number",
            "your password",
            "geheim.passwort",
        ] {
            assert!(looks_like_secret(name), "{name}");
        }
    }

    #[test]
    fn other_words_are_left_alone() {
        for name in [
            "passenger",
            "passport_country",
            "tokenizer_count",
            "tokenizer",
            "secretary",
            "spin",
            "pint",
            "pine",
            "pinned",
            "opinion",
            "shopping",
            "key",
            "keyboard",
            "api",
            "access",
            "private",
            "card",
            "cardinality",
            "number",
            "discard_numbers",
            "name",
            "optional",
            "laptop",
            "compass_word",
            "mission",
            "pwdr",
            "cvs",
            "keypress",
            "apis_keyed",
            "credentialed",
            "tokén",
            "",
            "_",
            "1",
            "étoken_ring_countß",
            "author",
            "accessibility",
        ] {
            assert!(!looks_like_secret(name), "{name}");
        }
    }

    #[test]
    fn it_can_be_asked_while_compiling() {
        const { assert!(looks_like_secret("apiKey") && !looks_like_secret("passenger")) };
    }
}
