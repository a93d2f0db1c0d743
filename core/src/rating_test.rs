use super::*;
use proptest::prelude::*;

/// Results of the sequential reference filter in double precision, on inputs made up here.
struct Vector {
    name: &'static str,
    count: usize,
    /// Slot A, slot B, criterion, difference, weight.
    calls: &'static [(usize, usize, usize, f64, f64)],
    mean: &'static [f64],
    variance: &'static [f64],
    slot: f64,
    covariance_01: f64,
    covariance_0_slot: f64,
    scale: f64,
}

const VECTORS: &[Vector] = &[
    Vector {
        name: "one call",
        count: 2,
        calls: &[(0, 1, 0, 0.4, 1.0)],
        mean: &[0.0775623268698061, -0.0775623268698061],
        variance: &[0.022570637119113574, 0.022570637119113574],
        slot: 0.01772853185595568,
        covariance_01: 0.005429362880886427,
        covariance_0_slot: -0.0012409972299168976,
        scale: 1.0059839429355404,
    },
    Vector {
        name: "both orders and a repeat",
        count: 3,
        calls: &[
            (0, 1, 0, 0.4, 1.0),
            (1, 0, 0, -0.1, 1.0),
            (0, 1, 0, 0.35, 1.0),
            (2, 1, 1, -0.6, 1.0),
            (1, 2, 1, 0.2, 1.0),
        ],
        mean: &[
            0.10933146127441463,
            0.016874564528095198,
            -0.1262060258025098,
        ],
        variance: &[
            0.02001416263737587,
            0.01654337262550244,
            0.02057162687036594,
        ],
        slot: 0.002543833115879546,
        covariance_01: 0.006007045803743818,
        covariance_0_slot: -0.00038091282435602817,
        scale: 1.02072005921624,
    },
    Vector {
        name: "three criteria",
        count: 3,
        calls: &[
            (0, 1, 0, 0.3, 1.0),
            (0, 1, 1, 0.1, 1.0),
            (0, 1, 2, -0.2, 1.0),
            (2, 0, 0, 0.5, 1.0),
            (2, 0, 1, 0.6, 1.0),
            (2, 0, 2, 0.4, 1.0),
            (1, 2, 0, -0.3, 1.0),
            (2, 1, 0, 0.25, 1.0),
        ],
        mean: &[
            -0.10167597765363127,
            -0.06946458196654755,
            0.17114055962017885,
        ],
        variance: &[
            0.014860335195530726,
            0.016104859466339563,
            0.016104859466339567,
        ],
        slot: 0.03254116501221233,
        covariance_01: 0.0065698324022346365,
        covariance_0_slot: -1.1522711853613477e-19,
        scale: 0.9082350831881395,
    },
    Vector {
        name: "weights",
        count: 3,
        calls: &[
            (0, 1, 0, 0.3, 2.0),
            (1, 0, 1, 0.1, 0.5),
            (2, 0, 0, 0.5, 1.5),
            (2, 0, 0, 0.1, 0.25),
        ],
        mean: &[-0.0344590038212855, -0.0769945391318145, 0.1114535429531],
        variance: &[
            0.016495097017118994,
            0.01988024292675683,
            0.021226079942879058,
        ],
        slot: 0.05584101336788797,
        covariance_01: 0.006425369999501616,
        covariance_0_slot: 0.00042718655949030573,
        scale: 0.986256193192244,
    },
    Vector {
        name: "disconnected",
        count: 5,
        calls: &[
            (0, 1, 0, 0.9, 1.0),
            (3, 2, 0, -0.7, 1.0),
            (3, 2, 0, -0.5, 1.0),
        ],
        mean: &[
            0.18118183298062834,
            -0.18118183298062834,
            0.15041510662542731,
            -0.15041510662542731,
            0.0,
        ],
        variance: &[
            0.022557707960279994,
            0.022557707960279994,
            0.02141819957675403,
            0.02141819957675403,
            0.028,
        ],
        slot: 0.0070323945954745126,
        covariance_01: 0.005442292039720007,
        covariance_0_slot: -0.0011772749470942538,
        scale: 1.2593967759005786,
    },
    Vector {
        name: "sixty random calls",
        count: 6,
        calls: &[
            (0, 5, 0, -0.579, 1.0),
            (4, 3, 0, 0.504, 1.0),
            (4, 3, 2, 0.272, 1.0),
            (4, 1, 1, 0.416, 1.0),
            (4, 0, 2, -0.064, 1.0),
            (5, 4, 0, 0.026, 1.0),
            (5, 4, 1, 0.155, 1.0),
            (5, 0, 1, -0.329, 1.0),
            (5, 1, 0, -0.405, 1.0),
            (2, 1, 2, 0.115, 1.0),
            (4, 5, 0, -0.453, 1.0),
            (3, 4, 1, -0.614, 1.0),
            (5, 0, 1, -0.312, 1.0),
            (3, 5, 1, -0.669, 1.0),
            (2, 1, 1, -0.152, 1.0),
            (1, 3, 1, -0.534, 1.0),
            (5, 2, 2, 0.27, 1.0),
            (3, 4, 1, 0.378, 1.0),
            (5, 2, 2, -0.498, 1.0),
            (3, 2, 0, -0.217, 1.0),
            (4, 5, 0, 0.638, 1.0),
            (0, 2, 0, -0.844, 1.0),
            (5, 1, 1, -0.711, 1.0),
            (2, 3, 0, 0.844, 1.0),
            (5, 0, 2, 0.816, 1.0),
            (4, 1, 0, -0.503, 1.0),
            (0, 1, 1, -0.537, 1.0),
            (4, 2, 2, -0.524, 1.0),
            (5, 1, 1, 0.789, 1.0),
            (0, 2, 0, 0.826, 1.0),
            (3, 5, 0, 0.8, 1.0),
            (1, 5, 1, 0.359, 1.0),
            (1, 2, 0, 0.129, 1.0),
            (0, 4, 2, 0.428, 1.0),
            (2, 0, 0, 0.838, 1.0),
            (0, 4, 2, -0.926, 1.0),
            (5, 0, 2, 0.909, 1.0),
            (4, 2, 0, 0.455, 1.0),
            (5, 2, 0, -0.19, 1.0),
            (5, 3, 1, 0.243, 1.0),
            (4, 2, 2, -0.154, 1.0),
            (1, 2, 2, 0.988, 1.0),
            (3, 5, 2, -0.601, 1.0),
            (3, 0, 1, 0.115, 1.0),
            (4, 5, 1, -0.626, 1.0),
            (2, 0, 1, 0.043, 1.0),
            (3, 4, 2, -0.275, 1.0),
            (4, 0, 0, 0.083, 1.0),
            (1, 4, 0, -0.529, 1.0),
            (3, 2, 0, 0.546, 1.0),
            (4, 5, 2, 0.362, 1.0),
            (5, 0, 2, 0.202, 1.0),
            (4, 5, 0, -0.728, 1.0),
            (0, 1, 0, -0.981, 1.0),
            (3, 5, 0, -0.733, 1.0),
            (1, 4, 0, -0.087, 1.0),
            (5, 2, 2, 0.549, 1.0),
            (2, 3, 0, -0.54, 1.0),
            (4, 5, 0, 0.851, 1.0),
            (3, 0, 0, 0.205, 1.0),
        ],
        mean: &[
            -0.19729930319218233,
            0.11474111652339361,
            -0.009611074020453352,
            -0.049661037737675814,
            0.07445459794650956,
            0.06737570048040835,
        ],
        variance: &[
            0.008939499308622794,
            0.009355920217919887,
            0.00896242007880073,
            0.00926404100929329,
            0.008526193502335633,
            0.00827258980030679,
        ],
        slot: 0.0008947185769872625,
        covariance_01: 0.0037004721012297006,
        covariance_0_slot: 0.0001371640907888048,
        scale: 2.051915046688381,
    },
];

