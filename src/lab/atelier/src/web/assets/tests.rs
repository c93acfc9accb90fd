use super::{AssetError, Assets};

#[test]
fn a_missing_bundle_is_named_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let error = Assets::load(dir.path()).unwrap_err();
    assert!(matches!(error, AssetError::NotBuilt { .. }));
    assert!(
        error.to_string().contains("npm ci && npm run build"),
        "{error}"
    );
    assert!(!Assets::default().is_built());
}

#[test]
fn a_damaged_bundle_is_an_error_not_a_missing_page() {
    let dir = tempfile::tempdir().unwrap();
    let write = |text: &str| std::fs::write(dir.path().join("manifest.json"), text).unwrap();
    write("[");
    assert!(matches!(
        Assets::load(dir.path()),
        Err(AssetError::Manifest { .. })
    ));
    write(r#"{"app.js":"app.1.js"}"#);
    assert!(matches!(
        Assets::load(dir.path()),
        Err(AssetError::Read { .. })
    ));
}
