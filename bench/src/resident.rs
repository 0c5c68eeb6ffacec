//! The memory of a process, as Linux tells it in `/proc`.

use std::{fs, io};

/// Resident memory in KiB. The rollup counts pages; `status` is a running estimate.
pub(crate) fn resident_kib(pid: u32) -> io::Result<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"));
    let (text, key) = match rollup {
        Ok(text) => (text, "Rss:"),
        Err(_) => (fs::read_to_string(format!("/proc/{pid}/status"))?, "VmRSS:"),
    };
    kib(&text, key).ok_or_else(|| io::Error::other(format!("no {key} in /proc")))
}

fn kib(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    value.trim().trim_end_matches("kB").trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_own_process() {
        assert!(resident_kib(std::process::id()).expect("memory") > 100);
    }
}
