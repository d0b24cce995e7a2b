// The library coder/websocket as a peer of tools/bench edge.
module corolane/bench/coder_websocket

go 1.23

require github.com/coder/websocket v1.8.15
