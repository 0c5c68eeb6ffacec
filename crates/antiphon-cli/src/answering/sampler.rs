//! `--sampler COMMAND`: a command that speaks for the model.
//!
//! It reads the params of `sampling/createMessage` as JSON from standard input, and writes the
//! text, or a whole result in JSON.

use std::{
    io,
    path::Path,
    process::{ExitStatus, Stdio},
};

use antiphon::types::{CreateMessageRequestParams, CreateMessageResult};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, Command},
};

use crate::{failure::Failure, printable};

/// The most a sampler may write: 4 MiB.
const MOST: usize = 4 << 20;

/// So much of what it complains about is kept.
const LAST: usize = 16 << 10;

/// A command, run anew for each message.
#[derive(Debug)]
pub(crate) struct Sampler {
    program: String,
    arguments: Vec<String>,
}

impl Sampler {
    /// A command with its arguments, quoted as in a shell; none runs it.
    pub(crate) fn parse(command: &str) -> Result<Self, Failure> {
        let Some(words) = shlex::split(command) else {
            let why = "--sampler: a quote or a backslash is left open";
            return Err(Failure::usage(why));
        };
        let mut words = words.into_iter();
        match words.next() {
            Some(program) if !program.is_empty() => Ok(Self {
                program,
                arguments: words.collect(),
            }),
            _ => Err(Failure::usage("--sampler needs a command")),
        }
    }

    /// Has the command go on with the messages. Dropping this ends it.
    pub(crate) async fn complete(
        &self,
        asked: &CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, String> {
        let request = serde_json::to_vec(asked).map_err(|error| self.failed(&error.to_string()))?;
        let mut child = self
            .start()
            .map_err(|error| self.failed(&format!("cannot be started: {error}")))?;
        let (output, complaint, status) = talk(&mut child, &request)
            .await
            .map_err(|error| self.failed(&error.to_string()))?;
        if !status.success() {
            return Err(self.failed(&ended(status, &complaint)));
        }
        self.read(&output)
    }

    fn start(&self) -> io::Result<Child> {
        Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }

    /// A result if it is one, or else a text.
    fn read(&self, output: &[u8]) -> Result<CreateMessageResult, String> {
        let text = str::from_utf8(output).map_err(|_| self.failed("did not write UTF-8"))?;
        let model = self.model();
        if let Ok(Value::Object(mut result)) = serde_json::from_str(text)
            && result.contains_key("content")
            && result.contains_key("role")
        {
            result.entry("model").or_insert_with(|| model.into());
            let result = serde_json::from_value(Value::Object(result));
            return result.map_err(|error| {
                let error = printable::excerpt(&error.to_string(), 200);
                self.failed(&format!("wrote a result that cannot be read: {error}"))
            });
        }
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        match text.is_empty() {
            true => Err(self.failed("wrote nothing")),
            false => Ok(CreateMessageResult::text(text, model).stop_reason("endTurn")),
        }
    }

    /// The model is named after the command.
    fn model(&self) -> String {
        let name = Path::new(&self.program).file_name();
        name.map_or_else(
            || self.program.clone(),
            |name| name.to_string_lossy().into(),
        )
    }

    fn failed(&self, why: &str) -> String {
        format!(
            "the sampler {} {why}",
            printable::excerpt(&self.program, 80)
        )
    }
}

/// What it writes, what it complains about, and how it ends. All at once: either side may wait for
/// the other to read.
async fn talk(child: &mut Child, request: &[u8]) -> io::Result<(Vec<u8>, Vec<u8>, ExitStatus)> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let ((), output, complaint) =
        tokio::try_join!(tell(stdin, request), all(stdout), last(stderr))?;
    Ok((output, complaint, child.wait().await?))
}

async fn tell(stdin: Option<ChildStdin>, request: &[u8]) -> io::Result<()> {
    let Some(mut stdin) = stdin else {
        return Ok(());
    };
    let told = async {
        stdin.write_all(request).await?;
        stdin.write_all(b"\n").await
    };
    match told.await {
        // It need not read.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        told => told,
    }
}

async fn all(stdout: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut output = Vec::new();
    if let Some(stdout) = stdout {
        stdout
            .take(MOST as u64 + 1)
            .read_to_end(&mut output)
            .await?;
    }
    match output.len() > MOST {
        true => Err(io::Error::other("wrote more than 4 MiB")),
        false => Ok(output),
    }
}

/// All is read, and the end kept.
async fn last(stderr: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    if let Some(mut stderr) = stderr {
        while stderr.read_buf(&mut kept).await? > 0 {
            if kept.len() > 2 * LAST {
                kept.drain(..kept.len() - LAST);
            }
        }
    }
    Ok(kept)
}

