//! Which pairs to buy: rings, pivot rounds, round robins.
//!
//! Our own schedules buy no pair twice, in neither direction, and balance the slots: judges favour one of the two places
//! in the prompt, and a candidate that sits in both equally often is neither favoured nor harmed. The published
//! reference's schedules ([`upstream_rings`], [`upstream_pivot_round`]) do neither and are there for reproduction.
//!
//! A pair is `(a, b)`: candidate `a` shown in slot A, `b` in slot B. Everything is a pure function of its arguments.
//! Random numbers are CPython's (MT19937, seeded by `init_by_array` with the 32-bit words of the seed's absolute value),
//! so that a seed gives the reference's rings.

use crate::error::{CoreError, Result};
use rand_mt::Mt;

mod orient;
mod upstream;

pub use orient::pivot_pairs;
pub use upstream::{
    Standings, soft_win, upstream_pivot_round, upstream_pivots, upstream_rings, upstream_standings,
};

/// A directed pair: slot A, slot B.
pub type Pair = (usize, usize);

/// Most candidates of one schedule.
pub const MAXIMUM_CANDIDATES: usize = 1000;

/// Largest absolute seed: 2^53, up to which a JavaScript number holds every integer.
pub const MAXIMUM_SEED: u64 = 1 << 53;

/// CPython's `random.Random(seed)`, as far as shuffling needs it.
#[derive(Debug, Clone)]
pub struct Random(Mt);

impl Random {
    /// The generator of a seed; like CPython's it ignores the sign.
    ///
    /// # Errors
    /// A seed beyond [`MAXIMUM_SEED`].
    pub fn new(seed: i64) -> Result<Self> {
        let size = seed.unsigned_abs();
        if size > MAXIMUM_SEED {
            return Err(CoreError::with_value(
                "/seed",
                "must be an integer from -2^53 to 2^53",
                seed,
            ));
        }
        let (low, high) = (size as u32, (size >> 32) as u32);
        Ok(Self(if high == 0 {
            Mt::new_with_key([low])
        } else {
            Mt::new_with_key([low, high])
        }))
    }

    /// The next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A uniform number from 0 inclusive to 1 exclusive, of 53 bits: CPython's `random()`.
    pub fn uniform(&mut self) -> f64 {
        let (high, low) = (self.next_u32() >> 5, self.next_u32() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// A uniform integer below `limit` (at least 1): the top bits of a word, drawn again until they are below.
    pub fn below(&mut self, limit: u32) -> u32 {
        let shift = limit.leading_zeros();
        loop {
            let drawn = self.next_u32() >> shift;
            if drawn < limit {
                return drawn;
            }
        }
    }

    /// Shuffles in place: from the last place down to the second, swap with a place at or before it.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }
}

pub(crate) fn check_count(count: usize) -> Result<()> {
    if count <= MAXIMUM_CANDIDATES {
        Ok(())
    } else {
        Err(CoreError::with_value(
            "/count",
            format!("must be at most {MAXIMUM_CANDIDATES}"),
            count,
        ))
    }
}

fn check_pivots(count: usize, pivots: &[usize]) -> Result<()> {
    let mut seen = vec![false; count];
    for (i, &pivot) in pivots.iter().enumerate() {
        let what = if pivot >= count {
            format!("must be a candidate below {count}")
        } else if std::mem::replace(&mut seen[pivot], true) {
            "must not be repeated".to_string()
        } else {
            continue;
        };
        return Err(CoreError::with_value(format!("/pivots/{i}"), what, pivot));
    }
    Ok(())
}

pub(crate) fn check_pairs(name: &str, count: usize, pairs: &[Pair]) -> Result<()> {
    for (i, &(a, b)) in pairs.iter().enumerate() {
        for (slot, candidate) in [a, b].into_iter().enumerate() {
            if candidate >= count {
                return Err(CoreError::with_value(
                    format!("/{name}/{i}/{slot}"),
                    format!("must be a candidate below {count}"),
                    candidate,
                ));
            }
        }
        if a == b {
            return Err(CoreError::with_value(
                format!("/{name}/{i}"),
                "must be two different candidates",
                a,
            ));
        }
    }
    Ok(())
}

/// A permutation of `0 … count - 1`: what CPython's `random.Random(seed).shuffle` makes of that list.
///
/// # Errors
/// More than [`MAXIMUM_CANDIDATES`], or a seed beyond [`MAXIMUM_SEED`].
pub fn shuffled_indices(count: usize, seed: i64) -> Result<Vec<usize>> {
    check_count(count)?;
    let mut indices: Vec<usize> = (0..count).collect();
    Random::new(seed)?.shuffle(&mut indices);
    Ok(indices)
}

/// A random ring: from three candidates on, `count` pairs in which each one sits once in slot A and once in slot B; for
/// two candidates their one pair; below, none.
///
/// # Errors
/// As [`shuffled_indices`].
pub fn ring_pairs(count: usize, seed: i64) -> Result<Vec<Pair>> {
    let order = shuffled_indices(count, seed)?;
    let pairs = match count {
        0 | 1 => 0,
        2 => 1,
        _ => count,
    };
    Ok((0..pairs)
        .map(|i| (order[i], order[(i + 1) % count]))
        .collect())
}

/// Every unordered pair once, `count (count - 1) / 2` in all, in random order. Slot counts of a candidate differ by 0
/// (odd `count`) or 1 (even).
///
/// Each candidate on a random circle sits in slot A against the next half of it; opposite ones, in an even circle, meet
/// once, in a random orientation.
///
/// # Errors
/// As [`shuffled_indices`].
pub fn round_robin_pairs(count: usize, seed: i64) -> Result<Vec<Pair>> {
    check_count(count)?;
    let mut random = Random::new(seed)?;
    let mut circle: Vec<usize> = (0..count).collect();
    random.shuffle(&mut circle);
    let mut pairs = Vec::with_capacity(count * count.saturating_sub(1) / 2);
    for i in 0..count {
        for step in 1..=count.saturating_sub(1) / 2 {
            pairs.push((circle[i], circle[(i + step) % count]));
        }
    }
    if count.is_multiple_of(2) {
        for i in 0..count / 2 {
            let (a, b) = (circle[i], circle[i + count / 2]);
            pairs.push(if random.below(2) == 0 { (a, b) } else { (b, a) });
        }
    }
    random.shuffle(&mut pairs);
    Ok(pairs)
}

#[cfg(test)]
#[path = "schedule_test.rs"]
mod tests;
