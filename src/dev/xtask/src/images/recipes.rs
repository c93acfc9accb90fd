//! What is in each image. A recipe is a table: layers from the most stable to the most often changed, so that a new build of our own
//! programs leaves the large layers as they are.

/// An image.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) make: Make,
    pub(super) settings: Settings,
}

/// How an image is made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Make {
    Layers(&'static [&'static [Part]]),
    /// A program of the tree that writes the archive it is given the path of, and what that program reads.
    Script {
        program: &'static str,
        inputs: &'static [&'static str],
        /// Images that it packs into its own, those of them that were built: their archives follow the path.
        within: &'static [&'static str],
    },
}

/// What the image says of itself.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) user: &'static str,
    pub(super) folder: &'static str,
    pub(super) entrypoint: &'static [&'static str],
    pub(super) command: &'static [&'static str],
    pub(super) env: &'static [&'static str],
}

/// A piece of a layer.
#[derive(Debug)]
pub(super) enum Part {
    Debian(Debian),
    /// A binary of the workspace, linked statically.
    Program {
        package: &'static str,
        binary: &'static str,
        to: &'static str,
    },
    /// A program obtained by `atelier tools`.
    Tool {
        name: &'static str,
        to: &'static str,
    },
    /// A program of a pinned Go module below `images/`.
    Go {
        module: &'static str,
        package: &'static str,
        to: &'static str,
    },
    /// A file or folder of the tree.
    Copy {
        from: &'static str,
        to: &'static str,
    },
    Text {
        to: &'static str,
        mode: u32,
        text: &'static str,
    },
    Link {
        to: &'static str,
        target: &'static str,
    },
    Folder {
        to: &'static str,
        mode: u32,
        owner: u64,
    },
    /// Empty libraries in the place of some that a program names but never calls.
    Empty {
        libraries: &'static [&'static str],
    },
    /// Python's compiled modules, for a root that cannot be written to.
    Compiled {
        folders: &'static [&'static str],
    },
}

/// Packages and what they need.
#[derive(Debug)]
pub(super) struct Debian {
    pub(super) packages: &'static [&'static str],
    /// Taken for installed: they are in a lower layer, or nothing of them is used.
    pub(super) without: &'static [&'static str],
    /// The packages of a lower layer, which are there already.
    pub(super) on: Option<&'static Self>,
    /// Paths that are left out beside documentation and translations; `*` stands for anything.
    pub(super) drop: &'static [&'static str],
}

impl Recipe {
    /// The names under which the image is used.
    pub(super) fn tags(&self) -> [String; 2] {
        let name = self.name;
        let tag = |version: &str| format!("atelier-kueue/{name}:{version}");
        [tag("dev"), tag(env!("CARGO_PKG_VERSION"))]
    }
}

/// Where an account without rights is called `atelier`.
const PASSWD: Part = Part::Text {
    to: "etc/passwd",
    mode: 0o644,
    text: "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\natelier:x:1000:1000:Atelier:/home/atelier:/bin/bash\n",
};
const GROUP: Part = Part::Text {
    to: "etc/group",
    mode: 0o644,
    text: "root:x:0:\ntty:x:5:\nnogroup:x:65534:\natelier:x:1000:\n",
};
const TEMPORARY: Part = Part::Folder {
    to: "tmp",
    mode: 0o1777,
    owner: 0,
};
const HOME: Part = Part::Folder {
    to: "home/atelier",
    mode: 0o755,
    owner: 1000,
};

