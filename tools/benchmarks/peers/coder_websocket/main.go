// SPDX-License-Identifier: MIT
// The library coder/websocket, as a peer of tools/bench edge: "coder_websocket_peer --rows" prints
// the names of its rows, "coder_websocket_peer serve ROW" prints the port on which it serves a row.
// It expects to be pinned to one core.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"

	"github.com/coder/websocket"
)

var rows = map[string]func(context.Context, *websocket.Conn){
	"idle":                 readAll,
	"echo/1000x1":          echoAll,
	"publish":              publishAll,
	"publish/acknowledged": publishAll,
}

func readAll(ctx context.Context, socket *websocket.Conn) {
	for {
		if _, _, err := socket.Read(ctx); err != nil {
			return
		}
	}
}

func echoAll(ctx context.Context, socket *websocket.Conn) {
	for {
		kind, message, err := socket.Read(ctx)
		if err != nil {
			return
		}
		if err := socket.Write(ctx, kind, message); err != nil {
			return
		}
	}
}

// Prints its port, then serves until something fails.
func serve(handle func(context.Context, *websocket.Conn)) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	return http.Serve(listener, http.HandlerFunc(
		func(writer http.ResponseWriter, request *http.Request) {
			socket, err := websocket.Accept(writer, request, nil)
			if err != nil {
				return
			}
			defer socket.CloseNow()
			handle(request.Context(), socket)
		}))
}

func main() {
	runtime.GOMAXPROCS(1)
	if len(os.Args) == 2 && os.Args[1] == "--rows" {
		for name := range rows {
			fmt.Println(name)
		}
		return
	}
	if len(os.Args) != 3 || os.Args[1] != "serve" || rows[os.Args[2]] == nil {
		fmt.Println("usage: coder_websocket_peer --rows | coder_websocket_peer serve ROW")
		os.Exit(2)
	}
	fmt.Println(serve(rows[os.Args[2]]))
	os.Exit(1)
}
