// SPDX-License-Identifier: MIT
// Times operations like measurement.cc does for C++: by the CPU time of the process, in batches of
// a millisecond or more, of which the median counts.
package main

import (
	"os"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	batchTimeMin = time.Millisecond
	warmUpTime   = 20 * time.Millisecond
)

// The time for which a measurement times batches.
var effort = 50 * time.Millisecond

func cpuTime() time.Duration {
	const clockProcessCPUTime = 2
	var spec syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockProcessCPUTime,
		uintptr(unsafe.Pointer(&spec)), 0)
	return time.Duration(spec.Nano())
}

type stopwatch struct{ elapsed, startTime time.Duration }

func (watch *stopwatch) start() { watch.startTime = cpuTime() }
func (watch *stopwatch) stop()  { watch.elapsed += cpuTime() - watch.startTime }

// timeBatches returns nanoseconds per operation. A batch performs about opCount operations while
// the watch runs, and returns their number.
func timeBatches(batch func(watch *stopwatch, opCount int) int) float64 {
	opCount := findBatchSize(batch)
	var costs []float64
	for elapsed := time.Duration(0); elapsed < effort; {
		var watch stopwatch
		performed := batch(&watch, opCount)
		costs = append(costs, float64(watch.elapsed)/float64(performed))
		elapsed += watch.elapsed
	}
	sort.Float64s(costs)
	return costs[len(costs)/2]
}

func findBatchSize(batch func(watch *stopwatch, opCount int) int) int {
	opCount := 1
	for elapsed := time.Duration(0); elapsed < warmUpTime; {
		var watch stopwatch
		performed := batch(&watch, opCount)
		elapsed += watch.elapsed
		hasMore := performed >= opCount
		opCount = performed
		if watch.elapsed < batchTimeMin && hasMore {
			opCount *= 2
		}
	}
	return opCount
}

func residentBytes() int {
	statm, _ := os.ReadFile("/proc/self/statm")
	pages, _ := strconv.Atoi(strings.Fields(string(statm))[1])
	return pages * os.Getpagesize()
}
