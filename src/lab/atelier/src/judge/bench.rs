//! `cargo xtask bench verdict`: how long after the API server's change a verdict is there. A throwaway environment is made, objects
//! are changed, and for each one the time is taken from the API server's answer to the verdict.

use super::Session;
use crate::{environments::local, options::Options};
use anyhow::{Context, bail};
use clusters::{
    profile::Profile,
    provider::{EnvironmentId, EnvironmentSpec},
};
use course::{Known, Lab};
use kube::{
    Api, Client, Config,
    api::{PostParams, ResourceExt},
    config::{KubeConfigOptions, Kubeconfig},
};
use std::{io::Write as _, path::Path, process::ExitCode, sync::Arc, time::Duration};
use store::Store;
use timeline::State;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Arguments of `atelier bench verdict`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many verdicts are timed
    #[arg(long, default_value_t = 100)]
    times: usize,
    /// Name of the profile of the environment
    #[arg(long, default_value = "cassiopee-a100")]
    profile: String,
    /// The highest acceptable 95th percentile, in milliseconds
    #[arg(long, default_value_t = 300)]
    limit: u64,
}

/// Carries it out: exit status 0 when the 95th percentile is within the limit.
///
/// # Errors
/// When the environment does not work, or a verdict does not come at all.
pub async fn run(options: &Options, args: Args) -> anyhow::Result<ExitCode> {
    let tools = local::tools(options).await?;
    let provider = local::provider(options, tools)?;
    let id = EnvironmentId::for_account(&format!("bench verdict {}", std::process::id()));
    let profile = Profile::load(
        &options
            .profiles_dir()
            .join(format!("{}.yaml", args.profile)),
    )?;
    let environment = provider
        .create(
            EnvironmentSpec {
                id: id.clone(),
                profile,
            },
            CancellationToken::new(),
        )
        .await?;
    let store = Store::open(&super::database(options)).await?;
    let measured = measure(&environment, &store, args.times).await;
    provider.delete(id.clone()).await?;
    store.forget(id.as_str()).await?;
    let mut times = measured?;
    times.sort();
    let at = |percent: usize| {
        times
            .get((times.len() * percent / 100).min(times.len().saturating_sub(1)))
            .copied()
    };
    let (Some(p50), Some(p95), Some(most)) = (at(50), at(95), times.last().copied()) else {
        bail!("nothing was timed")
    };
    let line = format!(
        "verdicts: {}; p50 {} ms, p95 {} ms, max {} ms after the API server's answer (limit for p95: {} ms)\n",
        times.len(),
        p50.as_millis(),
        p95.as_millis(),
        most.as_millis(),
        args.limit
    );
    std::io::stdout()
        .write_all(line.as_bytes())
        .context("print the result")?;
    Ok(if p95 <= Duration::from_millis(args.limit) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn measure(
    environment: &clusters::provider::Environment,
    store: &Store,
    times: usize,
) -> anyhow::Result<Vec<Duration>> {
    let lab = lab(times)?;
    let cancel = CancellationToken::new();
    let recorder = crate::recorder::Recorder::start(
        crate::recorder::RecorderOptions {
            store: store.clone(),
            environment: environment.id.to_string(),
            kubeconfig: environment.admin_kubeconfig.clone(),
        },
        cancel.clone(),
    )
    .await?;
    let session = super::over(recorder, store, Arc::new(lab), cancel.clone());
    let mut health = session.health();
    let recording = health.wait_for(|health| *health == crate::recorder::Health::Recording);
    tokio::time::timeout(Duration::from_secs(30), recording)
        .await
        .context("wait for the recorder to begin")??;
    let client = client(&environment.admin_kubeconfig).await?;
    let mut taken = Vec::new();
    for number in 0..times {
        taken.push(one(&client, &session, number).await?);
    }
    cancel.cancel();
    Ok(taken)
}

/// Submits a job and waits for the verdict on it.
async fn one(client: &Client, session: &Session, number: usize) -> anyhow::Result<Duration> {
    let api: Api<k8s_openapi::api::batch::v1::Job> = Api::namespaced(client.clone(), "default");
    let name = format!("bench-{number}");
    let job = serde_json::from_value(serde_json::json!({
        "metadata": {"name": name},
        "spec": {"suspend": true, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "main", "image": "bench"}]}}},
    }))?;
    let mut verdicts = session.verdicts();
    let created = api
        .create(&PostParams::default(), &job)
        .await
        .with_context(|| format!("create {name}"))?;
    let answered = Instant::now();
    let criterion = created.name_any();
    let passed = verdicts.wait_for(|verdicts| {
        verdicts
            .verdict(&criterion)
            .is_some_and(|verdict| verdict.state == State::Passed)
    });
    tokio::time::timeout(Duration::from_secs(10), passed)
        .await
        .with_context(|| format!("wait for the verdict on {name}"))??;
    Ok(answered.elapsed())
}

/// A lab with one criterion a job.
fn lab(times: usize) -> anyhow::Result<course::LabRules> {
    let mut yaml = String::from(
        "format: 1\nid: bench\nday: 1\nhalf: am\nminutes: 1\nprofile: bench\nnamespace: default\nsteps:\n  - id: bench\n    minutes: 1\n    criteria:\n",
    );
    for number in 0..times {
        let criterion = format!(
            "      - {{ id: bench-{number}, points: 1, reaches: {{ job: bench-{number}, becomes: submitted }} }}\n"
        );
        yaml.push_str(&criterion);
    }
    Ok(Lab::rules_only(
        &yaml,
        &Known {
            profiles: vec!["bench".to_owned()],
        },
    )?)
}

async fn client(kubeconfig: &Path) -> anyhow::Result<Client> {
    let read = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}
