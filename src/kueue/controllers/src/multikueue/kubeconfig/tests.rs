//! A table: what may be in a kubeconfig, and where one may be.

use super::{FOLDER, path, read};

fn text(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {{cluster: north, user: u}}\n\
         clusters:\n- name: north\n  cluster: {cluster}\nusers:\n- name: u\n  user: {user}\n"
    )
}

#[test]
fn a_kubeconfig_may_say_where_and_who_and_nothing_else() {
    let server = "{server: 'https://10.0.0.7:6443'}";
    let cases = [
        ("an address and a token", server, "{token: t}", ""),
        (
            "an IPv6 address",
            "{server: 'https://[fd00::1]:6443'}",
            "{token: t}",
            "",
        ),
        (
            "a name",
            "{server: 'https://north.example.org'}",
            "{token: t}",
            "",
        ),
        (
            "no server",
            "{}",
            "{token: t}",
            "InsecureKubeConfig: load client config failed: server URL is required for cluster north",
        ),
        (
            "no verification",
            "{server: 'https://a', insecure-skip-tls-verify: true}",
            "{token: t}",
            "InsecureKubeConfig: load client config failed: insecure TLS verification is not allowed for cluster north",
        ),
        (
            "a certificate in a file",
            "{server: 'https://a', certificate-authority: /etc/passwd}",
            "{token: t}",
            "InsecureKubeConfig: load client config failed: certificate-authority file paths are not allowed, use \
             certificate-authority-data for cluster north",
        ),
        (
            "a host that is no name",
            "{server: 'https://a_b'}",
            "{token: t}",
            "InsecureKubeConfig: load client config failed: untrusted server endpoint",
        ),
        (
            "a token in a file",
            server,
            "{tokenFile: /var/run/token}",
            "InsecureKubeConfig: load client config failed: tokenFile is not allowed",
        ),
        (
            "a password",
            server,
            "{username: a, password: b}",
            "InsecureKubeConfig: load client config failed: basic auth is not allowed",
        ),
        (
            "a program",
            server,
            "{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh}}",
            "InsecureKubeConfig: load client config failed: exec plugins are not allowed",
        ),
    ];
    for (name, cluster, user, want) in cases {
        let got = match read(&text(cluster, user)) {
            Ok(_) => String::new(),
            Err(refused) => format!("{}: {refused}", refused.reason()),
        };
        assert_eq!(got, want, "{name}");
    }
    let broken = read("clusters: 7").unwrap_err();
    assert_eq!(broken.reason(), "BadKubeConfig");
}

#[test]
fn files_are_where_they_may_be() {
    let outside = |location: &str| {
        let words = "load client config failed: kubeconfig path is not under the allowed prefix";
        format!("{words}: {location}")
    };
    for location in [
        "north",
        "/etc/passwd",
        "/etc/multikueue/kubeconfigs/../../passwd",
    ] {
        let refused = path(location, true).unwrap_err();
        assert_eq!(refused.to_string(), outside(location), "{location}");
        assert_eq!(path(location, false).unwrap().to_str(), Some(location));
    }
    let absent = format!("{FOLDER}/nobody-has-this");
    assert!(
        path(&absent, true)
            .unwrap_err()
            .to_string()
            .contains("nobody-has-this")
    );
}
