use super::with_image;

#[test]
fn the_published_image_gives_way_to_ours_once() {
    let text = "      - command:\n        image: kubeflow/training-operator:v1-04f9f13\n        name: operator\n";
    assert_eq!(
        with_image(text, "atelier-kueue/training-operator:dev").unwrap(),
        "      - command:\n        image: atelier-kueue/training-operator:dev\n        imagePullPolicy: IfNotPresent\n        name: operator\n"
    );
    let error = with_image("image: other\n", "x").unwrap_err().to_string();
    assert!(error.contains("0 times"), "{error}");
}
