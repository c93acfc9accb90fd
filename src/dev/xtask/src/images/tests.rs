use std::collections::BTreeSet;

use super::{choose, recipes};

#[test]
fn every_image_has_a_name_of_its_own_and_none_runs_as_root_but_the_plugin() {
    let names: BTreeSet<&str> = recipes::ALL.iter().map(|recipe| recipe.name).collect();
    assert_eq!(names.len(), recipes::ALL.len());
    let as_root = recipes::ALL
        .iter()
        .filter(|recipe| recipe.settings.user == "0:0");
    // It writes into the kubelet's folder.
    assert_eq!(
        as_root.map(|recipe| recipe.name).collect::<Vec<_>>(),
        ["gpu"]
    );
}

#[test]
fn an_unknown_image_is_refused_with_those_there_are() {
    let error = choose(&["trainner".to_owned()]).unwrap_err().to_string();
    assert!(
        error.contains("`trainner`") && error.contains("trainer"),
        "{error}"
    );
    assert_eq!(choose(&[]).unwrap().len(), recipes::ALL.len());
}
