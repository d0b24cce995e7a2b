# SPDX-License-Identifier: MIT
"""A client of the protocol without any code of this project, from its document alone:
rpc/PROTOCOL.md.
"""

import json
import socket
import struct

HEADER = struct.Struct("<IBBBBQQII")
HELLO_MAGIC = 0x454E414C4F524F43
TYPES = (
    "_ hello request reply cancel bye auth item window ping pong go_away end push push_gap push_ack"
    " unfollow"
).split()
NOT_EXECUTED = 2
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9


def method_id(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def varint(number):
    text = b""
    while number > 127:
        text += bytes([number % 128 + 128])
        number //= 128
    return text + bytes([number])


def field(number, value):
    """A field of a protobuf: an integer, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(message):
    """The fields of a protobuf, by number: varints, 64-bit numbers and bytes."""
    found = {}
    at = 0

    def next_varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= byte % 128 << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = next_varint()
        if key & 7 == 0:
            value = next_varint()
        else:
            size = 8 if key & 7 == 1 else next_varint()
            value = message[at : at + size]
            at += size
        found[key >> 3] = value
    return found


def frame(kind, message=b"", extension=b"", **header):
    number = TYPES.index(kind) if kind in TYPES else kind
    return (
        HEADER.pack(
            len(message) + len(extension),
            number,
            header.get("code", 0),
            header.get("flags", 0),
            0,
            header.get("call", 0),
            header.get("method", 0),
            header.get("time", 0),
            len(extension),
        )
        + extension
        + message
    )


class Frame:
    """A frame of the server."""

    def __init__(self, header, payload):
        _, number, self.code, self.flags, _, self.call, _, self.time, size = HEADER.unpack(header)
        self.type = TYPES[number]
        self.extension = payload[:size]
        self.message = payload[size:]

    def __repr__(self):
        return f"{self.type} of call {self.call}, code {self.code}: {self.message[:200]}"


class RawClient:
    """A connection by frames."""

    def __init__(self, endpoint, hello=b"", receive_bytes=None):
        host, port = endpoint.rsplit(":", 1)
        self.socket = socket.socket()
        if receive_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(60)
        self.socket.connect((host, int(port)))
        self.socket.sendall(frame("hello", hello, call=HELLO_MAGIC, method=1))
        self.hello = self.receive()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def call(self, number, method, message=b"", seconds=30):
        time = int(seconds * 1e6)
        self.socket.sendall(
            frame("request", message, call=number, method=method_id(method), time=time)
        )

    def send(self, kind, **header):
        self.socket.sendall(frame(kind, **header))

    def receive(self):
        """The next frame. Fails with EOFError when the server has closed."""
        header = self._read(HEADER.size)
        return Frame(header, self._read(HEADER.unpack(header)[0]))

    def _read(self, size):
        text = b""
        while len(text) < size:
            piece = self.socket.recv(size - len(text))
            if not piece:
                raise EOFError(text)
            text += piece
        return text


def http_request(method, message, **headers):
    """A call by HTTP, as bytes."""
    body = json.dumps(message).encode()
    lines = [f"POST /{method} HTTP/1.1", "Host: node", "Content-Type: application/json"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join([*lines, f"Content-Length: {len(body)}"]) + "\r\n\r\n").encode() + body


def connect(endpoint, receive_bytes=None):
    """A connection without a protocol."""
    host, port = endpoint.rsplit(":", 1)
    stream = socket.socket()
    if receive_bytes is not None:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    stream.settimeout(60)
    stream.connect((host, int(port)))
    return stream
