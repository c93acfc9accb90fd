//! `cargo xtask <verb>`: the one door for people and CI. Light on purpose: it compiles in seconds, so that the first
//! progress line comes at once; whatever needs Kubernetes is done by the product's own binaries, which it builds and calls.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{bench, bundle, images, run, tests, tidy, up};

#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    about = "Set-up, checks and benchmarks of Atelier Kueue"
)]
struct Options {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Build what is missing, obtain the tools, bundle the front end, serve on <http://127.0.0.1:8080>.
    Up {
        /// Prepare everything and stop before serving.
        #[arg(long)]
        prepare_only: bool,
        /// Given to `atelier serve` as they are.
        #[arg(last = true)]
        serve: Vec<String>,
    },
    /// Everything CI runs, cheapest refusal first.
    Test {
        /// Leave out the tests that start real clusters and a browser.
        #[arg(long)]
        quick: bool,
    },
    /// Check directions between rooms, file lengths, licences, manifests, labs.
    Tidy,
    /// Obtain etcd, the API server, its companions, kubectl, kwok and helm.
    Tools {
        /// Given to `atelier tools` as they are.
        #[arg(last = true)]
        rest: Vec<String>,
    },
    /// Build container images, without a registry or an engine: all of them, or those named.
    Images {
        names: Vec<String>,
        /// Say which there are, and build nothing.
        #[arg(long)]
        list: bool,
    },
    /// Pack programs, tools, images, labs and front end into one archive for a machine without a network.
    Bundle {
        /// The archive [default: target/atelier-kueue-VERSION-ARCHITECTURE.tar].
        #[arg(long)]
        to: Option<String>,
        /// Only these images.
        images: Vec<String>,
    },
    /// Try what the trainings promise, in their image with real PyTorch: `[TEST…]`.
    Trainings {
        /// Such as `Trainings.test_sigterm_is_answered_within_the_step`.
        only: Vec<String>,
    },
    /// Run a lab's solution, or one of its wrong answers, on a real environment.
    Solve {
        /// The lab's id or a prefix of it, such as `d1-am`.
        lab: String,
        /// A folder of the lab's `wrong/`.
        #[arg(long)]
        wrong: Option<String>,
        /// Given to `atelier solve` as they are.
        #[arg(last = true)]
        rest: Vec<String>,
    },
    /// Run the reference's own cases: `[DIR] [--suite FOLDER]… [--case NAME] [--verbose]`.
    Conformance {
        /// Given to the runner as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Break a control plane and its controller while Jobs arrive, and count violations: `[--rounds N] [--seed S]`.
    Chaos {
        /// Given to the runner as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Measure: `environment` (time and memory of one), `verdict` (API to verdict), `scheduler` (cycles, preemption, placement), or
    /// `controller [baseline|large-scale|tas] [--qps N] [--scale F]` (the reference's performance harness on its manager and on ours).
    Bench {
        /// What to measure.
        what: String,
        /// Given to `atelier bench`, `simulator bench` or `trials controller` as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// The same scripts on Kueue v0.17.0 and on ours; what they leave behind is compared: `[--only NAME] [--verbose]`.
    Differential {
        /// Given to `trials differential` as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Ours takes the place of Kueue v0.17.0 on the same objects; nobody who runs may notice: `[--back]`.
    Migration {
        /// Given to `trials migration` as they are.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
}

#[expect(
    clippy::print_stderr,
    reason = "a command-line tool reports its failure here"
)]
fn main() -> ExitCode {
    match act(Options::parse().verb) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("xtask: {failure:#}");
            ExitCode::FAILURE
        }
    }
}

fn act(verb: Verb) -> anyhow::Result<ExitCode> {
    match verb {
        Verb::Up {
            prepare_only,
            serve,
        } => up::up(prepare_only, &serve),
        Verb::Test { quick } => tests::all(quick),
        Verb::Tidy => tidy::report(),
        Verb::Tools { rest } => {
            up::build()?;
            run::product("tools", &rest)
        }
        Verb::Images { list: true, .. } => Ok(images::list()),
        Verb::Images { names, .. } => images::build(&names),
        Verb::Bundle { to, images } => bundle::make(to.as_deref(), &images),
        Verb::Trainings { only } => images::trainings::run(&only),
        Verb::Solve { lab, wrong, rest } => {
            up::prepare()?;
            if up::wants_kind(&rest) {
                up::kind()?;
            }
            let mut arguments = vec![lab];
            if let Some(name) = wrong {
                arguments.extend(["--wrong".to_owned(), name]);
            }
            arguments.extend(rest);
            run::product("solve", &arguments)
        }
        Verb::Conformance { rest } => run::conformance(&rest),
        Verb::Chaos { rest } => run::chaos(&rest),
        Verb::Bench { what, rest } if what == "scheduler" => bench::scheduler(&rest),
        Verb::Bench { what, rest } if what == "controller" => bench::trials("controller", &rest),
        Verb::Differential { rest } => bench::trials("differential", &rest),
        Verb::Migration { rest } => bench::trials("migration", &rest),
        Verb::Bench { what, rest } => {
            up::prepare()?;
            if up::wants_kind(&rest) {
                up::kind()?;
            }
            let mut arguments = vec![what];
            arguments.extend(rest);
            run::product("bench", &arguments)
        }
    }
}
