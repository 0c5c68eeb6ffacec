//! Fields that look like secrets.

use antiphon::Form;

#[derive(Form)]
struct SignIn {
    user: String,
    api_key: String,
    #[form(rename = "userPassword")]
    word: String,
}

fn main() {}
