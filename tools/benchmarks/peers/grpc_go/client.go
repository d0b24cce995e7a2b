// SPDX-License-Identifier: MIT
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"corolane/bench/grpc_go/echo"
)

var payload = bytes.Repeat([]byte("p"), 100)

// Returns the latencies of the calls of one goroutine; the first error ends it.
func callUntil(client echo.EchoClient, end time.Time) ([]time.Duration, error) {
	var latencies []time.Duration
	for begun := time.Now(); begun.Before(end); {
		reply, err := client.Echo(context.Background(), &echo.EchoRequest{Payload: payload})
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(reply.Payload, payload) {
			return nil, errors.New("the echo differs from the request")
		}
		now := time.Now()
		latencies = append(latencies, now.Sub(begun))
		begun = now
	}
	return latencies, nil
}

// Runs one goroutine per connection and call in flight.
func load(clients []echo.EchoClient, inFlight int, duration time.Duration) error {
	var all []time.Duration
	var failure error
	var mutex sync.Mutex
	var group sync.WaitGroup
	start := time.Now()
	for _, client := range clients {
		for range inFlight {
			group.Go(func() {
				latencies, err := callUntil(client, start.Add(duration))
				mutex.Lock()
				defer mutex.Unlock()
				all = append(all, latencies...)
				failure = errors.Join(failure, err)
			})
		}
	}
	group.Wait()
	elapsed := time.Since(start)
	if failure != nil || len(all) == 0 {
		return errors.Join(failure, errors.New("no load"))
	}
	slices.Sort(all)
	p50, p99 := all[len(all)/2], all[len(all)*99/100]
	fmt.Println(len(all), elapsed.Nanoseconds(), p50.Nanoseconds(), p99.Nanoseconds())
	return nil
}

func call(port string, connections int, inFlight int) error {
	var clients []echo.EchoClient
	for range connections {
		connection, err := grpc.NewClient("127.0.0.1:"+port,
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return err
		}
		clients = append(clients, echo.NewEchoClient(connection))
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		milliseconds, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		if err := load(clients, inFlight, time.Duration(milliseconds)*time.Millisecond); err != nil {
			return err
		}
	}
	return lines.Err()
}
