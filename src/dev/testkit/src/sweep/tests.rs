use exec::{Cmd, Grouping};

use super::{kill_all, working_in};

#[tokio::test]
async fn kills_who_stands_in_the_folder_and_who_is_told_of_it_and_nobody_else() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap();
    let start = |command: Cmd| command.spawn(Grouping::Own, None).unwrap();
    let mut inside = start(Cmd::new("sleep").arg("600").cwd(&folder));
    let mut told = start(
        Cmd::new("tail")
            .args(["--retry", "-f"])
            .arg(folder.join("log")),
    );
    let mut stranger = start(Cmd::new("sleep").arg("600"));

    kill_all(&folder);

    assert!(!inside.wait().await.unwrap().success());
    assert!(!told.wait().await.unwrap().success());
    assert_eq!(working_in(&folder), Vec::<u32>::new());
    assert!(
        exec::process::exists(stranger.pid()),
        "a process of others was killed"
    );
    stranger
        .stop(std::time::Duration::from_secs(1))
        .await
        .unwrap();
}