fn call(a: usize, b: usize, criterion: usize, difference: f64) -> Observation {
    Observation {
        a,
        b,
        criterion,
        difference,
        weight: 1.0,
    }
}

fn rate(count: usize, calls: &[Observation]) -> Posterior {
    Rating::from_observations(count, &[], calls)
        .unwrap()
        .posterior()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

#[test]
fn the_posterior_is_that_of_the_sequential_reference() {
    for v in VECTORS {
        let calls: Vec<Observation> = v
            .calls
            .iter()
            .map(|&(a, b, criterion, difference, weight)| Observation {
                a,
                b,
                criterion,
                difference,
                weight,
            })
            .collect();
        let p = rate(v.count, &calls);
        let mut unit = vec![0.0; v.count + 1];
        unit[0] = 1.0;
        let column = p.solve(&unit);
        for i in 0..v.count {
            assert!(
                close(p.strength[i], v.mean[i], 1e-10),
                "{} mean {i}",
                v.name
            );
            let error = v.variance[i].sqrt() * v.scale;
            assert!(
                close(p.standard_error[i], error, 1e-10),
                "{} error {i}",
                v.name
            );
        }
        assert!(close(p.slot_bias, v.slot, 1e-10), "{} slot", v.name);
        assert!(close(p.noise_scale, v.scale, 1e-10), "{} scale", v.name);
        assert!(
            close(column[1], v.covariance_01, 1e-10),
            "{} covariance",
            v.name
        );
        assert!(
            close(column[v.count], v.covariance_0_slot, 1e-10),
            "{} slot covariance",
            v.name
        );
    }
}

#[test]
fn prior_means_shift_what_is_expected() {
    let means = [0.1, -0.1, 0.0];
    let none = Rating::new(3, &means).unwrap().posterior();
    assert_eq!(none.strength, means);
    assert_eq!(none.noise_scale, 1.0);
    // A call that shows exactly what was expected moves nothing and is less than the expected noise.
    let r = Rating::from_observations(3, &means, &[call(0, 1, 0, 0.2)])
        .unwrap()
        .posterior();
    assert!(
        r.strength
            .iter()
            .zip(means)
            .all(|(s, m)| close(*s, m, 1e-12))
    );
    assert!(close(r.noise_scale, (8.0f64 / 9.0).sqrt(), 1e-12));
}

#[test]
fn observing_one_by_one_is_the_same_state() {
    let calls = [call(0, 1, 0, 0.4), call(1, 0, 1, -0.2), call(2, 1, 0, 0.1)];
    let mut rating = Rating::new(3, &[]).unwrap();
    calls.iter().for_each(|c| rating.observe(c).unwrap());
    let copy = rating.clone();
    rating.observe(&call(2, 0, 0, 0.9)).unwrap();
    assert_eq!(
        (copy.observed(), rating.observed(), rating.criteria()),
        (3, 4, 2)
    );
    let (one, all) = (copy.posterior(), rate(3, &calls));
    assert!(
        one.strength
            .iter()
            .zip(&all.strength)
            .all(|(a, b)| close(*a, *b, 1e-14))
    );
}

#[test]
fn degenerate_inputs_are_defined() {
    assert!(rate(0, &[]).strength.is_empty());
    let one = rate(1, &[]);
    assert_eq!(one.probability_best().unwrap(), [1.0]);
    assert!(close(
        one.standard_error[0],
        STRENGTH_VARIANCE.sqrt(),
        1e-15
    ));
    let none = rate(4, &[]);
    assert_eq!(
        (none.slot_bias, none.noise_scale, none.cycle_residual),
        (0.0, 1.0, None)
    );
    assert_eq!(rate(2, &[]).probability_best().unwrap(), [0.5, 0.5]);
    let ties: Vec<_> = (0..3).map(|i| call(i, (i + 1) % 3, 0, 0.0)).collect();
    let ties = rate(3, &ties);
    assert_eq!(
        (ties.strength.as_slice(), ties.cycle_residual),
        ([0.0; 3].as_slice(), None)
    );
    assert!(ties.noise_scale < 1.0);
    let winner: Vec<_> = (1..5)
        .flat_map(|i| (0..3).map(move |c| call(0, i, c, 1.0)))
        .collect();
    let winner = rate(5, &winner);
    assert!(winner.strength[0] < 1.0 && winner.probability_best().unwrap()[0] > 0.99);
}

#[test]
fn slot_bias_is_told_apart_from_strength() {
    let calls: Vec<_> = [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)]
        .into_iter()
        .map(|(a, b)| call(a, b, 0, 0.3))
        .collect();
    let r = rate(3, &calls);
    assert!(r.slot_bias > 0.1 && r.strength.iter().all(|s| s.abs() < 1e-12));
}

