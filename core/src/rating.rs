//! Strengths, slot bias and noise from scored calls: a linear Gaussian model.
//!
//! A call that showed candidate `a` in slot A and `b` in slot B, for criterion `c`, gives the difference
//!
//! ```text
//! y = R_a - R_b = theta_a - theta_b + beta + s e_ab + s f_ab,c + eps        s = 1 if a < b else -1
//! ```
//!
//! with independent Gaussian `theta` (strengths), `beta` (how much slot A is favoured), `e` (what the judge holds
//! against one candidate in this pair, whatever the criterion), `f` (the same for one criterion) and `eps` (the call).
//! `e` and `f` belong to one pair each, so given strengths and slot bias the pairs are independent, and both are
//! integrated out pair by pair (Woodbury's identity, twice): what remains is one system of `count + 1` unknowns, solved by
//! Cholesky. The variances come from a judge that was calibrated on published accuracies.
//!
//! The noise may be larger or smaller than the model thinks. With `q` the squared Mahalanobis norm of all `k`
//! differences under the prior predictive distribution (the sum of squared innovations of a Kalman filter, in any
//! order), standard errors are multiplied by `sqrt((8 + q) / (8 + k))`.
//!
//! [`Rating`] keeps sufficient statistics per pair and criterion, and they only ever add up. An adaptive selection can
//! therefore hold one, clone it to try a call out, and read directions and gains off [`Posterior`] (its `solve` gives
//! posterior covariances); nothing here assumes that the schedule is fixed.

use crate::error::{CoreError, Result};
use crate::number;
use crate::order::order;
use crate::schedule::check_count;
use std::collections::BTreeMap;

mod cycle;
mod linear;
mod posterior;
mod right;

pub use posterior::Posterior;
pub use right::{Calibration, probability_right};

/// Variance of a strength.
pub const STRENGTH_VARIANCE: f64 = 0.028;
/// Variance of the slot bias.
pub const SLOT_VARIANCE: f64 = 0.0064;
/// Variance of a pair's persistent effect.
pub const PAIR_VARIANCE: f64 = 0.012;
/// Variance of a pair's persistent effect in one criterion.
pub const PAIR_CRITERION_VARIANCE: f64 = 0.02;
/// Variance of one call of weight 1.
pub const CALL_VARIANCE: f64 = 0.05;

/// One scored call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// Candidate in slot A.
    pub a: usize,
    /// Candidate in slot B.
    pub b: usize,
    /// Number of the criterion.
    pub criterion: usize,
    /// Score in slot A minus score in slot B, -1 to 1.
    pub difference: f64,
    /// Positive; the call's variance is divided by it.
    pub weight: f64,
}

/// Sums over the calls of one pair and criterion, in the pair's own direction (lower index first): `u` is 1, `s` is 1
/// where the lower index sat in slot A and -1 elsewhere, `z = s y`. Each term is divided by its call's variance.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// Sum of `u u`, and of `s s`.
    uu: f64,
    us: f64,
    uz: f64,
    sz: f64,
    zz: f64,
}

/// A symmetric bilinear form on `u`, `s` and `z`: `x' K^-1 y` with `K` the covariance of the pair's calls.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Form {
    pub uu: f64,
    pub us: f64,
    pub ss: f64,
    pub uz: f64,
    pub sz: f64,
    pub zz: f64,
}

impl Form {
    fn add(&mut self, other: &Form) {
        self.uu += other.uu;
        self.us += other.us;
        self.ss += other.ss;
        self.uz += other.uz;
        self.sz += other.sz;
        self.zz += other.zz;
    }

    /// The form after adding an effect of this variance that all calls share.
    fn sharing(&self, variance: f64) -> Form {
        let k = variance / (1.0 + variance * self.uu);
        Form {
            uu: self.uu - k * self.uu * self.uu,
            us: self.us - k * self.uu * self.us,
            ss: self.ss - k * self.us * self.us,
            uz: self.uz - k * self.uu * self.uz,
            sz: self.sz - k * self.us * self.uz,
            zz: self.zz - k * self.uz * self.uz,
        }
    }
}

/// Everything that is known from scored calls.
#[derive(Debug, Clone)]
pub struct Rating {
    count: usize,
    prior_means: Vec<f64>,
    pairs: BTreeMap<(usize, usize), BTreeMap<usize, Sums>>,
    observed: usize,
}

