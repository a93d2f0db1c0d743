use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

fn unordered(pairs: &[Pair]) -> HashSet<Pair> {
    pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect()
}

fn worst_imbalance(count: usize, pairs: &[Pair]) -> i64 {
    let mut balance = vec![0i64; count];
    for &(a, b) in pairs {
        balance[a] += 1;
        balance[b] -= 1;
    }
    balance.into_iter().map(i64::abs).max().unwrap_or(0)
}

#[test]
fn random_numbers_are_those_of_cpython() {
    let mut random = Random::new(0).unwrap();
    let words: Vec<u32> = (0..4).map(|_| random.next_u32()).collect();
    assert_eq!(words, [3626764237, 1654615998, 3255389356, 3823568514]);
    assert_eq!(Random::new(0).unwrap().uniform(), 0.8444218515250481);
    assert_eq!(shuffled_indices(8, 0).unwrap(), [4, 1, 5, 2, 0, 3, 7, 6]);
    assert_eq!(
        shuffled_indices(9, -1).unwrap(),
        shuffled_indices(9, 1).unwrap()
    );
}

#[test]
fn small_rings() {
    assert_eq!(ring_pairs(0, 1).unwrap(), []);
    assert_eq!(ring_pairs(1, 1).unwrap(), []);
    assert_eq!(ring_pairs(2, 1).unwrap().len(), 1);
    assert_eq!(upstream_rings(&[2], 1).unwrap()[0], [(1, 0), (0, 1)]);
}

#[test]
fn bad_input_names_its_field() {
    let path = |r: Result<Vec<Pair>>| r.unwrap_err().path;
    assert_eq!(path(ring_pairs(1001, 0)), "/count");
    assert_eq!(path(ring_pairs(3, (1 << 53) + 1)), "/seed");
    assert_eq!(path(ring_pairs(3, i64::MIN)), "/seed");
    assert_eq!(path(pivot_pairs(3, &[0, 3], &[])), "/pivots/1");
    assert_eq!(path(pivot_pairs(3, &[1, 1], &[])), "/pivots/1");
    assert_eq!(path(pivot_pairs(3, &[1], &[(0, 1), (0, 5)])), "/bought/1/1");
    assert_eq!(path(pivot_pairs(3, &[1], &[(2, 2)])), "/bought/0");
    assert_eq!(path(upstream_pivot_round(3, &[4])), "/pivots/0");
    let standings = |pairs: &[Pair], rewards: &[(f64, f64)]| {
        upstream_standings(2, pairs, rewards).unwrap_err().path
    };
    assert_eq!(standings(&[(0, 2)], &[(0.5, 0.5)]), "/pairs/0/1");
    assert_eq!(standings(&[(0, 1)], &[]), "/rewards");
    assert_eq!(standings(&[(0, 1)], &[(0.5, f64::NAN)]), "/rewards/0");
}

#[test]
fn the_largest_schedules_are_balanced_and_quick() {
    let ring = ring_pairs(1000, 5).unwrap();
    let pivots: Vec<usize> = (0..10).collect();
    let pairs = pivot_pairs(1000, &pivots, &ring).unwrap();
    let all = [ring, pairs].concat();
    assert!(worst_imbalance(1000, &all) <= 1);
    let everyone: Vec<usize> = (0..1000).collect();
    let pairs = pivot_pairs(1000, &everyone, &[]).unwrap();
    assert_eq!(pairs.len(), 499_500);
    assert!(worst_imbalance(1000, &pairs) <= 1);
    assert_eq!(round_robin_pairs(1000, 5).unwrap().len(), 499_500);
}

#[test]
fn a_round_that_can_only_widen_a_balance_widens_it_by_one() {
    // 0 and 2 were once more in slot B; the one pair that is left must seat one of them there again.
    let bought = [(1, 0), (1, 2), (3, 0), (0, 1)];
    let round = pivot_pairs(4, &[0], &bought).unwrap();
    assert_eq!(round.len(), 1);
    assert_eq!(worst_imbalance(4, &[&bought[..], &round].concat()), 2);
}

#[test]
fn standings_rank_by_mean_soft_win_and_ties_by_index() {
    let s = upstream_standings(4, &[(0, 1), (2, 1)], &[(1.0, 0.0), (1.0, 0.0)]).unwrap();
    assert_eq!(s.ranking(), [0, 2, 1, 3]);
    assert_eq!(s.games, [1, 2, 1, 0]);
    assert!((s.rate(0) - 0.7310585786300049).abs() < 1e-15);
    assert_eq!(upstream_pivots(&s, 9), [0, 2, 1, 3]);
}

proptest! {
    #[test]
    fn shuffles_are_permutations(count in 0usize..200, seed in -(1i64 << 53)..=(1 << 53)) {
        let order = shuffled_indices(count, seed).unwrap();
        prop_assert_eq!(&order, &shuffled_indices(count, seed).unwrap());
        let mut sorted = order;
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..count).collect::<Vec<_>>());
    }

    #[test]
    fn round_robins_hold_every_pair_once_and_balanced(count in 0usize..40, seed in 0i64..1000) {
        let pairs = round_robin_pairs(count, seed).unwrap();
        prop_assert_eq!(pairs.len(), count * count.saturating_sub(1) / 2);
        prop_assert_eq!(unordered(&pairs).len(), pairs.len());
        prop_assert!(pairs.iter().all(|&(a, b)| a != b && a < count && b < count));
        prop_assert!(worst_imbalance(count, &pairs) <= i64::from(count.is_multiple_of(2)));
    }

    #[test]
    fn ring_and_pivot_round_buy_no_pair_twice_and_stay_balanced(
        count in 2usize..40, k in 0usize..6, seed in 0i64..10_000,
    ) {
        let ring = ring_pairs(count, seed).unwrap();
        prop_assert!(count == 2 || worst_imbalance(count, &ring) == 0);
        let mut pivots = shuffled_indices(count, seed + 1).unwrap();
        pivots.truncate(k);
        let round = pivot_pairs(count, &pivots, &ring).unwrap();
        prop_assert_eq!(&round, &pivot_pairs(count, &pivots, &ring).unwrap());
        let all = [ring.clone(), round.clone()].concat();
        prop_assert_eq!(unordered(&all).len(), all.len());
        prop_assert!(worst_imbalance(count, &all) <= 1);
        // The round and the ring together hold every pair with a pivot.
        let k = pivots.len();
        let with_pivot = |p: &&Pair| pivots.contains(&p.0) || pivots.contains(&p.1);
        prop_assert_eq!(
            all.iter().filter(with_pivot).count(),
            k * (count - k) + k * k.saturating_sub(1) / 2
        );
    }

    #[test]
    fn pivot_rounds_balance_whatever_was_bought(
        count in 2usize..12,
        raw in proptest::collection::vec((0usize..12, 0usize..12), 0..12),
        k in 1usize..6,
    ) {
        let bought: Vec<Pair> = raw
            .into_iter()
            .map(|(a, b)| (a % count, b % count))
            .filter(|(a, b)| a != b)
            .collect();
        let pivots: Vec<usize> = (0..k.min(count)).collect();
        let round = pivot_pairs(count, &pivots, &bought).unwrap();
        let before = worst_imbalance(count, &bought);
        prop_assert!(worst_imbalance(count, &[bought, round].concat()) <= before + 1);
    }
}