#[test]
fn cycles_are_measured() {
    let swing = |a, b, d: f64| [call(a, b, 0, d), call(b, a, 0, -d)];
    let stone = [swing(0, 1, 0.5), swing(1, 2, 0.5), swing(2, 0, 0.5)].concat();
    assert!(close(rate(3, &stone).cycle_residual.unwrap(), 1.0, 1e-12));
    let line = [swing(0, 1, 0.2), swing(1, 2, 0.3), swing(0, 2, 0.5)].concat();
    assert!(close(rate(3, &line).cycle_residual.unwrap(), 0.0, 1e-12));
    assert_eq!(rate(3, &line[..4]).cycle_residual, None);
    // One number by hand: differences 0.4, 0.4, 0.2 around a triangle miss closing by 0.6, a third of it each.
    let mixed = [swing(0, 1, 0.4), swing(1, 2, 0.4), swing(0, 2, 0.2)].concat();
    let expected = 3.0 * 0.2f64.powi(2) / (0.4f64.powi(2) * 2.0 + 0.2f64.powi(2));
    assert!(close(
        rate(3, &mixed).cycle_residual.unwrap(),
        expected,
        1e-12
    ));
}

#[test]
fn bad_observations_name_their_field() {
    let path = |o: Observation| {
        Rating::from_observations(3, &[], &[call(0, 1, 0, 0.0), o])
            .unwrap_err()
            .path
    };
    assert_eq!(path(call(3, 0, 0, 0.0)), "/observations/1/a");
    assert_eq!(path(call(0, 3, 0, 0.0)), "/observations/1/b");
    assert_eq!(path(call(1, 1, 0, 0.0)), "/observations/1/b");
    assert_eq!(path(call(0, 1, 0, 1.5)), "/observations/1/difference");
    assert_eq!(path(call(0, 1, 0, f64::NAN)), "/observations/1/difference");
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let heavy = Observation {
            weight,
            ..call(0, 1, 0, 0.0)
        };
        assert_eq!(path(heavy), "/observations/1/weight");
    }
    assert_eq!(Rating::new(2, &[0.0]).unwrap_err().path, "/priorMeans");
    assert_eq!(
        Rating::new(1, &[f64::NAN]).unwrap_err().path,
        "/priorMeans/0"
    );
    assert_eq!(Rating::new(1001, &[]).unwrap_err().path, "/count");
}

