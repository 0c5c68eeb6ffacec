//! `say!`: a line on standard output.

/// Prints a line. Whoever reads only the first ones has seen enough.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        if writeln!(std::io::stdout(), $($text)*).is_err() {
            std::process::exit(0);
        }
    }};
}
