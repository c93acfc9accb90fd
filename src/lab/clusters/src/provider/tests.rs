use std::collections::BTreeSet;

use super::{EnvironmentId, Phase};

/// The accounts of platform case 062.
const ACCOUNTS: &[&str] = &[
    "anne",
    "Anne",
    "ANNE ",
    "ann\u{e9}",
    "anne\u{301}",
    "anne-1",
    "anne_1",
    "anne.1",
    "a",
    "aa",
    "root",
    "admin",
    "kind",
    "../x",
    "名前",
    "anne+cours@exemple.fr",
    "une-personne-dont-le-nom-de-compte-a-exactement-quatre-vingts-caracteres-environ",
];

#[test]
fn every_account_has_an_environment_of_its_own_with_a_valid_name() {
    let ids: BTreeSet<EnvironmentId> = ACCOUNTS
        .iter()
        .map(|account| EnvironmentId::for_account(account))
        .collect();
    assert_eq!(ids.len(), ACCOUNTS.len());
    for id in ids {
        assert_eq!(id.as_str().parse::<EnvironmentId>().as_ref(), Ok(&id));
    }
}

#[test]
fn no_name_is_a_prefix_of_another_or_leaves_its_folder() {
    for wrong in [
        "",
        "-a",
        "a-",
        "A",
        "a/b",
        "..",
        "a.b",
        "é",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ] {
        assert!(
            wrong.parse::<EnvironmentId>().is_err(),
            "{wrong:?} must be refused"
        );
    }
}

#[test]
fn a_start_is_told_in_the_phases_of_its_kind() {
    let servers = Phase::of_start(&[Phase::Directory, Phase::Certificates]);
    assert!(servers.contains(&Phase::Etcd) && !servers.contains(&Phase::Containers));
    let containers = Phase::of_start(&[Phase::Containers]);
    assert!(!containers.contains(&Phase::Etcd) && containers.contains(&Phase::Containers));
    assert_eq!(containers.last(), Some(&Phase::Ready));
}

#[test]
fn phase_keys_are_those_of_the_wire() {
    for phase in Phase::ALL {
        assert_eq!(
            serde_json::to_string(&phase).unwrap(),
            format!("\"{}\"", phase.key())
        );
    }
}
