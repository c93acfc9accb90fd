//! What waits can be seen, in order, by those who may: the aggregated API behind `kubectl get --raw` and kubectl-kueue.

use serde_json::Value;

use super::ground::Ground;
use crate::commands::refused;
use crate::patience::until;

const API: &str = "/apis/visibility.kueue.x-k8s.io/v1beta2";

pub(super) async fn hold(ground: Ground) {
    ground.queue(1).await;
    ground.job("runs", 1, 600).await;
    ground.wait("job/runs", "jsonpath={.status.ready}=1").await;
    ground.job("one", 1, 600).await;
    ground.workload_of("one").await;
    ground.job("two", 1, 600).await;

    let whole = format!("{API}/clusterqueues/{}/pendingworkloads", ground.name);
    until("both wait, in order", async || {
        waiting(&ground, &whole).await == Some(vec![("one".to_owned(), 0), ("two".to_owned(), 1)])
    })
    .await;
    let second = format!(
        "{API}/namespaces/{0}/localqueues/{0}/pendingworkloads?limit=1&offset=1",
        ground.name
    );
    let second = waiting(&ground, &second).await;
    assert_eq!(second, Some(vec![("two".to_owned(), 1)]));
    let none = format!("{API}/clusterqueues/nowhere/pendingworkloads");
    let message = refused(ground.command(&["get", "--raw", &none])).await;
    assert!(message.contains("not found"), "{message}");
    somebody_without_the_role_sees_nothing(&ground, &whole).await;
}

/// Who waits at a path: the name of the Job, and its place in the LocalQueue.
async fn waiting(ground: &Ground, path: &str) -> Option<Vec<(String, i64)>> {
    let answer = ground
        .command(&["get", "--raw", path])
        .output()
        .await
        .ok()?;
    let answer: Value = serde_json::from_str(&answer.stdout).ok()?;
    let item = |item: &Value| {
        let owner = item.pointer("/metadata/ownerReferences/0/name")?.as_str()?;
        Some((
            owner.to_owned(),
            item.get("positionInLocalQueue")?.as_i64()?,
        ))
    };
    answer["items"].as_array()?.iter().map(item).collect()
}

async fn somebody_without_the_role_sees_nothing(ground: &Ground, path: &str) {
    let visitor = format!("--as=system:serviceaccount:{}:default", ground.name);
    let ask = || ground.command(&["get", "--raw", path, &visitor]);
    let message = refused(ask()).await;
    assert!(message.contains("orbidden"), "{message}");
    let role = "--clusterrole=kueue-pending-workloads-cq-viewer-role";
    let account = format!("--serviceaccount={}:default", ground.name);
    ground
        .kubectl(&["create", "clusterrolebinding", "visitor", role, &account])
        .await;
    until("the role has its effect", async || {
        ask()
            .output()
            .await
            .is_ok_and(|output| output.code == Some(0))
    })
    .await;
}
