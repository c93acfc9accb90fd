use tracing::level_filters::LevelFilter;

use super::journal;

#[test]
fn what_is_grave_enough_is_in_the_file_in_plain_text() {
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        (LevelFilter::WARN, "WARN clusters"),
        (LevelFilter::INFO, "INFO clusters"),
    ];
    for (level, first) in cases {
        let path = dir.path().join(format!("{level}.log"));
        tracing::subscriber::with_default(journal(path.clone(), level), || {
            tracing::debug!("too much");
            tracing::error!(target: "kube_client::client::builder", "too much");
            tracing::info!(pod = "a", "usual");
            tracing::warn!(pod = "b", "unusual");
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.lines().next().unwrap().contains(first), "{text}");
        assert!(text.ends_with("unusual pod=\"b\"\n"), "{text}");
        assert_eq!(text.contains("usual pod=\"a\""), level == LevelFilter::INFO);
        assert!(!text.contains("too much") && !text.contains('\u{1b}'));
    }
}
