//! Makes sure that a container stands before somebody enters it.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

use super::Container;
use crate::{Cmd, ExecError};

/// The label that says what a container was made from.
const MADE_FROM: &str = "atelier.kueue/made-from";
/// Callers of one program come one after the other; another program's are told apart by the name.
static TURN: Mutex<()> = Mutex::const_new(());
static MADE: AtomicU64 = AtomicU64::new(0);

impl Container {
    /// Makes the container unless it runs as it should. Only one that is cut off ever bears the name, so that nobody enters
    /// another.
    ///
    /// # Errors
    /// What the engine said.
    pub async fn stand(&self, tools: &str, gateways: &[Ipv4Addr]) -> Result<(), ExecError> {
        let _turn = TURN.lock().await;
        if self.stands().await {
            return Ok(());
        }
        let mut new = self.clone();
        let count = MADE.fetch_add(1, Ordering::Relaxed);
        new.name = format!("{}-{}-{count}", self.name, std::process::id());
        new.labels.push((MADE_FROM.to_owned(), self.made_from()));
        let Err(error) = self.replace(&new, tools, gateways).await else {
            return Ok(());
        };
        let _ = new.remove().run().await;
        if self.stands().await {
            return Ok(());
        }
        Err(error)
    }

    async fn replace(
        &self,
        new: &Self,
        tools: &str,
        gateways: &[Ipv4Addr],
    ) -> Result<(), ExecError> {
        new.start().run().await?;
        new.cut(tools, gateways).run().await?;
        // One that has ended, or was made from something older.
        if !self.stands().await {
            let _ = self.remove().run().await;
        }
        let rename = Cmd::new(&self.engine).args(["rename", &new.name, &self.name]);
        rename.run().await.map(drop)
    }

    async fn stands(&self) -> bool {
        let format = format!("{{{{.State.Running}}}} {{{{index .Config.Labels \"{MADE_FROM}\"}}}}");
        let look = Cmd::new(&self.engine).args(["inspect", "--type", "container", "--format"]);
        let answer = look.args([&format, &self.name]).run().await;
        answer.is_ok_and(|output| output.stdout.trim() == format!("true {}", self.made_from()))
    }

    /// What decides whether another is needed.
    fn made_from(&self) -> String {
        self.start().to_string()
    }
}
