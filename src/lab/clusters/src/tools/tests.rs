mod download;
mod server;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use expect_test::expect;
use tokio_util::sync::CancellationToken;

use super::catalog::arch;
use super::version::version_in;
use super::{Hashes, Options, Source, Step, Tool, ToolProgress, Tools, ToolsError, obtain_all};

#[test]
fn reads_the_version_that_each_program_prints() {
    for (text, version) in [
        (
            "etcd Version: 3.7.3\nGit SHA: x\nGo Version: go1.26.8",
            Some("3.7.3"),
        ),
        ("Kubernetes v1.37.2\n", Some("1.37.2")),
        (
            "Client Version: v1.37.2\nKustomize Version: v5.8.1",
            Some("1.37.2"),
        ),
        ("kwok version v0.8.0 go1.26.8 (linux/amd64)", Some("0.8.0")),
        ("v4.3.1+g1234567", Some("4.3.1")),
        ("Kubernetes v1.38.0-alpha.1", Some("1.38.0-alpha.1")),
        ("command not found", None),
    ] {
        assert_eq!(version_in(text), version, "{text:?}");
    }
}

#[test]
fn the_table_of_hashes_is_read_line_by_line() {
    let hash = "a".repeat(64);
    let table = Hashes::parse(
        "t",
        &format!("# a remark\n\n{hash}  etcd.tar.gz\n{hash} *helm\n"),
    )
    .unwrap();
    assert_eq!(
        (table.of("etcd.tar.gz"), table.of("helm"), table.of("kwok")),
        (Some(&*hash), Some(&*hash), None)
    );
    let error = Hashes::parse("t", "\nnot a hash  etcd").unwrap_err();
    expect!["t:2: expected 64 hexadecimal digits, blanks, and an artifact's name"]
        .assert_eq(&error.to_string());
}

#[test]
fn the_table_in_the_repository_names_every_artifact() {
    let text = include_str!("../../../../../images/control-plane/SHA256SUMS");
    assert!(Hashes::parse("SHA256SUMS", text).is_ok());
    for tool in Tool::ALL {
        for arch in ["amd64", "arm64"] {
            let name = tool.artifact(arch).name;
            assert!(
                text.split_whitespace().any(|word| word == name),
                "{name} is not mentioned"
            );
        }
    }
}

/// A program that prints what the real one prints.
fn program(tool: Tool, version: &str) -> String {
    let says = match tool {
        Tool::Etcd => format!("etcd Version: {version}"),
        Tool::Kubectl => format!("Client Version: v{version}"),
        Tool::Kwok => format!("kwok version v{version}"),
        Tool::Helm => format!("v{version}+g0000000"),
        Tool::Kind => format!("kind version {version}"),
        _ => format!("Kubernetes v{version}"),
    };
    format!("#!/bin/sh\necho '{says}'\n")
}

