use expect_test::expect;

use super::{parse, render};
use crate::usage::{Process, Reading, Source};

fn reading(index: u32, utilisation: u8, healthy: bool) -> Reading {
    Reading {
        node: "gpu-1".to_owned(),
        index,
        uuid: format!("GPU-{index}"),
        model: "NVIDIA A100-SXM4-80GB".to_owned(),
        healthy,
        memory_total_mib: 81_920,
        memory_used_mib: 412,
        utilisation,
        watts: 215.3,
        watts_limit: 400,
        degrees: 54,
        clock_mhz: 1410,
        source: Source::Measured,
        owners: vec![],
        processes: if utilisation == 0 {
            vec![]
        } else {
            vec![Process {
                pid: 7,
                name: "python3 /opt/atelier/trainings/chiffres.py --steps 300".to_owned(),
                memory_mib: 412,
            }]
        },
    }
}

fn run(line: &str, readings: &[Reading]) -> Result<String, String> {
    let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse(&arguments).and_then(|options| render(&options, readings, "Tue Dec  1 02:00:00 2026"))
}

#[test]
fn the_table_shows_devices_and_their_processes() {
    let table = run("", &[reading(0, 87, true), reading(1, 0, false)]).unwrap();
    expect![[r#"
        Tue Dec  1 02:00:00 2026
        +-----------------------------------------------------------------------------------------+
        | NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |
        |-----------------------------------------+------------------------+----------------------|
        | GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
        | Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
        |=========================================+========================+======================|
        |   0  NVIDIA A100-SXM4-80GB           On |   00000000:07:00.0 Off |                    0 |
        | N/A   54C    P0           215W /  400W  |     412MiB /  81920MiB |     87%      Default |
        +-----------------------------------------+------------------------+----------------------+
        |   1  NVIDIA A100-SXM4-80GB           On |   00000000:08:00.0 Off |                 ERR! |
        | N/A   54C    P8           215W /  400W  |     412MiB /  81920MiB |    ERR!      Default |
        +-----------------------------------------+------------------------+----------------------+

        +-----------------------------------------------------------------------------------------+
        | Processes:                                                                              |
        |  GPU    GI   CI        PID   Type   Process name                           GPU Memory   |
        |=========================================================================================|
        |    0   N/A  N/A          7      C   ...r/trainings/chiffres.py --steps 300     412MiB   |
        +-----------------------------------------------------------------------------------------+
    "#]]
    .assert_eq(&table);
    let width = table.lines().nth(1).unwrap().chars().count();
    let crooked = table
        .lines()
        .skip(1)
        .find(|line| !line.is_empty() && line.chars().count() != width);
    assert_eq!(crooked, None);
}

#[test]
fn idle_devices_say_that_nothing_runs() {
    let table = run("-i 1", &[reading(0, 87, true), reading(1, 0, true)]).unwrap();
    assert!(table.contains("No running processes found"), "{table}");
    assert!(!table.contains("87%"), "{table}");
}

#[test]
fn lists_and_queries() {
    let all = [reading(0, 87, true), reading(1, 0, true)];
    expect![[r#"
        GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)
        GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-1)
    "#]]
    .assert_eq(&run("-L", &all).unwrap());
    expect![[r#"
        index, utilization.gpu [%], memory.used [MiB]
        0, 87 %, 412 MiB
        1, 0 %, 412 MiB
    "#]]
    .assert_eq(
        &run(
            "--query-gpu=index,utilization.gpu,memory.used --format=csv",
            &all,
        )
        .unwrap(),
    );
    expect![[r#"
        GPU-0, 87
    "#]]
    .assert_eq(
        &run(
            "-i GPU-0 --query-gpu uuid,utilization.gpu --format=csv,noheader,nounits",
            &all,
        )
        .unwrap(),
    );
    expect![[r#"
        7, 412 MiB
    "#]]
    .assert_eq(
        &run(
            "--query-compute-apps=pid,used_memory --format=csv,noheader",
            &all,
        )
        .unwrap(),
    );
}

#[test]
fn what_is_not_understood_is_named() {
    let all = [reading(0, 1, true)];
    for (line, expected) in [
        (
            "--query-gpu=index,colour --format=csv",
            "Field \"colour\" is not a valid field to query.",
        ),
        ("--query-gpu=index", "\"--format=\" switch is missing."),
        (
            "--mig",
            "Invalid combination of input arguments. Option --mig is not known. Please run 'nvidia-smi -h' for help.",
        ),
        ("-l 0", "0 is not a number of seconds"),
        ("-i", "option -i needs a value"),
        ("-i 7", "No devices were found"),
        (
            "-L --format=csv",
            "--format goes with --query-gpu or --query-compute-apps",
        ),
    ] {
        assert_eq!(run(line, &all).unwrap_err(), expected, "{line}");
    }
}

#[test]
fn help_needs_no_device() {
    assert!(run("-h", &[]).unwrap().contains("Atelier Kueue"));
}
