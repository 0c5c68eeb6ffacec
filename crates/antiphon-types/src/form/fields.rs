//! The kinds of fields that forms have, as each is written.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::{Object, PrimitiveSchema};

/// A `type` member that has only one value.
macro_rules! type_name {
    ($name:ident, $variant:ident) => {
        #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum $name {
            #[default]
            $variant,
        }
    };
}
type_name!(StringType, String);
type_name!(BooleanType, Boolean);
type_name!(ArrayType, Array);

/// A text field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StringSchema {
    #[serde(rename = "type")]
    kind: StringType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Fewest characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    /// Most characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// What the text must look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StringFormat>,
    /// The value to start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Other keywords, as they came.
    #[serde(flatten)]
    pub extra: Object,
}

impl StringSchema {
    /// Any text.
    pub fn new() -> Self {
        Default::default()
    }
}

setters!(StringSchema {
    into { title: String, description: String, default: String }
    plain { min_length: u64, max_length: u64, format: StringFormat }
});

/// What a text must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StringFormat {
    /// A mail address.
    Email,
    /// A URI.
    Uri,
    /// A date.
    Date,
    /// A date and time.
    DateTime,
}

/// A number field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NumberSchema {
    /// Whole numbers, or any.
    #[serde(rename = "type")]
    pub kind: NumberKind,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Least value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Number>,
    /// Greatest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Number>,
    /// The value to start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Number>,
    /// Other keywords, as they came.
    #[serde(flatten)]
    pub extra: Object,
}

impl NumberSchema {
    /// Any whole number.
    pub fn integer() -> Self {
        Self::new(NumberKind::Integer)
    }

    /// Any number.
    pub fn number() -> Self {
        Self::new(NumberKind::Number)
    }

    /// Any number of this kind.
    pub fn new(kind: NumberKind) -> Self {
        Self {
            kind,
            title: None,
            description: None,
            minimum: None,
            maximum: None,
            default: None,
            extra: Object::new(),
        }
    }
}

setters!(NumberSchema {
    into {
        title: String,
        description: String,
        minimum: Number,
        maximum: Number,
        default: Number,
    }
});

/// Whole numbers, or any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberKind {
    /// Whole numbers.
    Integer,
    /// Any number.
    Number,
}

/// A yes-or-no field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BooleanSchema {
    #[serde(rename = "type")]
    kind: BooleanType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The value to start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    /// Other keywords, as they came.
    #[serde(flatten)]
    pub extra: Object,
}

impl BooleanSchema {
    /// Yes or no.
    pub fn new() -> Self {
        Default::default()
    }
}

setters!(BooleanSchema {
    into { title: String, description: String }
    plain { default: bool }
});

/// One of several texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UntitledSingleSelectEnumSchema {
    #[serde(rename = "type")]
    kind: StringType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The texts to choose from, the `enum` keyword.
    #[serde(rename = "enum")]
    pub values: Vec<String>,
    /// The value to start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Other keywords, as they came.
    #[serde(flatten)]
    pub extra: Object,
}

impl UntitledSingleSelectEnumSchema {
    /// One of these texts.
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            kind: StringType::default(),
            title: None,
            description: None,
            values: values.into_iter().map(Into::into).collect(),
            default: None,
            extra: Object::new(),
        }
    }
}

setters!(UntitledSingleSelectEnumSchema {
    into { title: String, description: String, default: String }
});

/// A value to choose, and its name for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TitledOption {
    /// The value, the `const` keyword.
    #[serde(rename = "const")]
    pub value: String,
    /// Its name for people.
    pub title: String,
}

impl TitledOption {
    /// This value under this name.
    pub fn new(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            title: title.into(),
        }
    }
}

impl<V: Into<String>, T: Into<String>> From<(V, T)> for TitledOption {
    fn from((value, title): (V, T)) -> Self {
        Self::new(value, title)
    }
}

/// One of several titled texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TitledSingleSelectEnumSchema {
    #[serde(rename = "type")]
    kind: StringType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What to choose from.
    pub one_of: Vec<TitledOption>,
    /// The value to start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Other keywords, as they came.
    #[serde(flatten)]
    pub extra: Object,
}

impl TitledSingleSelectEnumSchema {
    /// One of these.
    pub fn new(one_of: impl IntoIterator<Item = impl Into<TitledOption>>) -> Self {
        Self {
            kind: StringType::default(),
            title: None,
            description: None,
            one_of: one_of.into_iter().map(Into::into).collect(),
            default: None,
            extra: Object::new(),
        }
    }
}

