// SPDX-License-Identifier: MIT
//! Tasks yield, start and end, wait, and exchange values over channels.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, Notify};
use tokio::task::{spawn, yield_now};

use crate::timing::{random_order, resident_bytes, Timing};

/// A ring of `count` tasks and the measuring one, each of whose turns is one pass.
pub async fn yield_ring(effort: Duration, count: usize, random: bool) -> f64 {
    let stopped = Arc::new(AtomicBool::new(false));
    let steps = Arc::new(AtomicUsize::new(0));
    let mut starts = Vec::new();
    for _ in 0..count {
        let (start, started) = oneshot::channel::<()>();
        let (stopped, steps) = (stopped.clone(), steps.clone());
        starts.push(Some(start));
        spawn(async move {
            started.await.unwrap();
            while !stopped.load(Relaxed) {
                steps.store(steps.load(Relaxed) + 1, Relaxed);
                yield_now().await;
            }
        });
    }
    yield_now().await;
    let order = if random {
        random_order(count)
    } else {
        (0..count).collect()
    };
    for index in order {
        starts[index].take().unwrap().send(()).unwrap();
    }
    let mut pass_total = 0;
    let mut timing = Timing::new(effort);
    while let Some(op_count) = timing.next_batch() {
        let pass_count = op_count.div_ceil(count + 1);
        timing.start();
        for _ in 0..pass_count {
            yield_now().await;
        }
        timing.stop();
        pass_total += pass_count;
        timing.end_batch(pass_count * (count + 1));
    }
    assert!(
        steps.load(Relaxed) >= (pass_total - 1) * count,
        "steps were skipped"
    );
    stopped.store(true, Relaxed);
    timing.ns_per_op()
}

async fn create_all(count: usize) {
    let left = Arc::new(AtomicUsize::new(count));
    let all_ended = Arc::new(Notify::new());
    for _ in 0..count {
        let (left, all_ended) = (left.clone(), all_ended.clone());
        spawn(async move {
            if left.fetch_sub(1, Relaxed) == 1 {
                all_ended.notify_one();
            }
        });
    }
    all_ended.notified().await;
}

/// Measures a single batch: the allocator keeps the memory of ended tasks.
pub async fn create_cold(count: usize) -> f64 {
    let mut timing = Timing::once();
    timing.next_batch();
    timing.start();
    create_all(count).await;
    timing.stop();
    timing.end_batch(count);
    timing.ns_per_op()
}

pub async fn create_warm(effort: Duration, count: usize) -> f64 {
    let mut timing = Timing::new(effort);
    while let Some(op_count) = timing.next_batch() {
        let mut performed = 0;
        timing.start();
        while performed < op_count {
            create_all(count).await;
            performed += count;
        }
        timing.stop();
        timing.end_batch(performed);
    }
    timing.ns_per_op()
}

pub async fn memory(count: usize) -> f64 {
    let before = resident_bytes();
    let never = Arc::new(Notify::new());
    for _ in 0..count {
        let never = never.clone();
        spawn(async move { never.notified().await });
    }
    yield_now().await;
    (resident_bytes() - before) as f64 / count as f64
}

pub async fn spawn_join(effort: Duration) -> f64 {
    let mut timing = Timing::new(effort);
    while let Some(op_count) = timing.next_batch() {
        timing.start();
        for _ in 0..op_count {
            assert_eq!(spawn(async { black_box(1) }).await.unwrap(), 1);
        }
        timing.stop();
        timing.end_batch(op_count);
    }
    timing.ns_per_op()
}

pub async fn pingpong(effort: Duration) -> f64 {
    let (there, mut arrivals) = mpsc::channel::<i32>(1);
    let (back, mut answers) = mpsc::channel::<i32>(1);
    spawn(async move {
        while let Some(value) = arrivals.recv().await {
            back.send(value + 1).await.unwrap();
        }
    });
    let mut timing = Timing::new(effort);
    while let Some(op_count) = timing.next_batch() {
        timing.start();
        for _ in 0..op_count {
            there.send(1).await.unwrap();
            assert_eq!(answers.recv().await, Some(2));
        }
        timing.stop();
        timing.end_batch(op_count);
    }
    timing.ns_per_op()
}

async fn give_one() -> i32 {
    black_box(1)
}

/// A child on the heap, like one that recurses or hides its type; any other child would be inlined
/// and leave nothing to measure.
fn boxed_child() -> Pin<Box<dyn Future<Output = i32> + Send>> {
    Box::pin(give_one())
}

pub async fn await_child(effort: Duration) -> f64 {
    let mut timing = Timing::new(effort);
    while let Some(op_count) = timing.next_batch() {
        timing.start();
        for _ in 0..op_count {
            assert_eq!(black_box(boxed_child()).await, 1);
        }
        timing.stop();
        timing.end_batch(op_count);
    }
    timing.ns_per_op()
}
