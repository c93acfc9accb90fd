use std::os::unix::fs::PermissionsExt;

use super::{Dates, IDENTITIES, Pki};

#[test]
fn makes_a_whole_set_once_that_only_its_owner_can_read() {
    let dir = tempfile::tempdir().unwrap();
    let now = "2026-11-30T12:00:00Z".parse().unwrap();
    let pki = Pki::ensure(dir.path(), now).unwrap();
    for identity in IDENTITIES {
        assert!(
            pki.text(&format!("{}.pem", identity.file))
                .unwrap()
                .starts_with("-----BEGIN CERTIFICATE")
        );
        let key = pki.file(&format!("{}-key.pem", identity.file));
        assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let before = pki.text("admin.pem").unwrap();
    assert_eq!(
        Pki::ensure(dir.path(), now)
            .unwrap()
            .text("admin.pem")
            .unwrap(),
        before
    );
}

#[test]
fn an_incomplete_set_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let now = "2026-11-30T12:00:00Z".parse().unwrap();
    let pki = Pki::ensure(dir.path(), now).unwrap();
    let before = pki.text("ca.pem").unwrap();
    std::fs::remove_file(pki.file("complete")).unwrap();
    assert_ne!(
        Pki::ensure(dir.path(), now)
            .unwrap()
            .text("ca.pem")
            .unwrap(),
        before
    );
}

#[test]
fn authorities_do_not_leave_their_keys_behind() {
    let dir = tempfile::tempdir().unwrap();
    let pki = Pki::ensure(dir.path(), "2026-11-30T12:00:00Z".parse().unwrap()).unwrap();
    assert!(!pki.file("ca-key.pem").exists() && !pki.file("front-proxy-ca-key.pem").exists());
}

#[test]
fn an_authority_that_goes_on_signing_keeps_its_key() {
    let dir = tempfile::tempdir().unwrap();
    let now = "2026-11-30T12:00:00Z".parse().unwrap();
    let pki = Pki::ensure(dir.path(), now).unwrap();
    let before = pki.text("ca.pem").unwrap();
    let pki = Pki::ensure_signing(dir.path(), now).unwrap();
    assert_ne!(
        pki.text("ca.pem").unwrap(),
        before,
        "nobody has the key of the first"
    );
    let key = pki.file("ca-key.pem");
    assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!pki.file("front-proxy-ca-key.pem").exists());
}

/// Platform case 061: a clock that is twelve hours off, or jumps two, refuses no certificate.
#[test]
fn certificates_are_valid_on_clocks_that_are_off() {
    let now: jiff::Timestamp = "2026-11-30T00:30:00Z".parse().unwrap();
    let params = Dates::around(now).unwrap().params();
    let seconds = now.as_second();
    let half_a_day = 12 * 3600;
    assert!(params.not_before.unix_timestamp() <= seconds - half_a_day);
    assert!(params.not_after.unix_timestamp() >= seconds + half_a_day);
}
