//! What the platform keeps: the record of every environment, verdicts as they changed, where each trainee is. The only room
//! that knows SQL. One process writes a record, others may read it at the same time. Start at [`Store::open`].

mod error;
mod progress;
mod record;
mod store;
mod verdicts;

pub use error::StoreError;
pub use store::Store;
pub use verdicts::LoggedVerdict;

/// The schema, for tests that bring their own database.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../../../migrations");
