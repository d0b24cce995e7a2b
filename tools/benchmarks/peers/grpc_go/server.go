// SPDX-License-Identifier: MIT
package main

import (
	"context"
	"fmt"
	"net"
	"runtime"

	"google.golang.org/grpc"

	"corolane/bench/grpc_go/echo"
)

type service struct {
	echo.UnimplementedEchoServer
}

func (service) Echo(_ context.Context, request *echo.EchoRequest) (*echo.EchoReply, error) {
	return &echo.EchoReply{Payload: request.Payload}, nil
}

func (service) Park(_ context.Context, request *echo.EchoRequest) (*echo.EchoReply, error) {
	runtime.Gosched()
	return &echo.EchoReply{Payload: request.Payload}, nil
}

func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	echo.RegisterEchoServer(server, service{})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	return server.Serve(listener)
}
