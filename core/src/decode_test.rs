use super::*;
use proptest::prelude::*;

fn lengths(tokens: &[&str]) -> Vec<u32> {
    tokens
        .iter()
        .map(|t| t.encode_utf16().count() as u32)
        .collect()
}

fn find(tokens: &[&str], tag: &str) -> Location {
    locate(&tokens.concat(), &lengths(tokens), &[tag]).unwrap()[0]
}

fn found(token: usize, positions: usize, prefix: usize, cut: bool) -> Location {
    Location::Found {
        token,
        positions,
        prefix,
        cut,
    }
}

fn at(token: usize) -> Location {
    found(token, 1, 0, false)
}

fn list<'a>(pairs: &[(&'a str, f64)]) -> Vec<Alternative<'a>> {
    pairs
        .iter()
        .map(|&(token, p)| Alternative {
            token,
            logprob: p.ln(),
        })
        .collect()
}

const NOTHING: Alternative<'static> = Alternative {
    token: "",
    logprob: f64::NAN,
};

fn read(pairs: &[(&str, f64)]) -> Outcome {
    read_position(NOTHING, &list(pairs), "", Direction::Pairwise)
}

fn scored(outcome: Outcome) -> Distribution {
    match outcome {
        Outcome::Scored(d) => d,
        other => panic!("not scored: {other:?}"),
    }
}

#[test]
fn a_tag_is_found_however_it_is_split() {
    assert_eq!(
        find(&["ok <score_A>", " C", "</score_A>"], "score_A"),
        at(1)
    );
    assert_eq!(find(&["<", "score", "_A", ">", "D"], "score_A"), at(4));
    assert_eq!(
        find(&["<score_A", ">", "", "D"], "score_A"),
        found(2, 2, 0, false)
    );
    assert_eq!(find(&["<score_A> ", "C"], "score_A"), at(1));
}

#[test]
fn a_tag_end_fused_with_the_letter_is_read_in_place() {
    assert_eq!(
        find(&["<score", "_A", ">B"], "score_A"),
        found(2, 1, 1, false)
    );
    assert_eq!(find(&["<score", "_A> C"], "score_A"), found(1, 1, 3, false));
    assert_eq!(
        find(&["日本\n<score_A>B"], "score_A"),
        found(0, 1, 12, false)
    );
}

#[test]
fn the_last_tag_wins_even_when_it_can_not_be_read() {
    let quote = ["<score_A>", "S", "</score_A>", " then ", "<score_A>"];
    assert_eq!(find(&quote, "score_A"), Location::Truncated);
    let fused = [
        "see ",
        "<score_A>",
        "T",
        "</score_A>",
        " so ",
        "<score_A",
        ">A",
    ];
    assert_eq!(find(&fused, "score_A"), found(6, 1, 1, false));
}

#[test]
fn names_are_compared_exactly() {
    let text = ["<c10>", "T", "<C1>", "A"];
    assert_eq!(find(&text, "c1"), Location::NoTag);
    assert_eq!(find(&text, "c10"), at(1));
    assert_eq!(find(&["</c1>", "T", "<<c1>", "B"], "c1"), at(3));
    assert_eq!(find(&["<c1 >", "T", "<c", "1"], "c1"), Location::NoTag);
}

#[test]
fn tags_inside_the_reasoning_do_not_count() {
    let open = ["<think>", "<score_A>", "B"];
    assert_eq!(find(&open, "score_A"), Location::UnclosedReasoning);
    let closed = ["<think>", "<score_A>", "B", "</think>", "\nno"];
    assert_eq!(find(&closed, "score_A"), Location::NoTag);
    let after = ["x</thi", "nk>", "<score_A>", "B"];
    assert_eq!(find(&after, "score_A"), at(3));
}

