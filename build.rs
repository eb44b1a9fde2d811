//! Generates the messages, server and client from the proto, and the descriptor that reflection serves.

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    const PROTO: &str = "proto/sudoku/v1/sudoku.proto";
    println!("cargo:rerun-if-changed={PROTO}");
    let descriptors = protox::compile([PROTO], ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?).join("sudoku.v1.descriptor.bin");
    fs::write(out, protox::prost::Message::encode_to_vec(&descriptors))?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
