use super::*;
pub(crate) enum Strings<'a> {
    One(&'a str),
    Many(&'a [String]),
}
pub(crate) struct BadString;
impl BadString {
    pub(crate) fn field(&self) -> &str {
        ""
    }
    pub(crate) fn why(&self) -> &str {
        ""
    }
}
pub(crate) fn from_strings<T>(_: &[(&str, Strings<'_>)]) -> Result<T, BadString> {
    Err(BadString)
}
pub(crate) struct StringArgument {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) choices: Option<Vec<String>>,
}
pub(crate) fn string_arguments(
    _: &serde_json::Map<String, serde_json::Value>,
) -> Result<Vec<StringArgument>, InvalidSchema> {
    Ok(vec![])
}
impl From<StringArgument> for antiphon_types::PromptArgument {
    fn from(a: StringArgument) -> Self {
        Self::new(a.name)
    }
}
