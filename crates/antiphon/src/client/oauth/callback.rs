//! [`Expected`]: what a user has to come back with.

use subtle::ConstantTimeEq;

use super::{Secret, discovery::Issuer, failed::Failed};
use crate::excerpt::one_line;

/// What was noted before the user was sent away (AUTH-C-35).
#[derive(Debug, Clone)]
pub(super) struct Expected {
    pub(super) state: Secret,
    pub(super) issuer: String,
    /// The issuer says that it names itself in every answer.
    pub(super) names_itself: bool,
}

impl Expected {
    pub(super) fn new(state: String, issuer: &Issuer) -> Self {
        Self {
            state: state.into(),
            issuer: issuer.issuer.clone(),
            names_itself: issuer.authorization_response_iss_parameter_supported,
        }
    }

    /// Whether a URL is an answer to what was asked, and not to something else.
    pub(super) fn is_answered_by(&self, url: &str) -> bool {
        let state = Answer::read(url).and_then(|answer| answer.state);
        state.is_some_and(|state| self.is_state(&state))
    }

    fn is_state(&self, state: &str) -> bool {
        self.state
            .reveal()
            .as_bytes()
            .ct_eq(state.as_bytes())
            .into()
    }

    /// The code that a user came back with.
    ///
    /// # Errors
    /// If the answer is somebody else's, nothing of it is told (AUTH-C-40).
    pub(super) fn code(&self, url: &str) -> Result<Secret, Failed> {
        let unusable =
            || Failed::new("what the user came back with is no answer, or says things twice");
        let answer = Answer::read(url).ok_or_else(unusable)?;
        // AUTH-C-56
        if !answer.state.is_some_and(|state| self.is_state(&state)) {
            return Err(Failed::new(
                "what the user came back with is the answer to something else: its state is \
                 another",
            ));
        }
        // AUTH-C-36 to AUTH-C-39
        match &answer.iss {
            Some(iss) if *iss != self.issuer => {
                return Err(Failed::new(
                    "what the user came back with is from another authorization server: its \
                     issuer is another",
                ));
            }
            None if self.names_itself => {
                return Err(Failed::new(
                    "what the user came back with does not say who it is from, although the \
                     authorization server says that it always does",
                ));
            }
            _ => {}
        }
        if let Some(error) = answer.error {
            let mut failed = Failed::new(match (error.as_str(), answer.description) {
                ("access_denied", _) => "the user, or the authorization server, said no".to_owned(),
                (error, None) => one_line(error.as_bytes()),
                (error, Some(why)) => {
                    format!(
                        "{} ({})",
                        one_line(why.as_bytes()),
                        one_line(error.as_bytes())
                    )
                }
            });
            failed.code = Some(error);
            return Err(failed);
        }
        let none = || Failed::new("the user came back without a code");
        let code = answer.code.filter(|code| !code.is_empty());
        Ok(code.ok_or_else(none)?.into())
    }
}

/// What stands in a URL that a user came back with.
#[derive(Default)]
struct Answer {
    state: Option<String>,
    code: Option<String>,
    iss: Option<String>,
    error: Option<String>,
    description: Option<String>,
}

impl Answer {
    /// Reads the query of a URL, or a mere query; none if something stands in it twice.
    fn read(url: &str) -> Option<Self> {
        let query = url.split_once('?').map_or(url, |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        let mut answer = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let member = match &*name {
                "state" => &mut answer.state,
                "code" => &mut answer.code,
                "iss" => &mut answer.iss,
                "error" => &mut answer.error,
                "error_description" => &mut answer.description,
                _ => continue,
            };
            if member.replace(value.into_owned()).is_some() {
                return None;
            }
        }
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(names_itself: bool) -> Expected {
        Expected {
            state: "s1".into(),
            issuer: "https://as.example/t".to_owned(),
            names_itself,
        }
    }

    /// AUTH-C-36 to AUTH-C-40, AUTH-C-56; nothing is normalised.
    #[test]
    fn only_the_answer_that_was_asked_for_counts() {
        let iss = "&iss=https%3A%2F%2Fas.example%2Ft";
        for (names_itself, query, code) in [
            (true, format!("code=c&state=s1{iss}"), Some("c")),
            (false, format!("code=c&state=s1{iss}"), Some("c")),
            (false, "code=c&state=s1".to_owned(), Some("c")),
            (false, "state=s1&code=a%2Bb+c".to_owned(), Some("a+b c")),
            (true, "code=c&state=s1".to_owned(), None),
            (true, "code=c&state=s1&iss=".to_owned(), None),
            (true, format!("code=c&state=s1{iss}%2F"), None),
            (false, format!("code=c&state=s1{iss}%2F"), None),
            (
                true,
                "code=c&state=s1&iss=HTTPS://as.example/t".to_owned(),
                None,
            ),
            (
                true,
                "code=c&state=s1&iss=https://as.example:443/t".to_owned(),
                None,
            ),
            (
                true,
                "code=c&state=s1&iss=https://as.example/%2574".to_owned(),
                None,
            ),
            (true, format!("code=c&state=s2{iss}"), None),
            (true, format!("code=c{iss}"), None),
            (true, format!("code=c&state=s1&state=s1{iss}"), None),
            (true, format!("code=c&code=d&state=s1{iss}"), None),
            (true, format!("state=s1{iss}"), None),
            (true, format!("code=&state=s1{iss}"), None),
            (true, String::new(), None),
        ] {
            for url in [
                format!("http://127.0.0.1:1/callback?{query}#f"),
                query.clone(),
            ] {
                let given = expected(names_itself).code(&url).ok();
                assert_eq!(given.as_ref().map(Secret::reveal), code, "{url}");
            }
        }
    }

    /// AUTH-C-40
    #[test]
    fn nothing_is_told_of_what_somebody_else_says() {
        for query in [
            "error=canary&error_description=canary&state=s1&iss=https://evil.example",
            "error=canary&error_description=canary&state=s2&iss=https://as.example/t",
            "error=canary&error_description=canary&state=s1",
        ] {
            let failed = expected(true).code(query).expect_err(query);
            assert!(!failed.to_string().contains("canary"), "{failed}");
        }
        let query = "error=server_error&error_description=a%1Bb&state=s1";
        let failed = expected(false).code(query).expect_err(query).to_string();
        assert_eq!(failed, "a\\u{1b}b (server_error)");
    }

    #[test]
    fn answers_to_something_else_are_told_apart() {
        let expected = expected(true);
        assert!(expected.is_answered_by("/callback?state=s1"));
        assert!(expected.is_answered_by("/callback?error=no&state=s1"));
        for other in [
            "/callback",
            "/callback?state=s2",
            "/favicon.ico",
            "/?state=s1&state=s1",
        ] {
            assert!(!expected.is_answered_by(other), "{other}");
        }
    }
}