fn place(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn fill(dir: &Path, tools: &[Tool]) {
    for tool in tools {
        place(&dir.join(tool.name()), &program(*tool, tool.version()));
    }
}

/// Nothing but the cache, which is empty.
fn options(root: &Path) -> Options {
    Options {
        dir: None,
        search_path: Some("/nowhere".into()),
        cache: root.join("cache"),
        download: false,
        mirror: None,
        hashes: Hashes::default(),
        build: false,
    }
}

async fn obtain(options: &Options) -> (Result<Tools, ToolsError>, Vec<ToolProgress>) {
    let steps = Mutex::new(Vec::new());
    let tools = obtain_all(options, &CancellationToken::new(), &|step| {
        steps.lock().unwrap().push(step);
    })
    .await;
    (tools, steps.into_inner().unwrap())
}

fn sources(steps: &[ToolProgress]) -> Vec<(Tool, Source)> {
    let found = steps.iter().filter_map(|progress| match &progress.step {
        Step::Found { source, .. } => Some((progress.tool, *source)),
        _ => None,
    });
    found.collect()
}

#[tokio::test]
async fn sources_are_asked_in_order_and_a_wrong_version_is_passed_over() {
    let root = tempfile::tempdir().unwrap();
    let (dir, bin, cache) = (
        root.path().join("dir"),
        root.path().join("bin"),
        root.path().join("cache"),
    );
    fill(&dir, &[Tool::Etcd]);
    fill(&bin, &Tool::ALL);
    place(&bin.join("helm"), &program(Tool::Helm, "3.19.0"));
    place(
        &cache.join("helm-4.3.1/helm"),
        &program(Tool::Helm, "4.3.1"),
    );
    let options = Options {
        dir: Some(dir),
        search_path: Some(bin.into()),
        ..options(root.path())
    };
    let (tools, steps) = obtain(&options).await;
    tools.unwrap();
    let found = sources(&steps);
    assert_eq!(found[0], (Tool::Etcd, Source::Directory));
    assert_eq!(found[1], (Tool::KubeApiserver, Source::SearchPath));
    assert_eq!(found[6], (Tool::Helm, Source::Cache));
}

#[tokio::test]
async fn an_error_says_what_each_source_lacked() {
    let root = tempfile::tempdir().unwrap();
    let bin = root.path().join("bin");
    place(&bin.join("etcd"), &program(Tool::Etcd, "3.5.0"));
    let options = Options {
        search_path: Some(bin.into()),
        download: true,
        ..options(root.path())
    };
    let error = obtain(&options).await.0.unwrap_err().to_string();
    let error = error
        .replace(root.path().to_str().unwrap(), "ROOT")
        .replace(arch(), "ARCH");
    expect![[r#"
        etcd 3.7.3 is not to be had: 
          PATH: ROOT/bin/etcd has version 3.5.0
          the cache: ROOT/cache/etcd-3.7.3/etcd is not there
          download: no SHA-256 is pinned for etcd-v3.7.3-linux-ARCH.tar.gz, and nothing is downloaded without one (add it to images/control-plane/SHA256SUMS or give --hashes)
          building: it is not allowed"#]]
    .assert_eq(&error);
}

/// A `go` that takes its time and counts how often it was asked to build.
fn fake_go(root: &Path) -> PathBuf {
    let bin = root.join("go-bin");
    let script = r#"#!/bin/sh
case "$1" in
  list) printf 'a\nb\nc\n' ;;
  build)
    while [ "$1" != -o ]; do shift; done
    echo "$3" >> "$COUNT"
    printf 'a\nb\n' >&2
    case "$3" in
      *kwok) says='kwok version v0.8.0' ;;
      *helm) says='v4.3.1' ;;
      *kind) says='kind version 0.33.0' ;;
      *) says='Kubernetes v1.37.2' ;;
    esac
    cat > "$2" <<END
#!/bin/sh
case "\$0" in
  */etcd) echo 'etcd Version: 3.7.3' ;;
  *) echo '$says' ;;
esac
END
    sleep 0.2 ;;
esac
"#;
    let count = root.join("count");
    place(
        &bin.join("go"),
        &script.replace("$COUNT", count.to_str().unwrap()),
    );
    bin
}

#[tokio::test]
async fn two_that_fill_the_cache_at_once_build_each_program_once() {
    let root = tempfile::tempdir().unwrap();
    let search_path =
        std::env::join_paths([fake_go(root.path()), "/usr/bin".into(), "/bin".into()]).unwrap();
    let options = Options {
        build: true,
        search_path: Some(search_path),
        ..options(root.path())
    };
    let ((first, steps), (second, _)) = tokio::join!(obtain(&options), obtain(&options));
    let tools = first.unwrap();
    assert_eq!(tools, second.unwrap());
    let built = fs::read_to_string(root.path().join("count")).unwrap();
    expect![[r#"
        .
        ./kubectl
        helm.sh/helm/v4/cmd/helm
        sigs.k8s.io/kind
        sigs.k8s.io/kwok/cmd/kwok
    "#]]
    .assert_eq(&sorted(&built));
    assert!(
        steps.iter().any(|progress| matches!(
            progress.step,
            Step::Building {
                compiled: 1,
                of: 3,
                ..
            }
        )) || steps.iter().any(|progress| progress.step == Step::Waiting)
    );
    // One program under four names, found again without building.
    assert!(fs::symlink_metadata(&tools.etcd).unwrap().is_symlink());
    let (_, steps) = obtain(&Options {
        build: false,
        ..options
    })
    .await;
    assert_eq!(sources(&steps).len(), Tool::ALL.len());
}

fn sorted(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}
