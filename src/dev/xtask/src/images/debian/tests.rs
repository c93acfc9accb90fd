use super::{File, printed};

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
