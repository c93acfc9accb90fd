use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{Meter, Now, Places};
use crate::inventory::Folders;
use crate::usage::Source;

/// A `/proc`, cgroups and a folder of reports that a test writes.
struct Machine {
    temp: tempfile::TempDir,
}

const KEY: &str = "GPU-a";

impl Machine {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        Self { temp }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A process with that many ticks of CPU time, and 512 pages in memory.
    fn process(&self, pid: u32, environment: &str, ticks: u64, cgroup: &str) {
        let folder = format!("proc/{pid}");
        self.write(&format!("{folder}/environ"), environment);
        let stat = format!("{pid} (py thon) S 1 1 1 0 -1 4194304 9 0 0 0 {ticks} 0 0 0 20 0 1 0 5");
        self.write(&format!("{folder}/stat"), &stat);
        self.write(&format!("{folder}/statm"), "9999 512 3 1 0 7 0");
        self.write(
            &format!("{folder}/status"),
            "Name:\tpython3\nNSpid:\t4321\t7\n",
        );
        self.write(&format!("{folder}/cmdline"), "python3\0chiffres.py\0");
        self.write(&format!("{folder}/cgroup"), cgroup);
    }

    fn meter(&self) -> Meter {
        let at = |name: &str| self.temp.path().join(name);
        Meter::new(Places {
            proc: at("proc"),
            cgroups: at("cgroup"),
            pod_resources: at("no-kubelet.sock"),
            folders: Folders::new(at("gpu")),
        })
    }
}

fn at(seconds: u64) -> Now {
    Now {
        steady: Duration::from_secs(seconds),
        wall: SystemTime::UNIX_EPOCH,
    }
}

fn environment(key: &str) -> String {
    format!("PATH=/bin\0ATELIER_GPU_ALLOCATION={key}\0NVIDIA_VISIBLE_DEVICES=GPU-a,GPU-b\0HOME=/")
}

async fn second_look(machine: &Machine, change: impl FnOnce()) -> Vec<crate::usage::Holder> {
    let mut meter = machine.meter();
    assert!(
        meter
            .look(at(10))
            .await
            .iter()
            .all(|holder| holder.work.busy == 0.0)
    );
    change();
    meter.look(at(12)).await
}

#[tokio::test]
async fn a_container_is_found_by_what_the_plugin_gave_it() {
    let machine = Machine::new();
    machine.process(11, "PATH=/bin", 0, "0::/other");
    machine.process(12, &environment(KEY), 0, "0::/pod");
    let holders = machine.meter().look(at(1)).await;
    assert_eq!(holders.len(), 1);
    assert_eq!(holders[0].ids, ["GPU-a", "GPU-b"]);
    let process = &holders[0].processes[0];
    assert_eq!(
        (process.pid, process.name.as_str(), process.memory_mib),
        (7, "python3 chiffres.py", 2)
    );
}

#[tokio::test]
async fn cpu_time_is_that_of_the_cgroup_where_there_is_one() {
    for (name, cgroup, before, after) in [
        (
            "version 2",
            "0::/pod",
            [
                ("pod/cpu.stat", "usage_usec 1000000\nuser_usec 1"),
                ("pod/cpu.max", "50000 100000"),
                ("pod/memory.stat", "file 1\nanon 104857600"),
            ],
            ("pod/cpu.stat", "usage_usec 1500000\nuser_usec 1"),
        ),
        (
            "version 1",
            "5:memory:/pod\n4:cpu,cpuacct:/pod\n0::/",
            [
                ("cpu,cpuacct/pod/cpuacct.usage", "1000000000"),
                ("cpu,cpuacct/pod/cpu.cfs_quota_us", "50000"),
                ("memory/pod/memory.stat", "rss 1\ntotal_rss 104857600"),
            ],
            ("cpu,cpuacct/pod/cpuacct.usage", "1500000000"),
        ),
    ] {
        let machine = Machine::new();
        machine.process(12, &environment(KEY), 0, cgroup);
        for (path, text) in before {
            machine.write(&format!("cgroup/{path}"), text);
        }
        machine.write("cgroup/cpu,cpuacct/pod/cpu.cfs_period_us", "100000");
        let holders = second_look(&machine, || {
            machine.write(&format!("cgroup/{}", after.0), after.1);
        })
        .await;
        // Half a second in two, of half a core.
        let work = holders[0].work;
        assert!((work.busy - 0.5).abs() < 1e-9, "{name}: {work:?}");
        assert_eq!(
            (work.memory_mib, work.source),
            (100, Source::Measured),
            "{name}"
        );
    }
}

#[tokio::test]
async fn without_a_cgroup_the_processes_are_added_up() {
    let machine = Machine::new();
    machine.process(12, &environment(KEY), 100, "0::/gone");
    machine.process(13, &environment(KEY), 0, "0::/gone");
    let holders = second_look(&machine, || {
        machine.process(12, &environment(KEY), 150, "0::/gone");
        machine.process(13, &environment(KEY), 50, "0::/gone");
    })
    .await;
    assert!((holders[0].work.busy - 0.5).abs() < 1e-9, "{holders:?}");
    assert_eq!(holders[0].work.memory_mib, 4);
}

#[tokio::test]
async fn a_training_that_reports_is_believed_while_its_report_is_fresh() {
    let machine = Machine::new();
    machine.process(12, &environment(KEY), 0, "0::/pod");
    machine.write("gpu/reports/GPU-a/report.json", r#"{"utilisation": 9}"#);
    let written = fs::metadata(machine.temp.path().join("gpu/reports/GPU-a/report.json"))
        .unwrap()
        .modified()
        .unwrap();
    let mut meter = machine.meter();
    for (age, expected) in [(2, Source::Reported), (600, Source::Measured)] {
        let now = Now {
            steady: Duration::from_secs(age),
            wall: written + Duration::from_secs(age),
        };
        assert_eq!(meter.look(now).await[0].work.source, expected);
    }
}

#[tokio::test]
async fn this_machine_is_read_without_a_holder() {
    let temp = tempfile::tempdir().unwrap();
    let mut meter = Meter::new(Places {
        proc: Path::new("/proc").to_owned(),
        cgroups: Path::new("/sys/fs/cgroup").to_owned(),
        pod_resources: temp.path().join("no-kubelet.sock"),
        folders: Folders::new(temp.path()),
    });
    assert!(meter.look(at(1)).await.is_empty());
}
