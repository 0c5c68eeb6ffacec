//! Writes down what is said in the cases that ask, for `interop/transcripts`.

use std::{error::Error, fs, path::Path};

use antiphon_interop::{cases::ASKING, process::Outcome};

use crate::{
    cell::{Case, End, Pairing, Transport},
    peers::{Ours, Peer},
    play,
};

/// A file for each peer, era and end, in this folder. Only what passes is written down.
pub(crate) fn record(
    peers: &[Peer],
    ours: &Ours,
    tap: &Path,
    folder: &Path,
) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    for pairing in Pairing::all(peers) {
        if pairing.transport != Transport::Stdio {
            continue;
        }
        let role = match pairing.our_end {
            End::Client => "server",
            End::Tool => continue,
            End::Server => "client",
        };
        let peer = pairing.peer.name.to_lowercase().replace(' ', "-");
        let file = folder.join(format!("{peer}-{role}-{}.txt", pairing.era));
        fs::write(&file, format!("# {pairing}\n"))?;
        let (server, client) = pairing.programs(ours);
        for case in ASKING.map(Case) {
            let before = fs::read_to_string(&file)?;
            let mut tapped: Vec<_> = [tap, &file]
                .map(|path| path.to_string_lossy().into_owned())
                .to_vec();
            tapped.push(case.0.to_owned());
            tapped.extend_from_slice(server);
            let played = play::play(&tapped, client, &pairing, &[case]);
            if let [(_, Outcome::Passed)] = &played[..] {
                continue;
            }
            println!("not recorded: {pairing}, {}", case.0);
            fs::write(&file, before)?;
        }
    }
    Ok(())
}
