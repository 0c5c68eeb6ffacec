//! What the tool `nested` is given: a book of orders, about 10 KiB of JSON, three levels deep.

use serde_json::{Value, json};

const ORDERS: u64 = 10;
const LINES: u64 = 5;
const TITLES: [&str; LINES as usize] = [
    "Lantern oil, clear, in a tin of five litres",
    "Manila rope, three strands, sold by the fathom",
    "Chart of the north quay and its approaches",
    "Brass shackle, \"bow\" pattern, half an inch",
    "Wool blanket, undyed, for the night watch",
];

/// The arguments, in which the quantity of the very first line is `first`, as it stands.
pub(crate) fn arguments(first: &str) -> String {
    let orders: Vec<Value> = (0..ORDERS).map(order).collect();
    let text = json!({ "orders": orders }).to_string();
    text.replacen(
        &format!(r#""quantity":{}"#, quantity(0, 0)),
        &format!(r#""quantity":{first}"#),
        1,
    )
}

/// The text of the answer, if that quantity was so many.
pub(crate) fn summary(first: u32) -> String {
    let all = (0..ORDERS).flat_map(|order| (0..LINES).map(move |line| quantity(order, line)));
    let others: u64 = all.skip(1).sum();
    let pieces = u64::from(first) + others;
    format!("{} lines, {pieces} pieces", ORDERS * LINES)
}

fn order(number: u64) -> Value {
    let lines: Vec<Value> = (0..LINES).map(|index| line(number, index)).collect();
    let note = number
        .is_multiple_of(2)
        .then_some("Leave it with the harbour master, who signs for it.");
    json!({
        "id": format!("order-{number:04}"),
        "customer": format!("Ship's chandler number {number}"),
        "address": {
            "street": format!("{} Ropewalk Lane", number + 11),
            "city": "Nordhafen",
            "zip": format!("26{number:03}"),
            "country": "Frisia",
        },
        "lines": lines,
        "gift": number.is_multiple_of(3),
        "note": note,
    })
}

fn line(order: u64, index: u64) -> Value {
    json!({
        "sku": format!("NQ-{order:03}-{index:05}"),
        "title": TITLES[index as usize],
        "quantity": quantity(order, index),
        "price": (order * 100 + index * 25 + 199) as f64 / 100.0,
        "tags": ["harbour", "stores", format!("shelf {index}")],
    })
}

fn quantity(order: u64, line: u64) -> u64 {
    1 + order * LINES + line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_some_ten_kilobytes_and_the_summary_is_theirs() {
        let text = arguments("10000000");
        assert!((9_000..11_000).contains(&text.len()), "{}", text.len());
        let json: Value = serde_json::from_str(&text).expect("JSON");
        let orders = json["orders"].as_array().expect("orders");
        let lines: Vec<&Value> = orders
            .iter()
            .flat_map(|order| order["lines"].as_array().expect("lines"))
            .collect();
        let pieces: u64 = lines
            .iter()
            .map(|line| line["quantity"].as_u64().expect("a number"))
            .sum();
        let counted = format!("{} lines, {pieces} pieces", lines.len());
        assert_eq!(summary(10_000_000), counted);
        assert_ne!(summary(10_000_000), summary(10_000_001));
    }
}
