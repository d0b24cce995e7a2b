// SPDX-License-Identifier: MIT
//! The load: one task per connection and call in flight.

use crate::proto::echo_client::EchoClient;
use crate::proto::EchoRequest;
use std::cell::RefCell;
use std::error::Error;
use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::task::LocalSet;
use tonic::transport::{Channel, Endpoint};

const PAYLOAD_BYTES: usize = 100;

/// Latencies of the calls of one run.
type Latencies = Rc<RefCell<Vec<Duration>>>;

async fn call_until(mut echo: EchoClient<Channel>, end: Instant, latencies: Latencies) {
    let payload = prost::bytes::Bytes::from(vec![b'p'; PAYLOAD_BYTES]);
    loop {
        let begun = Instant::now();
        let request = EchoRequest {
            payload: payload.clone(),
        };
        let reply = echo.echo(request).await.expect("the call succeeds");
        assert_eq!(reply.get_ref().payload, payload);
        let ended = Instant::now();
        latencies.borrow_mut().push(ended - begun);
        if ended >= end {
            return;
        }
    }
}

/// Returns operations, elapsed nanoseconds, and the median and 99th percentile of their latencies.
async fn run(clients: &[EchoClient<Channel>], in_flight: usize, time: Duration) -> String {
    let latencies = Latencies::default();
    let start = Instant::now();
    let tasks: Vec<_> = clients
        .iter()
        .flat_map(|client| std::iter::repeat_n(client, in_flight))
        .map(|client| call_until(client.clone(), start + time, latencies.clone()))
        .map(tokio::task::spawn_local)
        .collect();
    for task in tasks {
        task.await.expect("no task fails");
    }
    let elapsed = start.elapsed();
    let mut latencies = latencies.take();
    latencies.sort_unstable();
    let quantile = |share: f64| latencies[(latencies.len() as f64 * share) as usize].as_nanos();
    format!(
        "{} {} {} {}",
        latencies.len(),
        elapsed.as_nanos(),
        quantile(0.5),
        quantile(0.99)
    )
}

pub fn call(
    runtime: &Runtime,
    port: u16,
    connections: usize,
    in_flight: usize,
) -> Result<(), Box<dyn Error>> {
    let mut clients = Vec::new();
    for _ in 0..connections {
        let endpoint = Endpoint::from_shared(format!("http://127.0.0.1:{port}"))?;
        clients.push(EchoClient::new(runtime.block_on(endpoint.connect())?));
    }
    for line in std::io::stdin().lines() {
        let time = Duration::from_millis(line?.parse()?);
        let outcome = LocalSet::new().block_on(runtime, run(&clients, in_flight, time));
        println!("{outcome}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
