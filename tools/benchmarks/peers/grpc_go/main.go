// SPDX-License-Identifier: MIT
// gRPC Go, as a peer of tools/bench rpc: "grpc_go_peer --rows" prints the names of its rows,
// "grpc_go_peer serve" prints its port and serves, "grpc_go_peer call PORT CONNECTIONS IN_FLIGHT"
// puts a load on it (network/program.h says how). Both sides have one core each.
//
// The build generates the package echo from tools/benchmarks/echo.proto.
package main

import (
	"fmt"
	"os"
	"strconv"
)

var rows = []string{
	"rpc/1x1",
	"rpc/10x1",
	"rpc/1x64",
	"rpc/1x1000",
	"rpc/10x100",
	"rpc/throughput",
}

func run(words []string) error {
	switch {
	case len(words) == 1 && words[0] == "--rows":
		for _, row := range rows {
			fmt.Println(row)
		}
		return nil
	case len(words) == 1 && words[0] == "serve":
		return serve()
	case len(words) == 4 && words[0] == "call":
		connections, _ := strconv.Atoi(words[2])
		inFlight, _ := strconv.Atoi(words[3])
		return call(words[1], connections, inFlight)
	}
	return fmt.Errorf("usage: grpc_go_peer --rows | serve | call PORT CONNECTIONS IN_FLIGHT")
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
