use super::Choice;

/// The suites of TLS 1.2 that are left.
fn suites(names: &[&str]) -> Vec<String> {
    let choice = Choice {
        suites: names.iter().map(|&name| name.to_owned()).collect(),
        ..Choice::default()
    };
    let left = choice.provider().cipher_suites;
    let older = left.iter().filter(|suite| suite.tls13().is_none());
    older
        .map(|suite| suite.suite().as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn suites_are_chosen_by_name() {
    assert_eq!(suites(&[]).len(), 6);
    assert_eq!(
        suites(&["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]),
        ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]
    );
    assert_eq!(
        suites(&["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305"]),
        ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"]
    );
    // Known, and not in the library: TLS 1.3 is what remains.
    assert_eq!(
        suites(&["TLS_RSA_WITH_AES_128_CBC_SHA"]),
        Vec::<String>::new()
    );
}

#[test]
fn groups_are_chosen_by_number() {
    let groups = |numbers: &[i32]| {
        let choice = Choice {
            groups: numbers.to_vec(),
            ..Choice::default()
        };
        let left = choice.provider().kx_groups;
        left.iter()
            .map(|group| u16::from(group.name()))
            .collect::<Vec<_>>()
    };
    assert_eq!(groups(&[23]), [23]);
    assert_eq!(groups(&[4588]), groups(&[]), "not in the library");
}
