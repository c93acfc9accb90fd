//! Our controller on real API servers with nothing else: what it takes two of them for, and what is easier to see without a Job controller.

mod ground;
mod grows;
mod hands_over;
mod provisions;
