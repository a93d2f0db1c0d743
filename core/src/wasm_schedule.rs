//! The wasm exports of `schedule`. Pairs cross as flat lists `a, b, a, b, …`; indices come as doubles, so that what isn't
//! an index is an error and not a wrapped number.

use crate::error::{CoreError, Result};
use crate::number;
use crate::schedule::{
    MAXIMUM_CANDIDATES, Pair, Standings, pivot_pairs, ring_pairs, round_robin_pairs,
    shuffled_indices, upstream_pivot_round, upstream_pivots, upstream_rings, upstream_standings,
};
use crate::wasm::{Exported, thrown};
use wasm_bindgen::prelude::*;

/// A whole number from 0 to `limit`.
pub(crate) fn whole(path: impl Into<String>, value: f64, limit: usize) -> Result<usize> {
    if value >= 0.0 && value <= limit as f64 && value.fract() == 0.0 {
        Ok(value as usize)
    } else {
        Err(CoreError::with_value(
            path,
            format!("must be a whole number from 0 to {limit}"),
            number::text(value),
        ))
    }
}

/// A number of candidates.
pub(crate) fn candidates(value: f64) -> Result<usize> {
    whole("/count", value, MAXIMUM_CANDIDATES)
}

fn seed_of(value: f64) -> Result<i64> {
    if value.fract() == 0.0 && value.abs() <= (1u64 << 53) as f64 {
        Ok(value as i64)
    } else {
        Err(CoreError::with_value(
            "/seed",
            "must be an integer from -2^53 to 2^53",
            number::text(value),
        ))
    }
}

fn indices(name: &str, values: &[f64]) -> Result<Vec<usize>> {
    values
        .iter()
        .enumerate()
        .map(|(i, &v)| whole(format!("/{name}/{i}"), v, MAXIMUM_CANDIDATES))
        .collect()
}

fn pairs_of(name: &str, flat: &[f64]) -> Result<Vec<Pair>> {
    let (pairs, rest) = flat.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(CoreError::new(
            format!("/{name}"),
            "must hold two numbers per pair",
        ));
    }
    pairs
        .iter()
        .enumerate()
        .map(|(i, &[a, b])| {
            Ok((
                whole(format!("/{name}/{i}/0"), a, MAXIMUM_CANDIDATES)?,
                whole(format!("/{name}/{i}/1"), b, MAXIMUM_CANDIDATES)?,
            ))
        })
        .collect()
}

fn flat(pairs: Result<Vec<Pair>>) -> Exported<Vec<u32>> {
    let pairs = pairs.map_err(thrown)?;
    Ok(pairs
        .into_iter()
        .flat_map(|(a, b)| [a as u32, b as u32])
        .collect())
}

fn list(indices: Vec<usize>) -> Vec<u32> {
    indices.into_iter().map(|i| i as u32).collect()
}

/// See `schedule::shuffled_indices`.
#[wasm_bindgen(js_name = shuffledIndices)]
pub fn shuffled_indices_export(count: f64, seed: f64) -> Exported<Vec<u32>> {
    let run = || shuffled_indices(candidates(count)?, seed_of(seed)?);
    run().map(list).map_err(thrown)
}

/// See `schedule::ring_pairs`.
#[wasm_bindgen(js_name = ringPairs)]
pub fn ring_pairs_export(count: f64, seed: f64) -> Exported<Vec<u32>> {
    let run = || ring_pairs(candidates(count)?, seed_of(seed)?);
    flat(run())
}

/// See `schedule::round_robin_pairs`.
#[wasm_bindgen(js_name = roundRobinPairs)]
pub fn round_robin_pairs_export(count: f64, seed: f64) -> Exported<Vec<u32>> {
    let run = || round_robin_pairs(candidates(count)?, seed_of(seed)?);
    flat(run())
}

/// See `schedule::pivot_pairs`.
#[wasm_bindgen(js_name = pivotPairs)]
pub fn pivot_pairs_export(count: f64, pivots: &[f64], bought: &[f64]) -> Exported<Vec<u32>> {
    let run = || {
        pivot_pairs(
            candidates(count)?,
            &indices("pivots", pivots)?,
            &pairs_of("bought", bought)?,
        )
    };
    flat(run())
}

/// See `schedule::upstream_rings`; the rings one behind the other.
#[wasm_bindgen(js_name = upstreamRings)]
pub fn upstream_rings_export(counts: &[f64], seed: f64) -> Exported<Vec<u32>> {
    let run = || {
        let counts = counts
            .iter()
            .map(|&c| candidates(c))
            .collect::<Result<Vec<_>>>()?;
        Ok(upstream_rings(&counts, seed_of(seed)?)?.concat())
    };
    flat(run())
}

/// See `schedule::upstream_pivot_round`.
#[wasm_bindgen(js_name = upstreamPivotRound)]
pub fn upstream_pivot_round_export(count: f64, pivots: &[f64]) -> Exported<Vec<u32>> {
    let run = || upstream_pivot_round(candidates(count)?, &indices("pivots", pivots)?);
    flat(run())
}

/// See `schedule::upstream_standings`: the wins, then the games. Rewards cross like pairs.
#[wasm_bindgen(js_name = upstreamStandings)]
pub fn upstream_standings_export(count: f64, pairs: &[f64], rewards: &[f64]) -> Exported<Vec<f64>> {
    let run = || {
        let rewards: Vec<(f64, f64)> = rewards
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&[a, b]| (a, b))
            .collect();
        let s = upstream_standings(candidates(count)?, &pairs_of("pairs", pairs)?, &rewards)?;
        Ok([s.wins, s.games.into_iter().map(f64::from).collect()].concat())
    };
    run().map_err(thrown)
}

/// See `schedule::upstream_pivots`, from wins and games as `upstreamStandings` gives them.
#[wasm_bindgen(js_name = upstreamPivots)]
pub fn upstream_pivots_export(wins: &[f64], games: &[f64], pivots: f64) -> Exported<Vec<u32>> {
    let run = || {
        candidates(wins.len() as f64)?;
        if games.len() != wins.len() {
            return Err(CoreError::new("/games", "must be as many as the wins"));
        }
        let games = games
            .iter()
            .enumerate()
            .map(|(i, &g)| Ok(whole(format!("/games/{i}"), g, u32::MAX as usize)? as u32))
            .collect::<Result<Vec<u32>>>()?;
        let standings = Standings {
            wins: wins.to_vec(),
            games,
        };
        Ok(upstream_pivots(
            &standings,
            whole("/pivots", pivots, MAXIMUM_CANDIDATES)?,
        ))
    };
    run().map(list).map_err(thrown)
}
