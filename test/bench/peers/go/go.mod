module corolane/bench/go

go 1.19
