//! Options and configuration laid over each other.

use clap::Parser;

use crate::options::Options;
use crate::settings;

fn options(arguments: &[&str]) -> Options {
    Options::parse_from(["kueue-manager"].iter().chain(arguments))
}

fn file(text: &str) -> (std::path::PathBuf, impl Drop + use<>) {
    struct Remove(std::path::PathBuf);
    impl Drop for Remove {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
    let path = std::env::temp_dir().join(format!("kueue-manager-{}.yaml", uuid::Uuid::new_v4()));
    std::fs::write(&path, text).unwrap();
    (path.clone(), Remove(path))
}

const HEAD: &str = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";

#[test]
fn options_win_over_the_file() {
    let (path, _keep) = file(&format!(
        "{HEAD}health:\n  healthProbeBindAddress: ':1'\nmetrics:\n  bindAddress: ':2'\n"
    ));
    let given = options(&[
        "--config",
        path.to_str().unwrap(),
        "--metrics-bind-address",
        "0",
        "--leader-elect",
        "false",
    ]);
    let configuration = settings::load(&given).unwrap();
    assert_eq!(configuration.health.bind_address, ":1");
    assert_eq!(configuration.metrics.bind_address, "0");
    assert!(
        settings::controllers(&configuration, "me")
            .unwrap()
            .lease
            .is_none()
    );
}

#[test]
fn gates_are_given_in_one_place() {
    let (path, _keep) = file(&format!("{HEAD}featureGates:\n  PartialAdmission: false\n"));
    let config = path.to_str().unwrap();
    let error = settings::load(&options(&[
        "--config",
        config,
        "--feature-gates",
        "PartialAdmission=true",
    ]))
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "featureGates: Invalid value: {\"PartialAdmission\":false}: feature gates for CLI and configuration cannot both specified"
    );
    let configuration = settings::load(&options(&["--config", config])).unwrap();
    assert!(
        !settings::controllers(&configuration, "me")
            .unwrap()
            .cache
            .features
            .partial_admission
    );
}

#[test]
fn mistakes_are_named() {
    let (path, _keep) = file(&format!("{HEAD}metrics:\n  bindAdress: ':2'\n"));
    let error = settings::load(&options(&["--config", path.to_str().unwrap()])).unwrap_err();
    assert!(format!("{error:#}").contains("bindAdress"), "{error:#}");
    let error = settings::load(&options(&["--feature-gates", "NoSuchGate=true"])).unwrap_err();
    assert!(format!("{error:#}").contains("NoSuchGate"), "{error:#}");
    let error = settings::load(&options(&["--config", "/nowhere/config.yaml"])).unwrap_err();
    assert!(
        format!("{error:#}").contains("/nowhere/config.yaml"),
        "{error:#}"
    );
}

#[tokio::test]
async fn what_has_begun_ends_in_time() {
    use std::time::Duration;
    use tokio_util::sync::CancellationToken;

    use crate::manager::in_time;

    let (stop, short) = (CancellationToken::new(), Duration::from_millis(5));
    // Nothing is hurried before somebody says stop.
    let work = async {
        tokio::time::sleep(short * 4).await;
        Ok(())
    };
    assert!(in_time(work, &stop, short).await.is_ok());
    stop.cancel();
    let given_up = in_time(std::future::pending(), &stop, short).await;
    assert!(given_up.unwrap_err().to_string().contains("giving up"));
    let ends = std::future::ready(Ok(()));
    assert!(in_time(ends, &stop, Duration::from_secs(60)).await.is_ok());
}
