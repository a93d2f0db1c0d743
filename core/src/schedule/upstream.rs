//! The published reference's tournament (LLM-as-a-Verifier 0.2.0), for reproduction: pairs repeated, pivots always in
//! slot B, soft wins averaged without regard to the opponent.

use super::{Pair, Random, check_count, check_pairs, check_pivots};
use crate::error::{CoreError, Result};
use crate::number;
use crate::order::order;

/// Rings of several tournaments from one generator, as the reference's benchmark script draws them; with one count, the
/// ring of its `select`. Two candidates have both directions of their pair, fewer have none.
///
/// # Errors
/// More than 1,000 candidates, or a seed beyond 2^53.
pub fn upstream_rings(counts: &[usize], seed: i64) -> Result<Vec<Vec<Pair>>> {
    let mut random = Random::new(seed)?;
    counts
        .iter()
        .map(|&count| {
            check_count(count)?;
            let mut order: Vec<usize> = (0..count).collect();
            if count > 1 {
                random.shuffle(&mut order);
            }
            let pairs = if count > 1 { count } else { 0 };
            Ok((0..pairs)
                .map(|i| (order[i], order[(i + 1) % count]))
                .collect())
        })
        .collect()
}

/// The reference's pivot round: non-pivots ascending against the pivots in their order, the pivot in slot B; then each
/// two pivots, the lower index in slot A, in the order of their indices. Pairs of the ring are repeated.
///
/// # Errors
/// Too many candidates, a pivot out of range or repeated.
pub fn upstream_pivot_round(count: usize, pivots: &[usize]) -> Result<Vec<Pair>> {
    check_count(count)?;
    check_pivots(count, pivots)?;
    let sorted: Vec<usize> = order(pivots.len(), &|i, j| pivots[i].cmp(&pivots[j]))
        .into_iter()
        .map(|i| pivots[i])
        .collect();
    let mut pairs: Vec<Pair> = (0..count)
        .filter(|i| sorted.binary_search(i).is_err())
        .flat_map(|i| pivots.iter().map(move |&p| (i, p)))
        .collect();
    for (i, &p) in sorted.iter().enumerate() {
        pairs.extend(sorted[i + 1..].iter().map(|&q| (p, q)));
    }
    Ok(pairs)
}

/// Probability that the first of two rewards wins, `1 / (1 + exp(second - first))`; 0.27 to 0.73 for rewards of 0 to 1.
pub fn soft_win(first: f64, second: f64) -> f64 {
    1.0 / (1.0 + (-(first - second)).exp())
}

/// Soft wins and games of every candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Standings {
    /// Sum of [`soft_win`] over the candidate's pairs.
    pub wins: Vec<f64>,
    /// How many pairs the candidate was in.
    pub games: Vec<u32>,
}

impl Standings {
    /// Mean soft win; 0 without a game, as in the reference.
    pub fn rate(&self, candidate: usize) -> f64 {
        self.wins[candidate] / f64::from(self.games[candidate].max(1))
    }

    /// Candidates by falling mean soft win, ties to the lower index. Its first is the reference's pick.
    pub fn ranking(&self) -> Vec<usize> {
        order(self.wins.len(), &|i, j| {
            self.rate(j).total_cmp(&self.rate(i))
        })
    }
}

/// Adds up soft wins over pairs and their rewards `(slot A, slot B)`, in order; a pair that comes twice counts twice.
///
/// # Errors
/// Too many candidates, a pair out of range or of one candidate, another number of rewards, a reward outside 0 to 1.
pub fn upstream_standings(
    count: usize,
    pairs: &[Pair],
    rewards: &[(f64, f64)],
) -> Result<Standings> {
    check_count(count)?;
    check_pairs("pairs", count, pairs)?;
    if rewards.len() != pairs.len() {
        return Err(CoreError::with_value(
            "/rewards",
            format!("must be as many as the pairs ({})", pairs.len()),
            rewards.len(),
        ));
    }
    let mut standings = Standings {
        wins: vec![0.0; count],
        games: vec![0; count],
    };
    for (i, (&(a, b), &(first, second))) in pairs.iter().zip(rewards).enumerate() {
        for reward in [first, second] {
            if !(0.0..=1.0).contains(&reward) {
                return Err(CoreError::with_value(
                    format!("/rewards/{i}"),
                    "must be from 0 to 1",
                    number::text(reward),
                ));
            }
        }
        let win = soft_win(first, second);
        standings.wins[a] += win;
        standings.wins[b] += 1.0 - win;
        standings.games[a] += 1;
        standings.games[b] += 1;
    }
    Ok(standings)
}

/// The `pivots` candidates (or all, if fewer) of the highest mean soft win, best first, ties to the lower index.
pub fn upstream_pivots(standings: &Standings, pivots: usize) -> Vec<usize> {
    let mut order = standings.ranking();
    order.truncate(pivots);
    order
}
