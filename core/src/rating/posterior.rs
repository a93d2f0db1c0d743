//! What the observations say.

use super::linear::Packed;
use super::{Form, Rating, SLOT_VARIANCE, STRENGTH_VARIANCE, cycle};
use crate::error::Result;
use crate::schedule::Random;

/// Pseudo-observations that hold the noise scale near 1.
const SCALE_PRIOR: f64 = 8.0;

/// Seed of the draws behind `probability_best`: fixed, so that the same observations give the same numbers.
const DRAW_SEED: i64 = 12345;

/// Strengths, slot bias and noise after the observations.
#[derive(Debug, Clone)]
pub struct Posterior {
    /// Posterior mean of every strength, score units.
    pub strength: Vec<f64>,
    /// Posterior standard deviation of every strength times `noise_scale`.
    pub standard_error: Vec<f64>,
    /// Posterior mean of the slot bias: what slot A gains.
    pub slot_bias: f64,
    /// How much larger the noise is than the model's, see the module.
    pub noise_scale: f64,
    /// Share of the pairs' mean differences (squares, weighted by information, slot bias taken off) that no strengths
    /// explain; `None` when the pairs form no cycle or there is no difference to explain.
    pub cycle_residual: Option<f64>,
    factor: Packed,
}

/// The data's part of the information matrix over strengths and slot bias, and `H' K^-1 r` with `r` the difference from
/// the prior means; returns also `r' K^-1 r`.
pub(super) fn data_information(
    forms: &[((usize, usize), Form)],
    means: &[f64],
    matrix: &mut Packed,
) -> (Vec<f64>, f64) {
    let slot = means.len();
    let mut vector = vec![0.0; slot + 1];
    let mut square = 0.0;
    for &((i, j), f) in forms {
        let expected = means[i] - means[j];
        let (uz, sz) = (f.uz - expected * f.uu, f.sz - expected * f.us);
        square += f.zz - 2.0 * expected * f.uz + expected * expected * f.uu;
        matrix.add(i, i, f.uu);
        matrix.add(j, j, f.uu);
        matrix.add(i, j, -f.uu);
        matrix.add(slot, i, f.us);
        matrix.add(slot, j, -f.us);
        matrix.add(slot, slot, f.ss);
        vector[i] += uz;
        vector[j] -= uz;
        vector[slot] += sz;
    }
    (vector, square)
}

impl Rating {
    /// The posterior distribution: `O(count^3)` time, `O(count^2)` memory.
    pub fn posterior(&self) -> Posterior {
        let n = self.count;
        let forms = self.forms();
        let mut matrix = Packed::zeros(n + 1);
        let (vector, square) = data_information(&forms, &self.prior_means, &mut matrix);
        (0..n).for_each(|i| matrix.add(i, i, 1.0 / STRENGTH_VARIANCE));
        matrix.add(n, n, 1.0 / SLOT_VARIANCE);
        let factor = matrix.cholesky();
        let mut half = vector;
        factor.forward(&mut half, 0);
        let explained: f64 = half.iter().map(|x| x * x).sum();
        let mut shift = half;
        factor.backward(&mut shift, 0);
        let k = self.observed as f64;
        let q = (square - explained).max(0.0);
        let noise_scale = ((SCALE_PRIOR + q) / (SCALE_PRIOR + k)).sqrt();
        let slot_bias = shift[n];
        Posterior {
            strength: (0..n).map(|i| self.prior_means[i] + shift[i]).collect(),
            standard_error: factor
                .inverse_diagonal(n)
                .into_iter()
                .map(|v| v.sqrt() * noise_scale)
                .collect(),
            slot_bias,
            noise_scale,
            cycle_residual: cycle::residual(n, &forms, slot_bias),
            factor,
        }
    }
}

impl Posterior {
    /// Posterior covariance (noise scale 1) of every strength and, last, the slot bias with the combination `weights`
    /// of them: `S w`. With the signs of a call as weights this is the direction in which that call moves the means.
    pub fn solve(&self, weights: &[f64]) -> Vec<f64> {
        let mut x = weights.to_vec();
        x.resize(self.factor.size(), 0.0);
        self.factor.forward(&mut x, 0);
        self.factor.backward(&mut x, 0);
        x
    }

    /// Probability of being this judge's own best, for every candidate: 512 to 4,096 (fewer for many candidates)
    /// antithetic draws of a fixed seed from the joint posterior. Adds up to 1.
    ///
    /// # Errors
    /// None in practice: the seed is fixed.
    pub fn probability_best(&self) -> Result<Vec<f64>> {
        let n = self.strength.len();
        if n <= 1 {
            return Ok(vec![1.0; n]);
        }
        let draws = (32_768 / n).next_power_of_two().clamp(512, 4096);
        let mut normal = Normal::new(DRAW_SEED)?;
        let mut wins = vec![0u32; n];
        let mut x = vec![0.0; n + 1];
        for _ in 0..draws / 2 {
            x.fill_with(|| normal.draw());
            self.factor.backward(&mut x, 0);
            for sign in [self.noise_scale, -self.noise_scale] {
                let mut best = (f64::NEG_INFINITY, 0);
                for (i, (mean, x)) in self.strength.iter().zip(&x).enumerate() {
                    let value = mean + sign * x;
                    if value > best.0 {
                        best = (value, i);
                    }
                }
                wins[best.1] += 1;
            }
        }
        Ok(wins
            .into_iter()
            .map(|w| f64::from(w) / draws as f64)
            .collect())
    }
}

/// Standard normal numbers by Marsaglia's polar method, which needs no sine (6 kB of wasm).
struct Normal {
    random: Random,
    spare: Option<f64>,
}

impl Normal {
    fn new(seed: i64) -> Result<Self> {
        Ok(Self {
            random: Random::new(seed)?,
            spare: None,
        })
    }

    fn draw(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let x = 2.0 * self.random.uniform() - 1.0;
            let y = 2.0 * self.random.uniform() - 1.0;
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(scale * y);
                return scale * x;
            }
        }
    }
}
