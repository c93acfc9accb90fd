//! Kubernetes quantities and saturating resource amounts. Pure.
//!
//! [`Quantity`] is what people write in objects (`500m`, `1.5Gi`, `2e3`) and prints back in canonical form. [`Amount`] is what
//! decisions are made with: an `i64` in a fixed unit per resource, with a sentinel for "unlimited". Start reading at `amount.rs`.

mod amount;
mod quantity;
mod requests;
mod resource;
mod small_map;

pub use amount::Amount;
pub use quantity::{Format, ParseError, Quantity};
pub use requests::Requests;
pub use resource::ResourceName;
pub use small_map::{Entry, Iter, SmallMap};
