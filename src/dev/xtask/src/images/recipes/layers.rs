//! What several images begin with: the accounts, the folders, a shell and its tools. Images that share these layers
//! share them on a node, too. Changing a line here builds nearly every image anew.

use super::{Debian, Part};

/// Where an account without rights is called `atelier`.
pub(super) const PASSWD: Part = Part::Text {
    to: "etc/passwd",
    mode: 0o644,
    text: "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\natelier:x:1000:1000:Atelier:/home/atelier:/bin/bash\n",
};
pub(super) const GROUP: Part = Part::Text {
    to: "etc/group",
    mode: 0o644,
    text: "root:x:0:\ntty:x:5:\nnogroup:x:65534:\natelier:x:1000:\n",
};
pub(super) const TEMPORARY: Part = Part::Folder {
    to: "tmp",
    mode: 0o1777,
    owner: 0,
};
pub(super) const HOME: Part = Part::Folder {
    to: "home/atelier",
    mode: 0o755,
    owner: 1000,
};

pub(super) const BASE: Debian = Debian {
    packages: &[
        "bash",
        "coreutils",
        "curl",
        "dash",
        "grep",
        "sed",
        "ca-certificates",
    ],
    // Scripts of packages do not run here, so nothing that only they need.
    without: &["openssl", "debconf", "dpkg"],
    on: None,
    drop: &[],
};
pub(super) const OUTILS: &[Part] = &[
    Part::Debian(BASE),
    Part::Link {
        to: "usr/bin/sh",
        target: "dash",
    },
    PASSWD,
    GROUP,
    TEMPORARY,
    HOME,
];

pub(super) const PATH: &str = "PATH=/usr/local/bin:/usr/bin:/usr/sbin";
