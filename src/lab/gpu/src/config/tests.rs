use super::Config;

fn node(text: &str) -> String {
    format!(r#"{{"nodes": {{"gpu-1": {text}}}}}"#)
}

#[test]
fn what_is_left_out_is_the_simple_case() {
    let config = Config::parse(&node(r#"{"model": "a100-sxm4-80gb", "count": 4}"#)).unwrap();
    let gpus = &config.nodes["gpu-1"];
    assert_eq!((gpus.count, gpus.replicas), (4, 1));
    assert!(gpus.unhealthy.is_empty());
}

#[test]
fn mistakes_are_named_with_their_node() {
    let table = [
        (
            r#"{"model": "rtx", "count": 1}"#,
            "node `gpu-1`: there is no GPU model `rtx`; there are: a100-sxm4-80gb, v100-sxm2-32gb, h100-sxm5-80gb",
        ),
        (
            r#"{"model": "a100-sxm4-80gb", "count": 0}"#,
            "node `gpu-1`: `count` is 0, it must be 1 to 16",
        ),
        (
            r#"{"model": "a100-sxm4-80gb", "count": 1, "replicas": 49}"#,
            "node `gpu-1`: `replicas` is 49, it must be 1 to 48",
        ),
        (
            r#"{"model": "a100-sxm4-80gb", "count": 2, "unhealthy": [2]}"#,
            "node `gpu-1`: device 2 cannot be unhealthy: the devices are 0 to 1",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(
            Config::parse(&node(text)).unwrap_err().to_string(),
            expected
        );
    }
}

#[test]
fn a_misspelt_field_is_not_taken_for_nothing() {
    let text = node(r#"{"model": "a100-sxm4-80gb", "count": 1, "unhealty": [0]}"#);
    assert!(
        Config::parse(&text)
            .unwrap_err()
            .to_string()
            .contains("unhealty")
    );
}

#[test]
fn what_is_written_can_be_read() {
    let config = Config::parse(&node(
        r#"{"model": "v100-sxm2-32gb", "count": 2, "replicas": 3, "failRequestsGreaterThanOne": true, "unhealthy": [1]}"#,
    ))
    .unwrap();
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(Config::parse(&text).unwrap(), config);
}
