//! Readings as Prometheus text, with the names and labels of NVIDIA's dcgm-exporter, so that dashboards made for real GPUs work.
//! One label is ours: `source` says where a figure comes from, so that a simulated node cannot be taken for a measured one.

use std::fmt::Write as _;

use crate::usage::{Owner, Reading};
use crate::{DRIVER, inventory};

/// The code that a driver reports when a card has fallen off the bus; a broken device of ours does the same.
const FALLEN_OFF_THE_BUS: u8 = 79;

struct Metric {
    name: &'static str,
    help: &'static str,
    value: fn(&Reading) -> f64,
}

const METRICS: [Metric; 8] = [
    Metric {
        name: "DCGM_FI_DEV_SM_CLOCK",
        help: "SM clock frequency (in MHz).",
        value: |reading| f64::from(reading.clock_mhz),
    },
    Metric {
        name: "DCGM_FI_DEV_GPU_TEMP",
        help: "GPU temperature (in C).",
        value: |reading| f64::from(reading.degrees),
    },
    Metric {
        name: "DCGM_FI_DEV_POWER_USAGE",
        help: "Power draw (in W).",
        value: |reading| reading.watts,
    },
    Metric {
        name: "DCGM_FI_DEV_GPU_UTIL",
        help: "GPU utilization (in %).",
        value: |reading| f64::from(reading.utilisation),
    },
    Metric {
        name: "DCGM_FI_DEV_FB_FREE",
        help: "Framebuffer memory free (in MiB).",
        value: |reading| {
            mib(reading
                .memory_total_mib
                .saturating_sub(reading.memory_used_mib))
        },
    },
    Metric {
        name: "DCGM_FI_DEV_FB_USED",
        help: "Framebuffer memory used (in MiB).",
        value: |reading| mib(reading.memory_used_mib),
    },
    Metric {
        name: "DCGM_FI_DEV_FB_TOTAL",
        help: "Framebuffer memory total (in MiB).",
        value: |reading| mib(reading.memory_total_mib),
    },
    Metric {
        name: "DCGM_FI_DEV_XID_ERRORS",
        help: "Value of the last XID error encountered.",
        value: |reading| {
            f64::from(if reading.healthy {
                0
            } else {
                FALLEN_OFF_THE_BUS
            })
        },
    },
];

/// The page of the exporter.
#[must_use]
pub fn render(readings: &[Reading]) -> String {
    let mut page = String::new();
    for metric in &METRICS {
        let (name, help) = (metric.name, metric.help);
        line(&mut page, format_args!("# HELP {name} {help}"));
        line(&mut page, format_args!("# TYPE {name} gauge"));
        for reading in readings {
            let value = (metric.value)(reading);
            for labels in series(reading) {
                line(&mut page, format_args!("{name}{{{labels}}} {value}"));
            }
        }
    }
    page
}

/// The label sets of one device: one for each container that holds it, one without any when nobody does.
fn series(reading: &Reading) -> Vec<String> {
    let device = of_device(reading);
    if reading.owners.is_empty() {
        return vec![device];
    }
    let of = |(owner, replica): &(Owner, Option<String>)| {
        let shared = replica
            .as_ref()
            .map(|number| format!(",vgpu=\"{}\"", escaped(number)));
        format!(
            "{device},container=\"{}\",namespace=\"{}\",pod=\"{}\"{}",
            escaped(&owner.container),
            escaped(&owner.namespace),
            escaped(&owner.pod),
            shared.unwrap_or_default()
        )
    };
    reading.owners.iter().map(of).collect()
}

fn of_device(reading: &Reading) -> String {
    format!(
        "gpu=\"{index}\",UUID=\"{}\",device=\"nvidia{index}\",modelName=\"{}\",Hostname=\"{}\",DCGM_FI_DRIVER_VERSION=\"{DRIVER}\",source=\"{}\"",
        escaped(inventory::physical(&reading.uuid)),
        escaped(&reading.model),
        escaped(&reading.node),
        reading.source.as_str(),
        index = reading.index,
    )
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

fn mib(value: u64) -> f64 {
    u32::try_from(value).map_or(f64::from(u32::MAX), f64::from)
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(page, "{text}");
}

#[cfg(test)]
mod tests;