impl Rating {
    /// A state without observations. `prior_means` are the strengths expected beforehand (score units); empty: all 0.
    ///
    /// # Errors
    /// Too many candidates, another number of prior means, or one that isn't finite.
    pub fn new(count: usize, prior_means: &[f64]) -> Result<Self> {
        check_count(count)?;
        if !prior_means.is_empty() && prior_means.len() != count {
            return Err(CoreError::with_value(
                "/priorMeans",
                format!("must be as many as the candidates ({count})"),
                prior_means.len(),
            ));
        }
        if let Some(i) = prior_means.iter().position(|m| !m.is_finite()) {
            return Err(CoreError::with_value(
                format!("/priorMeans/{i}"),
                "must be a finite number",
                number::text(prior_means[i]),
            ));
        }
        Ok(Self {
            count,
            prior_means: if prior_means.is_empty() {
                vec![0.0; count]
            } else {
                prior_means.to_vec()
            },
            pairs: BTreeMap::new(),
            observed: 0,
        })
    }

    /// A state with all of `observations`; bit for bit the same in whatever order they come.
    ///
    /// # Errors
    /// As [`Rating::new`] and [`Rating::observe`]; the path holds the observation's index.
    pub fn from_observations(
        count: usize,
        prior_means: &[f64],
        observations: &[Observation],
    ) -> Result<Self> {
        let mut rating = Self::new(count, prior_means)?;
        for (i, observation) in observations.iter().enumerate() {
            rating.check(observation).map_err(|mut e| {
                e.path = format!("/observations/{i}{}", e.path);
                e
            })?;
        }
        let sorted = order(observations.len(), &|i, j| {
            let (x, y) = (&observations[i], &observations[j]);
            let key = |o: &Observation| (o.a, o.b, o.criterion);
            key(x)
                .cmp(&key(y))
                .then(x.difference.total_cmp(&y.difference))
                .then(x.weight.total_cmp(&y.weight))
        });
        sorted
            .into_iter()
            .for_each(|i| rating.add(&observations[i]));
        Ok(rating)
    }

    /// Takes in one scored call.
    ///
    /// # Errors
    /// A candidate out of range or against itself, a difference outside -1 to 1, a weight that isn't positive.
    pub fn observe(&mut self, observation: &Observation) -> Result<()> {
        self.check(observation)?;
        self.add(observation);
        Ok(())
    }

    /// How many candidates there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many calls were taken in.
    pub fn observed(&self) -> usize {
        self.observed
    }

    /// How many different criteria the calls had.
    pub fn criteria(&self) -> usize {
        let mut all = std::collections::BTreeSet::new();
        for criteria in self.pairs.values() {
            for &criterion in criteria.keys() {
                all.insert(criterion);
            }
        }
        all.len()
    }

    fn check(&self, o: &Observation) -> Result<()> {
        for (name, candidate) in [("/a", o.a), ("/b", o.b)] {
            if candidate >= self.count {
                return Err(CoreError::with_value(
                    name,
                    format!("must be a candidate below {}", self.count),
                    candidate,
                ));
            }
        }
        if o.a == o.b {
            return Err(CoreError::with_value(
                "/b",
                "must be another candidate than a",
                o.b,
            ));
        }
        if !(-1.0..=1.0).contains(&o.difference) {
            return Err(CoreError::with_value(
                "/difference",
                "must be from -1 to 1",
                number::text(o.difference),
            ));
        }
        if !(o.weight > 0.0 && o.weight.is_finite()) {
            return Err(CoreError::with_value(
                "/weight",
                "must be positive",
                number::text(o.weight),
            ));
        }
        Ok(())
    }

    fn add(&mut self, o: &Observation) {
        let sign = if o.a < o.b { 1.0 } else { -1.0 };
        let sums = self
            .pairs
            .entry((o.a.min(o.b), o.a.max(o.b)))
            .or_default()
            .entry(o.criterion)
            .or_default();
        let precision = o.weight / CALL_VARIANCE;
        sums.uu += precision;
        sums.us += sign * precision;
        sums.uz += sign * o.difference * precision;
        sums.sz += o.difference * precision;
        sums.zz += o.difference * o.difference * precision;
        self.observed += 1;
    }

    /// Each pair's likelihood with its own effects integrated out.
    pub(crate) fn forms(&self) -> Vec<((usize, usize), Form)> {
        self.pairs
            .iter()
            .map(|(&pair, criteria)| {
                let mut form = Form::default();
                for s in criteria.values() {
                    let calls = Form {
                        uu: s.uu,
                        us: s.us,
                        ss: s.uu,
                        uz: s.uz,
                        sz: s.sz,
                        zz: s.zz,
                    };
                    form.add(&calls.sharing(PAIR_CRITERION_VARIANCE));
                }
                (pair, form.sharing(PAIR_VARIANCE))
            })
            .collect()
    }
}

#[cfg(test)]
#[path = "rating_test.rs"]
mod tests;
