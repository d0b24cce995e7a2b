// Goroutines as a peer of tools/bench coroutine and net; uses only the standard library.
module corolane/bench/go

go 1.21
