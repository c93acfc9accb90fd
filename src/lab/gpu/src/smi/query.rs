//! `--query-gpu` and `--query-compute-apps`: named fields as CSV, with or without header and units.

use crate::DRIVER;
use crate::usage::{Process, Reading};

/// A table of fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    fields: Vec<&'static Field>,
    of_processes: bool,
    header: bool,
    units: bool,
}

/// One field: its names, its unit, its value.
#[derive(Debug)]
struct Field {
    name: &'static str,
    unit: &'static str,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Device(fn(&Reading) -> String),
    Process(fn(&Reading, &Process) -> String),
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Field {}

const fn device(name: &'static str, unit: &'static str, value: fn(&Reading) -> String) -> Field {
    let value = Value::Device(value);
    Field { name, unit, value }
}

const fn process(
    name: &'static str,
    unit: &'static str,
    value: fn(&Reading, &Process) -> String,
) -> Field {
    let value = Value::Process(value);
    Field { name, unit, value }
}

static OF_DEVICES: [Field; 15] = [
    device("index", "", |reading| reading.index.to_string()),
    device("name", "", |reading| reading.model.clone()),
    device("uuid", "", |reading| reading.uuid.clone()),
    device("driver_version", "", |_| DRIVER.to_owned()),
    device("pstate", "", |reading| pstate(reading).to_owned()),
    device("temperature.gpu", "", |reading| reading.degrees.to_string()),
    device("utilization.gpu", "%", |reading| {
        reading.utilisation.to_string()
    }),
    device("memory.total", "MiB", |reading| {
        reading.memory_total_mib.to_string()
    }),
    device("memory.used", "MiB", |reading| {
        reading.memory_used_mib.to_string()
    }),
    device("memory.free", "MiB", |reading| {
        reading
            .memory_total_mib
            .saturating_sub(reading.memory_used_mib)
            .to_string()
    }),
    device("power.draw", "W", |reading| format!("{:.2}", reading.watts)),
    device("power.limit", "W", |reading| {
        format!("{:.2}", f64::from(reading.watts_limit))
    }),
    device("clocks.sm", "MHz", |reading| reading.clock_mhz.to_string()),
    device("count", "", |_| "1".to_owned()),
    device("gpu_uuid", "", |reading| reading.uuid.clone()),
];

static OF_PROCESSES: [Field; 5] = [
    process("gpu_uuid", "", |reading, _| reading.uuid.clone()),
    process("gpu_name", "", |reading, _| reading.model.clone()),
    process("pid", "", |_, process| process.pid.to_string()),
    process("process_name", "", |_, process| process.name.clone()),
    process("used_memory", "MiB", |_, process| {
        process.memory_mib.to_string()
    }),
];

/// Performance state: 0 under load, 8 without work.
pub(super) const fn pstate(reading: &Reading) -> &'static str {
    if reading.utilisation > 0 { "P0" } else { "P8" }
}

impl Query {
    pub(super) fn of_devices(names: &str) -> Result<Self, String> {
        Self::new(names, &OF_DEVICES, false)
    }

    pub(super) fn of_processes(names: &str) -> Result<Self, String> {
        Self::new(names, &OF_PROCESSES, true)
    }

    fn new(names: &str, known: &'static [Field], of_processes: bool) -> Result<Self, String> {
        let find = |name: &str| {
            let name = name.trim();
            let field = known.iter().find(|field| field.name == name);
            field.ok_or_else(|| format!("Field \"{name}\" is not a valid field to query."))
        };
        Ok(Self {
            fields: names.split(',').map(find).collect::<Result<_, _>>()?,
            of_processes,
            header: true,
            units: true,
        })
    }

    pub(super) fn set_format(&mut self, format: &str) -> Result<(), String> {
        for word in format.split(',') {
            match word.trim() {
                "csv" => {}
                "noheader" => self.header = false,
                "nounits" => self.units = false,
                other => {
                    return Err(format!(
                        "\"{other}\" is not a format: csv, noheader, nounits"
                    ));
                }
            }
        }
        Ok(())
    }

    pub(super) fn render(&self, readings: &[&Reading]) -> String {
        let header = self.header.then(|| self.row(|field| self.title(field)));
        let rows = readings.iter().flat_map(|reading| self.rows(reading));
        header.into_iter().chain(rows).collect()
    }

    fn rows(&self, reading: &Reading) -> Vec<String> {
        if !self.of_processes {
            return vec![self.row(|field| self.cell(field, reading, None))];
        }
        let row = |process| self.row(|field| self.cell(field, reading, Some(process)));
        reading.processes.iter().map(row).collect()
    }

    fn row(&self, cell: impl Fn(&Field) -> String) -> String {
        let cells: Vec<String> = self.fields.iter().map(|field| cell(field)).collect();
        format!("{}\n", cells.join(", "))
    }

    fn title(&self, field: &Field) -> String {
        match field.unit {
            "" => field.name.to_owned(),
            _ if !self.units => field.name.to_owned(),
            unit => format!("{} [{unit}]", field.name),
        }
    }

    fn cell(&self, field: &Field, reading: &Reading, process: Option<&Process>) -> String {
        let value = match (&field.value, process) {
            (Value::Device(value), _) => value(reading),
            (Value::Process(value), Some(process)) => value(reading, process),
            (Value::Process(_), None) => String::new(),
        };
        match field.unit {
            "" => value,
            _ if !self.units => value,
            unit => format!("{value} {unit}"),
        }
    }
}
