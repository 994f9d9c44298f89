//! Finds text in bytes, in time that grows with both lengths and not with their product.

/// As many occurrences are kept.
pub(super) const MAX_FOUND: usize = 1_000_000;

/// Where `needle` begins in `bytes`, occurrences that overlap included; at most [`MAX_FOUND`] and one more. An empty
/// needle is nowhere.
pub(super) fn occurrences(bytes: &[u8], needle: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    if needle.is_empty() || needle.len() > bytes.len() {
        return found;
    }
    let borders = borders(needle);
    let mut matched = 0;
    for (at, byte) in bytes.iter().enumerate() {
        matched = next(needle, &borders, matched, *byte);
        if matched == needle.len() {
            found.push(at + 1 - matched);
            if found.len() > MAX_FOUND {
                break;
            }
            matched = border(&borders, matched);
        }
    }
    found
}

/// For each length of a start of the needle, the longest shorter start that it ends with.
fn borders(needle: &[u8]) -> Vec<u32> {
    let mut borders = Vec::with_capacity(needle.len() + 1);
    borders.extend([0, 0]);
    let mut matched = 0;
    for byte in needle.iter().skip(1) {
        matched = next(needle, &borders, matched, *byte);
        borders.push(u32::try_from(matched).unwrap_or(0));
    }
    borders
}

/// How much of the needle is matched after one more byte.
fn next(needle: &[u8], borders: &[u32], mut matched: usize, byte: u8) -> usize {
    loop {
        if needle.get(matched) == Some(&byte) {
            return matched + 1;
        }
        if matched == 0 {
            return 0;
        }
        matched = border(borders, matched);
    }
}

fn border(borders: &[u32], matched: usize) -> usize {
    borders.get(matched).map_or(0, |border| *border as usize)
}

#[cfg(test)]
mod tests {
    use super::occurrences;
    use proptest::prelude::*;

    #[test]
    fn finds_all_and_overlapping_ones() {
        for (bytes, needle, at) in [
            (&b"abcabc"[..], &b"abc"[..], &[0, 3][..]),
            (b"aaaa", b"aa", &[0, 1, 2]),
            (b"abab", b"", &[]),
            (b"ab", b"abc", &[]),
            (b"aabaabaaab", b"aab", &[0, 3, 7]),
            (b"\xff\x00\xff", b"\xff", &[0, 2]),
        ] {
            assert_eq!(occurrences(bytes, needle), at);
        }
    }

    proptest! {
        #[test]
        fn finds_what_looking_everywhere_finds(bytes in prop::collection::vec(0_u8..3, 0..60), needle in prop::collection::vec(0_u8..3, 1..6)) {
            let slow: Vec<usize> = bytes
                .windows(needle.len())
                .enumerate()
                .filter(|(_, part)| *part == needle.as_slice())
                .map(|(at, _)| at)
                .collect();
            prop_assert_eq!(occurrences(&bytes, &needle), slow);
        }
    }
}
