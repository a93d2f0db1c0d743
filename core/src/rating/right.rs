//! Probability that the pick really passes.

use super::linear::Packed;
use super::posterior::data_information;
use super::{
    CALL_VARIANCE, PAIR_CRITERION_VARIANCE, PAIR_VARIANCE, Rating, SLOT_VARIANCE, STRENGTH_VARIANCE,
};
use crate::error::{CoreError, Result};
use crate::number;
use crate::schedule::Random;

/// What labelled tasks told about a judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Share of pairs (one passes, one fails) that one round of all criteria orders right, 0 to 1 exclusive.
    pub pair_accuracy: f64,
    /// Share of candidates that pass, 0 to 1.
    pub pass_rate: f64,
}

/// Up to here all outcomes are enumerated; above, sampled.
const ENUMERATED: usize = 16;

/// Seed of the sampler: fixed, so that the same observations give the same number.
const SAMPLER_SEED: i64 = 54321;

/// A prior mean moves a candidate's pass rate; this far from 0 and 1 it stops.
const RATE_MARGIN: f64 = 0.02;

/// Smallest share of the strengths' variance that is the judge's persistent error rather than the gap.
const ERROR_SHARE: f64 = 0.1;

/// Probability that candidate `pick` really passes.
///
/// Answers of a judge show the spread of strengths, `V0`, never which part of it is error that the judge makes every
/// time. The measured pair accuracy `a` splits it: candidates that pass are `gap` stronger, and around that each strength
/// has the persistent error `tau2`:
///
/// ```text
/// gap  = Phi^-1(a) sqrt(2 tau2 + Ve + Vf/C + Vcall/C)      tau2 = V0 - gap^2 p (1 - p)
/// ```
///
/// (both solved together; `C` criteria, `p` the pass rate). With `z` in {0,1}^count for who passes, strengths are
/// `N(gap z, tau2 I)`, each `z_i` is 1 with the pass rate, and the likelihood of the observations is Gaussian in the
/// strengths: up to 16 candidates all `z` are summed, above a Gibbs sampler of a fixed seed runs. Prior means move the pass
/// rates, `p_i = p + (mean_i - average) / gap`. A judge at chance (`a <= 0.5`) tells nothing: the pass rate is the answer.
///
/// # Errors
/// A pick out of range, an accuracy that isn't between 0 and 1, or a pass rate outside 0 to 1.
pub fn probability_right(rating: &Rating, pick: usize, calibration: Calibration) -> Result<f64> {
    let Calibration {
        pair_accuracy,
        pass_rate,
    } = calibration;
    if pick >= rating.count() {
        return Err(CoreError::with_value(
            "/pick",
            format!("must be a candidate below {}", rating.count()),
            pick,
        ));
    }
    if !(pair_accuracy > 0.0 && pair_accuracy < 1.0) {
        return Err(CoreError::with_value(
            "/calibration/pairAccuracy",
            "must be between 0 and 1",
            number::text(pair_accuracy),
        ));
    }
    if !(0.0..=1.0).contains(&pass_rate) {
        return Err(CoreError::with_value(
            "/calibration/passRate",
            "must be from 0 to 1",
            number::text(pass_rate),
        ));
    }
    if pair_accuracy <= 0.5 || pass_rate == 0.0 || pass_rate == 1.0 {
        return Ok(pass_rate);
    }
    let (gap, tau2) = split(pair_accuracy, pass_rate, rating.criteria().max(1));
    let model = Model::new(rating, gap, tau2, pass_rate);
    if rating.count() <= ENUMERATED {
        Ok(model.enumerate(pick))
    } else {
        model.sample(pick)
    }
}

/// Gap and persistent error variance from accuracy and pass rate, see [`probability_right`].
fn split(accuracy: f64, rate: f64, criteria: usize) -> (f64, f64) {
    let c = criteria as f64;
    let noise = PAIR_VARIANCE + PAIR_CRITERION_VARIANCE / c + CALL_VARIANCE / c;
    let spread = rate * (1.0 - rate);
    let x2 = normal_quantile(accuracy).powi(2);
    let gap2 = x2 * (2.0 * STRENGTH_VARIANCE + noise) / (1.0 + 2.0 * x2 * spread);
    let tau2 = STRENGTH_VARIANCE - gap2 * spread;
    let least = ERROR_SHARE * STRENGTH_VARIANCE;
    if tau2 >= least {
        return (gap2.sqrt(), tau2);
    }
    // More accurate than the model's strengths allow: keep a little error, and the gap that then gives this accuracy.
    ((x2 * (2.0 * least + noise)).sqrt(), least)
}

/// `log P(z | data) = linear . z + 1/2 z' M z + const`, with the rates inside `linear`.
struct Model {
    linear: Vec<f64>,
    /// Row by row, because a flip adds a row.
    quadratic: Vec<f64>,
}

