// SPDX-License-Identifier: MIT
//! tonic, gRPC in Rust, as a peer of tools/bench rpc: "tonic_peer --rows" prints the names of its
//! rows, "tonic_peer serve" prints its port and serves, "tonic_peer call PORT CONNECTIONS
//! IN_FLIGHT" puts a load on it (network/program.h says how). Client and server have one thread
//! each, because each side has one core.

mod client;
mod server;

mod proto {
    tonic::include_proto!("corolane.bench");
}

const ROWS: &[&str] = &[
    "rpc/1x1",
    "rpc/10x1",
    "rpc/1x64",
    "rpc/1x1000",
    "rpc/10x100",
    "rpc/throughput",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match words[..] {
        ["--rows"] => {
            println!("{}", ROWS.join("\n"));
            Ok(())
        }
        ["serve"] => runtime.block_on(server::serve()),
        ["call", port, connections, in_flight] => client::call(
            &runtime,
            port.parse()?,
            connections.parse()?,
            in_flight.parse()?,
        ),
        _ => Err("usage: tonic_peer --rows | serve | call PORT CONNECTIONS IN_FLIGHT".into()),
    }
}
