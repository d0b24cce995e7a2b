// SPDX-License-Identifier: MIT
// Goroutines yield, start and end, wait, and exchange values over channels.
package main

import (
	"math/rand"
	"runtime"
	"sync"
)

// A ring of count goroutines and the measuring one, each of whose turns is one pass.
func yield(count int, random bool) float64 {
	stepCount := 0
	stopped := false
	starts := make([]chan bool, count)
	for index := range starts {
		start := make(chan bool, 1)
		starts[index] = start
		go func() {
			<-start
			for !stopped {
				stepCount++
				runtime.Gosched()
			}
		}()
	}
	runtime.Gosched()
	order := make([]int, count)
	for index := range order {
		order[index] = index
	}
	if random {
		order = rand.New(rand.NewSource(int64(count))).Perm(count)
	}
	for _, index := range order {
		starts[index] <- true
	}
	passTotal := 0
	cost := timeBatches(func(watch *stopwatch, opCount int) int {
		passCount := (opCount + count) / (count + 1)
		watch.start()
		for pass := 0; pass < passCount; pass++ {
			runtime.Gosched()
		}
		watch.stop()
		passTotal += passCount
		return passCount * (count + 1)
	})
	// The scheduler keeps no strict order, but starves no goroutine.
	if stepCount < passTotal*count*9/10 {
		panic("steps were skipped")
	}
	stopped = true
	return cost
}

func createAll(count int) {
	var all sync.WaitGroup
	all.Add(count)
	for index := 0; index < count; index++ {
		go all.Done()
	}
	all.Wait()
}

// Measures a single batch: the runtime keeps the stacks of ended goroutines.
func createCold(count int) float64 {
	var watch stopwatch
	watch.start()
	createAll(count)
	watch.stop()
	return float64(watch.elapsed) / float64(count)
}

func createWarm(count int) float64 {
	return timeBatches(func(watch *stopwatch, opCount int) int {
		performed := 0
		watch.start()
		for ; performed < opCount; performed += count {
			createAll(count)
		}
		watch.stop()
		return performed
	})
}

func memory(count int) float64 {
	before := residentBytes()
	never := make(chan bool)
	var started sync.WaitGroup
	started.Add(count)
	for index := 0; index < count; index++ {
		go func() {
			started.Done()
			<-never
		}()
	}
	started.Wait()
	runtime.Gosched()
	return float64(residentBytes()-before) / float64(count)
}

func spawnJoin() float64 {
	return timeBatches(func(watch *stopwatch, opCount int) int {
		watch.start()
		for index := 0; index < opCount; index++ {
			done := make(chan int, 1)
			go func() { done <- 1 }()
			<-done
		}
		watch.stop()
		return opCount
	})
}

func pingpong() float64 {
	there := make(chan int, 1)
	back := make(chan int, 1)
	go func() {
		for value := range there {
			back <- value + 1
		}
	}()
	return timeBatches(func(watch *stopwatch, opCount int) int {
		watch.start()
		for index := 0; index < opCount; index++ {
			there <- 1
			if <-back != 2 {
				panic("the partner did not answer")
			}
		}
		watch.stop()
		return opCount
	})
}
