//! Admission reviews over TLS: which object goes to which rule, and how the answer travels. The rules are in `kueue-api` and
//! `jobs`; nothing here holds a Kubernetes client or waits for one.
//!
//! Start reading at `table.rs`. `tls.rs` also serves other routers, such as the metrics and [`visibility`].

pub mod certificates;
mod convert;
mod handlers;
mod review;
mod table;
pub mod tls;
pub mod visibility;

pub use handlers::{Cluster, Context};
pub use review::{Request, Verdict};
pub use table::{conversions, paths, router};
