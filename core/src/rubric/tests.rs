use super::*;
use proptest::prelude::*;

fn ok(markdown: &str) -> Rubric {
    parse(markdown).unwrap_or_else(|e| panic!("{e} in {markdown:?}"))
}

fn short(markdown: &str) -> Vec<(String, String, String)> {
    ok(markdown)
        .criteria
        .into_iter()
        .map(|c| (c.id, c.name, c.description))
        .collect()
}

fn one(id: &str, name: &str, body: &str) -> Vec<(String, String, String)> {
    vec![(id.into(), name.into(), body.into())]
}

fn error(markdown: &str) -> String {
    parse(markdown).expect_err(markdown).message
}

#[test]
fn a_whole_rubric() {
    let rubric = ok(
        "# Title\n\n## Ground Truth Note\n\nOutput counts.\n\n## Criteria\n\n### One {#first weight=2}\n\nLook.\n\n### Two\n\nAgain.\n",
    );
    assert_eq!(rubric.ground_truth_note, "Output counts.");
    assert_eq!(rubric.warnings, Vec::<String>::new());
    assert_eq!(rubric.criteria[0].id, "first");
    assert_eq!(rubric.criteria[0].weight, 2.0);
    assert_eq!(rubric.criteria[1].id, "two");
    assert_eq!(rubric.criteria[1].weight, 1.0);
}

#[test]
fn byte_order_mark_and_all_line_ends() {
    for end in ["\n", "\r\n", "\r"] {
        let markdown = ["\u{feff}## Criteria", "### A", "x", "y"].join(end);
        assert_eq!(short(&markdown), one("a", "A", "x\ny"));
    }
}

#[test]
fn headings_in_fences_are_text_and_comments_in_fences_stay() {
    let body =
        "```md\n## Criteria\n### No\n<!-- kept -->\n```\nafter `<!-- too -->`\n\n~~~\n### B\n~~~";
    let markdown = format!("## Criteria\n### A\n{body}\n");
    assert_eq!(short(&markdown), one("a", "A", body));
    assert!(ok(&markdown).warnings.is_empty());
}

#[test]
fn comments_are_removed_and_lines_still_counted() {
    assert_eq!(
        short(
            "<!-- a\n## Criteria\n### Hidden\n```\n-->\n## Criteria <!-- b --><!-- c -->\n### A\nx <!-- y --> z\n<!--\n\n-->\nend"
        ),
        one("a", "A", "x  z\n\nend")
    );
    assert_eq!(
        error("<!--\n\n-->\n## Criteria\n### A\nx <!-- \n --> y\n### B\n"),
        "must have an instruction under every criterion's heading: there is none under \"B\" (line 8)"
    );
}

#[test]
fn an_unclosed_comment_is_text_with_a_warning() {
    let rubric = ok("## Criteria\n### A\nbody <!-- never\n### B\nmore");
    assert_eq!(rubric.criteria.len(), 2);
    assert_eq!(
        rubric.warnings,
        ["line 3: <!-- is never closed, so it was read as text"]
    );
}

#[test]
fn html_swallows_no_heading() {
    assert_eq!(
        short("## Criteria\n### A\n<script>\n### B\n<div>\ny"),
        [one("a", "A", "<script>"), one("b", "B", "<div>\ny")].concat()
    );
}

#[test]
fn headings_may_be_indented_closed_or_underlined() {
    let markdown = "Title\n=====\n\nGround truth\n---\nnote\n\n   ## Criteria ##\n  ### A ###\nx\n###\tB C#\ny\n";
    let rubric = ok(markdown);
    assert_eq!(rubric.ground_truth_note, "note");
    assert_eq!(
        short(markdown),
        [one("a", "A", "x"), one("b_c", "B C#", "y")].concat()
    );
    assert!(rubric.warnings.is_empty());
    assert_eq!(
        short("Criteria\n--------\n### A\nparagraph\n---\nmore"),
        one("a", "A", "paragraph\n---\nmore")
    );
}

#[test]
fn section_names_in_other_languages() {
    for (truth, criteria) in [
        ("GROUND  TRUTH", "Criterion list"),
        ("基准事实", "判据"),
        ("真值", "评分标准"),
        ("基準真相", "評分標準"),
        ("正解", "評価基準"),
        ("정답", "평가 기준"),
        ("Эталон", "Критерии оценки"),
        ("Ground-Truth", "Bewertungskriterien"),
        ("ground truth", "Critères"),
    ] {
        let rubric = ok(&format!("## {truth}\nnote\n## {criteria}\n### 甲\nx\n"));
        assert_eq!(rubric.ground_truth_note, "note", "{truth}");
        assert_eq!(rubric.criteria[0].id, "criterion", "{criteria}");
    }
}

#[test]
fn nothing_is_dropped_silently() {
    let rubric = ok(
        "# T\nintro\n## Scope\nignored\n## Ground truth\nfirst\n## Ground truth too\nsecond\n## Criteria\nbefore\n### A\nx\n# kept\n- item\n  ### nested\n###Glued\n### One {#mid} tail\ny\n### Z {#a}\nz\n### Z {#a}\nz\n## Notes\n",
    );
    assert_eq!(rubric.ground_truth_note, "first");
    let ids: Vec<_> = rubric.criteria.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids, ["a_3", "one_mid_tail", "a", "a_2"]);
    assert_eq!(
        rubric.criteria[0].description,
        "x\n# kept\n- item\n  ### nested\n###Glued"
    );
    let starts: Vec<_> = rubric
        .warnings
        .iter()
        .map(|w| &w[..w.find(':').unwrap()])
        .collect();
    assert_eq!(
        starts,
        [
            "line 2", "line 3", "line 7", "line 10", "line 15", "line 16", "line 17", "line 21",
            "line 23"
        ]
    );
}

