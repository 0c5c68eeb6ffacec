//! Fields of elicitation forms, from 2025-06-18 on.

use antiphon_types::Version::{self, V2025_11_25};
use antiphon_types::{
    BooleanSchema, FormSchema, LegacyTitledEnumSchema, NumberSchema, PrimitiveSchema, StringFormat,
    StringSchema, TitledMultiSelectEnumSchema, TitledSingleSelectEnumSchema,
    UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Number;

use crate::sample::Samples;

const SIZES: [(&str, &str); 2] = [("s", "Small"), ("l", "Large")];

pub(super) fn add(s: &mut Samples) {
    let version = s.version;
    field(s, &["StringSchema"], StringSchema::new());
    for format in [
        StringFormat::Email,
        StringFormat::Uri,
        StringFormat::Date,
        StringFormat::DateTime,
    ] {
        field(s, &["StringSchema"], text(version).format(format));
    }
    field(s, &["NumberSchema"], NumberSchema::integer());
    field(s, &["NumberSchema"], number(version));
    field(s, &["BooleanSchema"], BooleanSchema::new());
    field(s, &["BooleanSchema"], boolean());
    match version >= V2025_11_25 {
        true => selects(s),
        false => early_selects(s),
    }
}

/// Adds a field as what it is, and as any field of a form.
fn field<T>(s: &mut Samples, definitions: &[&str], schema: T)
where
    T: Into<PrimitiveSchema> + Serialize + DeserializeOwned,
{
    s.fits(definitions, &schema);
    let any: PrimitiveSchema = schema.into();
    s.value("PrimitiveSchemaDefinition", &any);
}

fn text(version: Version) -> StringSchema {
    let mut full = StringSchema::new()
        .title("Contact")
        .description("Whom to call.")
        .min_length(3)
        .max_length(80)
        .format(StringFormat::Email);
    if version >= V2025_11_25 {
        full = full.default("pilot@harbor.example");
    }
    full
}

fn number(version: Version) -> NumberSchema {
    let mut full = NumberSchema::number()
        .title("Draught")
        .description("In metres.")
        .minimum(Number::from_f64(0.5).expect("finite"))
        .maximum(30);
    if version >= V2025_11_25 {
        full = full.default(Number::from_f64(4.5).expect("finite"));
    }
    full
}

fn boolean() -> BooleanSchema {
    BooleanSchema::new()
        .title("Pilot")
        .description("Whether to send one.")
        .default(false)
}

/// Choices as 2025-06-18 knows them.
fn early_selects(s: &mut Samples) {
    let bare = UntitledSingleSelectEnumSchema::new(["s", "l"]);
    field(s, &["EnumSchema"], bare);
    field(s, &["EnumSchema"], legacy());
}

fn legacy() -> LegacyTitledEnumSchema {
    LegacyTitledEnumSchema::new(SIZES)
        .title("Size")
        .description("Of the berth.")
}

fn selects(s: &mut Samples) {
    let single = |own| ["EnumSchema", "SingleSelectEnumSchema", own];
    let multi = |own| ["EnumSchema", "MultiSelectEnumSchema", own];
    let few = Some(vec!["s".to_owned()]);

    let bare = UntitledSingleSelectEnumSchema::new(["s", "l"]);
    let full = bare.clone().title("Size").description("Of the berth.");
    for schema in [bare, full.default("s")] {
        field(s, &single("UntitledSingleSelectEnumSchema"), schema);
    }
    let bare = TitledSingleSelectEnumSchema::new(SIZES);
    let full = bare.clone().title("Size").description("Of the berth.");
    for schema in [bare, full.default("s")] {
        field(s, &single("TitledSingleSelectEnumSchema"), schema);
    }
    let bare = UntitledMultiSelectEnumSchema::new(["s", "l"]);
    let mut full = bare.clone().title("Sizes").description("Of the berths.");
    full = full.min_items(1).max_items(2);
    full.default = few.clone();
    for schema in [bare, full] {
        field(s, &multi("UntitledMultiSelectEnumSchema"), schema);
    }
    let bare = TitledMultiSelectEnumSchema::new(SIZES);
    let mut full = bare.clone().title("Sizes").description("Of the berths.");
    full = full.min_items(1).max_items(2);
    full.default = few;
    for schema in [bare, full] {
        field(s, &multi("TitledMultiSelectEnumSchema"), schema);
    }
    for schema in [LegacyTitledEnumSchema::new(SIZES), legacy().default("s")] {
        field(s, &["EnumSchema", "LegacyTitledEnumSchema"], schema);
    }
}

/// A form with a field of every kind.
pub(super) fn full(version: Version) -> FormSchema {
    let mut form = FormSchema::new()
        .required("contact", text(version))
        .required("draught", number(version))
        .optional("nights", NumberSchema::integer())
        .optional("pilot", boolean())
        .optional("berth", legacy());
    if version >= V2025_11_25 {
        form.schema = Some("https://json-schema.org/draft/2020-12/schema".to_owned());
        form = form
            .optional("size", TitledSingleSelectEnumSchema::new(SIZES))
            .optional(
                "side",
                UntitledSingleSelectEnumSchema::new(["port", "starboard"]),
            )
            .optional("sizes", TitledMultiSelectEnumSchema::new(SIZES))
            .optional(
                "sides",
                UntitledMultiSelectEnumSchema::new(["port", "starboard"]),
            );
    }
    form
}
