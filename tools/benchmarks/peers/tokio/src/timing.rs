// SPDX-License-Identifier: MIT
//! Times operations like measurement.cc does for C++: by the CPU time of the process, in batches of
//! a millisecond or more, of which the median counts.
//!
//!     let mut timing = Timing::new(effort);
//!     while let Some(op_count) = timing.next_batch() {
//!         timing.start();
//!         for _ in 0..op_count { .. }
//!         timing.stop();
//!         timing.end_batch(op_count);
//!     }
//!     timing.ns_per_op()

use std::time::Duration;

const BATCH_TIME_MIN: Duration = Duration::from_millis(1);
const WARM_UP_TIME: Duration = Duration::from_millis(20);

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

fn cpu_time() -> Duration {
    const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;
    let mut time = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.seconds as u64, time.nanoseconds as u32)
}

pub struct Timing {
    effort: Duration,
    op_count: usize,
    warm_up_left: Duration,
    batch_start: Duration,
    batch_time: Duration,
    total: Duration,
    costs: Vec<f64>,
}

impl Timing {
    /// Measures for about `effort`, after a warm-up that finds the size of a batch.
    pub fn new(effort: Duration) -> Timing {
        Timing {
            effort,
            op_count: 1,
            warm_up_left: WARM_UP_TIME,
            batch_start: Duration::ZERO,
            batch_time: Duration::ZERO,
            total: Duration::ZERO,
            costs: Vec::with_capacity(1_000),
        }
    }

    /// Times only the first batch, for events that happen once in a process.
    pub fn once() -> Timing {
        Timing {
            warm_up_left: Duration::ZERO,
            ..Timing::new(Duration::from_nanos(1))
        }
    }

    /// The approximate number of operations to perform next; none when the measurement is done.
    pub fn next_batch(&mut self) -> Option<usize> {
        self.batch_time = Duration::ZERO;
        (self.total < self.effort).then_some(self.op_count)
    }

    pub fn start(&mut self) {
        self.batch_start = cpu_time();
    }
    pub fn stop(&mut self) {
        self.batch_time += cpu_time() - self.batch_start;
    }

    pub fn end_batch(&mut self, performed: usize) {
        if self.warm_up_left.is_zero() {
            self.costs
                .push(self.batch_time.as_nanos() as f64 / performed as f64);
            self.total += self.batch_time;
            return;
        }
        self.warm_up_left = self.warm_up_left.saturating_sub(self.batch_time);
        let has_more = performed >= self.op_count;
        self.op_count = performed;
        if self.batch_time < BATCH_TIME_MIN && has_more {
            self.op_count *= 2;
        }
    }

    /// Nanoseconds per operation in the median batch.
    pub fn ns_per_op(mut self) -> f64 {
        self.costs.sort_by(f64::total_cmp);
        self.costs[self.costs.len() / 2]
    }
}

pub fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// Returns 0, 1, 2 ... in a random order that is the same in every process (xorshift64, Marsaglia
/// 2003).
pub fn random_order(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut state: u64 = 88172645463325252;
    for left in (2..=count).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(left - 1, (state % left as u64) as usize);
    }
    order
}
