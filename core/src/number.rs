//! Numbers as text and back.
//!
//! In wasm the JavaScript engine does it: the tables and the big-number arithmetic of Rust's own conversions are a
//! tenth of the file. Both round correctly, so a number read here is the same everywhere.

#[cfg(target_arch = "wasm32")]
mod convert {
    use wasm_bindgen::prelude::*;

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(js_name = Number)]
        pub fn read(text: &str) -> f64;
        #[wasm_bindgen(js_name = String)]
        pub fn text(value: f64) -> String;
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod convert {
    pub fn read(text: &str) -> f64 {
        text.parse().unwrap_or(f64::NAN)
    }

    pub fn text(value: f64) -> String {
        value.to_string()
    }
}

/// The number as decimal text that reads back to the same number; for a finite one also valid JSON.
pub fn text(value: f64) -> String {
    convert::text(value)
}

/// A positive finite number: digits with at most one point, at will a `+` before and an exponent behind them.
pub fn positive(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fine = digits(whole) && digits(fraction) && whole.len() + fraction.len() > 0;
    let exponent_fine = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    let value = (fine && exponent_fine).then(|| convert::read(text))?;
    (value > 0.0 && value.is_finite()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reference(text: &str) -> Option<f64> {
        text.parse()
            .ok()
            .filter(|w: &f64| w.is_finite() && *w > 0.0)
    }

    #[test]
    fn what_is_a_positive_number() {
        for (input, expected) in [
            ("2", Some(2.0)),
            ("+2.5", Some(2.5)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("1e-3", Some(0.001)),
            ("1E+2", Some(100.0)),
            ("0", None),
            ("-1", None),
            ("1e999", None),
            ("1e-999", None),
            ("inf", None),
            ("NaN", None),
            ("0x10", None),
            ("1_0", None),
            (".", None),
            ("+", None),
            ("e5", None),
            ("1e", None),
            ("1.2.3", None),
            ("", None),
        ] {
            assert_eq!(positive(input), expected, "{input:?}");
            assert_eq!(reference(input), expected, "{input:?}");
        }
    }

    proptest! {
        #[test]
        fn it_reads_what_the_standard_library_reads(text in "[-+]?[0-9.eE+_x]{0,6}[eE]?[-+]?[0-9]{0,3}") {
            prop_assert_eq!(positive(&text), reference(&text));
        }
    }
}
