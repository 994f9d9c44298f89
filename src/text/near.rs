//! Did-you-mean: the candidate nearest to a misspelt name.

/// The candidate that `name` most probably meant, if one is near enough to be worth proposing.
///
/// Near enough is an edit distance (with transpositions) of at most a third of the longer name, and never more
/// than three; ties go to the candidate that sorts first, so the answer does not depend on the order given.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = name.to_ascii_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.to_ascii_lowercase().replace('-', "_");
            let distance = strsim::damerau_levenshtein(&folded, &other);
            let limit = (folded.chars().count().max(other.chars().count()) / 3).clamp(1, 3);
            (distance <= limit).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn proposes_near_names_and_nothing_far() {
        let known = ["decision", "description", "default"];
        assert_eq!(nearest("decison", known), Some("decision"));
        assert_eq!(nearest("Decision", known), Some("decision"));
        assert_eq!(nearest("zzz", known), None);
        assert_eq!(nearest("read-file", ["read_file", "write_file"]), Some("read_file"));
    }
}