setters!(TitledSingleSelectEnumSchema {
    into { title: String, description: String, default: String }
});

/// Some of several texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UntitledMultiSelectEnumSchema {
    #[serde(rename = "type")]
    kind: ArrayType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Fewest to choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u64>,
    /// Most to choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u64>,
    items: UntitledItems,
    /// The values to start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Vec<String>>,
    /// Other keywords, as they came.
    #[serde(flatten)]
    pub extra: Object,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct UntitledItems {
    #[serde(rename = "type")]
    kind: StringType,
    #[serde(rename = "enum")]
    values: Vec<String>,
}

impl UntitledMultiSelectEnumSchema {
    /// Some of these texts.
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            kind: ArrayType::default(),
            title: None,
            description: None,
            min_items: None,
            max_items: None,
            items: UntitledItems {
                kind: StringType::default(),
                values: values.into_iter().map(Into::into).collect(),
            },
            default: None,
            extra: Object::new(),
        }
    }

    /// The texts to choose from.
    pub fn values(&self) -> &[String] {
        &self.items.values
    }
}

setters!(UntitledMultiSelectEnumSchema {
    into { title: String, description: String }
    plain { min_items: u64, max_items: u64, default: Vec<String> }
});

/// Some of several titled texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TitledMultiSelectEnumSchema {
    #[serde(rename = "type")]
    kind: ArrayType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Fewest to choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u64>,
    /// Most to choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u64>,
    items: TitledItems,
    /// The values to start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Vec<String>>,
    /// Other keywords, as they came.
    #[serde(flatten)]
    pub extra: Object,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TitledItems {
    any_of: Vec<TitledOption>,
}

impl TitledMultiSelectEnumSchema {
    /// Some of these.
    pub fn new(any_of: impl IntoIterator<Item = impl Into<TitledOption>>) -> Self {
        Self {
            kind: ArrayType::default(),
            title: None,
            description: None,
            min_items: None,
            max_items: None,
            items: TitledItems {
                any_of: any_of.into_iter().map(Into::into).collect(),
            },
            default: None,
            extra: Object::new(),
        }
    }

    /// What to choose from.
    pub fn any_of(&self) -> &[TitledOption] {
        &self.items.any_of
    }
}

setters!(TitledMultiSelectEnumSchema {
    into { title: String, description: String }
    plain { min_items: u64, max_items: u64, default: Vec<String> }
});

/// One of several texts, titled by the older `enumNames`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LegacyTitledEnumSchema {
    #[serde(rename = "type")]
    kind: StringType,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The texts to choose from, the `enum` keyword.
    #[serde(rename = "enum")]
    pub values: Vec<String>,
    /// Their names for people, in the same order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enum_names: Option<Vec<String>>,
    /// The value to start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Other keywords, as they came.
    #[serde(flatten)]
    pub extra: Object,
}

impl LegacyTitledEnumSchema {
    /// One of these.
    pub fn new(options: impl IntoIterator<Item = impl Into<TitledOption>>) -> Self {
        let options = options.into_iter().map(Into::into);
        let (values, names) = options.map(|option| (option.value, option.title)).unzip();
        Self {
            kind: StringType::default(),
            title: None,
            description: None,
            values,
            enum_names: Some(names),
            default: None,
            extra: Object::new(),
        }
    }
}

setters!(LegacyTitledEnumSchema {
    into { title: String, description: String, default: String }
});

/// Lets a schema stand where a field is wanted.
macro_rules! is_field {
    ($($schema:ident => $variant:ident),* $(,)?) => {$(
        impl From<$schema> for PrimitiveSchema {
            fn from(schema: $schema) -> Self {
                Self::$variant(schema)
            }
        }
    )*};
}
is_field!(
    StringSchema => String,
    NumberSchema => Number,
    BooleanSchema => Boolean,
    UntitledSingleSelectEnumSchema => UntitledSingleSelect,
    TitledSingleSelectEnumSchema => TitledSingleSelect,
    UntitledMultiSelectEnumSchema => UntitledMultiSelect,
    TitledMultiSelectEnumSchema => TitledMultiSelect,
    LegacyTitledEnumSchema => LegacyTitledEnum,
    Object => Other,
);