fn right(count: usize, calls: &[Observation], pick: usize, a: f64, p: f64) -> f64 {
    let rating = Rating::from_observations(count, &[], calls).unwrap();
    let calibration = Calibration {
        pair_accuracy: a,
        pass_rate: p,
    };
    probability_right(&rating, pick, calibration).unwrap()
}

#[test]
fn without_evidence_the_pass_rate_is_the_answer() {
    for count in [1, 5, 20] {
        assert!(close(
            right(count, &[], 0, 0.76, 0.4),
            0.4,
            if count > 16 { 0.02 } else { 1e-12 }
        ));
    }
    let calls = [call(0, 1, 0, 0.9)];
    assert_eq!(right(2, &calls, 0, 0.5, 0.4), 0.4);
    assert_eq!(right(2, &calls, 0, 0.9, 0.0), 0.0);
    assert_eq!(right(2, &calls, 0, 0.9, 1.0), 1.0);
}

#[test]
fn a_pair_is_right_as_often_as_the_judge_was_measured() {
    // Two candidates, two outcomes of interest: the odds of "0 passes, 1 fails" against the reverse, by hand.
    let y = 0.3;
    let calls = [call(0, 1, 0, y)];
    let (a, p) = (0.76, 0.5);
    let (gap, tau2) = {
        let noise = PAIR_VARIANCE + PAIR_CRITERION_VARIANCE + CALL_VARIANCE;
        let x2 = 0.706_302_562_840_087_4f64.powi(2);
        let gap2 = x2 * (2.0 * STRENGTH_VARIANCE + noise) / (1.0 + 2.0 * x2 * 0.25);
        (gap2.sqrt(), STRENGTH_VARIANCE - gap2 * 0.25)
    };
    let v = 2.0 * tau2 + SLOT_VARIANCE + PAIR_VARIANCE + PAIR_CRITERION_VARIANCE + CALL_VARIANCE;
    let density = |mean: f64| (-(y - mean).powi(2) / (2.0 * v)).exp();
    let (win, lose, same) = (density(gap), density(-gap), density(0.0));
    let expected = (win + same) / (win + lose + 2.0 * same);
    assert!(close(right(2, &calls, 0, a, p), expected, 1e-9));
    assert!(close(
        right(2, &calls, 0, a, p) + right(2, &calls, 1, a, p),
        1.0,
        1e-12
    ));
}

#[test]
fn the_sampler_agrees_with_the_sum() {
    // 16 candidates are summed. A 17th without a call is independent of the others, and makes it sampled.
    let calls: Vec<_> = (0..16)
        .flat_map(|i| {
            [
                call(i, (i + 1) % 16, 0, 0.05 * (i as f64 - 8.0) / 8.0),
                call(i, (i + 5) % 16, 1, 0.2),
            ]
        })
        .chain([call(3, 7, 0, 0.9), call(3, 9, 1, 0.8), call(11, 3, 2, -0.9)])
        .collect();
    for pick in [0, 3, 11] {
        let (sum, sampled) = (
            right(16, &calls, pick, 0.76, 0.4),
            right(17, &calls, pick, 0.76, 0.4),
        );
        assert!(close(sum, sampled, 0.01), "{pick}: {sum} against {sampled}");
    }
}