#[test]
fn an_unclosed_fence_is_warned_of() {
    let rubric = ok("## Criteria\n### A\n```\n### B\nx\n");
    assert_eq!(rubric.criteria.len(), 1);
    assert_eq!(
        rubric.warnings,
        ["line 3: the code fence is never closed, so everything below is part of it"]
    );
}

#[test]
fn warnings_come_by_line_and_end_somewhere() {
    let many = format!("## Criteria\n### A\nx\n{}", "##x\n".repeat(60));
    let warnings = ok(&many).warnings;
    assert_eq!(warnings.len(), MAX_WARNINGS + 1);
    assert!(warnings[0].starts_with("line 4: "));
    assert!(warnings[49].starts_with("line 53: "));
    assert_eq!(warnings[50], "line 54: here and below are 10 more");
}

#[test]
fn a_document_without_criteria_says_what_it_has_instead() {
    for (markdown, message) in [
        ("", "has no criteria: the text is blank"),
        (" \n<!-- x -->", "has no criteria: the text is blank"),
        (
            "text",
            "has no criteria: there is no section \"## Criteria\"",
        ),
        (
            "## Foo\n### A\nx\n## Bar\n",
            "has no criteria: none of its sections is called \"## Criteria\", they are \"Foo\" (line 1), \"Bar\" (line 4)",
        ),
        (
            "# T\n### A\nx",
            "has no criteria: \"A\" (line 2) stands in no section \"## Criteria\"",
        ),
        (
            "\n## Criteria\n#### A\nx",
            "has no criteria: there is no heading \"### Name\" under \"Criteria\" (line 2)",
        ),
    ] {
        assert_eq!(error(markdown), message);
    }
}

#[test]
fn limits_and_attributes_are_checked() {
    let many: String = (0..13).map(|i| format!("### C{i}\nx\n")).collect();
    assert_eq!(
        error(&format!("## Criteria\n{many}")),
        "must have at most 12 criteria: \"C12\" (line 26) is number 13 of 13"
    );
    let long = "é".repeat(MAX_BODY + 1);
    assert!(error(&format!("## Criteria\n### A\n{long}")).contains("\"A\" has 20001 characters"));
    assert!(
        error(&format!("## Ground truth\n{long}\n## Criteria\n### A\nx"))
            .contains("line 1: the ground-truth note")
    );
    assert!(error(&"x".repeat(MAX_BYTES + 1)).contains("too large"));
    for (heading, part) in [
        ("A {#bad id}", "line 2: {#bad id} must hold nothing but"),
        ("A {#}", "line 2: {#} must hold one id"),
        ("A {#é}", "line 2: {#é} must hold one id"),
        ("A {#a #b}", "line 2: {#a #b} must hold one id"),
        ("A {weight=0}", "line 2: the weight in {weight=0} must be"),
        ("A {#a weight=-1}", "must be a positive number"),
        ("A {#a weight=NaN}", "must be a positive number"),
        ("A {#a weight=inf}", "must be a positive number"),
        ("", "line 2: the heading has no name"),
    ] {
        let message = error(&format!("## Criteria\n### {heading}\nx\n"));
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(
        short("## Criteria\n### {#only}\nx"),
        one("only", "only", "x")
    );
    assert_eq!(
        short("## Criteria\n### Uses {braces}\nx"),
        one("uses_braces", "Uses {braces}", "x")
    );
}

proptest! {
    #[test]
    fn never_panics_and_lines_stay_inside(
        text in "(## Criteria\n|### A\n|### B \\{#b\\}\n|## Ground truth\n|x|\n|\r|<!--|-->|```\n|~~~|- |> |    |---\n|===\n|#|<div>|é|`|\t|\u{feff}){0,40}"
    ) {
        let lines = text.replace("\r\n", "\n").matches(['\n', '\r']).count() + 1;
        if let Ok(rubric) = parse(&text) {
            prop_assert!(!rubric.criteria.is_empty());
            for criterion in &rubric.criteria {
                prop_assert!(!criterion.description.is_empty());
                prop_assert_eq!(criterion.description.trim(), &criterion.description);
            }
            for warning in rubric.warnings {
                let number: usize = warning[5..warning.find(':').unwrap()].parse().unwrap();
                prop_assert!((1..=lines).contains(&number));
            }
        }
    }

    #[test]
    fn what_is_written_is_read(
        bodies in proptest::collection::vec("[a-zé ,.]{0,30}[a-z]", 1..6), note in "[a-z ]{0,20}"
    ) {
        let mut markdown = format!("## Ground Truth Note\n\n{note}\n\n## Criteria\n");
        for (i, body) in bodies.iter().enumerate() {
            markdown += &format!("\n### Name {i} {{#id{i}}}\n\n{body}\n");
        }
        let rubric = ok(&markdown);
        prop_assert_eq!(rubric.ground_truth_note, note.trim());
        prop_assert_eq!(rubric.criteria.len(), bodies.len());
        for (i, criterion) in rubric.criteria.iter().enumerate() {
            prop_assert_eq!(&criterion.id, &format!("id{i}"));
            prop_assert_eq!(&criterion.description, bodies[i].trim());
        }
    }
}
