//! The wasm exports of `rating`. Observations cross as five doubles each: a, b, criterion, difference, weight.

use crate::error::{CoreError, Result};
use crate::rating::{Calibration, Observation, Rating, probability_right};
use crate::wasm::{Exported, thrown};
use crate::wasm_schedule::{candidates, whole};
use wasm_bindgen::prelude::*;

/// Largest criterion number: what an index can be, far beyond what a rubric holds.
const MAXIMUM_CRITERION: usize = 1_000_000;

fn rating_of(count: f64, calls: &[f64], prior_means: &[f64]) -> Result<Rating> {
    let count = candidates(count)?;
    let (calls, rest) = calls.as_chunks::<5>();
    if !rest.is_empty() {
        return Err(CoreError::new(
            "/observations",
            "must hold five numbers each",
        ));
    }
    let observations = calls
        .iter()
        .enumerate()
        .map(|(i, &[a, b, criterion, difference, weight])| {
            let path = |field: &str| format!("/observations/{i}/{field}");
            let last = count.saturating_sub(1);
            Ok(Observation {
                a: whole(path("a"), a, last)?,
                b: whole(path("b"), b, last)?,
                criterion: whole(path("criterion"), criterion, MAXIMUM_CRITERION)?,
                difference,
                weight,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    Rating::from_observations(count, prior_means, &observations)
}

/// See `rating::Rating`. Slot bias, noise scale, cycle residual (`NaN` = none); then strengths, standard errors and
/// probabilities of being best, `count` of each.
#[wasm_bindgen]
pub fn rate(count: f64, calls: &[f64], prior_means: &[f64]) -> Exported<Vec<f64>> {
    let run = || {
        let posterior = rating_of(count, calls, prior_means)?.posterior();
        let best = posterior.probability_best()?;
        let head = vec![
            posterior.slot_bias,
            posterior.noise_scale,
            posterior.cycle_residual.unwrap_or(f64::NAN),
        ];
        Ok([head, posterior.strength, posterior.standard_error, best].concat())
    };
    run().map_err(thrown)
}

/// See `rating::probability_right`.
#[wasm_bindgen(js_name = probabilityRight)]
pub fn probability_right_export(
    count: f64,
    calls: &[f64],
    prior_means: &[f64],
    pick: f64,
    pair_accuracy: f64,
    pass_rate: f64,
) -> Exported<f64> {
    let run = || {
        let rating = rating_of(count, calls, prior_means)?;
        let pick = whole("/pick", pick, rating.count().saturating_sub(1))?;
        probability_right(
            &rating,
            pick,
            Calibration {
                pair_accuracy,
                pass_rate,
            },
        )
    };
    run().map_err(thrown)
}
