use super::Secret;

#[test]
fn the_same_folder_gives_the_same_secret() {
    let dir = tempfile::tempdir().unwrap();
    let first = Secret::load(dir.path()).unwrap();
    let second = Secret::load(dir.path()).unwrap();
    assert_eq!(first.session(), second.session());
    assert_ne!(first.session(), first.token());
    assert_ne!(first.session(), Secret::random().session());
}

#[test]
fn only_its_owner_may_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    Secret::load(dir.path()).unwrap();
    let mode = std::fs::metadata(dir.path().join("server-secret"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_cut_or_lengthened_token_is_refused() {
    let secret = Secret::random();
    let token = secret.token();
    assert!(secret.is_token(&token));
    assert!(!secret.is_token(&token[1..]));
    assert!(!secret.is_token(&format!("{token}0")));
    assert!(!secret.is_token(&secret.session()));
    assert!(!secret.is_token(""));
}

#[test]
fn derivation_is_hmac_sha_256() {
    // RFC 4231 has no case with a 32-byte key of zeros; this value is from Python's `hmac`.
    let secret = Secret([0; 32]);
    assert_eq!(secret.derive("session"), HMAC_OF_SESSION);
}

const HMAC_OF_SESSION: &str = "317bcdc7977c11404fe45d154dbffb5c7005fbb37ccc3c22af442300d1128992";
