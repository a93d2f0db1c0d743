//! The letter distribution of a position.

use super::{
    Alternative, Direction, Distribution, LETTERS, MINIMUM_LETTER_MASS, Outcome, letter_of,
};
use crate::order::order;

/// Rounding that a provider's log-probabilities may carry: a single one may exceed 0 by this much.
const LOGPROB_ROUNDING: f64 = 1e-3;

/// A sampled token that isn't among the alternatives joins them if all add up to at most this: 1, and what rounding may
/// add (servers round log-probabilities to two or three digits, and half-precision ones are good to about 1 %).
const TOTAL_LIMIT: f64 = 1.1;

/// Comparisons with [`MINIMUM_LETTER_MASS`] forgive what `exp(ln(0.5))` may lose.
const MASS_ROUNDING: f64 = 1e-9;

/// The letter distribution of one position.
///
/// `prefix` is the part of the sampled token that still belongs to the tag. The sampled token joins the alternatives
/// when it isn't among them, unless the sum then exceeds 1 (a constrained server draws from another distribution than
/// it shows). Entries with the same token and the same log-probability are one entry. Alternatives that add up to more
/// than 1 are taken as weights, and the letter mass is the letters' share. The order of the alternatives doesn't matter.
/// Missing log-probabilities are skipped: what they hold is missing from the letter mass.
pub fn read_position(
    sampled: Alternative<'_>,
    alternatives: &[Alternative<'_>],
    prefix: &str,
    direction: Direction,
) -> Outcome {
    if alternatives.iter().any(|a| a.logprob > LOGPROB_ROUNDING) {
        return Outcome::NoLogprobs;
    }
    let mut entries: Vec<Alternative<'_>> = alternatives
        .iter()
        .filter(|a| !a.logprob.is_nan())
        .map(|a| Alternative {
            token: a.token,
            logprob: a.logprob.min(0.0),
        })
        .collect();
    let likelier = |a: &Alternative<'_>, b: &Alternative<'_>| {
        b.logprob
            .total_cmp(&a.logprob)
            .then_with(|| a.token.cmp(b.token))
    };
    // Servers mostly send them in this order.
    if !entries.is_sorted_by(|a, b| likelier(a, b).is_le()) {
        let sorted = order(entries.len(), &|i, j| likelier(&entries[i], &entries[j]));
        entries = sorted.into_iter().map(|i| entries[i]).collect();
    }
    entries.dedup_by(|a, b| a.logprob == b.logprob && a.token == b.token);
    let mut total: f64 = entries.iter().map(|e| e.logprob.exp()).sum();
    if total == 0.0 {
        return Outcome::NoLogprobs;
    }
    let joins = sampled.logprob <= LOGPROB_ROUNDING
        && total + sampled.logprob.min(0.0).exp() <= TOTAL_LIMIT
        && !alternatives.iter().any(|a| a.token == sampled.token);
    if joins {
        total += sampled.logprob.min(0.0).exp();
        entries.push(Alternative {
            token: sampled.token,
            logprob: sampled.logprob.min(0.0),
        });
    }
    let mut seen = alternatives
        .iter()
        .any(|a| a.logprob.is_nan() && letter_of(a.token, prefix).is_some());
    let mut letters = [f64::NEG_INFINITY; LETTERS];
    // Log-sum-exp per letter, so that a mass too small for a double still shows as what it is.
    for entry in &entries {
        if let Some(index) = letter_of(entry.token, prefix) {
            seen = true;
            letters[index] = log_add(letters[index], entry.logprob);
        }
    }
    if !seen {
        return Outcome::NoLetter;
    }
    let highest = letters.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return Outcome::LowLetterMass(0.0);
    }
    let mut scaled = letters.map(|l| (l - highest).exp());
    let sum: f64 = scaled.iter().sum();
    let mass = (highest.exp() * sum / total.max(1.0)).min(1.0);
    if mass < MINIMUM_LETTER_MASS - MASS_ROUNDING {
        return Outcome::LowLetterMass(mass);
    }
    scaled.iter_mut().for_each(|p| *p /= sum);
    Outcome::Scored(Distribution {
        value: (0..LETTERS)
            .map(|i| scaled[i] * direction.value(i))
            .sum::<f64>()
            .clamp(0.0, 1.0),
        letter_mass: mass,
        // A one-hot sums to -0, which adding 0 makes 0.
        entropy: scaled
            .iter()
            .filter(|&&p| p > 0.0)
            .map(|p| -p * p.log2())
            .sum::<f64>()
            .max(0.0)
            + 0.0,
        letters: scaled,
    })
}

fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY {
        high
    } else {
        high + (low - high).exp().ln_1p()
    }
}

/// The first of a tag's positions that can be read decides; otherwise what was closest to being readable is reported.
#[derive(Debug, Default)]
pub struct TagReader {
    best: Option<Outcome>,
}

impl TagReader {
    /// Takes the next position. Returns whether the reader is done with this tag.
    pub fn take(&mut self, outcome: Outcome) -> bool {
        fn rank(outcome: &Outcome) -> f64 {
            match outcome {
                Outcome::Scored(_) => 4.0,
                Outcome::LowLetterMass(mass) => 2.0 + mass,
                Outcome::NoLogprobs => 1.0,
                _ => 0.0,
            }
        }
        if self.best.is_none_or(|best| rank(&outcome) > rank(&best)) {
            self.best = Some(outcome);
        }
        matches!(outcome, Outcome::Scored(_))
    }

    /// What the tag says. `cut`: the answer ended while only blank tokens had followed the tag.
    pub fn finish(self, cut: bool) -> Outcome {
        match self.best {
            Some(scored @ Outcome::Scored(_)) => scored,
            _ if cut => Outcome::Truncated,
            Some(other) => other,
            None => Outcome::Truncated,
        }
    }
}
