//! Generates server and client from test/bench/echo.proto; payloads are `Bytes`, which are not
//! copied out of what was read.

fn main() {
    let root = "../../../..";
    let config = tonic_prost_build::configure().bytes(".");
    config
        .compile_protos(
            &[format!("{root}/test/bench/echo.proto")],
            &[root.to_string()],
        )
        .expect("protoc reads echo.proto");
}
