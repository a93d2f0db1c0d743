//! Criterion ids: short, unique, stable.

use crate::error::{CoreError, Result};
use crate::fold::lower_text;
use std::collections::BTreeSet;

/// Longest slug of a name. A suffix that makes it unique comes on top.
pub const MAX_SLUG: usize = 40;

/// Longest pinned id.
pub const MAX_ID: usize = 40;

/// Slug of a name: lower case, every run of characters other than a-z and 0-9 becomes `_`, at most 40 characters, no
/// `_` at either end; `criterion` when nothing is left.
pub fn slug(name: &str) -> String {
    let mut out = String::new();
    for c in lower_text(name).chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        if out.len() == MAX_SLUG {
            break;
        }
    }
    let trimmed = out.trim_end_matches('_');
    if trimmed.is_empty() {
        "criterion".into()
    } else {
        trimmed.into()
    }
}

/// Whether a text may be a pinned id: 1 to 40 of `A-Za-z0-9_-`.
pub fn is_id(text: &str) -> bool {
    (1..=MAX_ID).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// The first of `base`, `base_2`, `base_3`, … that isn't taken.
pub fn unique(base: &str, taken: &BTreeSet<String>) -> String {
    if !taken.contains(base) {
        return base.into();
    }
    (2u32..)
        .map(|n| format!("{base}_{n}"))
        .find(|id| !taken.contains(id))
        .expect("there are more numbers than ids")
}

/// Unique ids for names, in order. A pinned id is kept, also against the slug of an earlier name; only the second of
/// two equal pinned ids gets a number.
///
/// # Errors
/// When a pinned id has other characters than `A-Za-z0-9_-`, or more than 40.
pub fn criterion_ids(items: &[(&str, Option<&str>)]) -> Result<Vec<String>> {
    let mut taken = BTreeSet::new();
    let mut ids = vec![String::new(); items.len()];
    for pinned_pass in [true, false] {
        for (i, (name, pinned)) in items.iter().enumerate() {
            let base = match pinned {
                Some(id) if !is_id(id) => {
                    return Err(CoreError::with_value(
                        format!("/{i}/id"),
                        "must be 1 to 40 letters, digits, _ or -",
                        id,
                    ));
                }
                Some(id) if pinned_pass => id.to_string(),
                None if !pinned_pass => slug(name),
                _ => continue,
            };
            ids[i] = unique(&base, &taken);
            taken.insert(ids[i].clone());
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slugs_of_all_kinds_of_names() {
        for (name, expected) in [
            ("Specification Adherence", "specification_adherence"),
            ("  a--B__c!!! ", "a_b_c"),
            ("最终答案正确性", "criterion"),
            ("判据 one", "one"),
            ("İstanbul", "i_stanbul"),
            ("", "criterion"),
            (
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            ),
        ] {
            assert_eq!(slug(name), expected, "{name}");
        }
    }

    #[test]
    fn duplicates_are_numbered_and_pinned_ids_are_kept() {
        let ids = |items: &[(&str, Option<&str>)]| criterion_ids(items).unwrap();
        assert_eq!(
            ids(&[("a", None), ("a", None), ("a", None)]),
            ["a", "a_2", "a_3"]
        );
        assert_eq!(ids(&[("A b", None), ("x", Some("a_b"))]), ["a_b_2", "a_b"]);
        assert_eq!(ids(&[("", Some("x")), ("", Some("x"))]), ["x", "x_2"]);
        assert_eq!(
            ids(&[("第一", None), ("第二", None)]),
            ["criterion", "criterion_2"]
        );
        assert_eq!(
            criterion_ids(&[("a", None), ("b", Some("my id"))])
                .unwrap_err()
                .path,
            "/1/id"
        );
    }

    proptest! {
        #[test]
        fn a_slug_is_a_short_id_and_its_own_slug(name in "\\PC{0,80}") {
            let once = slug(&name);
            prop_assert!(is_id(&once) && once.len() <= MAX_SLUG);
            prop_assert_eq!(slug(&once), once.clone());
        }

        #[test]
        fn ids_are_unique(names in proptest::collection::vec("(a|a_2|b|甲)", 0..12)) {
            let items: Vec<_> = names.iter().map(|n| (n.as_str(), None)).collect();
            let ids = criterion_ids(&items).unwrap();
            let set: BTreeSet<_> = ids.iter().collect();
            prop_assert_eq!(set.len(), ids.len());
        }
    }
}
