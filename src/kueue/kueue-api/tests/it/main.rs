//! Round trips on the wire, the reference's own cases, and the generated CRDs.

mod corpus;
mod crds;
mod webhooks_corpus;
mod wire;
