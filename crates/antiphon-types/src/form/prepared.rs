//! [`RequestedSchema`]: a form as it is sent, made for once or for good.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::FormSchema;

/// The form of a question: it reads as a [`FormSchema`].
#[derive(Debug, Clone)]
pub struct RequestedSchema(Inner);

#[derive(Debug, Clone)]
enum Inner {
    /// Clones are many where it is asked.
    Own(Arc<FormSchema>),
    Shared(&'static PreparedForm),
}

/// A form that is asked again and again, written once.
#[derive(Debug, Clone)]
pub struct PreparedForm {
    schema: FormSchema,
    /// Nothing if it does not serialise, which whoever sends it is told.
    json: Option<Box<RawValue>>,
}

impl PreparedForm {
    /// Writes a form.
    pub fn new(schema: FormSchema) -> Self {
        let json = serde_json::value::to_raw_value(&schema).ok();
        Self { schema, json }
    }

    /// The form.
    pub fn schema(&self) -> &FormSchema {
        &self.schema
    }
}

impl RequestedSchema {
    /// The form, to be changed.
    pub fn into_schema(self) -> FormSchema {
        match self.0 {
            Inner::Own(schema) => Arc::unwrap_or_clone(schema),
            Inner::Shared(prepared) => prepared.schema.clone(),
        }
    }
}

impl Deref for RequestedSchema {
    type Target = FormSchema;

    fn deref(&self) -> &FormSchema {
        match &self.0 {
            Inner::Own(schema) => schema,
            Inner::Shared(prepared) => &prepared.schema,
        }
    }
}

impl From<FormSchema> for RequestedSchema {
    fn from(schema: FormSchema) -> Self {
        Self(Inner::Own(Arc::new(schema)))
    }
}

impl From<&'static PreparedForm> for RequestedSchema {
    fn from(prepared: &'static PreparedForm) -> Self {
        Self(Inner::Shared(prepared))
    }
}

impl PartialEq for RequestedSchema {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Serialize for RequestedSchema {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Inner::Shared(PreparedForm {
                json: Some(json), ..
            }) => json.serialize(to),
            Inner::Shared(PreparedForm { schema, .. }) => schema.serialize(to),
            Inner::Own(schema) => schema.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for RequestedSchema {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        FormSchema::deserialize(from).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::BooleanSchema;

    #[test]
    fn both_are_the_same_form() {
        static SHARED: LazyLock<PreparedForm> = LazyLock::new(|| {
            let schema = FormSchema::new().required("ok", BooleanSchema::new());
            PreparedForm::new(schema)
        });
        let own: RequestedSchema = SHARED.schema().clone().into();
        let shared = RequestedSchema::from(&*SHARED);
        assert_eq!(own, shared);
        let text = |schema: &RequestedSchema| serde_json::to_string(schema).expect("JSON");
        assert_eq!(text(&own), text(&shared));
        let value = serde_json::to_value(&shared).expect("JSON");
        assert_eq!(value, serde_json::to_value(&own).expect("JSON"));
        let read: RequestedSchema = serde_json::from_value(value).expect("a form");
        assert_eq!(read, shared);
        assert_eq!(shared.into_schema(), *own);
    }
}
