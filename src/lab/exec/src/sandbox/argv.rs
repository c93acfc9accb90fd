//! The argument lists of bubblewrap and of the relay inside, from a checked [`Sandbox`].

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Sandbox;
use crate::version::{VERSION, VERSION_OPTION};

/// Where the relay is inside.
pub(super) const RELAY: &str = "/run/atelier/sandbox-relay";
const INBOUND: &str = "/run/atelier/in";

/// Parts of the host's `/etc` that programs of `/usr` need and that hold nothing private.
const ETC: &[&str] = &[
    "alternatives",
    "bash.bashrc",
    "bash_completion",
    "bash_completion.d",
    "ca-certificates",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nanorc",
    "pki",
    "ssl/certs",
    "terminfo",
    "vim",
];

const SMALL: u64 = 1024 * 1024;

enum Layer<'a> {
    Tmpfs(u64),
    ReadOnly(&'a Path),
    Writable(&'a Path),
}

pub(super) fn bubblewrap(sandbox: &Sandbox) -> Vec<OsString> {
    let mut args = Args::default();
    args.words(&[
        "--die-with-parent",
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-net",
    ]);
    // A user namespace of its own making would give a program rights over the kernel that it must not try.
    args.words(&[
        "--unshare-cgroup-try",
        "--disable-userns",
        "--cap-drop",
        "ALL",
    ]);
    args.words(&[
        "--uid",
        &sandbox.user.uid.to_string(),
        "--gid",
        &sandbox.user.gid.to_string(),
    ]);
    args.words(&["--hostname", &sandbox.hostname]);
    if !sandbox.terminal {
        // Without this a program could type into the terminal it was started from.
        args.words(&["--new-session"]);
    }
    system(&mut args);
    args.tmpfs(Path::new("/tmp"), sandbox.limits.tmp_size);
    for (target, link) in &sandbox.symlinks {
        args.pair("--symlink", target, link);
    }
    layers(&mut args, sandbox);
    args.words(&["--remount-ro", "/", "--chdir"]);
    args.0.push(sandbox.cwd.clone().into());
    args.0
}

/// The programs of the host, read-only, and the kernel's folders.
fn system(args: &mut Args) {
    args.pair("--ro-bind", "/usr", "/usr");
    for dir in ["bin", "sbin", "lib", "lib32", "lib64", "libx32"] {
        let path = Path::new("/").join(dir);
        match std::fs::read_link(&path) {
            Ok(target) => args.pair("--symlink", &target, &path),
            Err(_) => args.pair("--ro-bind-try", &path, &path),
        }
    }
    args.words(&["--proc", "/proc", "--dev", "/dev"]);
    args.tmpfs(Path::new("/dev/shm"), 64 * SMALL);
    args.words(&["--remount-ro", "/dev"]);
    args.tmpfs(Path::new("/etc"), SMALL);
    for name in ETC {
        let path = Path::new("/etc").join(name);
        args.pair("--ro-bind-try", &path, &path);
    }
    args.tmpfs(Path::new("/run"), 16 * SMALL);
    args.words(&["--dir", "/var/tmp", "--symlink", "/run", "/var/run"]);
}

fn layers(args: &mut Args, sandbox: &Sandbox) {
    let outbound: Vec<(PathBuf, &Path)> = (0..)
        .zip(&sandbox.relay_out)
        .filter_map(|(index, (_, socket))| Some((outbound_dir(index), socket.parent()?)))
        .collect();
    let mut layers: Vec<(&Path, Layer<'_>)> =
        vec![(Path::new(RELAY), Layer::ReadOnly(&sandbox.relay))];
    layers.extend(
        sandbox
            .tmpfs
            .iter()
            .map(|(inside, size)| (inside.as_path(), Layer::Tmpfs(*size))),
    );
    layers.extend(
        sandbox
            .ro
            .iter()
            .map(|bind| (bind.inside.as_path(), Layer::ReadOnly(&bind.host))),
    );
    layers.extend(
        sandbox
            .rw
            .iter()
            .map(|bind| (bind.inside.as_path(), Layer::Writable(&bind.host))),
    );
    layers.extend(
        outbound
            .iter()
            .map(|(inside, dir)| (inside.as_path(), Layer::ReadOnly(dir))),
    );
    if let Some(dir) = sandbox.relay_in.as_deref().and_then(Path::parent) {
        layers.push((Path::new(INBOUND), Layer::Writable(dir)));
    }
    // A stable sort: of two mounts at the same depth, the later one of the list wins.
    layers.sort_by_key(|(inside, _)| inside.components().count());
    for (inside, layer) in layers {
        match layer {
            Layer::Tmpfs(size) => args.tmpfs(inside, size),
            Layer::ReadOnly(host) => args.pair("--ro-bind", host, inside),
            Layer::Writable(host) => args.pair("--bind", host, inside),
        }
    }
}

fn outbound_dir(index: usize) -> PathBuf {
    PathBuf::from(format!("/run/atelier/out/{index}"))
}

pub(super) fn relay(sandbox: &Sandbox) -> Vec<OsString> {
    let mut args = Args::default();
    args.words(&[VERSION_OPTION, VERSION]);
    for (index, (address, socket)) in sandbox.relay_out.iter().enumerate() {
        let inside = outbound_dir(index).join(socket.file_name().unwrap_or_default());
        args.words(&["--out", &format!("{address}={}", inside.display())]);
    }
    if let Some(name) = sandbox.relay_in.as_deref().and_then(Path::file_name) {
        args.words(&["--in", &Path::new(INBOUND).join(name).to_string_lossy()]);
    }
    let limits = sandbox.limits;
    let user = &sandbox.user;
    args.words(&[
        "--processes",
        &limits.processes.to_string(),
        "--memory",
        &limits.memory.to_string(),
    ]);
    args.words(&[
        "--file-size",
        &limits.file_size.to_string(),
        "--open-files",
        &limits.open_files.to_string(),
    ]);
    args.words(&[
        "--user",
        &user.name,
        "--home",
        &user.home.to_string_lossy(),
        "--shell",
        &user.shell.to_string_lossy(),
    ]);
    if sandbox.terminal {
        args.words(&["--terminal"]);
    }
    args.0
}

#[derive(Default)]
struct Args(Vec<OsString>);

impl Args {
    fn words(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn pair(&mut self, option: &str, from: impl AsRef<Path>, to: impl AsRef<Path>) {
        self.0
            .extend([option.into(), from.as_ref().into(), to.as_ref().into()]);
    }

    fn tmpfs(&mut self, path: &Path, size: u64) {
        self.words(&["--size", &size.to_string(), "--tmpfs"]);
        self.0.push(path.into());
    }
}
