//! The table that everybody knows: two lines a device, then the processes.

use super::query::pstate;
use crate::usage::{Process, Reading};
use crate::{CUDA, DRIVER};

const RULE: &str =
    "+-----------------------------------------+------------------------+----------------------+\n";
const THIN: &str =
    "|-----------------------------------------+------------------------+----------------------|\n";
const HEAVY: &str =
    "|=========================================+========================+======================|\n";
const WIDE: &str =
    "+-----------------------------------------------------------------------------------------+\n";

pub(super) fn render(readings: &[&Reading], time: &str) -> String {
    let mut text = format!("{time}\n");
    text.push_str(WIDE);
    text.push_str(&wide(&format!(
        "NVIDIA-SMI {DRIVER:<22} Driver Version: {DRIVER:<14} CUDA Version: {CUDA}"
    )));
    text.push_str(THIN);
    text.push_str(&row(
        "GPU  Name                 Persistence-M",
        "Bus-Id          Disp.A",
        "Volatile Uncorr. ECC",
    ));
    text.push_str(&row(
        "Fan  Temp   Perf          Pwr:Usage/Cap",
        "Memory-Usage",
        "GPU-Util  Compute M.",
    ));
    text.push_str(HEAVY);
    for reading in readings {
        text.push_str(&device(reading));
        text.push_str(RULE);
    }
    text.push('\n');
    text.push_str(&processes(readings));
    text
}

fn device(reading: &Reading) -> String {
    let name = format!("{:>3}  {:<30}  On", reading.index, reading.model);
    let bus = format!("00000000:{:02X}:00.0 Off", reading.index + 7);
    let power = format!("{:.0}W / {:>4}W", reading.watts, reading.watts_limit);
    let state = format!(
        "N/A   {:>2}C    {}        {power:>15}",
        reading.degrees,
        pstate(reading)
    );
    let memory = format!(
        "{:>6}MiB / {:>6}MiB",
        reading.memory_used_mib, reading.memory_total_mib
    );
    let load = if reading.healthy {
        format!("{:>6}%      Default", reading.utilisation)
    } else {
        "ERR!      Default".to_owned()
    };
    let errors = if reading.healthy { "0" } else { "ERR!" };
    row(&name, &bus, &right(errors)) + &row(&state, &memory, &right(&load))
}

fn right(text: &str) -> String {
    format!("{text:>20}")
}

fn row(left: &str, middle: &str, right: &str) -> String {
    format!("| {left:<39} | {middle:>22} | {right:<20} |\n")
}

fn wide(text: &str) -> String {
    format!("| {text:<87} |\n")
}

fn processes(readings: &[&Reading]) -> String {
    let mut text = WIDE.to_owned();
    text.push_str(&wide("Processes:"));
    text.push_str(&wide(&line(
        ["GPU", "GI", "CI", "PID", "Type"],
        "Process name",
        "GPU Memory",
    )));
    text.push_str("|=========================================================================================|\n");
    let all: Vec<String> = readings
        .iter()
        .flat_map(|reading| of_device(reading))
        .collect();
    if all.is_empty() {
        text.push_str(&wide(" No running processes found"));
    }
    text.extend(all);
    text + WIDE
}

fn of_device(reading: &Reading) -> Vec<String> {
    let one = |process: &Process| {
        let memory = format!("{}MiB", process.memory_mib);
        let (index, pid) = (reading.index.to_string(), process.pid.to_string());
        wide(&line(
            [&index, "N/A", "N/A", &pid, "C"],
            &short(&process.name),
            &memory,
        ))
    };
    reading.processes.iter().map(one).collect()
}

fn line([gpu, gi, ci, pid, kind]: [&str; 5], name: &str, memory: &str) -> String {
    format!("{gpu:>4}   {gi:>3}  {ci:>3} {pid:>10}   {kind:>4}   {name:<38} {memory:>10}")
}

/// The end of a long command says more than its beginning.
fn short(name: &str) -> String {
    let count = name.chars().count();
    if count <= 38 {
        return name.to_owned();
    }
    format!("...{}", name.chars().skip(count - 35).collect::<String>())
}
