// Goroutines as a peer of tools/bench coroutine; the standard library alone.
module corolane/bench/go

go 1.19
