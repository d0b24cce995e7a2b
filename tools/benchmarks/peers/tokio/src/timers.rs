// SPDX-License-Identifier: MIT
//! Timers of the runtime while a million of them are live. Each is a Sleep future that was polled
//! once.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{advance, sleep_until, Instant, Sleep};

use crate::timing::{random_order, Timing};

const LIVE_COUNT: usize = 1_000_000;
const SPARE_COUNT: usize = 20_000;
const HORIZON: Duration = Duration::from_secs(60);
const FIRING_TIME: Duration = Duration::from_secs(16);

/// Fixed places for timers, so that arming one does not allocate, as in a sleeping task.
struct Timers {
    slots: Box<[Option<Sleep>]>,
    state: u64,
}

impl Timers {
    fn new(count: usize) -> Timers {
        Timers {
            slots: (0..count).map(|_| None).collect(),
            state: 88172645463325252,
        }
    }

    fn random_deadline(&mut self) -> Instant {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        Instant::now() + Duration::from_nanos(self.state % HORIZON.as_nanos() as u64)
    }

    fn arm(&mut self, index: usize, deadline: Instant) {
        self.slots[index] = Some(sleep_until(deadline));
        assert!(!self.is_due(index));
    }

    fn is_due(&mut self, index: usize) -> bool {
        let sleep = self.slots[index].as_mut().unwrap();
        // The slots are on the heap and are dropped in place.
        let pinned = unsafe { Pin::new_unchecked(sleep) };
        pinned.poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
    }

    fn cancel(&mut self, index: usize) {
        self.slots[index] = None;
    }

    fn arm_live(&mut self) {
        for index in 0..LIVE_COUNT {
            let deadline = self.random_deadline();
            self.arm(index, deadline);
        }
    }
}

pub async fn arm(effort: Duration) -> f64 {
    let mut timers = Timers::new(LIVE_COUNT + SPARE_COUNT);
    timers.arm_live();
    let mut timing = Timing::new(effort);
    while let Some(op_count) = timing.next_batch() {
        let count = op_count.min(SPARE_COUNT);
        let deadlines: Vec<Instant> = (0..count).map(|_| timers.random_deadline()).collect();
        timing.start();
        for (index, deadline) in deadlines.iter().enumerate() {
            timers.arm(LIVE_COUNT + index, *deadline);
        }
        timing.stop();
        (0..count).for_each(|index| timers.cancel(LIVE_COUNT + index));
        timing.end_batch(count);
    }
    timing.ns_per_op()
}

pub async fn cancel_random(effort: Duration) -> f64 {
    let mut timers = Timers::new(LIVE_COUNT);
    timers.arm_live();
    let choices = random_order(LIVE_COUNT);
    let mut next = 0;
    let mut timing = Timing::new(effort);
    while let Some(op_count) = timing.next_batch() {
        let count = op_count.min(SPARE_COUNT);
        if next + count > LIVE_COUNT {
            next = 0;
        }
        let chosen = &choices[next..next + count];
        timing.start();
        for index in chosen {
            timers.cancel(*index);
        }
        timing.stop();
        for index in chosen {
            let deadline = timers.random_deadline();
            timers.arm(*index, deadline);
        }
        next += count;
        timing.end_batch(count);
    }
    timing.ns_per_op()
}

/// Advances time a millisecond at a time, for as long as our benchmark does.
pub async fn fire(effort: Duration) -> f64 {
    let mut timers = Timers::new(LIVE_COUNT);
    timers.arm_live();
    let mut timing = Timing::new(effort);
    while timing.next_batch().is_some() {
        let end = Instant::now() + FIRING_TIME;
        timing.start();
        while Instant::now() < end {
            advance(Duration::from_millis(1)).await;
        }
        timing.stop();
        let mut fired_count = 0;
        for index in 0..LIVE_COUNT {
            if timers.slots[index].as_ref().unwrap().is_elapsed() {
                let deadline = timers.random_deadline();
                timers.arm(index, deadline);
                fired_count += 1;
            }
        }
        timing.end_batch(fired_count);
    }
    timing.ns_per_op()
}
