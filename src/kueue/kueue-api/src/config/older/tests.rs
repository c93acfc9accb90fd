use serde_json::json;

use super::upgrade;

#[test]
fn switches_become_presence() {
    let cases = [
        (
            json!({"waitForPodsReady": {"enable": true}, "fairSharing": {"enable": true}}),
            json!({
                "waitForPodsReady": {"timeout": "5m", "blockAdmission": true},
                "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]},
            }),
        ),
        (
            json!({"waitForPodsReady": {"enable": false, "timeout": "1m"}, "fairSharing": {"enable": false}}),
            json!({"featureGates": {"DisableWaitForPodsReady": true}}),
        ),
        (
            json!({"featureGates": {"PartialAdmission": false}, "queueVisibility": {"updateIntervalSeconds": 5}, "integrations": {"frameworks": ["batch/job"], "podOptions": {}}}),
            json!({"featureGates": {"PartialAdmission": false, "DisableWaitForPodsReady": true}, "integrations": {"frameworks": ["batch/job"]}}),
        ),
        (
            json!({"waitForPodsReady": {"enable": true, "timeout": "10m", "blockAdmission": false}}),
            json!({"waitForPodsReady": {"timeout": "10m", "blockAdmission": false}}),
        ),
    ];
    for (mut file, want) in cases {
        let before = file.clone();
        upgrade(&mut file);
        assert_eq!(file, want, "{before}");
    }
}
