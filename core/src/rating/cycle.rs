//! How much of the differences no ranking can explain.

use super::Form;

/// Root mean square below which there is no difference to explain.
const NOTHING: f64 = 1e-6;

/// Share of the pairs' squared mean differences, weighted by information and freed of the slot bias, that remains when
/// strengths are fitted to them by weighted least squares: 0 for a consistent ranking, 1 for rock-paper-scissors.
/// `None` when the pairs form no cycle (then strengths explain anything) or the differences vanish.
pub(super) fn residual(
    count: usize,
    forms: &[((usize, usize), Form)],
    slot_bias: f64,
) -> Option<f64> {
    if !has_cycle(count, forms) {
        return None;
    }
    let edges: Vec<(usize, usize, f64, f64)> = forms
        .iter()
        .map(|&((i, j), f)| (i, j, f.uu, (f.uz - slot_bias * f.us) / f.uu))
        .collect();
    let total: f64 = edges.iter().map(|&(_, _, w, d)| w * d * d).sum();
    let weight: f64 = edges.iter().map(|&(_, _, w, _)| w).sum();
    if total <= NOTHING * NOTHING * weight {
        return None;
    }
    let strengths = least_squares(count, &edges);
    let left: f64 = edges
        .iter()
        .map(|&(i, j, w, d)| w * (d - strengths[i] + strengths[j]).powi(2))
        .sum();
    Some((left / total).clamp(0.0, 1.0))
}

fn has_cycle(count: usize, forms: &[((usize, usize), Form)]) -> bool {
    fn root(parents: &mut [usize], mut i: usize) -> usize {
        while parents[i] != i {
            parents[i] = parents[parents[i]];
            i = parents[i];
        }
        i
    }
    let mut parents: Vec<usize> = (0..count).collect();
    forms.iter().any(|&((i, j), _)| {
        let (i, j) = (root(&mut parents, i), root(&mut parents, j));
        parents[i] = j;
        i == j
    })
}

/// Strengths `t` that minimise the sum of `w (d - t_i + t_j)^2`, by conjugate gradients on the graph's Laplacian with its
/// diagonal as preconditioner. The Laplacian is singular (one constant per component), which conjugate gradients from 0
/// don't mind: right side and search directions are in its range.
fn least_squares(count: usize, edges: &[(usize, usize, f64, f64)]) -> Vec<f64> {
    let mut diagonal = vec![0.0; count];
    let mut r = vec![0.0; count];
    for &(i, j, w, d) in edges {
        diagonal[i] += w;
        diagonal[j] += w;
        r[i] += w * d;
        r[j] -= w * d;
    }
    let scaled = |r: &[f64]| -> Vec<f64> {
        r.iter()
            .zip(&diagonal)
            .map(|(r, &d)| if d > 0.0 { r / d } else { 0.0 })
            .collect()
    };
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(a, b)| a * b).sum() };
    let mut x = vec![0.0; count];
    let mut z = scaled(&r);
    let mut p = z.clone();
    let mut rz = dot(&r, &z);
    let enough = rz * 1e-26;
    for _ in 0..10 * count + 100 {
        if rz <= enough {
            break;
        }
        let mut ap = vec![0.0; count];
        for &(i, j, w, _) in edges {
            let flow = w * (p[i] - p[j]);
            ap[i] += flow;
            ap[j] -= flow;
        }
        let curvature = dot(&p, &ap);
        if curvature <= 0.0 {
            break;
        }
        let step = rz / curvature;
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += step * p);
        r.iter_mut().zip(&ap).for_each(|(r, a)| *r -= step * a);
        z = scaled(&r);
        let next = dot(&r, &z);
        let ratio = next / rz;
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + ratio * *p);
        rz = next;
    }
    x
}
