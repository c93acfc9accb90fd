//! A shell as a container of the workstation image, on the network of its cluster's nodes.

use std::path::Path;

use clusters::kind::shells;
use clusters::provider::ShellNetwork;
use exec::{Bind, Container, Share};

use super::{
    CHART, HOME, HOST, KUBE, MIB, SETTINGS, ShellError, ShellKit, UID, USER, environment_variables,
    write,
};
use crate::environments::home::Home;

/// Its memory is real, other than the address space that a sandbox counts.
const MEMORY: u64 = 1024 * MIB;

impl ShellKit {
    /// One container for each lab: their homes differ.
    pub(super) fn container(
        &self,
        network: &ShellNetwork,
        home: &Home,
        lab: &str,
        settings: &Path,
    ) -> Result<Container, ShellError> {
        let user = account();
        home.give(user)?;
        let passwd = settings.join("passwd");
        let line = format!("{USER}:x:{}:{}::{HOME}:/bin/bash", user.0, user.1);
        write(
            &passwd,
            &format!("root:x:0:0::/:/usr/sbin/nologin\n{line}\n"),
        )?;
        let group = settings.join("group");
        write(&group, &format!("root:x:0:\n{USER}:x:{}:\n", user.1))?;
        let mut ro = vec![
            Bind::new(settings, SETTINGS),
            Bind::new(passwd, "/etc/passwd"),
            Bind::new(group, "/etc/group"),
        ];
        if self.chart.join("Chart.yaml").is_file() {
            ro.push(Bind::new(&self.chart, CHART));
        }
        Ok(Container {
            engine: network.engine.clone(),
            name: format!("{}-poste-{lab}", network.name),
            image: network.image.clone(),
            network: network.name.clone(),
            labels: vec![(shells::LABEL.to_owned(), network.name.clone())],
            ro,
            rw: vec![Bind::new(home.dir(), HOME), Bind::new(home.kube(), KUBE)],
            env: environment_variables(true, false),
            cwd: HOME.into(),
            hostname: HOST.to_owned(),
            user,
            share: Share {
                cpus: "1".to_owned(),
                memory: MEMORY,
                processes: 300,
                file_size: 64 * MIB,
                open_files: 4096,
                tmp_size: 128 * MIB,
            },
            internet: false,
        })
    }
}

pub(super) async fn stand(network: &ShellNetwork, container: &Container) -> Result<(), ShellError> {
    let around = shells::surroundings(network).await;
    let around = around.map_err(ShellError::Container)?;
    Ok(container.stand(&around.tools, &around.gateways).await?)
}

/// Whose the home's files are: this program's own user, who may not be root in a container.
fn account() -> (u32, u32) {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if user.is_root() {
        (UID, UID)
    } else {
        (user.as_raw(), group.as_raw())
    }
}