impl Model {
    fn new(rating: &Rating, gap: f64, tau2: f64, pass_rate: f64) -> Self {
        let n = rating.count();
        let mut matrix = Packed::zeros(n + 1);
        // The likelihood alone: prior means enter through the rates.
        let (vector, _) = data_information(&rating.forms(), &vec![0.0; n], &mut matrix);
        (0..n).for_each(|i| matrix.add(i, i, 1.0 / tau2));
        matrix.add(n, n, 1.0 / SLOT_VARIANCE);
        let factor = matrix.cholesky();
        let k = gap / tau2;
        let mut mean = vector;
        factor.forward(&mut mean, 0);
        factor.backward(&mut mean, 0);
        let average = rating.prior_means.iter().sum::<f64>() / n as f64;
        let mut quadratic = vec![0.0; n * n];
        let mut column = vec![0.0; n + 1];
        for i in 0..n {
            // The column from the diagonal down; the rest is known by symmetry.
            column.fill(0.0);
            column[i] = 1.0;
            factor.forward(&mut column, i);
            factor.backward(&mut column, i);
            for j in i..n {
                quadratic[i * n + j] = k * k * column[j];
                quadratic[j * n + i] = k * k * column[j];
            }
        }
        let linear = (0..n)
            .map(|i| {
                // Not clamp(), whose panic message would bring in 15 kB of float formatting.
                let rate = (pass_rate + (rating.prior_means[i] - average) / gap)
                    .max(RATE_MARGIN.min(pass_rate))
                    .min((1.0 - RATE_MARGIN).max(pass_rate));
                (rate / (1.0 - rate)).ln() + k * mean[i] - 0.5 * gap * k
            })
            .collect();
        Self { linear, quadratic }
    }

    /// Change of the exponent when `i` passes instead of failing, `product` being `M z`, `passes` the present `z_i`.
    fn log_odds(&self, i: usize, product: &[f64], passes: bool) -> f64 {
        let own = self.quadratic[i * self.linear.len() + i];
        let others = product[i] - if passes { own } else { 0.0 };
        self.linear[i] + others + 0.5 * own
    }

    fn flip(&self, i: usize, z: &mut [bool], product: &mut [f64]) {
        z[i] = !z[i];
        let sign = if z[i] { 1.0 } else { -1.0 };
        let n = self.linear.len();
        for (p, m) in product.iter_mut().zip(&self.quadratic[i * n..(i + 1) * n]) {
            *p += sign * m;
        }
    }

    /// All outcomes in Gray code order, one flip each; the sums are kept relative to the largest exponent so far.
    fn enumerate(&self, pick: usize) -> f64 {
        let n = self.linear.len();
        let (mut z, mut product) = (vec![false; n], vec![0.0; n]);
        let (mut exponent, mut highest) = (0.0f64, 0.0f64);
        let (mut all, mut right) = (1.0f64, 0.0f64);
        for step in 1u32..1 << n {
            let i = step.trailing_zeros() as usize;
            let odds = self.log_odds(i, &product, z[i]);
            exponent += if z[i] { -odds } else { odds };
            self.flip(i, &mut z, &mut product);
            if exponent > highest {
                let shrink = (highest - exponent).exp();
                all *= shrink;
                right *= shrink;
                highest = exponent;
            }
            let weight = (exponent - highest).exp();
            all += weight;
            if z[pick] {
                right += weight;
            }
        }
        right / all
    }

    /// Gibbs sampling; the answer is the mean of the pick's conditional probability.
    fn sample(&self, pick: usize) -> Result<f64> {
        let n = self.linear.len();
        let sweeps = (200_000 / n).clamp(300, 3000);
        let mut random = Random::new(SAMPLER_SEED)?;
        let (mut z, mut product) = (vec![false; n], vec![0.0; n]);
        let mut sum = 0.0;
        for sweep in 0..sweeps + sweeps / 10 {
            for i in 0..n {
                let p = 1.0 / (1.0 + (-self.log_odds(i, &product, z[i])).exp());
                if i == pick && sweep >= sweeps / 10 {
                    sum += p;
                }
                if (random.uniform() < p) != z[i] {
                    self.flip(i, &mut z, &mut product);
                }
            }
        }
        Ok(sum / sweeps as f64)
    }
}

/// Standard normal distribution function by its power series (Marsaglia 2004), absolute error below 1e-15.
fn normal_cdf(x: f64) -> f64 {
    if x.abs() > 8.5 {
        return if x < 0.0 { 0.0 } else { 1.0 };
    }
    let (mut sum, mut term, mut k) = (x, x, 1.0);
    while sum + term != sum {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// Its inverse, by bisection.
fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-8.5f64, 8.5f64);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if normal_cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
