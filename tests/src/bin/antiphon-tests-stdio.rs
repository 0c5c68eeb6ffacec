//! The harbour on stdio: a real child process for the tests.

use antiphon_tests::harbour;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    antiphon::stdio::serve(harbour::endpoint()).await
}