#[test]
fn blank_tokens_are_positions_until_the_first_other_one() {
    assert_eq!(
        find(&["<c1>", "\n", "", "Ġ", "B", "C"], "c1"),
        found(1, 4, 0, false)
    );
    assert_eq!(find(&["<c1>", "\n", " "], "c1"), found(1, 2, 0, true));
    assert_eq!(
        find(&["<c1>", " ", " ", " ", " ", " ", " ", "B"], "c1"),
        found(1, 5, 0, false)
    );
}

#[test]
fn lengths_that_do_not_fit_and_odd_names_are_errors() {
    assert_eq!(locate("abc", &[1], &["c1"]).unwrap_err().path, "/lengths");
    for name in ["", "<c1>", "a b", "é", &"x".repeat(65)] {
        assert_eq!(
            locate("", &[], &["ok", name]).unwrap_err().path,
            "/tags/1",
            "{name}"
        );
    }
}

#[test]
fn surrogate_halves_split_over_two_tokens_keep_the_positions_right() {
    // "😀" cut in its middle by the tokenizer: lengths 1 and 1, one character in UTF-8.
    assert_eq!(locate("😀<c1>B", &[1, 1, 4, 1], &["c1"]).unwrap()[0], at(3));
    assert_eq!(split_tokens("😀B", &[1, 1, 1]).unwrap(), ["😀", "", "B"]);
}

#[test]
fn spellings_of_a_letter_add_up_and_words_do_not_count() {
    let d = scored(read(&[
        (" A", 0.5),
        ("A", 0.2),
        ("Ġa", 0.1),
        (" T", 0.1),
        ("The", 0.1),
    ]));
    assert!((d.value - 0.8 / 0.9).abs() < 1e-15);
    assert!((d.letter_mass - 0.9).abs() < 1e-15);
    assert_eq!(
        read(&[("The", 0.6), ("Ａ", 0.3), ("А", 0.1)]),
        Outcome::NoLetter
    );
    assert_eq!(
        scored(read(&[("\u{feff}\u{a0}B\u{1c}", 1.0)])).letters[1],
        1.0
    );
}

#[test]
fn alternatives_at_a_fused_position_must_complete_the_tag() {
    let fused = |prefix: &str, pairs: &[(&str, f64)]| {
        scored(read_position(
            NOTHING,
            &list(pairs),
            prefix,
            Direction::Pairwise,
        ))
    };
    let d = fused("_A>", &[("_A> C", 0.6), ("_A>D", 0.3), ("C", 0.1)]);
    assert!((d.letters[2] - 2.0 / 3.0).abs() < 1e-15 && (d.letter_mass - 0.9).abs() < 1e-15);
    let d = fused(">", &[("> B", 0.6), (" >B", 0.3), ("B", 0.1)]);
    assert_eq!(d.letters[1], 1.0);
}

#[test]
fn what_is_no_distribution_is_no_number() {
    let raw = |sampled: Alternative<'_>, list: &[(&str, f64)]| {
        let list: Vec<_> = list
            .iter()
            .map(|&(token, logprob)| Alternative { token, logprob })
            .collect();
        read_position(sampled, &list, "", Direction::Pairwise)
    };
    let c = Alternative {
        token: "C",
        logprob: 0.0,
    };
    assert_eq!(raw(c, &[]), Outcome::NoLogprobs);
    assert_eq!(
        raw(c, &[("A", -9999.0), ("B", -9999.0)]),
        Outcome::NoLogprobs
    );
    assert_eq!(
        raw(c, &[("A", f64::NAN), ("B", f64::NEG_INFINITY)]),
        Outcome::NoLogprobs
    );
    assert_eq!(raw(c, &[("A", 2.5), ("B", -1.0)]), Outcome::NoLogprobs);
    assert_eq!(raw(c, &[("A", f64::INFINITY)]), Outcome::NoLogprobs);
    assert_eq!(
        raw(c, &[("A", f64::NAN), ("x", -0.1)]),
        Outcome::LowLetterMass(0.0)
    );
    assert_eq!(
        raw(c, &[("A", -9999.0), ("x", -0.1)]),
        Outcome::LowLetterMass(0.0)
    );
    let certain = scored(raw(NOTHING, &[("B", 0.0), ("A", -9999.0)]));
    assert_eq!(
        (certain.entropy, certain.letter_mass, certain.letters[1]),
        (0.0, 1.0, 1.0)
    );
    assert_eq!(scored(raw(NOTHING, &[("B", 1e-7)])).letter_mass, 1.0);
}