#[test]
fn an_accuracy_beyond_the_model_stays_a_probability() {
    let calls = [call(0, 1, 0, 0.9), call(1, 0, 1, -0.8)];
    for a in [0.51, 0.9, 0.99, 0.999_999] {
        let p = right(2, &calls, 0, a, 0.5);
        assert!(p > 0.5 && p <= 1.0, "{a}: {p}");
    }
    let error = |pick, a, p| {
        let rating = Rating::new(2, &[]).unwrap();
        probability_right(
            &rating,
            pick,
            Calibration {
                pair_accuracy: a,
                pass_rate: p,
            },
        )
        .unwrap_err()
        .path
    };
    assert_eq!(error(2, 0.7, 0.5), "/pick");
    assert_eq!(error(0, 1.0, 0.5), "/calibration/pairAccuracy");
    assert_eq!(error(0, f64::NAN, 0.5), "/calibration/pairAccuracy");
    assert_eq!(error(0, 0.7, 1.1), "/calibration/passRate");
}

#[test]
fn a_prior_mean_raises_the_pass_rate() {
    let calibration = Calibration {
        pair_accuracy: 0.76,
        pass_rate: 0.4,
    };
    let rating = Rating::new(3, &[0.03, 0.0, -0.03]).unwrap();
    let p: Vec<f64> = (0..3)
        .map(|i| probability_right(&rating, i, calibration).unwrap())
        .collect();
    assert!(p[0] > p[1] && p[1] > p[2] && close(p[1], 0.4, 1e-12));
}

fn observations(count: usize) -> impl Strategy<Value = Vec<Observation>> {
    let one = (0..count, 1..count, 0usize..3, -1.0..1.0f64, 0.2..3.0f64).prop_map(
        move |(a, step, criterion, difference, weight)| Observation {
            a,
            b: (a + step) % count,
            criterion,
            difference,
            weight,
        },
    );
    proptest::collection::vec(one, 0..40)
}

proptest! {
    #[test]
    fn the_order_of_the_calls_does_not_matter(calls in observations(6), seed in 0i64..1000) {
        let mut shuffled = calls.clone();
        crate::schedule::Random::new(seed).unwrap().shuffle(&mut shuffled);
        let (x, y) = (rate(6, &calls), rate(6, &shuffled));
        prop_assert_eq!(&x.strength, &y.strength);
        prop_assert_eq!(&x.standard_error, &y.standard_error);
        prop_assert_eq!(x.cycle_residual, y.cycle_residual);
        prop_assert_eq!(x.probability_best().unwrap(), y.probability_best().unwrap());
    }

    #[test]
    fn numbers_stay_in_their_ranges(calls in observations(5), pick in 0usize..5) {
        let r = rate(5, &calls);
        prop_assert!(r.strength.iter().all(|s| s.is_finite() && s.abs() < 2.0));
        prop_assert!(r.standard_error.iter().all(|s| *s > 0.0 && s.is_finite()));
        prop_assert!(r.noise_scale > 0.0 && r.noise_scale.is_finite());
        prop_assert!(close(r.probability_best().unwrap().iter().sum(), 1.0, 1e-12));
        prop_assert!(r.cycle_residual.is_none_or(|c| (0.0..=1.0).contains(&c)));
        let p = right(5, &calls, pick, 0.77, 0.4);
        prop_assert!((0.0..=1.0).contains(&p));
    }

    /// Showing every pair the other way round turns the slot bias around and nothing else.
    #[test]
    fn mirrored_calls_mirror_the_slot_bias(calls in observations(5)) {
        let mirrored: Vec<_> = calls
            .iter()
            .map(|o| Observation { difference: -o.difference, ..*o })
            .collect();
        let (x, y) = (rate(5, &calls), rate(5, &mirrored));
        prop_assert!(close(x.slot_bias, -y.slot_bias, 1e-12));
        prop_assert!(x.strength.iter().zip(&y.strength).all(|(a, b)| close(*a, -b, 1e-12)));
        prop_assert!(close(x.noise_scale, y.noise_scale, 1e-12));
    }
}
