//! Which scopes are asked for.

/// What is known of scopes when tokens are asked for.
pub(super) struct Known<'a> {
    /// What the server says that this request needs.
    pub(super) challenged: &'a [String],
    /// What was asked for before.
    pub(super) before: &'a [String],
    /// What the caller wants.
    pub(super) configured: &'a [String],
    /// What the server offers.
    pub(super) offered: &'a [String],
    /// Whether the authorization server offers tokens that last.
    pub(super) offline: bool,
}

const OFFLINE: &str = "offline_access";

impl Known<'_> {
    /// The scopes to ask for (AUTH-C-28 to AUTH-C-32, AUTH-C-50).
    pub(super) fn wanted(&self) -> Vec<String> {
        let told = [self.before, self.challenged, self.configured];
        let is_told = told.iter().any(|scopes| !scopes.is_empty());
        let all = match is_told {
            true => &told[..],
            false => &[self.offered],
        };
        let mut wanted = Vec::new();
        for scope in all
            .iter()
            .copied()
            .flatten()
            .filter(|scope| is_scope(scope))
        {
            if !wanted.contains(scope) {
                wanted.push(scope.clone());
            }
        }
        // Without any the authorization server decides what there is to be had.
        if self.offline && !wanted.is_empty() && !wanted.iter().any(|scope| scope == OFFLINE) {
            wanted.push(OFFLINE.to_owned());
        }
        wanted
    }
}

/// Whether it is the name of a scope (RFC 6749, 3.3). What is none is shown to nobody.
pub(super) fn is_scope(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_graphic() && !b"\"\\".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(
        challenged: &str,
        before: &str,
        configured: &str,
        offered: &str,
        offline: bool,
    ) -> String {
        let lists = [challenged, before, configured, offered].map(|text| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        });
        let [challenged, before, configured, offered] = &lists;
        let known = Known {
            challenged,
            before,
            configured,
            offered,
            offline,
        };
        known.wanted().join(" ")
    }

    #[test]
    fn the_challenge_comes_first() {
        // AUTH-C-29, AUTH-C-30
        assert_eq!(wanted("a", "", "", "b c", false), "a");
        assert_eq!(wanted("", "", "", "b c", false), "b c");
        assert_eq!(wanted("", "", "", "", false), "");
        assert_eq!(wanted("a", "", "d", "b c", false), "a d");
        assert_eq!(wanted("", "", "d", "b c", false), "d");
        // AUTH-C-32
        assert_eq!(wanted("w", "r", "", "x", false), "r w");
        assert_eq!(wanted("r w", "r", "", "x", false), "r w");
        assert_eq!(wanted("", "r", "", "x", false), "r");
        // AUTH-C-50
        assert_eq!(wanted("a", "", "", "", true), "a offline_access");
        assert_eq!(
            wanted("w", "r offline_access", "", "", true),
            "r offline_access w"
        );
        assert_eq!(wanted("", "", "", "", true), "");
    }
}
