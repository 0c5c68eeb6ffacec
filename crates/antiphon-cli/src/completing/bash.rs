//! bash, which cuts words at `:` and `=`: it hands over the line instead, and gets back what
//! comes after the cut.

use std::{ffi::OsString, io, path::Path};

use clap_complete::{engine, env::EnvCompleter};

use super::line::{AFTER, BEFORE, Line};

/// The characters at which bash cuts words.
const BREAKS: &str = "_ANTIPHON_BREAKS";

pub(super) struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        bin: &str,
        completer: &str,
        buffer: &mut dyn io::Write,
    ) -> io::Result<()> {
        let completer = shlex::try_quote(completer).map_err(io::Error::other)?;
        write!(
            buffer,
            r#"_{name}() {{
    local IFS=$'\n'
    COMPREPLY=($({variable}=bash \
        {BEFORE}="${{COMP_LINE:0:COMP_POINT}}" \
        {AFTER}="${{COMP_LINE:COMP_POINT}}" \
        {BREAKS}="$COMP_WORDBREAKS" \
        {completer} -- {name} 2>/dev/null))
    if [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *[=/:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}}
complete -o bashdefault -o default -F _{name} {bin}
"#
        )
    }

    fn write_complete(
        &self,
        command: &mut clap::Command,
        _: Vec<OsString>,
        cwd: Option<&Path>,
        buffer: &mut dyn io::Write,
    ) -> io::Result<()> {
        let line = Line::of_process().ok_or(io::ErrorKind::InvalidInput)?;
        let breaks = std::env::var(BREAKS).unwrap_or_default();
        let cut = cut(line.current(), &breaks).to_owned();
        let words = line.words.into_iter().map(OsString::from).collect();
        let candidates = engine::complete(command, words, line.at, cwd)?;
        for candidate in candidates {
            let word = candidate.get_value().to_string_lossy();
            writeln!(buffer, "{}", word.strip_prefix(&cut).unwrap_or(&word))?;
        }
        Ok(())
    }
}

/// The part of a word that bash does not replace.
fn cut<'a>(word: &'a str, breaks: &str) -> &'a str {
    let cuts = |c: char| matches!(c, ':' | '=') && breaks.contains(c);
    let end = word.rfind(cuts).map_or(0, |at| at + 1);
    &word[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_where_bash_cuts_them() {
        for (word, breaks, expected) in [
            ("title=", " =:", "title="),
            ("title=a", " =:", "title="),
            ("http://h:80/m", " =:", "http://h:"),
            ("http://h:80/m?a=b", " =", "http://h:80/m?a="),
            ("title=a", " ", ""),
            ("titel", " =:", ""),
        ] {
            assert_eq!(cut(word, breaks), expected, "{word}");
        }
    }

    /// The script, in a bash of this machine, with a program that says what it was told.
    #[cfg(unix)]
    #[test]
    fn the_script_hands_over_the_line() {
        use std::{os::unix::fs::PermissionsExt, process::Command};

        let name = format!("antiphon bash {}", std::process::id());
        let program = std::env::temp_dir().join(name);
        let text = format!("#!/bin/sh\necho \"$VAR ${BEFORE}|${AFTER} $*\"\necho 'a b='\n");
        std::fs::write(&program, text).expect("a file");
        let executable = PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&program, executable).expect("a program");

        let mut script = Vec::new();
        let path = program.to_str().expect("a temporary path is text");
        Bash.write_registration("VAR", "it", "it", path, &mut script)
            .expect("a script");
        let script = String::from_utf8(script).expect("text");
        let asks =
            "COMP_LINE='it öf title=x -- y'; COMP_POINT=13; _it; printf '[%s]' \"${COMPREPLY[@]}\"";
        let output = Command::new("bash")
            .args(["--norc", "-c", &format!("{script}\n{asks}")])
            .env("LC_ALL", "C.UTF-8")
            .output();
        std::fs::remove_file(&program).expect("ours");
        // Not every machine has one.
        let Ok(output) = output else { return };
        let told = String::from_utf8_lossy(&output.stdout);
        assert_eq!(told, "[bash it öf title=x| -- y -- it][a b=]");
    }
}
