//! Exact decimals, for bounds: `50.01` in a policy is that number and not the nearest double.

use std::cmp::Ordering;

/// A decimal of any length: `0.DIGITS * 10^point`, digits without zeros at either end, none for zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Decimal {
    negative: bool,
    digits: String,
    point: i64,
}

impl Decimal {
    /// Reads a JSON number. `None` if it is not one, or if its exponent is beyond all use.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() || mantissa.ends_with('.') {
            return None;
        }
        let all = [whole, fraction].concat();
        if !all.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits = all.trim_start_matches('0');
        let leading = i64::try_from(all.len() - digits.len()).ok()?;
        let digits = digits.trim_end_matches('0');
        if digits.is_empty() {
            return Some(Self { negative: false, digits: String::new(), point: 0 });
        }
        let point = i64::try_from(whole.len()).ok()?.checked_sub(leading)?.checked_add(exponent)?;
        Some(Self { negative, digits: digits.to_owned(), point })
    }

    /// Whether it has no fraction.
    pub(super) fn is_whole(&self) -> bool {
        usize::try_from(self.point).is_ok_and(|point| point >= self.digits.len())
    }

    /// The number, if it is whole and not beyond all use.
    pub(super) fn whole(&self) -> Option<i128> {
        let zeros = usize::try_from(self.point).ok()?.checked_sub(self.digits.len())?;
        let sign = if self.negative { "-" } else { "" };
        let shown =
            if zeros < 40 { format!("{sign}0{}{}", self.digits, "0".repeat(zeros)) } else { return None };
        shown.parse().ok()
    }

    fn cmp_magnitude(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits)),
        }
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let text = text.strip_prefix('+').filter(|rest| !rest.starts_with(['+', '-'])).unwrap_or(text);
    if text.starts_with('+') {
        return None;
    }
    text.parse::<i64>().ok().filter(|exponent| exponent.unsigned_abs() < 1 << 40)
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.cmp_magnitude(other),
            (true, true) => other.cmp_magnitude(self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;
    use proptest::prelude::*;
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn compares_without_rounding() {
        for (a, b, expected) in [
            ("50", "50.01", Less),
            ("50.0", "5e1", Equal),
            ("-0", "0.000", Equal),
            ("0e99", "0", Equal),
            ("9007199254740993", "9007199254740992", Greater),
            ("0.1", "0.10000000000000000000000000000000000001", Less),
            ("1e400", "1e399", Greater),
            ("-1e400", "1", Less),
            ("-2", "-1", Less),
            ("0.05", "0.5", Less),
            ("100", "99.9", Greater),
            ("1E+2", "100", Equal),
        ] {
            let (x, y) = (Decimal::parse(a).unwrap(), Decimal::parse(b).unwrap());
            assert_eq!(x.cmp(&y), expected, "{a} {b}");
            assert_eq!(y.cmp(&x), expected.reverse(), "{b} {a}");
        }
        for bad in ["", "-", "1.", ".5", "x", "1e", "0x1", "1e9999999999999999999", "1_0", "--1", "1e+-1"] {
            assert_eq!(Decimal::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn knows_whole_numbers() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-12", Some(-12)),
            ("1.5e1", Some(15)),
            ("1.5", None),
            ("0.05", None),
            ("1e60", None),
        ] {
            let number = Decimal::parse(text).unwrap();
            assert_eq!(number.whole(), expected, "{text}");
            assert_eq!(number.is_whole(), expected.is_some() || text == "1e60", "{text}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_whole_numbers(a in any::<i128>(), b in any::<i128>()) {
            let (x, y) = (Decimal::parse(&a.to_string()).unwrap(), Decimal::parse(&b.to_string()).unwrap());
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        }

        #[test]
        fn a_shifted_point_changes_nothing(n in any::<i64>(), shift in 0i64..30) {
            let plain = Decimal::parse(&n.to_string());
            let zeros = "0".repeat(usize::try_from(shift).unwrap());
            prop_assert_eq!(Decimal::parse(&format!("{n}{zeros}e-{shift}")), plain);
        }
    }
}
