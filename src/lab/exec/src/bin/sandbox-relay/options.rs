//! The options of the relay. They are written by `exec::Sandbox`, so they are checked but not explained.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) out: Vec<(SocketAddr, PathBuf)>,
    pub(crate) inbound: Option<PathBuf>,
    pub(crate) processes: Option<u64>,
    pub(crate) memory: Option<u64>,
    pub(crate) file_size: Option<u64>,
    pub(crate) open_files: Option<u64>,
    pub(crate) user: Option<String>,
    pub(crate) home: String,
    pub(crate) shell: String,
    pub(crate) terminal: bool,
    pub(crate) argv: Vec<OsString>,
}

impl Options {
    pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut args = args.peekable();
        // First of all: whatever else a starter of another version says may have another meaning.
        let starter = args
            .next_if(|first| first == exec::VERSION_OPTION)
            .and_then(|_| args.next())
            .map(|version| version.to_string_lossy().into_owned());
        exec::check_version("sandbox-relay", starter.as_deref())?;
        let mut options = Self::default();
        while let Some(arg) = args.next() {
            let name = arg.to_string_lossy().into_owned();
            match name.as_str() {
                "--" => {
                    options.argv = args.collect();
                    break;
                }
                "--terminal" => options.terminal = true,
                _ => {
                    let value = args.next().ok_or_else(|| format!("{name} needs a value"))?;
                    options.set(&name, &value.to_string_lossy())?;
                }
            }
        }
        if options.argv.is_empty() {
            return Err("no command after `--`".to_owned());
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = || {
            value
                .parse()
                .map(Some)
                .map_err(|_| format!("{name} {value}: a number is expected"))
        };
        match name {
            "--out" => self.out.push(outbound(value)?),
            "--in" => self.inbound = Some(value.into()),
            "--processes" => self.processes = number()?,
            "--memory" => self.memory = number()?,
            "--file-size" => self.file_size = number()?,
            "--open-files" => self.open_files = number()?,
            "--user" => self.user = Some(value.to_owned()),
            "--home" => value.clone_into(&mut self.home),
            "--shell" => value.clone_into(&mut self.shell),
            _ => return Err(format!("unknown option {name}")),
        }
        Ok(())
    }
}

fn outbound(value: &str) -> Result<(SocketAddr, PathBuf), String> {
    let (address, path) = value
        .split_once('=')
        .ok_or_else(|| format!("--out {value}: address=socket is expected"))?;
    let address = address
        .parse()
        .map_err(|_| format!("--out {value}: {address} is not an address and port"))?;
    Ok((address, path.into()))
}
