use std::collections::BTreeMap;

use proptest::prelude::*;

use super::SmallMap;

proptest! {
    #[test]
    fn says_the_same_as_a_tree(steps in prop::collection::vec((0_u8..3, 0_u8..20, any::<u8>()), 0..60)) {
        let (mut map, mut tree) = (SmallMap::new(), BTreeMap::new());
        for (step, key, value) in steps {
            match step {
                0 => prop_assert_eq!(map.insert(key, value), tree.insert(key, value)),
                1 => prop_assert_eq!(map.remove(&key), tree.remove(&key)),
                _ => prop_assert_eq!(*map.entry(key).or_insert(value), *tree.entry(key).or_insert(value)),
            }
            prop_assert_eq!(map.get(&key), tree.get(&key));
            prop_assert!(map.iter().eq(tree.iter()));
        }
    }

    #[test]
    fn collects_in_any_order(entries in prop::collection::vec((any::<u8>(), any::<u8>()), 0..30)) {
        let map: SmallMap<_, _> = entries.iter().copied().collect();
        let tree: BTreeMap<_, _> = entries.into_iter().collect();
        prop_assert!(map.iter().eq(tree.iter()));
    }
}
