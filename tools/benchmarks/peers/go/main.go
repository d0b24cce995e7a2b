// SPDX-License-Identifier: MIT
// Goroutines, as a peer of tools/bench coroutine and tools/bench net: "go_peer --rows" prints the
// names of its rows, "go_peer ROW MILLISECONDS" measures a row for about that time and prints its
// value, and "go_peer serve ROW" prints the port on which it serves a row of messages. It expects
// to be pinned to one core, where one goroutine runs at a time.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"time"
)

// coroutine_rows.cc describes the operation of each row.
var rows = map[string]func() float64{
	"yield/1":                  func() float64 { return yield(1, false) },
	"yield/1000x2MiB":          func() float64 { return yield(1000, false) },
	"yield/30000x64KiB":        func() float64 { return yield(30000, false) },
	"yield/30000x64KiB/random": func() float64 { return yield(30000, true) },
	"create/1000/cold":         func() float64 { return createCold(1000) },
	"create/1000/warm":         func() float64 { return createWarm(1000) },
	"create/30000/cold":        func() float64 { return createCold(30000) },
	"create/30000/warm":        func() float64 { return createWarm(30000) },
	"memory/30000":             func() float64 { return memory(30000) },
	"memory/1000000":           func() float64 { return memory(1000000) },
	"spawn_join":               spawnJoin,
	"pingpong":                 pingpong,
	"timer/arm":                timerArm,
	"timer/cancel_random":      timerCancelRandom,
	"timer/fire":               timerFire,
}

var servedRows = []string{"echo/100x1", "echo/1000x1", "echo/100x16"}

func printRows() {
	names := slices.Clone(servedRows)
	for name := range rows {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Println(name)
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	if len(os.Args) == 2 && os.Args[1] == "--rows" {
		printRows()
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "serve" && slices.Contains(servedRows, os.Args[2]) {
		fmt.Println(serveEcho())
		os.Exit(1)
	}
	if len(os.Args) != 3 || rows[os.Args[1]] == nil {
		fmt.Println("usage: go_peer --rows | go_peer ROW MILLISECONDS | go_peer serve ROW")
		os.Exit(2)
	}
	if milliseconds, err := strconv.Atoi(os.Args[2]); err == nil {
		effort = time.Duration(milliseconds) * time.Millisecond
	}
	fmt.Println(rows[os.Args[1]]())
}
