//! Child processes and pseudo-terminals: argv, env, deadline, captured output, sandbox, container.
//!
//! Every program this workspace starts is started here, so that an error always shows the command line and what it
//! printed. It knows nothing of Kubernetes, and decides nothing about restarts. Start reading at [`Cmd`].

mod child;
mod cmd;
mod container;
mod error;
mod log;
pub mod process;
mod pty;
pub mod relay;
mod sandbox;
mod socket;
mod version;
mod which;

pub use child::{Child, Detached, Grouping};
pub use cmd::{Cmd, Output, Stream};
pub use container::{Container, Share};
pub use error::ExecError;
pub use log::RotatingLog;
pub use pty::{Pty, PtyOutput, PtySize};
pub use sandbox::{Bind, Limits, Sandbox, User};
pub use socket::short_path;
pub use version::{VERSION, VERSION_OPTION, check_version};
pub use which::{find_program, sibling};
