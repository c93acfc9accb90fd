//! `nvidia-smi`: what a container sees of its devices. Options in, text out; the forms that a course and its scripts use.

mod query;
mod table;

use crate::usage::Reading;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    Table,
    List,
    Query(query::Query),
    Help,
}

/// Options, and how often to repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub asked: Asked,
    /// Only these devices: an index or a UUID each.
    pub only: Vec<String>,
    /// Seconds between two times.
    pub every: Option<u64>,
}

const HELP: &str = "usage: nvidia-smi [-L] [-i DEVICE[,DEVICE]] [-l SECONDS]
       nvidia-smi --query-gpu=FIELD,… --format=csv[,noheader][,nounits]
       nvidia-smi --query-compute-apps=FIELD,… --format=csv[,noheader][,nounits]

These GPUs are faked by Atelier Kueue: utilisation is what the container's processes use of a CPU core, or what the
training reports; memory is the container's own.
";

/// Reads the command line.
///
/// # Errors
/// Names the option or field that is not known.
pub fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        asked: Asked::Table,
        only: Vec::new(),
        every: None,
    };
    let mut format = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let (name, given) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let mut value = || {
            given
                .clone()
                .or_else(|| rest.next().cloned())
                .ok_or_else(|| format!("option {name} needs a value"))
        };
        match name {
            "-h" | "--help" => options.asked = Asked::Help,
            "-L" | "--list-gpus" => options.asked = Asked::List,
            "-i" | "--id" => options.only = value()?.split(',').map(str::to_owned).collect(),
            "-l" | "--loop" => options.every = Some(seconds(&value()?)?),
            "--query-gpu" => options.asked = Asked::Query(query::Query::of_devices(&value()?)?),
            "--query-compute-apps" => {
                options.asked = Asked::Query(query::Query::of_processes(&value()?)?);
            }
            "--format" => format = Some(value()?),
            _ => {
                return Err(format!(
                    "Invalid combination of input arguments. Option {argument} is not known. Please run 'nvidia-smi -h' for help."
                ));
            }
        }
    }
    match (&mut options.asked, format) {
        (Asked::Query(query), Some(format)) => query.set_format(&format)?,
        (Asked::Query(_), None) => return Err("\"--format=\" switch is missing.".to_owned()),
        (_, Some(_)) => {
            return Err("--format goes with --query-gpu or --query-compute-apps".to_owned());
        }
        _ => {}
    }
    Ok(options)
}

fn seconds(text: &str) -> Result<u64, String> {
    let seconds = text.parse::<u64>().ok().filter(|seconds| *seconds > 0);
    seconds.ok_or_else(|| format!("{text} is not a number of seconds"))
}

/// The answer. `time` is the moment it is true at, as it is shown.
///
/// # Errors
/// When there is no such device, as the real one says it.
pub fn render(options: &Options, readings: &[Reading], time: &str) -> Result<String, String> {
    let chosen: Vec<&Reading> = readings
        .iter()
        .filter(|reading| is_chosen(options, reading))
        .collect();
    if options.asked == Asked::Help {
        return Ok(HELP.to_owned());
    }
    if chosen.is_empty() {
        return Err("No devices were found".to_owned());
    }
    Ok(match &options.asked {
        Asked::Table => table::render(&chosen, time),
        Asked::List => list(&chosen),
        Asked::Query(query) => query.render(&chosen),
        Asked::Help => HELP.to_owned(),
    })
}

fn is_chosen(options: &Options, reading: &Reading) -> bool {
    let named = |name: &String| *name == reading.uuid || *name == reading.index.to_string();
    options.only.is_empty() || options.only.iter().any(named)
}

fn list(readings: &[&Reading]) -> String {
    let line = |reading: &&Reading| {
        let (index, model, uuid) = (reading.index, &reading.model, &reading.uuid);
        format!("GPU {index}: {model} (UUID: {uuid})\n")
    };
    readings.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
