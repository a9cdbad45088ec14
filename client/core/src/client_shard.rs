//! Shard of a run's clients, for runs that are divided among several load generators.

use std::fmt;
use std::str::FromStr;

use vocabulary::wire::MAX_SHARDS;

/// Share of a run's clients that one load generator executes. With n shards, client c belongs to shard c mod n. An op
/// has the same number, arrival and random draws as in an undivided run, whichever shard executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientShard {
    index: u32,
    /// Number of load generators (shards) among which the run's clients are divided; greater than `index`.
    of: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientShardError {
    #[error("`{0}` is not a valid shard; write `I/N`, such as `0/4` for the first of four")]
    Form(String),
    #[error("the number of shards is {0}; it must be from 1 to {MAX_SHARDS}")]
    Count(u32),
    #[error("there is no shard {index} of {of}: shards are numbered from 0 to {}", of - 1)]
    Index { index: u32, of: u32 },
}

impl ClientShard {
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Creates one of several shards. `index` is its number, counted from 0, and `of` is the total number of shards.
    ///
    /// # Errors
    /// Fails if `of` is 0 or greater than [`MAX_SHARDS`], or if `index` is not less than `of`.
    pub const fn new(index: u32, of: u32) -> Result<Self, ClientShardError> {
        if of == 0 || of > MAX_SHARDS {
            return Err(ClientShardError::Count(of));
        }
        if index >= of {
            return Err(ClientShardError::Index { index, of });
        }
        Ok(Self { index, of })
    }

    pub const fn index(self) -> u32 {
        self.index
    }

    pub const fn of(self) -> u32 {
        self.of
    }

    /// Returns how many of the first `clients` clients belong to this shard.
    pub const fn count(self, clients: u32) -> u32 {
        clients.saturating_sub(self.index).div_ceil(self.of)
    }

    /// Returns how many of a run's first `ops` ops belong to clients of this shard. Ops are assigned to clients in
    /// turn.
    pub(crate) fn ops(self, ops: u64, clients: u32) -> u64 {
        let all = u64::from(clients.max(1));
        let last_round = u32::try_from(ops % all).unwrap_or(clients);
        ops / all * u64::from(self.count(clients.max(1))) + u64::from(self.count(last_round))
    }

    pub(crate) const fn has(self, client: u32) -> bool {
        self.of == 1 || client % self.of == self.index
    }

    #[inline]
    pub(crate) const fn place(self, client: u32) -> u32 {
        // Fast path: skips the division if there is only one shard, the usual case. The comparison is cheaper than the
        // division.
        if self.of == 1 { client } else { client / self.of }
    }

    /// Returns the global id of the `place`-th client of this shard, from 0.
    pub const fn client(self, place: u32) -> u32 {
        self.index + place * self.of
    }
}

impl Default for ClientShard {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl fmt::Display for ClientShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for ClientShard {
    type Err = ClientShardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|_| !text.starts_with('+'));
        let numbers = text.split_once('/').and_then(|(index, of)| Some((number(index)?, number(of)?)));
        let (index, of) = numbers.ok_or_else(|| ClientShardError::Form(text.to_owned()))?;
        Self::new(index, of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_belongs_to_one_shard_and_has_a_place_there() {
        for (clients, of) in [(1, 1), (4, 4), (10, 3), (7, 5)] {
            let shards: Vec<_> = (0..of).map(|index| ClientShard::new(index, of).unwrap()).collect();
            assert_eq!(shards.iter().map(|shard| shard.count(clients)).sum::<u32>(), clients);
            for client in 0..clients {
                let owners: Vec<_> = shards.iter().filter(|shard| shard.has(client)).collect();
                let [owner] = owners[..] else { panic!("{client} of {clients} in {of}: {owners:?}") };
                assert!(owner.place(client) < owner.count(clients));
                assert_eq!(owner.client(owner.place(client)), client);
            }
        }
    }

    #[test]
    fn shards_are_parsed_and_invalid_ones_rejected_with_the_reason() {
        let read = |text: &str| text.parse::<ClientShard>().map(|shard| shard.to_string());
        assert_eq!(read("3/4"), Ok("3/4".to_owned()));
        for (text, words) in [
            ("4/4", "there is no shard 4 of 4: shards are numbered from 0 to 3"),
            ("0/0", "the number of shards is 0; it must be from 1 to 1024"),
            ("1/1025", "the number of shards is 1025; it must be from 1 to 1024"),
            ("1", "`1` is not a valid shard; write `I/N`, such as `0/4` for the first of four"),
            ("-1/4", "`-1/4` is not a valid shard; write `I/N`, such as `0/4` for the first of four"),
            ("+1/4", "`+1/4` is not a valid shard; write `I/N`, such as `0/4` for the first of four"),
        ] {
            assert_eq!(read(text).map_err(|error| error.to_string()), Err(words.to_owned()), "{text}");
        }
    }
}
