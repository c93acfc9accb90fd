use super::{File, policies, printed};

#[test]
fn apt_s_lines_are_read_and_its_other_words_are_not() {
    let line = "'http://deb.debian.org/debian/pool/main/n/nss/libnss3_3.87.1-1%2bdeb12u4_amd64.deb' libnss3_2%3a3.87.1-1+deb12u4_amd64.deb 1330556 MD5Sum:8e7e";
    let file = printed(line).unwrap();
    assert_eq!(file.name, "libnss3_2%3a3.87.1-1+deb12u4_amd64.deb");
    assert_eq!(
        file.name_and_version().unwrap(),
        ("libnss3".to_owned(), "2:3.87.1-1+deb12u4".to_owned())
    );
    assert_eq!(printed("Reading package lists..."), None);
}

#[test]
fn a_name_that_is_not_a_package_is_refused() {
    let file = File {
        name: "nonsense".to_owned(),
    };
    assert!(
        file.name_and_version()
            .unwrap_err()
            .to_string()
            .contains("nonsense")
    );
}

#[test]
fn candidates_are_read_and_those_that_are_not_to_be_had_are_not_there() {
    let text = "openssl:\n  Installed: (none)\n  Candidate: 3.0.22-1\n  Version table:\n     3.0.22-1 500\nperl:\n  Installed: 5.36\n  Candidate: (none)\n";
    let found = policies(text);
    assert_eq!(found.get("openssl").map(String::as_str), Some("3.0.22-1"));
    assert_eq!(found.len(), 1);
}
