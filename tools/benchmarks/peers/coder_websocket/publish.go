// SPDX-License-Identifier: MIT
// Publications as in the chat of the library's examples: a queue and a writer for each connection.
package main

import (
	"context"
	"sync"

	"github.com/coder/websocket"
)

const (
	// Messages of this size are published; others are acknowledgements.
	publicationBytes = 98
	queueLength      = 16
)

var (
	mutex       sync.Mutex
	subscribers = map[chan []byte]struct{}{}
)

func publish(message []byte) {
	mutex.Lock()
	defer mutex.Unlock()
	for queue := range subscribers {
		queue <- message
	}
}

func writeAll(ctx context.Context, socket *websocket.Conn, queue chan []byte) {
	for {
		select {
		case message := <-queue:
			if socket.Write(ctx, websocket.MessageBinary, message) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func publishAll(ctx context.Context, socket *websocket.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue := make(chan []byte, queueLength)
	mutex.Lock()
	subscribers[queue] = struct{}{}
	mutex.Unlock()
	defer func() {
		mutex.Lock()
		delete(subscribers, queue)
		mutex.Unlock()
	}()
	go writeAll(ctx, socket, queue)
	for {
		_, message, err := socket.Read(ctx)
		if err != nil {
			return
		}
		if len(message) == publicationBytes {
			publish(message)
		}
	}
}
