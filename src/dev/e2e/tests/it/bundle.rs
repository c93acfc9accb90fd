//! A machine without a network is set up from one file, and makes an environment with what was in it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use exec::Cmd;
use testkit::{Programs, lacking, program};
use xtask::bundle::{self, Contents};

use crate::machine;

/// What a person does on that machine, with nothing but loopback; a line for each step that held.
const INSTALLATION: &str = r#"
set -eu
test "$(wc -l </proc/net/route)" = 1 && echo 'no route'
mkdir unpacked && tar -C unpacked -xf bundle.tar app/bin/atelier
head -c 1000000 bundle.tar >cut.tar
! unpacked/app/bin/atelier bundle install cut.tar 2>said
grep -q 'was not copied whole' said
test -z "$(ls -A "$HOME" | grep -v '^.cache$')" && test "$(ls -A "$HOME/.cache/atelier-kueue")" = bundle.lock && echo 'a broken one changed nothing'
unpacked/app/bin/atelier bundle install bundle.tar >said
grep -q ' 50 %  ' said && echo 'installed, with progress'
cd "$HOME"
atelier=atelier-kueue/bin/atelier
$atelier tools --no-download --no-build --list | cut -f3 | while read -r path; do case $path in "$HOME"/*) ;; *) echo "elsewhere: $path" ;; esac; done
test "$(cat .cache/atelier-kueue/images/outils.tar)" = image && echo 'images'
test -s atelier-kueue/static/dist/manifest.json && echo 'front end'
$atelier env create coupe >said 2>&1 || { cat said; exit 1; }
$(ls -d .cache/atelier-kueue/tools/kubectl-*)/kubectl --kubeconfig .local/share/atelier-kueue/environments/coupe/admin.kubeconfig get nodes -o name
$atelier env delete coupe >said 2>&1 || { cat said; exit 1; }
echo 'deleted'
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_a_network_is_set_up_from_one_file() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    if !tree.join("static/dist/manifest.json").exists() {
        return lacking("the bundled front end; `cargo xtask up --prepare-only` makes it");
    }
    let _place = machine::place().await;
    let folder = tempfile::Builder::new()
        .prefix("e2e-")
        .tempdir_in("/tmp")
        .expect("a temporary folder");
    let images = folder.path().join("images");
    let home = folder.path().join("home");
    for made in [&images, &home] {
        fs::create_dir(made).expect("a folder of our own");
    }
    // One small image stands for those of a gigabyte: they are files like any other.
    let archive = "outils-0123456789abcdef.tar";
    fs::write(images.join(archive), "image").expect("our own folder");
    symlink(archive, images.join("outils.tar")).expect("our own folder");
    let contents = Contents {
        programs: programs.atelier().parent().expect("a folder").to_owned(),
        tree,
        tools: bundle::tools(programs.atelier()).expect("the tools are there"),
        images,
        names: vec!["outils"],
    };
    let files = contents.gather().expect("all parts are there");
    let file = folder.path().join("bundle.tar");
    bundle::write(&files, &file, &mut |_| ()).expect("a bundle");

    let bwrap = program("bwrap").expect("looked for before");
    let cut = Cmd::new(bwrap)
        .args(["--dev-bind", "/", "/", "--proc", "/proc", "--unshare-net"])
        .args(["--die-with-parent", "/bin/bash", "-c", INSTALLATION])
        .env_clear()
        .env("HOME", &home)
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .cwd(folder.path())
        .deadline(Duration::from_secs(300));
    let output = cut.run().await.unwrap_or_else(|error| panic!("{error}"));
    let said: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(
        said,
        [
            "no route",
            "a broken one changed nothing",
            "installed, with progress",
            "images",
            "front end",
            "node/a100-1",
            "node/a100-2",
            "node/cpu-1",
            "node/plateforme",
            "deleted",
        ]
    );
}
