//! Symmetric positive definite systems, dense, lower triangle packed by rows.

/// A symmetric matrix, later its Cholesky factor.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    size: usize,
    data: Vec<f64>,
}

fn row_start(i: usize) -> usize {
    i * (i + 1) / 2
}

/// Four sums side by side: the compiler may not reorder one.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0f64; 4];
    let (x4, x_rest) = x.as_chunks::<4>();
    let (y4, y_rest) = y.as_chunks::<4>();
    for (a, b) in x4.iter().zip(y4) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

impl Packed {
    pub fn zeros(size: usize) -> Self {
        Self {
            size,
            data: vec![0.0; row_start(size)],
        }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        self.data[row_start(i.max(j)) + i.min(j)] += value;
    }

    /// Replaces the matrix by its lower Cholesky factor. All matrices here are a positive diagonal plus a sum of
    /// squares, so the pivots are positive; rounding is kept from making one vanish.
    pub fn cholesky(mut self) -> Self {
        for i in 0..self.size {
            let (above, rest) = self.data.split_at_mut(row_start(i));
            let row = &mut rest[..=i];
            for j in 0..i {
                let other = &above[row_start(j)..=row_start(j) + j];
                row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let pivot = row[i] - dot(&row[..i], &row[..i]);
            row[i] = pivot
                .max(row[i].abs() * 1e-15)
                .max(f64::MIN_POSITIVE)
                .sqrt();
        }
        self
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.data[row_start(i)..=row_start(i) + i]
    }

    /// `x <- L^-1 x`, where the first `from` entries of `x` are 0.
    pub fn forward(&self, x: &mut [f64], from: usize) {
        for i in from..self.size {
            let row = self.row(i);
            x[i] = (x[i] - dot(&row[from..i], &x[from..i])) / row[i];
        }
    }

    /// `x <- L'^-1 x`, of which the entries from `to` on are right and the others left unfinished.
    pub fn backward(&self, x: &mut [f64], to: usize) {
        for i in (to..self.size).rev() {
            let row = self.row(i);
            let value = x[i] / row[i];
            x[i] = value;
            for (x, l) in x[to..i].iter_mut().zip(&row[to..]) {
                *x -= l * value;
            }
        }
    }

    /// Diagonal of the inverse of the factored matrix, first `count` entries.
    pub fn inverse_diagonal(&self, count: usize) -> Vec<f64> {
        let mut x = vec![0.0; self.size];
        (0..count)
            .map(|i| {
                x[i..].fill(0.0);
                x[i] = 1.0;
                self.forward(&mut x, i);
                dot(&x[i..], &x[i..])
            })
            .collect()
    }
}
