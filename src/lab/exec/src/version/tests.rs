//! What people read when programs of different builds meet.

use expect_test::expect;

use super::{VERSION, check_version};

#[test]
fn another_version_is_said_in_words() {
    assert_eq!(check_version("relay", Some(VERSION)), Ok(()));
    let said = |starter| {
        check_version("relay", starter)
            .unwrap_err()
            .replace(VERSION, "OURS")
    };
    expect!["this is relay OURS, and it was started by a platform of version 99.1.0; they must be of the same version: build or install both together (`cargo xtask up` builds them)"].assert_eq(&said(Some("99.1.0")));
    expect!["this is relay OURS, and it was started by a platform of another version; they must be of the same version: build or install both together (`cargo xtask up` builds them)"].assert_eq(&said(None));
}
