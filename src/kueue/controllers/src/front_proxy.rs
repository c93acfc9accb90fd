//! What the API server says about itself to the servers behind it (ConfigMap `extension-apiserver-authentication`): whose
//! certificates it shows when it passes a request on, and in which headers it names the person who asked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use futures::StreamExt;
use k8s_openapi::api::authentication::v1::UserInfo;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::Api;
use kube::runtime::{WatchStreamExt, watcher};
use parking_lot::RwLock;
use tokio_util::sync::CancellationToken;
use webhooks::tls::{Authorities, Peer};

#[cfg(test)]
mod tests;

const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";
const ANONYMOUS: &str = "system:anonymous";
const AUTHENTICATED: &str = "system:authenticated";
/// The watch of a ConfigMap that may not be read is tried again at most this often.
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// Header names, in lower case, and the names of certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Common names that are believed; if there are none, every certificate of the authority is.
    names: Vec<String>,
    users: Vec<String>,
    groups: Vec<String>,
    uids: Vec<String>,
    extra: Vec<String>,
}

impl Rules {
    /// Reads the data of the ConfigMap; each value is a list in JSON.
    fn read(data: &BTreeMap<String, String>) -> Self {
        let list = |name: &str| -> Vec<String> {
            data.get(&format!("requestheader-{name}"))
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default()
        };
        let headers = |name: &str| list(name).iter().map(|name| name.to_lowercase()).collect();
        Self {
            names: list("allowed-names"),
            users: headers("username-headers"),
            groups: headers("group-headers"),
            uids: headers("uid-headers"),
            extra: headers("extra-headers-prefix"),
        }
    }

    /// The person whom the front proxy names. Nobody else is believed about others.
    #[must_use]
    pub fn person(&self, peer: Option<&Peer>, headers: &HeaderMap) -> Option<UserInfo> {
        let Peer(proxy) = peer?;
        if !self.names.is_empty() && !self.names.contains(proxy) {
            return None;
        }
        let first = |names: &[String]| {
            let all = names.iter().flat_map(|name| texts(headers, name));
            all.into_iter().find(|text| !text.is_empty())
        };
        let username = first(&self.users)?;
        let groups = self.groups.iter().flat_map(|name| texts(headers, name));
        let mut groups: Vec<String> = groups.collect();
        // As every server of Kubernetes does: the proxy does not say this of its own people.
        if username != ANONYMOUS && !groups.iter().any(|group| group == AUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (prefix, name) in self
            .extra
            .iter()
            .flat_map(|prefix| headers.keys().map(move |name| (prefix, name.as_str())))
        {
            if let Some(key) = name.strip_prefix(prefix.as_str()) {
                extra.insert(unescaped(key), texts(headers, name));
            }
        }
        Some(UserInfo {
            username: Some(username),
            groups: Some(groups),
            uid: first(&self.uids),
            extra: Some(extra).filter(|extra| !extra.is_empty()),
        })
    }
}

fn texts(headers: &HeaderMap, name: &str) -> Vec<String> {
    let all = headers.get_all(name).iter();
    all.filter_map(|value| String::from_utf8(value.as_bytes().to_vec()).ok())
        .collect()
}

/// Keys of extra values are percent-encoded where a header name may not hold them.
fn unescaped(key: &str) -> String {
    let mut bytes = Vec::with_capacity(key.len());
    let mut rest = key.as_bytes();
    while let [first, more @ ..] = rest {
        let code = more
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() {
            more.get(2..).unwrap_or_default()
        } else {
            more
        };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| key.to_owned())
}

/// The rules of the moment, and the authorities that connections are checked by.
#[derive(Debug, Default)]
pub struct FrontProxy {
    pub authorities: Arc<Authorities>,
    rules: RwLock<Rules>,
}

impl FrontProxy {
    /// The person whom the front proxy names in a request.
    #[must_use]
    pub fn person(&self, peer: Option<&Peer>, headers: &HeaderMap) -> Option<UserInfo> {
        self.rules.read().person(peer, headers)
    }

    /// Takes in the ConfigMap. Without an authority nobody can name others, whatever the rules say.
    pub fn learn(&self, data: &BTreeMap<String, String>) {
        let Some(authority) = data.get("requestheader-client-ca-file") else {
            tracing::warn!(
                "the API server has no front proxy: aggregated APIs cannot be asked through it"
            );
            return;
        };
        match self.authorities.install(authority.as_bytes()) {
            Ok(()) => *self.rules.write() = Rules::read(data),
            Err(error) => {
                tracing::warn!("the front proxy's certificate authority cannot be used: {error}");
            }
        }
    }

    /// Follows the ConfigMap until `stop`.
    pub async fn follow(self: Arc<Self>, client: Client, stop: CancellationToken) {
        let api: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
        let config = watcher::Config::default().fields(&format!("metadata.name={NAME}"));
        let mut changes = watcher(api, config)
            .default_backoff()
            .applied_objects()
            .boxed();
        let mut pause = Duration::from_millis(500);
        loop {
            let seen = tokio::select! {
                seen = changes.next() => seen,
                () = stop.cancelled() => return,
            };
            match seen {
                Some(Ok(map)) => {
                    pause = Duration::from_millis(500);
                    self.learn(&map.data.unwrap_or_default());
                }
                Some(Err(error)) => {
                    tracing::warn!("ConfigMap {NAMESPACE}/{NAME} cannot be followed: {error}");
                    pause = (pause * 2).min(LONGEST_RETRY);
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = stop.cancelled() => return,
                    }
                }
                None => return,
            }
        }
    }
}
