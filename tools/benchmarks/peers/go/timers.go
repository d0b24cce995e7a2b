// SPDX-License-Identifier: MIT
// Timers of the runtime while a million of them are live. Its time is real, so timers that must
// fire are armed for a moment in the near future, and the CPU time until all have fired counts.
package main

import (
	"math/rand"
	"sync/atomic"
	"time"
)

const (
	liveCount  = 1000000
	spareCount = 20000
)

// Late enough not to fire while the row is measured.
func randomDelay() time.Duration { return time.Hour + time.Duration(rand.Int63n(int64(time.Minute))) }

func liveTimers() []*time.Timer {
	live := make([]*time.Timer, liveCount)
	for index := range live {
		live[index] = time.AfterFunc(randomDelay(), func() {})
	}
	return live
}

func timerArm() float64 {
	live := liveTimers()
	spares := make([]*time.Timer, spareCount)
	cost := timeBatches(func(watch *stopwatch, opCount int) int {
		if opCount > spareCount {
			opCount = spareCount
		}
		watch.start()
		for index := 0; index < opCount; index++ {
			spares[index] = time.AfterFunc(randomDelay(), func() {})
		}
		watch.stop()
		for index := 0; index < opCount; index++ {
			spares[index].Stop()
		}
		return opCount
	})
	live[0].Stop()
	return cost
}

func timerCancelRandom() float64 {
	live := liveTimers()
	chosen := rand.New(rand.NewSource(1)).Perm(liveCount)
	next := 0
	return timeBatches(func(watch *stopwatch, opCount int) int {
		if opCount > spareCount {
			opCount = spareCount
		}
		if next+opCount > liveCount {
			next = 0
		}
		watch.start()
		for _, index := range chosen[next : next+opCount] {
			live[index].Stop()
		}
		watch.stop()
		for _, index := range chosen[next : next+opCount] {
			live[index] = time.AfterFunc(randomDelay(), func() {})
		}
		next += opCount
		return opCount
	})
}

func timerFire() float64 {
	live := liveTimers()
	cost := timeBatches(func(watch *stopwatch, opCount int) int {
		const count = spareCount
		var fired atomic.Int64
		done := make(chan bool, 1)
		moment := time.Now().Add(50 * time.Millisecond)
		for index := 0; index < count; index++ {
			delay := time.Until(moment) + time.Duration(rand.Int63n(int64(10*time.Millisecond)))
			time.AfterFunc(delay, func() {
				if fired.Add(1) == count {
					done <- true
				}
			})
		}
		watch.start()
		<-done
		watch.stop()
		return count
	})
	live[0].Stop()
	return cost
}
