//! A server that misbehaves on stdio as its first argument says.

fn main() {
    antiphon_tests::rogue::play();
}
