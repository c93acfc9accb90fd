//! Stable Rust does not notice a new migration by itself.

fn main() {
    println!("cargo:rerun-if-changed=../../../migrations");
}
