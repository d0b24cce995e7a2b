// SPDX-License-Identifier: MIT
//! tokio's current_thread scheduler, as a peer of tools/bench coroutine and tools/bench net:
//! "tokio_peer --rows" prints the names of its rows, "tokio_peer ROW MILLISECONDS" measures a row
//! for about that time and prints its value, "tokio_peer serve ROW" prints the port on which it
//! serves a row of messages.

mod echo;
mod tasks;
mod timers;
mod timing;

use std::time::Duration;

/// coroutine_rows.cc describes the operations.
const ROWS: &[&str] = &[
    "yield/1",
    "yield/1000x2MiB",
    "yield/30000x64KiB",
    "yield/30000x64KiB/random",
    "create/1000/cold",
    "create/1000/warm",
    "create/30000/cold",
    "create/30000/warm",
    "memory/30000",
    "memory/1000000",
    "spawn_join",
    "pingpong",
    "await",
    "timer/arm",
    "timer/cancel_random",
    "timer/fire",
];

const SERVED_ROWS: &[&str] = &["echo/100x1", "echo/1000x1", "echo/100x16"];

fn serve() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let served = runtime.block_on(echo::serve());
    println!("{}", served.unwrap_err());
    std::process::exit(1);
}

async fn measure(row: String, effort: Duration) -> f64 {
    match row.as_str() {
        "yield/1" => tasks::yield_ring(effort, 1, false).await,
        "yield/1000x2MiB" => tasks::yield_ring(effort, 1_000, false).await,
        "yield/30000x64KiB" => tasks::yield_ring(effort, 30_000, false).await,
        "yield/30000x64KiB/random" => tasks::yield_ring(effort, 30_000, true).await,
        "create/1000/cold" => tasks::create_cold(1_000).await,
        "create/1000/warm" => tasks::create_warm(effort, 1_000).await,
        "create/30000/cold" => tasks::create_cold(30_000).await,
        "create/30000/warm" => tasks::create_warm(effort, 30_000).await,
        "memory/30000" => tasks::memory(30_000).await,
        "memory/1000000" => tasks::memory(1_000_000).await,
        "spawn_join" => tasks::spawn_join(effort).await,
        "pingpong" => tasks::pingpong(effort).await,
        "await" => tasks::await_child(effort).await,
        "timer/arm" => timers::arm(effort).await,
        "timer/cancel_random" => timers::cancel_random(effort).await,
        "timer/fire" => timers::fire(effort).await,
        _ => unreachable!("{row} is in the list of rows"),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["--rows"] {
        println!("{}", [ROWS, SERVED_ROWS].concat().join("\n"));
        return;
    }
    if words.len() == 2 && words[0] == "serve" && SERVED_ROWS.contains(&words[1].as_str()) {
        return serve();
    }
    let milliseconds = words.get(1).and_then(|word| word.parse().ok());
    let (Some(row), Some(milliseconds)) = (words.first(), milliseconds) else {
        println!("usage: tokio_peer --rows | tokio_peer ROW MILLISECONDS | tokio_peer serve ROW");
        std::process::exit(2);
    };
    let effort = Duration::from_millis(milliseconds);
    // Timers run in virtual time, like ours.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(row.starts_with("timer/"))
        .build()
        .unwrap();
    // The measurement is a task like the others: the future of block_on takes its turns
    // differently.
    let value = runtime.block_on(async { tokio::spawn(measure(row.clone(), effort)).await });
    println!("{}", value.unwrap());
}
