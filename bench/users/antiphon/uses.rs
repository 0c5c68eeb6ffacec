/// Each type of this file in the ways that a server has to: arguments read and described, a result
/// written and described.
pub fn uses(text: &str) -> bool {
    fn taken<T: serde::de::DeserializeOwned + JsonSchema>(text: &str) -> bool {
        is_object(schemars::schema_for!(T)) && serde_json::from_str::<T>(text).is_ok()
    }
    fn is_object(schema: schemars::Schema) -> bool {
        schema.as_object().is_some()
    }
    let found = Found {
        books: Vec::new(),
        more: text == GREETING,
    };
    taken::<Find>(text)
        && taken::<Stock>(text)
        && taken::<Order>(text)
        && taken::<SendBack>(text)
        && is_object(schemars::schema_for!(Found))
        && serde_json::to_string(&found).is_ok()
}
