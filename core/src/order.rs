//! The one sort of this crate: every further instance of the standard library's is 3 to 14 kB of wasm.

use std::cmp::Ordering;

/// The indices `0 … count - 1` in the order of what they stand for; equal ones keep their order.
#[inline(never)]
pub(crate) fn order(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..count).collect();
    indices.sort_unstable_by(|&i, &j| compare(i, j).then(i.cmp(&j)));
    indices
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_items_keep_their_order(items in proptest::collection::vec(0u8..5, 0..100)) {
            let mut expected: Vec<usize> = (0..items.len()).collect();
            expected.sort_by_key(|&i| items[i]);
            prop_assert_eq!(order(items.len(), &|i, j| items[i].cmp(&items[j])), expected);
        }
    }
}
