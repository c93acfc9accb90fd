//! The trainee's shell on a kind cluster is a container of its own: it reaches the cluster and nothing else.

use std::net::TcpListener;

use exec::Cmd;

use super::{Cluster, ENVIRONMENT};
use crate::commands::ok;

/// What an attacker tries, a line for each attempt that was held off; `PORT` is a door of this machine that is open to all.
const ATTEMPTS: &str = r#"
kubectl auth can-i create jobs -n equipe-vision | grep -qx yes && echo 'reaches its cluster'
test "$(id -un)" = stagiaire && test "$(id -u)" != 0 && echo 'is not root'
grep -q '^NoNewPrivs:.*1$' /proc/self/status && grep -q '^CapBnd:.*0000000000000000$' /proc/self/status && echo 'has no rights to gain'
! touch /usr/bin/intrus 2>/dev/null && ! touch /etc/intrus 2>/dev/null && echo 'cannot write to its root'
touch "$HOME/trace" && echo 'writes to its home'
! ls -d /var/run/docker.sock /run/containerd /var/lib/docker 2>/dev/null && echo 'sees no engine'
test "$(cat /proc/[0-9]*/comm | grep -cvx 'bash\|cat\|grep\|sleep')" = 0 && echo 'sees no other processes'
! curl -sS -m 3 http://169.254.169.254/ 2>/dev/null && echo 'no metadata address'
closed=yes
for address in ADDRESSES; do
    ! timeout 3 bash -c "exec 3<>/dev/tcp/$address/PORT" 2>/dev/null || closed=no
done
test $closed = yes && echo 'no way to the machine'
! awk '$2 == "00000000" && $1 != "*"' /proc/net/route | grep -q . && ! curl -s -m 5 https://example.com/ && echo 'no way out'
limits=$(cat /sys/fs/cgroup/{pids/pids.max,memory/memory.limit_in_bytes,pids.max,memory.max} 2>/dev/null | xargs)
test "$limits" = '300 1073741824' && echo 'a bounded number of processes, and memory'
"#;
const HELD_OFF: [&str; 11] = [
    "reaches its cluster",
    "is not root",
    "has no rights to gain",
    "cannot write to its root",
    "writes to its home",
    "sees no engine",
    "sees no other processes",
    "no metadata address",
    "no way to the machine",
    "no way out",
    "a bounded number of processes, and memory",
];

pub(super) async fn it_reaches_its_cluster_and_nothing_else(cluster: &Cluster) {
    let open = TcpListener::bind("0.0.0.0:0").expect("a port of this machine");
    let port = open.local_addr().expect("it is bound").port().to_string();
    let all = ok(Cmd::new("hostname").arg("-I")).await;
    let addresses = all.trim();
    assert!(addresses.contains(' '), "more than a bridge: {addresses}");
    let attempts = ATTEMPTS
        .replace("ADDRESSES", addresses)
        .replace("PORT", &port);
    let said = shell(cluster, &attempts).await;
    assert_eq!(said.lines().collect::<Vec<_>>(), HELD_OFF, "{said}");

    let containers = engine(&["ps", "--format", "{{.Names}}"]).await;
    let own = format!("-{ENVIRONMENT}-poste-");
    let container = containers.lines().find(|name| name.contains(&own));
    engine(&["rm", "--force", container.expect("it still stands")]).await;
    let home = shell(cluster, "ls ~").await;
    assert!(
        home.lines().any(|name| name == "trace"),
        "the home is kept: {home}"
    );
}

async fn shell(cluster: &Cluster, script: &str) -> String {
    let run = ["env", "run", ENVIRONMENT, "--", "bash", "-c", script];
    ok(cluster.0.atelier(run)).await
}

async fn engine(args: &[&str]) -> String {
    ok(Cmd::new("docker").args(args)).await.trim().to_owned()
}