const BASE: Debian = Debian {
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
const OUTILS: &[Part] = &[
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

/// Libraries that Debian's libtorch names because of its video operators. Not one of their symbols is used.
const UNUSED_BY_TORCH: &[&str] = &[
    "libopencv_calib3d.so.406",
    "libopencv_core.so.406",
    "libopencv_dnn.so.406",
    "libopencv_features2d.so.406",
    "libopencv_flann.so.406",
    "libopencv_highgui.so.406",
    "libopencv_imgcodecs.so.406",
    "libopencv_imgproc.so.406",
    "libopencv_optflow.so.406",
    "libopencv_video.so.406",
    "libopencv_videoio.so.406",
    "libopencv_ximgproc.so.406",
    "libavcodec.so.59",
    "libavformat.so.59",
    "libavutil.so.57",
    "libswresample.so.4",
    "libswscale.so.6",
];
const TORCH: &[Part] = &[
    Part::Debian(Debian {
        // The reference BLAS that libtorch would bring is several times slower.
        packages: &["python3-torch", "libopenblas0-pthread"],
        without: &[
            "libopencv-calib3d406",
            "libopencv-contrib406",
            "libopencv-core406",
            "libopencv-dnn406",
            "libopencv-features2d406",
            "libopencv-flann406",
            "libopencv-highgui406",
            "libopencv-imgcodecs406",
            "libopencv-imgproc406",
            "libopencv-video406",
            "libopencv-videoio406",
            "libavcodec59",
            "libavformat59",
            "libavutil57",
            "libswresample4",
            "libswscale6",
            "libtorch-test",
            "python3-hypothesis",
            "python3-sympy",
            "python3-requests",
            "python3-psutil",
            "python3-future",
            "python3-astunparse",
            "python3-pkg-resources",
        ],
        on: Some(&BASE),
        drop: &[
            "usr/lib/python3/dist-packages/torch/bin/*",
            "usr/lib/python3/dist-packages/torch/include/*",
            "usr/lib/python3/dist-packages/torch/test/*",
            "usr/lib/python3/dist-packages/torch/testing/_internal/*",
            "usr/lib/python3/dist-packages/caffe2/*",
            "usr/lib/python3/dist-packages/torchgen/*",
            "usr/lib/python3/dist-packages/numpy/*/tests/*",
            "usr/lib/python3*/test/*",
            "usr/lib/python3*/idlelib/*",
            "usr/lib/python3*/lib2to3/*",
        ],
    }),
    Part::Empty {
        libraries: UNUSED_BY_TORCH,
    },
    // What the packages' scripts would have chosen among several implementations.
    Part::Link {
        to: "usr/lib/x86_64-linux-gnu/libblas.so.3",
        target: "openblas-pthread/libblas.so.3",
    },
    Part::Link {
        to: "usr/lib/x86_64-linux-gnu/libopenblas.so.0",
        target: "openblas-pthread/libopenblas.so.0",
    },
    Part::Link {
        to: "usr/lib/x86_64-linux-gnu/liblapack.so.3",
        target: "openblas-pthread/liblapack.so.3",
    },
];

const MANAGER: Recipe = Recipe {
    name: "kueue-manager",
    about: "the controller, one static program",
    make: Make::Layers(&[&[
        PASSWD,
        GROUP,
        TEMPORARY,
        Part::Program {
            package: "kueue-manager",
            binary: "kueue-manager",
            to: "manager",
        },
    ]]),
    settings: Settings {
        user: "65532:65532",
        folder: "/",
        entrypoint: &["/manager"],
        command: &[],
        env: &[],
    },
};

const GPU: Recipe = Recipe {
    name: "gpu",
    about: "device plugin, exporter and nvidia-smi, static programs",
    make: Make::Layers(&[&[
        PASSWD,
        GROUP,
        TEMPORARY,
        Part::Program {
            package: "gpu",
            binary: "nvidia-smi",
            to: "usr/bin/nvidia-smi",
        },
        Part::Program {
            package: "gpu",
            binary: "atelier-gpu",
            to: "usr/bin/atelier-gpu",
        },
    ]]),
    settings: Settings {
        user: "0:0",
        folder: "/",
        entrypoint: &["/usr/bin/atelier-gpu"],
        command: &[],
        env: &[],
    },
};

const SMALL: Recipe = Recipe {
    name: "outils",
    about: "a shell, coreutils and curl, for the Jobs of the labs",
    make: Make::Layers(&[OUTILS]),
    settings: Settings {
        user: "1000:1000",
        folder: "/home/atelier",
        entrypoint: &[],
        command: &["bash"],
        env: &[PATH, "HOME=/home/atelier", "LANG=C.UTF-8"],
    },
};

const TRAINER: Recipe = Recipe {
    name: "trainer",
    about: "Python, PyTorch for CPUs and the course's trainings",
    make: Make::Layers(&[
        OUTILS,
        TORCH,
        &[Part::Compiled {
            folders: &["usr/lib/python3", "usr/lib/python3.11"],
        }],
        &[Part::Copy {
            from: "labs/trainings",
            to: "opt/atelier/trainings",
        }],
    ]),
    settings: Settings {
        user: "1000:1000",
        folder: "/opt/atelier/trainings",
        entrypoint: &[],
        command: &["bash"],
        env: &[
            PATH,
            "HOME=/home/atelier",
            "LANG=C.UTF-8",
            "PYTHONUNBUFFERED=1",
            "PYTHONDONTWRITEBYTECODE=1",
            "OMP_NUM_THREADS=1",
            "OPENBLAS_NUM_THREADS=1",
        ],
    },
};

const WORKSTATION: Recipe = Recipe {
    name: "workstation",
    about: "the trainee's shell: bash, kubectl, helm, editors",
    make: Make::Layers(&[
        OUTILS,
        &[Part::Debian(Debian {
            packages: &[
                "bash-completion",
                "findutils",
                "gawk",
                "git",
                "hostname",
                "jq",
                "less",
                "nano",
                "ncurses-base",
                "procps",
                "tree",
                "vim-tiny",
            ],
            without: &[
                "debconf",
                "dpkg",
                "perl",
                "libperl5.36",
                "git-man",
                "libldap-2.5-0",
            ],
            on: Some(&BASE),
            drop: &["usr/lib/git-core/git-shell", "usr/share/vim/vim90/doc/*"],
        })],
        &[
            Part::Link {
                to: "usr/bin/vi",
                target: "vim.tiny",
            },
            Part::Link {
                to: "usr/bin/vim",
                target: "vim.tiny",
            },
            Part::Link {
                to: "usr/bin/editor",
                target: "nano",
            },
            Part::Link {
                to: "usr/bin/awk",
                target: "gawk",
            },
            Part::Copy {
                from: "images/workstation/bash.bashrc",
                to: "etc/bash.bashrc",
            },
            Part::Tool {
                name: "kubectl",
                to: "usr/local/bin/kubectl",
            },
            Part::Tool {
                name: "helm",
                to: "usr/local/bin/helm",
            },
        ],
    ]),
    settings: Settings {
        user: "1000:1000",
        folder: "/home/atelier",
        entrypoint: &[],
        command: &["bash"],
        env: &[
            PATH,
            "HOME=/home/atelier",
            "LANG=C.UTF-8",
            "TERM=xterm-256color",
            "EDITOR=nano",
        ],
    },
};

const OPERATOR: Recipe = Recipe {
    name: "training-operator",
    about: "Kubeflow Training Operator v1.8.1, from its Go module",
    make: Make::Layers(&[&[
        PASSWD,
        GROUP,
        TEMPORARY,
        Part::Go {
            module: "images/training-operator",
            package: "github.com/kubeflow/training-operator/cmd/training-operator.v1",
            to: "manager",
        },
    ]]),
    settings: Settings {
        user: "65532:65532",
        folder: "/",
        entrypoint: &["/manager"],
        command: &[],
        env: &[],
    },
};

const NODE: Recipe = Recipe {
    name: "node",
    about: "a Kubernetes node for kind, from Debian packages and Go modules",
    make: Make::Script {
        program: "images/node/build",
        inputs: &["images/node", "images/control-plane/kubernetes"],
        within: &[
            "outils",
            "trainer",
            "gpu",
            "kueue-manager",
            "training-operator",
        ],
    },
    settings: Settings {
        user: "",
        folder: "",
        entrypoint: &[],
        command: &[],
        env: &[],
    },
};

const PATH: &str = "PATH=/usr/local/bin:/usr/bin:/usr/sbin";

/// Every image, those that build fastest first.
pub(super) const ALL: &[Recipe] = &[SMALL, WORKSTATION, TRAINER, GPU, MANAGER, OPERATOR, NODE];
