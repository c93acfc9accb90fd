//! Two trainees on one machine: from inside the shell of one, nothing of the other is to be seen or reached.
//!
//! The attempts are the solution of a small lab of this test's own (`labs/isolement`), so that they run in exactly the
//! sandbox, with exactly the role, of a trainee's shell.

use std::{
    fs,
    path::{Path, PathBuf},
};

use testkit::{Platform, Programs};

use crate::machine;

#[tokio::test(flavor = "multi_thread")]
async fn a_trainee_cannot_read_another() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let _places = machine::places(machine::ALL).await;
    let course = tempfile::tempdir().expect("a temporary folder");
    let platform = Platform::with_labs(&programs, course.path());
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    copy(
        &own.join("labs/isolement"),
        &course.path().join("isolement"),
    );
    copy(
        &own.join("../../../labs/profiles"),
        &course.path().join("profiles"),
    );

    let create = platform.atelier(["env", "create", "autre"]);
    create.run().await.unwrap_or_else(|error| panic!("{error}"));
    tell_what_an_attacker_could_guess(&platform, &course.path().join("isolement/files"));

    let solve = platform.atelier(["solve", "isolement", "--verbose"]);
    solve.run().await.unwrap_or_else(|error| panic!("{error}"));
    // The neighbour was not disturbed either.
    let nodes = platform.kubectl("autre", ["get", "node", "plateforme", "--show-labels"]);
    let nodes = nodes.run().await.unwrap_or_else(|error| panic!("{error}"));
    assert!(!nodes.stdout.contains("was-here"), "{}", nodes.stdout);
}

/// A Secret that the controller manager would fill with a token.
const TOKEN: &str = "apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata:
  name: mine
  namespace: kube-system
  annotations: {kubernetes.io/service-account.name: default}
";

fn tell_what_an_attacker_could_guess(platform: &Platform, files: &Path) {
    let other = platform.environment("autre");
    let kubeconfig = fs::read_to_string(other.join("admin.kubeconfig")).expect("it is there");
    let port = kubeconfig
        .split("https://127.0.0.1:")
        .nth(1)
        .map(|rest| {
            rest.chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>()
        })
        .expect("the administrator's kubeconfig names a port");
    let host_file = platform.dir().join("secret-of-the-host");
    fs::write(&host_file, "secret").expect("it can be written");
    fs::create_dir_all(files).expect("a folder");
    let told = format!(
        "OTHER_DIR={}\nOTHER_PORT={port}\nDATA_DIR={}\nHOST_FILE={}\n",
        other.display(),
        platform.data().display(),
        host_file.display()
    );
    fs::write(files.join("other.env"), told).expect("it can be written");
    fs::write(files.join("token.yaml"), TOKEN).expect("it can be written");
    let stolen = fs::read(other.join("trainee.kubeconfig")).expect("it is there");
    fs::write(files.join("other.kubeconfig"), stolen).expect("it can be written");
}

fn copy(from: &Path, to: &PathBuf) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the folder is there") {
        let entry = entry.expect("it can be read");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("it can be copied");
        }
    }
}
