use super::{Tls, check};

#[test]
fn what_is_agreed_to_is_known_by_name() {
    let tls = |version: &str, suites: &[&str], curves: &[i32]| Tls {
        min_version: version.to_owned(),
        cipher_suites: suites.iter().map(|&suite| suite.to_owned()).collect(),
        curve_preferences: curves.to_vec(),
    };
    let good = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
    let cases = [
        (tls("", &[], &[]), None),
        (tls("VersionTLS12", &[good], &[23, 29]), None),
        (tls("VersionTLS13", &[], &[4588]), None),
        (tls("VersionTLS13", &[good], &[]), Some("must not be set")),
        (tls("VersionTLS99", &[], &[]), Some("unknown tls version")),
        (
            tls("VersionTLS12", &["NULL"], &[]),
            Some("unknown cipher suite"),
        ),
        (tls("VersionTLS12", &[], &[0]), Some("unknown curve")),
    ];
    for (tls, want) in cases {
        let found = check(&tls).first().map(|error| error.detail.clone());
        match (&found, want) {
            (None, None) => {}
            (Some(found), Some(want)) if found.contains(want) => {}
            _ => panic!("{tls:?}: want {want:?}, found {found:?}"),
        }
    }
}
