//! `say!`: a line on standard output; `tell!`: one on standard error.

/// Prints a line. Whoever reads only the first ones has seen enough.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        if let Err(error) = writeln!(std::io::stdout(), $($text)*) {
            if error.kind() == std::io::ErrorKind::BrokenPipe {
                std::process::exit(0);
            }
            tell!("antiphon: cannot write: {error}");
            std::process::exit(1);
        }
    }};
}

/// Prints a line for who watches. That nobody does is no reason to end: unlike `eprintln!` this
/// never panics.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