fn ended(status: ExitStatus, complaint: &[u8]) -> String {
    let complaint = String::from_utf8_lossy(complaint);
    let line = complaint.lines().rfind(|line| !line.trim().is_empty());
    let line = line.map(|line| format!(": {}", printable::excerpt(line.trim(), 300)));
    format!("failed ({status}){}", line.unwrap_or_default())
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        fs,
        path::PathBuf,
        time::{Duration, Instant},
    };

    use antiphon::types::Role;

    use super::*;

    /// A script of these lines, until it is dropped.
    struct Script(PathBuf);

    impl Script {
        fn new(name: &str, lines: &str) -> Self {
            let folder = std::env::temp_dir();
            let path = folder.join(format!("antiphon-{name}-{}", std::process::id()));
            fs::write(&path, lines).expect("written");
            Self(path)
        }

        fn sampler(&self) -> Sampler {
            let path = self.0.to_str().expect("a plain path");
            let path = shlex::try_quote(path).expect("no NUL");
            // Not executed itself: another test's child may still have it open.
            Sampler::parse(&format!("/bin/sh {path}")).expect("a command")
        }
    }

    impl Drop for Script {
        fn drop(&mut self) {
            _ = fs::remove_file(&self.0);
        }
    }

    async fn completed(name: &str, lines: &str) -> Result<CreateMessageResult, String> {
        let script = Script::new(name, lines);
        let asked = CreateMessageRequestParams::user("Sum up", 9);
        script.sampler().complete(&asked).await
    }

    #[tokio::test]
    async fn the_request_comes_as_json() {
        let asked = CreateMessageRequestParams::user("x".repeat(1 << 20), 9);
        let said = Sampler::parse("cat")
            .expect("a command")
            .complete(&asked)
            .await;
        let said = said.expect("a message");
        let back =
            serde_json::from_str::<CreateMessageRequestParams>(said.first_text().expect("text"));
        assert_eq!(back.expect("the request"), asked);
        assert_eq!(said.model, "cat");
        assert_eq!(said.role, Role::Assistant);
    }

    #[tokio::test]
    async fn words_are_passed_on_and_no_shell_sees_them() {
        let sampler = Sampler::parse("printf '%s|' 'a b' $HOME '`c`'").expect("a command");
        let asked = CreateMessageRequestParams::user("x", 9);
        let said = sampler.complete(&asked).await.expect("a message");
        assert_eq!(said.first_text(), Some("a b|$HOME|`c`|"));
    }

    #[tokio::test]
    async fn one_newline_at_the_end_is_not_said() {
        for (lines, expected) in [
            ("printf 'Short.'", "Short."),
            ("printf 'Short.\\n'", "Short."),
            ("printf 'One.\\n\\nTwo.\\n\\n'", "One.\n\nTwo.\n"),
            ("echo '{\"role\": \"user\"}'", "{\"role\": \"user\"}"),
        ] {
            let said = completed("newline", lines).await.expect("a message");
            assert_eq!(said.first_text(), Some(expected), "{lines}");
        }
    }

    #[tokio::test]
    async fn a_result_in_json_is_taken_as_it_is() {
        let content = r#""role":"assistant","content":{"type":"text","text":"Hi"}"#;
        let lines = format!("echo '{{{content},\"model\":\"m\",\"stopReason\":\"maxTokens\"}}'");
        let said = completed("result", &lines).await.expect("a message");
        assert_eq!(said.first_text(), Some("Hi"));
        assert_eq!(said.model, "m");
        assert_eq!(said.stop_reason.as_deref(), Some("maxTokens"));
        let said = completed("no-model", &format!("echo '{{{content}}}'")).await;
        assert_eq!(said.expect("a message").model, "sh");
    }

    #[tokio::test]
    async fn failures_are_told_in_one_line() {
        for (name, lines, part) in [
            (
                "fails",
                "echo first >&2; printf 'no \\033[2Jkey\\n\\n' >&2; exit 3",
                r"status: 3): no \u{1b}[2Jkey",
            ),
            ("killed", "kill -9 $$", "signal: 9"),
            ("silent", "exit 0", "wrote nothing"),
            ("binary", "printf '\\377'", "UTF-8"),
            (
                "wrong",
                r#"echo '{"role":"assistant","content":"Hi"}'"#,
                "cannot be read",
            ),
            ("endless", "exec cat /dev/zero", "more than 4 MiB"),
        ] {
            let error = completed(name, lines).await.expect_err(name);
            assert!(error.starts_with("the sampler "), "{error}");
            assert!(error.contains(part), "{part} is not in {error}");
        }
        let sampler = Sampler::parse("/no/such/program").expect("a command");
        let asked = CreateMessageRequestParams::user("x", 9);
        let error = sampler.complete(&asked).await.expect_err("no program");
        assert!(
            error.contains("/no/such/program cannot be started"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn a_long_complaint_is_read_to_its_end() {
        let lines = "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo why >&2; exit 1";
        let error = completed("complains", lines).await.expect_err("failed");
        assert!(error.ends_with(": why"), "{error}");
    }

    #[tokio::test]
    async fn it_ends_with_the_question() {
        let pid = std::env::temp_dir().join(format!("antiphon-pid-{}", std::process::id()));
        let lines = format!(
            "echo $$ > '{0}.new'; mv '{0}.new' '{0}'; exec sleep 600",
            pid.display()
        );
        let script = Script::new("sleeps", &lines);
        let sampler = script.sampler();
        let asked = CreateMessageRequestParams::user("x", 9);
        let started = async {
            while !pid.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            said = sampler.complete(&asked) => panic!("it said {said:?}"),
            () = started => {}
        }
        let text = fs::read_to_string(&pid).expect("a pid");
        fs::remove_file(&pid).expect("removed");
        let pid: i32 = text.trim().parse().expect("a number");
        let until = Instant::now() + Duration::from_secs(10);
        let pid = nix::unistd::Pid::from_raw(pid);
        while nix::sys::signal::kill(pid, None).is_ok() {
            assert!(Instant::now() < until, "it is still there");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[test]
    fn a_command_must_be_one() {
        for (command, part) in [
            ("", "needs a command"),
            ("  ", "needs a command"),
            ("a 'b", "quote"),
            ("''", "needs a command"),
        ] {
            let failure = Sampler::parse(command).expect_err(command);
            assert!(failure.text.contains(part), "{failure}");
        }
    }
}
