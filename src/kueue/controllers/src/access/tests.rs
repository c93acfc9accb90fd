use axum::http::{HeaderMap, HeaderValue};
use k8s_openapi::api::authentication::v1::UserInfo;
use webhooks::visibility::asked;

use super::{bearer, refusal, spec};

fn ada() -> UserInfo {
    UserInfo {
        username: Some("ada".to_owned()),
        groups: Some(vec!["teams:vision".to_owned()]),
        ..UserInfo::default()
    }
}

const LIST: &str =
    "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/reef/localqueues/lq/pendingworkloads";

#[test]
fn a_list_is_asked_for_as_a_subresource() {
    let attributes = spec(&ada(), &asked("GET", LIST))
        .resource_attributes
        .unwrap();
    let shown = [
        attributes.group,
        attributes.version,
        attributes.resource,
        attributes.subresource,
        attributes.namespace,
        attributes.name,
        attributes.verb,
    ];
    let want = [
        "visibility.kueue.x-k8s.io",
        "v1beta2",
        "localqueues",
        "pendingworkloads",
        "reef",
        "lq",
        "get",
    ];
    assert_eq!(shown.map(Option::unwrap), want);
}

#[test]
fn discovery_is_a_path() {
    for path in [
        "/apis",
        "/apis/visibility.kueue.x-k8s.io/v1beta2",
        "/openapi/v3",
    ] {
        let attributes = spec(&ada(), &asked("GET", path));
        let path_of = attributes.non_resource_attributes.unwrap();
        assert_eq!(
            (path_of.path.as_deref(), path_of.verb.as_deref()),
            (Some(path), Some("get"))
        );
        assert_eq!(attributes.user.as_deref(), Some("ada"));
        assert!(attributes.resource_attributes.is_none());
    }
}

#[test]
fn a_refusal_reads_like_those_of_the_api_server() {
    assert_eq!(
        refusal(&ada(), &asked("GET", LIST)),
        "localqueues.visibility.kueue.x-k8s.io \"lq\" is forbidden: User \"ada\" cannot get resource \
         \"localqueues/pendingworkloads\" in API group \"visibility.kueue.x-k8s.io\" in the namespace \"reef\""
    );
    assert_eq!(
        refusal(&ada(), &asked("GET", "/metrics")),
        "User \"ada\" cannot get path \"/metrics\""
    );
}

#[test]
fn a_token_has_its_scheme() {
    let of = |text: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_str(text).unwrap());
        bearer(&headers).map(str::to_owned)
    };
    assert_eq!(of("Bearer abc ").as_deref(), Some("abc"));
    assert_eq!(of("Bearer "), None);
    assert_eq!(of("Basic abc"), None);
}
