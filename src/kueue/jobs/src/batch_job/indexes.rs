//! Lists of indexes as an Indexed Job writes them: `0,3-5,9`.

use std::collections::BTreeSet;

/// How many different indexes below `below` the lists name together. Parts that cannot be read count as nothing.
pub(super) fn count_union<'a>(lists: impl Iterator<Item = &'a str>, below: i32) -> i32 {
    let mut spans: BTreeSet<(i32, i32)> = BTreeSet::new();
    for part in lists.flat_map(|list| list.split(',')) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<i32>(), last.trim().parse::<i32>()) {
            spans.insert((first.max(0), last.min(below.saturating_sub(1))));
        }
    }
    let mut count = 0_i32;
    let mut next = 0;
    for (first, last) in spans {
        let first = first.max(next);
        if first <= last {
            count = count.saturating_add(last - first + 1);
            next = last.saturating_add(1);
        }
    }
    count
}