#[test]
fn the_sampled_token_joins_once() {
    let sampled = |token, p: f64| Alternative {
        token,
        logprob: p.ln(),
    };
    let with =
        |s, pairs: &[(&str, f64)]| scored(read_position(s, &list(pairs), "", Direction::Pairwise));
    assert!((with(sampled("T", 0.25), &[("A", 0.75)]).value - 0.75).abs() < 1e-15);
    assert_eq!(with(sampled("A", 0.75), &[("A", 0.75)]).letter_mass, 0.75);
    // Drawn from a constrained distribution that isn't the one shown.
    assert_eq!(with(sampled("T", 1.0), &[("A", 0.75)]).value, 1.0);
    // Twice the same entry is one entry; two entries of one text are two.
    assert_eq!(
        with(NOTHING, &[("A", 0.6), ("A", 0.6), ("T", 0.2)]).letter_mass,
        0.8
    );
    assert!((with(NOTHING, &[("A", 0.6), ("A", 0.2), ("T", 0.2)]).value - 0.8).abs() < 1e-15);
}

#[test]
fn low_mass_is_reported_and_half_is_enough() {
    let Outcome::LowLetterMass(mass) = read(&[("x", 0.7), ("A", 0.2), ("T", 0.1)]) else {
        panic!("scored");
    };
    assert!((mass - 0.3).abs() < 1e-15);
    assert_eq!(scored(read(&[("x", 0.5), ("A", 0.5)])).value, 1.0);
}

#[test]
fn alternatives_that_add_up_to_more_than_one_are_weights() {
    let d = scored(read(&[("A", 0.9), ("T", 0.9), ("x", 0.2)]));
    assert!((d.value - 0.5).abs() < 1e-15 && (d.letter_mass - 0.9).abs() < 1e-15);
    assert!(matches!(
        read(&[("A", 0.8), ("x", 0.9)]),
        Outcome::LowLetterMass(_)
    ));
}

#[test]
fn a_reader_prefers_what_can_be_read() {
    let a = read(&[("A", 1.0)]);
    let mut reader = TagReader::default();
    assert!(!reader.take(Outcome::LowLetterMass(0.2)));
    assert!(!reader.take(Outcome::NoLetter));
    assert_eq!(reader.finish(false), Outcome::LowLetterMass(0.2));
    let mut reader = TagReader::default();
    reader.take(Outcome::NoLetter);
    assert_eq!(reader.finish(true), Outcome::Truncated);
    let mut reader = TagReader::default();
    reader.take(Outcome::NoLetter);
    assert!(reader.take(a));
    assert_eq!(reader.finish(true), a);
}

#[test]
fn explicit_letters_stand_alone_between_their_tags() {
    let one = |text: &str| decode_text(text, &["score_A"]).unwrap()[0];
    assert_eq!(one("x <score_A>\n c \n</score_A>"), Explicit::Letter(2));
    assert_eq!(one("<SCORE_a>> B </Score_A>"), Explicit::Letter(1));
    for body in ["**B**", "AB", "B.", "7", "", "  ", "Ａ", "U", "<b>B</b>"] {
        assert_eq!(
            one(&format!("<score_A>{body}</score_A>")),
            Explicit::NoLetter,
            "{body}"
        );
    }
    assert_eq!(
        one("<score_A>A</score_A> <score_A>Z</score_A>"),
        Explicit::NoLetter
    );
    assert_eq!(
        one("<score_A>A</score_A> <score_A> B </sco"),
        Explicit::Truncated
    );
    assert_eq!(one("<score_A> B"), Explicit::Truncated);
    assert_eq!(one("<score_A x=\"1\">A</score_A>"), Explicit::NoTag);
    assert_eq!(
        one("<think><score_A>A</score_A>"),
        Explicit::UnclosedReasoning
    );
    assert_eq!(one("<score_A>A</score_A></think> none"), Explicit::NoTag);
}

