//! `${VAR}` in what a file says, as hosts and shells have it.

use std::path::Path;

use super::environment::Environment;

/// What expressions stand for.
pub(super) struct Values<'a> {
    pub(super) environment: &'a Environment,
    /// The directory of the project that the file belongs to.
    pub(super) root: &'a Path,
}

/// Why a text cannot be expanded. Neither tells what a variable holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unexpanded {
    /// The variable is not set, and there is no default.
    Unset(String),
    /// An expression that only a host can make sense of, or one without an end.
    Unknown(String),
}

impl Values<'_> {
    /// The text with every `${..}` replaced.
    pub(super) fn expand(&self, text: &str) -> Result<String, Unexpanded> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, expression)) = rest.split_once("${") {
            let Some((expression, after)) = expression.split_once('}') else {
                return Err(Unexpanded::Unknown("${".to_owned()));
            };
            expanded.push_str(before);
            expanded.push_str(&self.value(expression)?);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    fn value(&self, expression: &str) -> Result<String, Unexpanded> {
        let (name, default) = match expression.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (expression, None),
        };
        let text = |path: &Path| path.to_string_lossy().into_owned();
        match (name, &self.environment.home) {
            ("workspaceFolder", _) => return Ok(text(self.root)),
            ("userHome", Some(home)) => return Ok(text(home)),
            ("pathSeparator" | "/", _) => return Ok(std::path::MAIN_SEPARATOR.to_string()),
            _ => {}
        }
        let name = name.strip_prefix("env:").unwrap_or(name);
        if !is_variable(name) {
            return Err(Unexpanded::Unknown(format!("${{{name}}}")));
        }
        match (self.environment.variable(name), default) {
            // As in a shell, an empty one counts as unset.
            (Some(value), Some(default)) if value.is_empty() => Ok(default.to_owned()),
            (Some(value), _) => Ok(value),
            (None, Some(default)) => Ok(default.to_owned()),
            (None, None) => Err(Unexpanded::Unset(name.to_owned())),
        }
    }
}

/// Whether this can be the name of a variable.
pub(super) fn is_variable(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn expand(text: &str) -> Result<String, Unexpanded> {
        let variables = |name: &str| match name {
            "HOME" => Some("/home/ada".to_owned()),
            "TOKEN" => Some("s3cret".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let environment = Environment::new("linux", PathBuf::from("/srv"), variables);
        let values = Values {
            environment: &environment,
            root: Path::new("/project"),
        };
        values.expand(text)
    }

    #[test]
    fn variables_are_replaced() {
        for (text, expanded) in [
            ("", ""),
            ("$TOKEN and {TOKEN} stay", "$TOKEN and {TOKEN} stay"),
            ("Bearer ${TOKEN}", "Bearer s3cret"),
            ("${env:TOKEN}${TOKEN}", "s3crets3cret"),
            ("${TOKEN:-other}", "s3cret"),
            ("${NONE:-https://a.example}/mcp", "https://a.example/mcp"),
            ("${env:NONE:-}", ""),
            ("[${EMPTY}|${EMPTY:-x}]", "[|x]"),
            ("${workspaceFolder}/a", "/project/a"),
            ("${userHome}", "/home/ada"),
        ] {
            assert_eq!(expand(text).as_deref(), Ok(expanded), "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_named() {
        let unset = Unexpanded::Unset("NONE".to_owned());
        assert_eq!(expand("${TOKEN} ${env:NONE}"), Err(unset));
        for (text, told) in [
            ("${input:api-key}", "${input:api-key}"),
            ("${file:/etc/passwd}", "${file:/etc/passwd}"),
            ("${bad-name:-s3cret}", "${bad-name}"),
            ("${}", "${}"),
            ("${TOKEN", "${"),
        ] {
            let unknown = Unexpanded::Unknown(told.to_owned());
            assert_eq!(expand(text), Err(unknown), "{text}");
        }
    }
}
