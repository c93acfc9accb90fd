//! Where a trainee's shells live: in containers on the network of their cluster's nodes, made from an image of their own.
//!
//! Whoever starts a shell makes the container; it goes with the cluster's network, here.

use std::net::Ipv4Addr;
use std::path::Path;

use super::engine::Engine;
use super::{Settings, cluster_name, words};
use crate::provider::ShellNetwork;

/// The label of containers with shells: whose they are.
pub const LABEL: &str = "atelier.kueue/shells-of";
/// What `cargo xtask images workstation` makes.
const IMAGE: &str = "docker.io/atelier-kueue/workstation:dev";

/// What is around a container that shells are started in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// This machine's addresses on the network.
    pub gateways: Vec<Ipv4Addr>,
    /// An image with the programs that set routes: that of the nodes.
    pub tools: String,
}

/// The network of the environment in `dir`; nothing while there is no image for shells.
pub(crate) fn network(settings: &Settings, dir: &Path) -> Option<ShellNetwork> {
    let archive = settings.workstation.clone()?;
    let key = archive
        .file_stem()?
        .to_str()?
        .strip_prefix("workstation-")?;
    let name = cluster_name(dir);
    Some(ShellNetwork {
        engine: settings.engine.clone(),
        server: format!("https://{name}-control-plane:6443"),
        image: format!("{}:{key}", IMAGE.rsplit_once(':')?.0),
        archive,
        name,
    })
}

/// Puts the image for shells into the engine, once for every build of it.
pub(super) async fn have_image(network: &ShellNetwork) -> Result<(), String> {
    let engine = Engine(&network.engine);
    if engine.has_image(&network.image).await {
        return Ok(());
    }
    engine.load(&network.archive, IMAGE, &network.image).await?;
    engine.keep_only(&network.image).await;
    Ok(())
}

/// What a shell's container needs, looked up and made ready.
///
/// # Errors
/// When the engine does not answer, or the cluster is not there, in words.
pub async fn surroundings(network: &ShellNetwork) -> Result<Surroundings, String> {
    let looked_up = async {
        have_image(network).await?;
        let engine = Engine(&network.engine);
        let format = "{{range .IPAM.Config}}{{.Gateway}} {{end}}";
        let gateways = engine
            .run(["network", "inspect", "--format", format, &network.name])
            .await?;
        let node = format!("{}-control-plane", network.name);
        let tools = engine
            .run(["inspect", "--format", "{{.Image}}", &node])
            .await?;
        Ok(Surroundings {
            gateways: addresses(&gateways),
            tools,
        })
    };
    looked_up
        .await
        .map_err(|error: String| words::own_words(&error))
}

/// Removes the containers with a cluster's shells.
pub(super) async fn remove(engine: &Engine<'_>, cluster: &str) -> Result<(), String> {
    engine
        .remove_labelled(&format!("{LABEL}={cluster}"), 0)
        .await
}

fn addresses(text: &str) -> Vec<Ipv4Addr> {
    text.split_whitespace()
        .filter_map(|word| word.split('/').next()?.parse().ok())
        .collect()
}
