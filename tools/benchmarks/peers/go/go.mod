// Goroutines as a peer of tools/bench coroutine and net; the standard library alone.
module corolane/bench/go

go 1.21
