//! The pivot round and who sits in which slot of it.

use super::{Pair, check_count, check_pairs, check_pivots};
use crate::error::Result;
use std::collections::{BTreeSet, VecDeque};

/// Every non-pivot against every pivot, then the pivots among themselves, without pairs that are in `bought` in either
/// direction; the slots are balanced over `bought` and these pairs together.
///
/// A pair goes to whoever has been less often in slot A; on a tie to whoever has been there before, because the prompt
/// prefix up to the text in slot A is then already in the provider's cache. What that leaves unbalanced is repaired by
/// turning around chains of pairs: nobody's slot counts differ by more than the worst difference in `bought` plus 1, so
/// by at most 1 after a ring.
///
/// Order: non-pivots ascending, each against the pivots in their order; then pivots in their order.
///
/// # Errors
/// Too many candidates, a pivot or a bought pair out of range, a repeated pivot, a pair of one candidate with itself.
pub fn pivot_pairs(count: usize, pivots: &[usize], bought: &[Pair]) -> Result<Vec<Pair>> {
    check_count(count)?;
    check_pivots(count, pivots)?;
    check_pairs("bought", count, bought)?;
    // Not collected, which would sort.
    let mut known = BTreeSet::new();
    for &(a, b) in bought {
        known.insert((a.min(b), a.max(b)));
    }
    let mut is_pivot = vec![false; count];
    pivots.iter().for_each(|&p| is_pivot[p] = true);
    let outer = (0..count)
        .filter(|&i| !is_pivot[i])
        .flat_map(|i| pivots.iter().map(move |&p| (i, p)));
    let inner = pivots
        .iter()
        .enumerate()
        .flat_map(|(i, &p)| pivots[i + 1..].iter().map(move |&q| (p, q)));
    let mut pairs: Vec<Pair> = outer
        .chain(inner)
        .filter(|&(a, b)| !known.contains(&(a.min(b), a.max(b))))
        .collect();
    orient(count, &mut pairs, bought);
    Ok(pairs)
}

/// Slot A minus slot B of every candidate.
fn imbalance(count: usize, pairs: &[Pair]) -> Vec<i64> {
    let mut balance = vec![0i64; count];
    for &(a, b) in pairs {
        balance[a] += 1;
        balance[b] -= 1;
    }
    balance
}

fn orient(count: usize, pairs: &mut [Pair], bought: &[Pair]) {
    let mut balance = imbalance(count, bought);
    let mut warm = vec![false; count];
    bought.iter().for_each(|&(a, _)| warm[a] = true);
    for pair in pairs.iter_mut() {
        let (a, b) = *pair;
        let turn = balance[b] < balance[a] || (balance[b] == balance[a] && warm[b] && !warm[a]);
        if turn {
            *pair = (b, a);
        }
        balance[pair.0] += 1;
        balance[pair.1] -= 1;
        warm[pair.0] = true;
    }
    repair(pairs, &mut balance);
}

/// Turning around a chain of pairs from `x` to `y` takes 2 from the balance of `x`, gives it to `y` and leaves the
/// candidates between as they are. Done as long as a candidate that is 2 or more away from 0 has a chain to one that
/// ends up nearer to 0 than it was itself; the sum of squares falls each time.
///
/// When that ends, nobody is further from 0 than the worst was before the round, plus 1: all that can be reached from
/// a candidate at `s` stand at `s - 2` or more, no pair of the round leads out of them, so their mean is at most what
/// it was before.
fn repair(pairs: &mut [Pair], balance: &mut [i64]) {
    loop {
        let mut improved = false;
        for start in 0..balance.len() {
            while balance[start].abs() >= 2 {
                let sign = balance[start].signum();
                let Some(chain) = chain_from(pairs, balance, start, sign) else {
                    break;
                };
                let end = *chain.last().map_or(&start, |(_, end)| end);
                for (pair, _) in chain {
                    let (a, b) = pairs[pair];
                    pairs[pair] = (b, a);
                }
                balance[start] -= 2 * sign;
                balance[end] += 2 * sign;
                improved = true;
            }
        }
        if !improved {
            return;
        }
    }
}

/// The shortest chain from `start` along the pairs (against them with `sign` -1) to a candidate that stands 3 or more
/// lower (higher): the pairs on it and the candidate that each leads to.
fn chain_from(
    pairs: &[Pair],
    balance: &[i64],
    start: usize,
    sign: i64,
) -> Option<Vec<(usize, usize)>> {
    let mut next: Vec<Vec<(usize, usize)>> = vec![Vec::new(); balance.len()];
    for (i, &(a, b)) in pairs.iter().enumerate() {
        let (from, to) = if sign > 0 { (a, b) } else { (b, a) };
        next[from].push((i, to));
    }
    let mut came: Vec<Option<(usize, usize)>> = vec![None; balance.len()];
    let mut queue = VecDeque::from([start]);
    let mut seen = vec![false; balance.len()];
    seen[start] = true;
    while let Some(at) = queue.pop_front() {
        if balance[at] * sign + 3 <= balance[start] * sign {
            let mut chain = Vec::new();
            let mut end = at;
            while let Some((pair, from)) = came[end] {
                chain.push((pair, end));
                end = from;
            }
            chain.reverse();
            return Some(chain);
        }
        for &(pair, to) in &next[at] {
            if !seen[to] {
                seen[to] = true;
                came[to] = Some((pair, at));
                queue.push_back(to);
            }
        }
    }
    None
}
