//! Reads the corpus: folders of files, each with fixtures in common and cases. Knows the conventions of its README, and no suite.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use quantity::{Amount, Requests, ResourceName};
use scheduler::{FlavorResource, Usage};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One file of the corpus.
#[derive(Debug)]
pub struct File {
    /// The folder, which is the reference's package.
    pub folder: String,
    /// The file's name without `.json`, which is the reference's test.
    pub test: String,
    /// Fixtures shared by its cases.
    pub common: Value,
    /// Its cases.
    pub cases: Vec<Value>,
    /// The defaults of all feature gates.
    pub defaults: BTreeMap<String, bool>,
}

/// One case with all that it needs.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The file it is in.
    pub file: &'a File,
    /// Its name; empty if it has none.
    pub name: &'a str,
    /// What goes in.
    pub input: &'a Value,
    /// What is expected to come out.
    pub want: &'a Value,
    /// Fixtures of the file.
    pub common: &'a Value,
    /// Why the case is incomplete, if it is.
    pub partial: Option<&'a str>,
}

impl Case<'_> {
    /// Whether a feature gate is on in this case: the case's own choice, else that of the file's first scenario, else the default.
    /// The corpus asks for a first pass with `UnadmittedWorkloadsObservability` on where scenarios differ in it.
    #[must_use]
    pub fn gate(&self, name: &str) -> bool {
        let own = self.input["featureGates"][name].as_bool();
        let scenario = || scenario(self.common)?[name].as_bool();
        own.or_else(scenario)
            .unwrap_or_else(|| self.file.defaults.get(name).copied().unwrap_or(false))
    }

    /// The gates which this case sets itself.
    #[must_use]
    pub fn gates(&self) -> BTreeMap<String, bool> {
        read(&self.input["featureGates"])
    }
}

/// The gates of the scenario that a first pass uses.
fn scenario(common: &Value) -> Option<&Value> {
    let all = match &common["scenarios"] {
        Value::Array(all) => all.iter().collect::<Vec<_>>(),
        Value::Object(all) => all.values().collect(),
        _ => return None,
    };
    let gates = |one: &&Value| -> bool {
        let gates = gates_of(one);
        gates["UnadmittedWorkloadsObservability"] != false
    };
    all.iter()
        .find(|one| gates(one))
        .or(all.first())
        .map(|one| gates_of(one))
}

fn gates_of(scenario: &Value) -> &Value {
    let nested = &scenario["featureGates"];
    if nested.is_object() { nested } else { scenario }
}

impl File {
    /// Reads one file.
    ///
    /// # Errors
    /// When it cannot be read or is not a file of cases; the text names it.
    pub fn read(path: &Path, defaults: &BTreeMap<String, bool>) -> anyhow::Result<Self> {
        let at = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(at)?;
        let mut read: Value = serde_json::from_str(&text).with_context(at)?;
        let cases: Vec<Value> = serde_json::from_value(read["cases"].take())
            .with_context(|| format!("{}: `cases` has to be a list", at()))?;
        let part = |part: Option<&std::ffi::OsStr>| {
            part.map(|part| part.to_string_lossy().into_owned())
                .unwrap_or_default()
        };
        Ok(Self {
            folder: part(path.parent().and_then(Path::file_name)),
            test: part(path.file_stem()),
            common: read["common"].take(),
            cases,
            defaults: defaults.clone(),
        })
    }

    /// Its cases.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        self.cases.iter().map(|case| Case {
            file: self,
            name: case["name"].as_str().unwrap_or_default(),
            input: &case["in"],
            want: &case["want"],
            common: &self.common,
            partial: case["partial"].as_str(),
        })
    }
}

/// Where the corpus lies beside the project, whether or not it is there.
#[must_use]
pub fn beside_the_project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/conformance")
}

/// All files of the folders that are asked for, or of all folders if none is, in the order of their names.
///
/// # Errors
/// When the directory, a folder or a file cannot be read, or a folder that is asked for is not there.
pub fn files(directory: &Path, folders: &[String]) -> anyhow::Result<Vec<File>> {
    let there: Vec<String> = entries(directory)?
        .into_iter()
        .filter(|path| path.is_dir())
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    if let Some(unknown) = folders.iter().find(|name| !there.contains(name)) {
        let list = there.join(", ");
        bail!(
            "there is no folder {unknown:?} in {}; there are: {list}",
            directory.display()
        );
    }
    let defaults = defaults(directory)?;
    let mut found = Vec::new();
    for name in if folders.is_empty() { &there } else { folders } {
        for path in entries(&directory.join(name))? {
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                found.push(File::read(&path, &defaults)?);
            }
        }
    }
    Ok(found)
}

/// The gates' defaults, from the directory or, if it does not say, from our own table.
fn defaults(directory: &Path) -> anyhow::Result<BTreeMap<String, bool>> {
    let path = directory.join("feature-gates.json");
    if !path.exists() {
        let own = kueue_api::features::GATES.iter();
        return Ok(own
            .map(|gate| (gate.name.to_owned(), gate.default))
            .collect());
    }
    let at = || path.display().to_string();
    let text = std::fs::read_to_string(&path).with_context(at)?;
    let gates: Value = serde_json::from_str(&text).with_context(at)?;
    serde_json::from_value(gates["defaults"].clone()).with_context(at)
}

fn entries(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let listed = std::fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    let mut paths = listed
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

/// The wall clock of the corpus.
#[must_use]
pub fn now() -> jiff::Timestamp {
    jiff::Timestamp::constant(1_787_400_000, 0)
}

/// A value of any type; what is absent is the type's default.
#[must_use]
pub fn read<T: DeserializeOwned + Default>(value: &Value) -> T {
    if value.is_null() {
        T::default()
    } else {
        parse(value)
    }
}

/// A value of any type that has to be there.
#[must_use]
pub fn parse<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

/// A list, or the values of a map, each as one object; empty if absent.
#[must_use]
pub fn each<T: DeserializeOwned>(value: &Value) -> Vec<T> {
    match value {
        Value::Array(all) => all.iter().map(parse).collect(),
        Value::Object(all) => all.values().map(parse).collect(),
        _ => Vec::new(),
    }
}

/// Usage written as `{"flavor/resource": amount}`.
#[must_use]
pub fn usage(value: &Value) -> Usage {
    let entries = value.as_object().into_iter().flatten();
    entries
        .map(|(key, amount)| (flavor_resource(key), self::amount(amount)))
        .collect()
}

/// Requests written as `{resource: amount}`.
#[must_use]
pub fn requests(value: &Value) -> Requests {
    let entries = value.as_object().into_iter().flatten();
    entries
        .map(|(name, amount)| (ResourceName::from(name.as_str()), self::amount(amount)))
        .collect()
}

/// A key `flavor/resource`; it splits at the first slash.
#[must_use]
pub fn flavor_resource(key: &str) -> FlavorResource {
    let (flavor, resource) = key
        .split_once('/')
        .unwrap_or_else(|| panic!("`{key}` is no flavor/resource"));
    FlavorResource::new(flavor, resource)
}

/// An amount: a number, or "unlimited". Absent is zero.
#[must_use]
pub fn amount(value: &Value) -> Amount {
    match value {
        Value::Null => Amount::ZERO,
        Value::String(text) if text == "unlimited" => Amount::UNLIMITED,
        number => Amount::new(
            number
                .as_i64()
                .unwrap_or_else(|| panic!("`{number}` is no amount")),
        ),
    }
}
