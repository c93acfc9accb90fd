//! What a request asks for, in the words of authorization: a path, or a resource of an API.

/// What somebody wants to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Something that is no resource: discovery, a description.
    Path { path: String, verb: String },
    Resource {
        group: String,
        version: String,
        resource: String,
        subresource: Option<String>,
        namespace: Option<String>,
        name: Option<String>,
        verb: String,
    },
}

/// Reads a request: `/apis/GROUP/VERSION/[namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE]]`, and everything else is a path.
#[must_use]
pub fn asked(method: &str, path: &str) -> Asked {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let mut next = || parts.next().map(str::to_owned);
    let (root, group, version, mut resource) = (next(), next(), next(), next());
    let mut namespace = None;
    let mut name = next();
    let mut subresource = next();
    if resource.as_deref() == Some("namespaces") && subresource.is_some() {
        (namespace, resource, name, subresource) = (name, subresource, next(), next());
    }
    match (root.as_deref(), group, version, resource) {
        (Some("apis"), Some(group), Some(version), Some(resource)) => Asked::Resource {
            verb: verb(method, name.is_some()).to_owned(),
            group,
            version,
            resource,
            subresource,
            namespace,
            name,
        },
        _ => Asked::Path {
            path: path.to_owned(),
            verb: method.to_lowercase(),
        },
    }
}

fn verb(method: &str, named: bool) -> &'static str {
    match (method, named) {
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", true) => "delete",
        ("DELETE", false) => "deletecollection",
        (_, true) => "get",
        (_, false) => "list",
    }
}
