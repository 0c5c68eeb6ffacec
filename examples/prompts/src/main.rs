//! Prompts with typed arguments, and completions for them while the user types.
//!
//! `cargo run -p example-prompts`, on stdio. Clients send prompt arguments as strings; the handler
//! gets numbers, booleans and enums. What is no number is refused with the name of the argument.

use antiphon::{
    Args, Messages, Prefix, Prompt, Server, State,
    schemars::{self, JsonSchema},
    stdio,
};
use serde::Deserialize;

/// What there is to write about: by author, a few titles.
type Library = &'static [(&'static str, &'static [&'static str])];

const LIBRARY: Library = &[
    ("Austen", &["Emma", "Persuasion"]),
    ("Shelley", &["Frankenstein", "The Last Man"]),
];

/// Ask for a review of a book.
#[derive(Deserialize, JsonSchema)]
struct Review {
    /// Who wrote it.
    author: String,
    title: String,
    /// How it should sound.
    tone: Tone,
    language: Option<String>,
    /// In how many words at most.
    words: Option<u16>,
}

/// An enum needs nothing more: its variants are the completions.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Friendly,
    Harsh,
    Neutral,
}

async fn review(Args(review): Args<Review>) -> Messages {
    let tone = match review.tone {
        Tone::Friendly => "You loved it.",
        Tone::Harsh => "You regret every page.",
        Tone::Neutral => "Keep your opinion to yourself.",
    };
    let language = review.language.as_deref().unwrap_or("English");
    let words = review.words.unwrap_or(200);
    Messages::new()
        .assistant("What shall I review?")
        .user(format!(
            "{} by {}, in at most {words} words of {language}. {tone}",
            review.title, review.author
        ))
}

/// Completes the author from what is in the library.
async fn authors(Prefix(typed): Prefix, State(library): State<Library>) -> Vec<&'static str> {
    let authors = library.iter().map(|(author, _)| *author);
    authors
        .filter(|author| author.starts_with(&typed))
        .collect()
}

/// What is known while the title is typed: perhaps the author.
#[derive(Deserialize, JsonSchema)]
struct Known {
    author: Option<String>,
}

/// Completes the title, among those of the author if there is one already.
async fn titles(
    Prefix(typed): Prefix,
    Args(known): Args<Known>,
    State(library): State<Library>,
) -> Vec<&'static str> {
    let by = |author: &str| known.author.as_deref().is_none_or(|known| known == author);
    let books = library.iter().filter(|(author, _)| by(author));
    let titles = books.flat_map(|(_, titles)| titles.iter().copied());
    titles.filter(|title| title.starts_with(&typed)).collect()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let review = Prompt::new("review", review)
        .title("Review a book")
        .complete("author", authors)
        .complete("title", titles)
        .choices("language", ["English", "French", "German"]);
    let server = Server::new("library", "1.0")
        .add(review)
        .with_state(LIBRARY);
    stdio::serve(server).await
}
