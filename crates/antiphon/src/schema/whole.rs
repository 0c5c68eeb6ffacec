//! Whole numbers that are written with a fraction.

use serde_json::Value;

/// Writes every `2.0` in a value as `2`; whether there was one.
pub(crate) fn write_whole(value: &mut Value) -> bool {
    /// From here on a float does not hold every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |any, item| write_whole(item) | any),
        Value::Object(members) => {
            let values = members.values_mut();
            values.fold(false, |any, value| write_whole(value) | any)
        }
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or(f64::NAN);
            if float.fract() != 0.0 || float.abs() >= EXACT {
                return false;
            }
            #[expect(clippy::cast_possible_truncation, reason = "it is whole, and in range")]
            let whole = float as i64;
            *value = whole.into();
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_is_whole_is_rewritten() {
        let mut value = json!({ "a": [2.0, -3.0, 0.5], "b": { "c": 1e3 }, "d": 1e300, "e": "2.0" });
        assert!(write_whole(&mut value));
        assert_eq!(
            value,
            json!({ "a": [2, -3, 0.5], "b": { "c": 1000 }, "d": 1e300, "e": "2.0" })
        );
        assert!(!write_whole(&mut value));
    }
}
