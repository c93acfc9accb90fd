//! Images in which people's own commands run: the shell of the labs, the trainer with PyTorch and the trainee's
//! workstation. They come from Debian's packages, without what nobody calls.

use super::layers::{BASE, OUTILS, PATH};
use super::{Debian, Make, Part, Recipe, Settings};

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
            // `torch_shm_manager` is beside them, without which nothing begins.
            "usr/lib/python3/dist-packages/torch/bin/*Test",
            "usr/lib/python3/dist-packages/torch/bin/test_*",
            "usr/lib/python3/dist-packages/torch/bin/tutorial_*",
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

pub(super) const SMALL: Recipe = Recipe {
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

pub(super) const TRAINER: Recipe = Recipe {
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

pub(super) const WORKSTATION: Recipe = Recipe {
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
