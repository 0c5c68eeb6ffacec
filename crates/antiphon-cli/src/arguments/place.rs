//! Where a name on the command line leads to in an object.

use serde_json::{Map, Value};

use super::{
    schema::{Members, Schema, Shape},
    value,
};
use crate::{
    nearest::{instead, nearest},
    printable,
};

/// A place in an object.
pub(super) struct Found<'a> {
    /// The names that lead there, from the outermost on.
    pub(super) path: Vec<String>,
    /// What the value there must be.
    pub(super) shapes: Vec<Shape<'a>>,
    /// Where the schema does not know the name: those that it knows and that are like it.
    pub(super) near: Vec<&'a str>,
}

impl Found<'_> {
    fn within(mut self, object: &str) -> Self {
        self.path.insert(0, object.to_owned());
        self
    }
}

/// Where a name leads to; the error goes on after the name. A dot leads into an object, unless it
/// is part of a name that the schema knows.
pub(super) fn find<'a>(
    schema: &Schema<'a>,
    members: &Members<'a>,
    name: &str,
) -> Result<Found<'a>, String> {
    let named = members.schemas(name);
    if !named.is_empty() {
        return Ok(Found {
            path: vec![name.to_owned()],
            shapes: schema.shapes(&named),
            near: Vec::new(),
        });
    }
    for (dot, _) in name.rmatch_indices('.') {
        let (object, rest) = (&name[..dot], &name[dot + 1..]);
        let named = members.schemas(object);
        if named.is_empty() || rest.is_empty() {
            continue;
        }
        let shapes = schema.shapes(&named);
        if !has_members(&shapes) {
            return Err(format!(
                "does not exist: `{}` is {}{}",
                printable::excerpt(object, 60),
                value::expected(&shapes),
                schema.in_json(&shapes, object)
            ));
        }
        let found = find(schema, &schema.members_of(&named), rest)?;
        return Ok(found.within(object));
    }
    match members.are_all() {
        true => Err(format!(
            "does not exist: {}",
            instead(name, &members.names())
        )),
        false => unknown(schema, members, name),
    }
}

/// The same for a name that the schema does not know, and allows.
fn unknown<'a>(
    schema: &Schema<'a>,
    members: &Members<'a>,
    name: &str,
) -> Result<Found<'a>, String> {
    let others = members.others();
    let shapes = schema.shapes(&others);
    let near = |name| nearest(name, members.names());
    match name.split_once('.') {
        Some((object, rest)) if !object.is_empty() && !is_whole(rest) && has_members(&shapes) => {
            let mut found = find(schema, &schema.members_of(&others), rest)?;
            found.near.extend(near(object));
            Ok(found.within(object))
        }
        _ => Ok(Found {
            path: vec![name.to_owned()],
            shapes,
            near: near(name),
        }),
    }
}

/// Whether what follows a dot does not make a name of its own.
fn is_whole(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('.')
}

fn has_members(shapes: &[Shape<'_>]) -> bool {
    let mut shapes = shapes.iter();
    shapes.any(|shape| matches!(shape, Shape::Object | Shape::Any))
}

/// Puts a value where a path leads to.
pub(super) fn put(object: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => _ = object.insert(name.clone(), value),
        [name, rest @ ..] => {
            let member = object.entry(name).or_insert(Value::Null);
            if !member.is_object() {
                *member = Value::Object(Map::new());
            }
            if let Value::Object(member) = member {
                put(member, rest, value);
            }
        }
    }
}
