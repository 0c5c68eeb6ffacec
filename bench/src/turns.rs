//! Taking turns: one burst each per round, so that a busy moment of the machine meets all.

use std::{future::Future, io, time::Duration};

use tokio::time::timeout;

use crate::load::Burst;

/// How much longer than its length a burst may take.
const GRACE: Duration = Duration::from_secs(20);

/// How many turns there are, and how long one is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) rounds: u32,
    pub(crate) burst: Duration,
}

/// Somebody whose turn it may be.
pub(crate) trait Player {
    /// Works for so long.
    fn burst(&mut self, length: Duration) -> impl Future<Output = io::Result<Burst>>;
}

impl Pace {
    /// The bursts of each player, or why there are none. The first round only warms up, and another
    /// player opens each round.
    pub(crate) async fn take_turns<P: Player>(
        self,
        players: &mut [P],
    ) -> Vec<io::Result<Vec<Burst>>> {
        let mut results: Vec<io::Result<Vec<Burst>>> =
            players.iter().map(|_| Ok(Vec::new())).collect();
        for round in 0..=self.rounds {
            for turn in 0..players.len() {
                let at = (turn + round as usize) % players.len();
                let Ok(bursts) = &mut results[at] else {
                    continue;
                };
                match self.turn(&mut players[at]).await {
                    Ok(burst) if round > 0 => bursts.push(burst),
                    Ok(_) => {}
                    Err(error) => results[at] = Err(error),
                }
            }
        }
        results
    }

    async fn turn(self, player: &mut impl Player) -> io::Result<Burst> {
        match timeout(self.burst + GRACE, player.burst(self.burst)).await {
            Ok(burst) => burst,
            Err(_) => Err(io::Error::other("an answer is missing")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, rc::Rc};

    use super::*;

    /// Writes down its turns, and fails at one of them.
    struct Named {
        name: char,
        turns: Rc<RefCell<String>>,
        fails_at: Option<usize>,
    }

    impl Player for Named {
        async fn burst(&mut self, _: Duration) -> io::Result<Burst> {
            let mut turns = self.turns.borrow_mut();
            turns.push(self.name);
            let mine = turns.matches(self.name).count();
            match self.fails_at == Some(mine) {
                true => Err(io::Error::other("tired")),
                false => Ok(Burst::default()),
            }
        }
    }

    #[tokio::test]
    async fn the_order_shifts_and_whoever_fails_is_out() {
        let turns = Rc::new(RefCell::new(String::new()));
        let player = |name, fails_at| Named {
            name,
            turns: turns.clone(),
            fails_at,
        };
        let mut players = [player('a', None), player('b', Some(2)), player('c', None)];
        let pace = Pace {
            rounds: 2,
            burst: Duration::from_millis(1),
        };
        let results = pace.take_turns(&mut players).await;
        assert_eq!(*turns.borrow(), "abcbcaca");
        assert_eq!(results[0].as_ref().map_or(0, Vec::len), 2);
        assert!(results[1].is_err());
    }
}
