//! `say!`: a line on standard output.

/// Prints a line. Whoever reads only the first ones has seen enough.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        if let Err(error) = writeln!(std::io::stdout(), $($text)*) {
            if error.kind() == std::io::ErrorKind::BrokenPipe {
                std::process::exit(0);
            }
            eprintln!("antiphon: cannot write: {error}");
            std::process::exit(1);
        }
    }};
}