proptest! {
    /// Any split of an answer over tokens gives the same letter position.
    #[test]
    fn splits_do_not_matter(cuts in proptest::collection::vec(0usize..60, 0..12), before in "[a-z <>é日😀]{0,20}") {
        let answer = format!("{before}<score_A>");
        let mut bounds: Vec<usize> = cuts
            .into_iter()
            .filter(|&c| c < answer.len() && answer.is_char_boundary(c))
            .collect();
        bounds.extend([0, answer.len()]);
        bounds.sort_unstable();
        let mut tokens: Vec<&str> = bounds.windows(2).map(|w| &answer[w[0]..w[1]]).collect();
        tokens.push("C");
        tokens.push("</score_A>");
        let Location::Found { token, positions, prefix, .. } = find(&tokens, "score_A") else {
            return Err(TestCaseError::fail("not found"));
        };
        prop_assert_eq!(tokens[token + positions - 1], "C");
        prop_assert_eq!(prefix, 0);
    }

    /// Whatever the bytes and numbers are: no panic, and a number only from a distribution.
    #[test]
    fn numbers_are_honest(
        tokens in proptest::collection::vec(("[ >A-Ua-u▁Ġ]{0,3}", prop_oneof![
            4 => -12.0..0.5f64,
            1 => Just(f64::NAN),
            1 => Just(f64::NEG_INFINITY),
            1 => Just(-9999.0),
            1 => Just(0.0),
        ]), 0..24),
        prefix in prop_oneof![Just(""), Just(">"), Just("_A>")],
    ) {
        let list: Vec<Alternative<'_>> = tokens
            .iter()
            .map(|(token, logprob)| Alternative { token, logprob: *logprob })
            .collect();
        let sampled = list.first().copied().unwrap_or(NOTHING);
        let outcome = read_position(sampled, &list, prefix, Direction::Pairwise);
        let mut reversed = list.clone();
        reversed.reverse();
        prop_assert_eq!(outcome, read_position(sampled, &reversed, prefix, Direction::Pairwise));
        if let Outcome::Scored(d) = outcome {
            prop_assert!((0.0..=1.0).contains(&d.value));
            prop_assert!(d.letter_mass <= 1.0 && d.letter_mass >= MINIMUM_LETTER_MASS - 1e-9);
            prop_assert!((0.0..=20f64.log2() + 1e-9).contains(&d.entropy));
            prop_assert!((d.letters.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let Outcome::Scored(up) = read_position(sampled, &list, prefix, Direction::Progress) else {
                return Err(TestCaseError::fail("scored in one direction only"));
            };
            prop_assert!((up.value + d.value - 1.0).abs() < 1e-12);
        }
    }

    /// Arbitrary text: no panic, and lengths in UTF-16 units always fit.
    #[test]
    fn any_text_is_survived(tokens in proptest::collection::vec(".{0,6}", 0..12), tag in "[a-c]{1,2}") {
        let refs: Vec<&str> = tokens.iter().map(String::as_str).collect();
        prop_assert!(locate(&refs.concat(), &lengths(&refs), &[&tag]).is_ok());
        prop_assert!(decode_text(&refs.concat(), &[&tag]).is_ok());
        let text = refs.concat();
        prop_assert_eq!(split_tokens(&text, &lengths(&refs)).unwrap(), refs);
    }
}
