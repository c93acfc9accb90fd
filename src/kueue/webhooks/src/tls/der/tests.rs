use rcgen::{CertificateParams, DnType, KeyPair};

use super::common_name;

fn certificate(parts: &[(DnType, &str)]) -> Vec<u8> {
    let mut params = CertificateParams::new(vec!["a-name.example".to_owned()]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    for (kind, text) in parts {
        params.distinguished_name.push(kind.clone(), *text);
    }
    let key = KeyPair::generate().unwrap();
    params.self_signed(&key).unwrap().der().to_vec()
}

#[test]
fn the_common_name_is_found_among_other_parts() {
    let long = "n".repeat(300);
    type Parts<'a> = &'a [(DnType, &'a str)];
    let cases: [(Parts<'_>, Option<&str>); 5] = [
        (
            &[(DnType::CommonName, "front-proxy-client")],
            Some("front-proxy-client"),
        ),
        (
            &[
                (DnType::OrganizationName, "system:masters"),
                (DnType::CommonName, "é"),
            ],
            Some("é"),
        ),
        (&[(DnType::CommonName, &long)], Some(&long)),
        (&[(DnType::OrganizationName, "front-proxy-client")], None),
        (&[], None),
    ];
    for (parts, want) in cases {
        assert_eq!(
            common_name(&certificate(parts)).as_deref(),
            want,
            "{parts:?}"
        );
    }
}

#[test]
fn a_torn_certificate_has_no_name() {
    let whole = certificate(&[(DnType::CommonName, "front-proxy-client")]);
    for end in 0..whole.len() {
        // Whatever is cut off, nothing panics, and no other name comes out.
        let name = common_name(&whole[..end]);
        assert!(name.is_none(), "{end}: {name:?}");
    }
}
