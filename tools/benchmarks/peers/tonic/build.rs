// SPDX-License-Identifier: MIT
//! Generates server and client from tools/benchmarks/echo.proto; payloads are `Bytes`, which are not
//! copied out of the read buffer.

fn main() {
    let root = "../../../..";
    let config = tonic_prost_build::configure().bytes(".");
    config
        .compile_protos(
            &[format!("{root}/tools/benchmarks/echo.proto")],
            &[root.to_string()],
        )
        .expect("protoc reads echo.proto");
}
