//! Whether somebody may do what they ask of one of our own servers. The API server decides, by its reviews; it is asked as the
//! reference's servers ask it.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::Client;
use kube::api::{Api, PostParams};
use webhooks::visibility::Asked;

#[cfg(test)]
mod tests;

/// Members may do everything; asking would be in vain while the API server starts.
const MASTERS: &str = "system:masters";

/// The token of a request.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(AUTHORIZATION)?
        .to_str()
        .ok()?
        .strip_prefix("Bearer ")
        .map(str::trim)
        .filter(|token| !token.is_empty())
}

/// The person behind a token; none if the API server does not know it.
pub(crate) async fn person_of(
    client: &Client,
    token: &str,
) -> Result<Option<UserInfo>, kube::Error> {
    let review = TokenReview {
        spec: TokenReviewSpec {
            token: token.to_owned(),
            audiences: None,
        },
        ..TokenReview::default()
    };
    let review = Api::<TokenReview>::all(client.clone())
        .create(&PostParams::default(), &review)
        .await?;
    let known = review
        .status
        .filter(|status| status.authenticated == Some(true));
    Ok(known.and_then(|status| status.user))
}

/// Whether a person may do something.
pub(crate) async fn may(
    client: &Client,
    person: &UserInfo,
    asked: &Asked,
) -> Result<bool, kube::Error> {
    if person.groups.iter().flatten().any(|group| group == MASTERS) {
        return Ok(true);
    }
    let review = SubjectAccessReview {
        spec: spec(person, asked),
        ..SubjectAccessReview::default()
    };
    let review = Api::<SubjectAccessReview>::all(client.clone())
        .create(&PostParams::default(), &review)
        .await?;
    Ok(review.status.is_some_and(|status| status.allowed))
}

/// The question about a person, in the words of the API.
fn spec(person: &UserInfo, asked: &Asked) -> SubjectAccessReviewSpec {
    let mut spec = SubjectAccessReviewSpec {
        user: person.username.clone(),
        groups: person.groups.clone(),
        uid: person.uid.clone(),
        extra: person.extra.clone(),
        ..SubjectAccessReviewSpec::default()
    };
    match asked.clone() {
        Asked::Path { path, verb } => {
            spec.non_resource_attributes = Some(NonResourceAttributes {
                path: Some(path),
                verb: Some(verb),
            });
        }
        Asked::Resource {
            group,
            version,
            resource,
            subresource,
            namespace,
            name,
            verb,
        } => {
            spec.resource_attributes = Some(ResourceAttributes {
                group: Some(group),
                version: Some(version),
                resource: Some(resource),
                subresource,
                namespace,
                name,
                verb: Some(verb),
                ..ResourceAttributes::default()
            });
        }
    }
    spec
}

/// How a refusal is told, as the API server tells its own.
pub(crate) fn refusal(person: &UserInfo, asked: &Asked) -> String {
    let user = person.username.as_deref().unwrap_or_default();
    match asked {
        Asked::Path { path, verb } => format!("User {user:?} cannot {verb} path {path:?}"),
        Asked::Resource {
            group,
            resource,
            subresource,
            namespace,
            name,
            verb,
            ..
        } => {
            let whole = match subresource {
                Some(subresource) => format!("{resource}/{subresource}"),
                None => resource.clone(),
            };
            let named = name.as_deref().map(|name| format!(" {name:?}"));
            let scope = match namespace {
                Some(namespace) => format!("in the namespace {namespace:?}"),
                None => "at the cluster scope".to_owned(),
            };
            format!(
                "{resource}.{group}{} is forbidden: User {user:?} cannot {verb} resource {whole:?} in API group {group:?} {scope}",
                named.unwrap_or_default()
            )
        }
    }
}
