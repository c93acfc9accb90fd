use std::collections::BTreeMap;

use super::{MEMORY, UTILISATION, work};
use crate::usage::Source;

#[test]
fn annotations_say_what_a_simulated_pod_does() {
    let of = |pairs: &[(&str, &str)]| {
        let pairs = pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        work(&pairs.collect::<BTreeMap<_, _>>())
    };
    let waiting = of(&[(UTILISATION, "9 %"), (MEMORY, "2048")]);
    assert_eq!(
        (waiting.busy, waiting.memory_mib, waiting.source),
        (0.09, 2048, Source::Declared)
    );
    assert_eq!(of(&[(UTILISATION, "900")]).busy, 1.0);
    let silent = of(&[]);
    assert_eq!((silent.busy, silent.source), (0.85, Source::Assumed));
    assert_eq!(of(&[(UTILISATION, "beaucoup")]).source, Source::Assumed);
}
