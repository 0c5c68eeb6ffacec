//! Step by step: each answer is there in all later rounds, and in their questions.

use antiphon::{Ask, Form, Stop, tool};

#[derive(Form)]
struct Name {
    /// What to call you.
    name: String,
}

#[derive(Form)]
struct Age {
    /// In years.
    #[form(max = 150)]
    age: u8,
}

/// Get to know each other.
#[tool]
pub(super) async fn wizard(ask: Ask) -> Result<String, Stop> {
    let Name { name } = ask.form("name", "What is your name?")?;
    let Age { age } = ask.form("age", format!("How old are you, {name}?"))?;
    Ok(format!("Welcome, {name}! You are {age} years old."))
}
