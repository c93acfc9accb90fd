use super::config;
use crate::images::recipes;

#[test]
fn the_configuration_names_the_layers_and_carries_no_date() {
    let recipe = recipes::ALL
        .iter()
        .find(|recipe| recipe.name == "kueue-manager")
        .unwrap();
    let config = config(&recipe.settings, &["aa".to_owned(), "bb".to_owned()]);
    assert_eq!(
        config["rootfs"]["diff_ids"],
        serde_json::json!(["sha256:aa", "sha256:bb"])
    );
    assert_eq!(config["history"].as_array().unwrap().len(), 2);
    assert_eq!(config["config"]["Entrypoint"][0], "/manager");
    assert_ne!(config["config"]["User"], "0:0");
    assert_eq!(config["created"], "1970-01-01T00:00:00Z");
}
