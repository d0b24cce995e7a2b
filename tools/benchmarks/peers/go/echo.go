// SPDX-License-Identifier: MIT
// A server of echo/*: a goroutine for each connection, on the network poller of the runtime.
package main

import (
	"fmt"
	"net"
)

func echoAll(connection net.Conn) {
	defer connection.Close()
	buffer := make([]byte, 4096)
	for {
		count, err := connection.Read(buffer)
		if err != nil {
			return
		}
		if _, err := connection.Write(buffer[:count]); err != nil {
			return
		}
	}
}

// Prints its port, then accepts until something fails.
func serveEcho() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go echoAll(connection)
	}
}
