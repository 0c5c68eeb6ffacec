//! Samples by area. Each is built for a revision, with the members it has:
//! a minimal one and a full one.

mod capabilities;
mod complete;
mod content;
mod elicit;
mod form;
mod handshake;
mod jsonrpc;
mod listen;
mod notification;
mod parts;
mod prompt;
mod resource;
mod roots;
mod round;
mod sampling;
mod task;
mod tool;

use antiphon_types::Version;

use crate::sample::Samples;

/// All samples of a revision.
pub(crate) fn of(version: Version) -> Samples {
    let mut samples = Samples::new(version);
    for add in [
        jsonrpc::add,
        capabilities::add,
        content::add,
        tool::add,
        prompt::add,
        resource::add,
        complete::add,
        sampling::add,
        roots::add,
        notification::add,
    ] {
        add(&mut samples);
    }
    if samples.since(Version::V2025_06_18) {
        form::add(&mut samples);
        elicit::add(&mut samples);
    }
    if version == Version::V2025_11_25 {
        task::add(&mut samples);
    }
    if samples.modern() {
        round::add(&mut samples);
        listen::add(&mut samples);
    } else {
        handshake::add(&mut samples);
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_survives_decoding() {
        for version in Version::MODERN.iter().chain(Version::LEGACY) {
            for sample in of(*version).list {
                assert_eq!(sample.again.as_ref(), Ok(&sample.json), "{version}");
            }
        }
    }
}
