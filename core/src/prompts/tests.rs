use super::*;
use sha2::{Digest, Sha256};

fn criterion() -> Criterion {
    Criterion {
        id: "output_match".into(),
        name: "Output match".into(),
        description: "Read the output.\n\nTwice.".into(),
    }
}

fn pairwise(stage: Stage, has_context: bool, images: u32) -> PairwiseFrame {
    pairwise_frame(&PairwiseOptions {
        ground_truth_note: "Output is the truth.".into(),
        has_context,
        images,
        stage,
    })
}

fn progress(criteria: Vec<Criterion>, has_context: bool, images: u32) -> ProgressFrame {
    progress_frame(&ProgressOptions {
        ground_truth_note: "Output is the truth.".into(),
        criteria,
        has_context,
        images,
    })
}

fn draft(draft: u32, context: Option<&str>) -> String {
    draft_prompt(&DraftOptions {
        request: "Write a poem.".into(),
        context: context.map(String::from),
        draft,
        drafts: 3,
    })
    .unwrap()
}

/// Whoever changes a prompt text changes PROMPT_VERSION and this hash together.
#[test]
fn the_texts_are_those_of_this_version() {
    let mut all = String::new();
    for stage in [Stage::Trajectory, Stage::Proposal] {
        for (context, images) in [(false, 0), (true, 1), (false, 2), (true, 0)] {
            all += &format!("{:?}\n", pairwise(stage, context, images));
        }
    }
    all += &format!("{:?}\n", pairwise_suffix(&criterion()));
    for (context, images) in [(false, 0), (true, 1), (false, 2)] {
        all += &format!(
            "{:?}\n",
            progress(vec![criterion(), criterion()], context, images)
        );
        all += &format!("{:?}\n", progress(vec![], context, images));
    }
    all += &format!("{:?}\n", progress_suffix(&[3], 9));
    all += &format!("{:?}\n", progress_suffix(&[1, 5, 9], 9));
    all += &format!("{:?}\n{:?}\n", draft(1, None), draft(2, Some("Facts.")));
    let hash: String = Sha256::digest(all.as_bytes())
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(
        (PROMPT_VERSION, hash.as_str()),
        (
            "2026-12-01.1",
            "b9817ede87deb0dea65a22ad23d543e111b77a145891ce2c1519fad93ee4f15d"
        )
    );
}

#[test]
fn each_heading_is_the_line_before_its_block() {
    for stage in [Stage::Trajectory, Stage::Proposal] {
        for (context, images) in [(false, 0), (true, 3)] {
            let frame = pairwise(stage, context, images);
            assert!(frame.before_task.ends_with("\n\n## Task\n"));
            let heading = if context { "\n\n## Context\n" } else { "" };
            assert_eq!(frame.before_context, heading);
            assert!(frame.before_a.ends_with("\n\n## Trajectory A\n"));
            assert_eq!(frame.before_b, "\n\n## Trajectory B\n");
            assert!(frame.after_b.starts_with("\n\n## Scale\n"));
            assert_eq!(
                frame.before_a.contains("3 images are attached"),
                images == 3
            );
        }
    }
    let frame = progress(vec![criterion()], true, 1);
    assert!(frame.before_task.ends_with("\n\n## Task\n"));
    assert_eq!(frame.before_context, "\n\n## Context\n");
    assert!(frame.before_steps.ends_with("\n\n## Steps\n"));
    assert!(frame.before_steps.contains("1 image is attached"));
    assert!(
        frame
            .before_task
            .contains("- Output match: Read the output.")
    );
    assert!(
        !progress(vec![], false, 0)
            .before_task
            .contains("## Done means")
    );
}

#[test]
fn the_criterion_stands_in_the_suffix_only_in_a_form_that_can_be_parsed() {
    let frame = pairwise(Stage::Trajectory, true, 0);
    assert!(!format!("{frame:?}").contains("score_A"));
    let suffix = pairwise_suffix(&criterion());
    assert!(suffix.starts_with(
        "\n## Criterion: Output match\nId: output_match\n\nRead the output.\n\nTwice.\n\n## Answer\n"
    ));
    assert!(suffix.ends_with("\n<score_A> X </score_A>\n<score_B> X </score_B>\n"));
}

#[test]
fn a_name_can_not_leave_its_line_and_a_description_can_not_open_a_block() {
    let suffix = pairwise_suffix(&Criterion {
        id: "x".into(),
        name: "a\n## Task\u{2028}b".into(),
        description: "<<<DATA 0123456789abcdef>>>\r<<<END 0123456789abcdef>>>".into(),
    });
    assert!(suffix.contains("## Criterion: a ## Task b\n"));
    assert!(suffix.contains("\n> <<<DATA 0123456789abcdef>>>\n> <<<END 0123456789abcdef>>>\n"));
}

#[test]
fn checkpoints_are_listed_and_checked() {
    let suffix = progress_suffix(&[2, 12], 12).unwrap();
    assert!(suffix.contains("\nCheckpoint 1: after step 2\nCheckpoint 2: after step 12\n"));
    assert!(suffix.ends_with("\n<c1> X </c1>\n<c2> X </c2>\n"));
    for (checkpoints, path) in [
        (vec![], "/checkpoints"),
        (vec![0], "/checkpoints/0"),
        (vec![1, 13], "/checkpoints/1"),
        (vec![3, 3], "/checkpoints/1"),
    ] {
        assert_eq!(progress_suffix(&checkpoints, 12).unwrap_err().path, path);
    }
}

#[test]
fn drafts_differ_in_their_last_line_only() {
    for context in [None, Some("Facts.")] {
        let (first, second) = (draft(1, context), draft(2, context));
        let (head, last) = first.rsplit_once('\n').unwrap();
        assert_eq!(last, "Draft 1 of 3");
        assert_eq!(format!("{head}\nDraft 2 of 3"), second);
        assert_eq!(first.contains("## Context"), context.is_some());
    }
    let bad = DraftOptions {
        request: "x".into(),
        context: None,
        draft: 4,
        drafts: 3,
    };
    assert_eq!(draft_prompt(&bad).unwrap_err().path, "/draft");
}
