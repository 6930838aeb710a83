"""Model servers that try to hang, crash or exploit an agent, by endless, slow, invalid, huge or echoed responses."""

import gzip
import json
import socket
import threading
import time

from case import Case, Expect

KEY = "sk-secret-of-the-caller"
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


def completion(message):
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()


def whole(body, head=OK):
    return head + b"content-length: %d\r\n\r\n" % len(body) + body


def calls(count, arguments):
    one = {"id": "c", "type": "function", "function": {"name": "calculate", "arguments": arguments}}
    return whole(completion({"role": "assistant", "tool_calls": [one | {"id": f"c{n}"} for n in range(count)]}))


def endless(piece, head=b"", pause=0.0):
    def send(connection, _):
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            time.sleep(pause)

    return send


def silent(head=b""):
    def send(connection, _):
        connection.sendall(head)
        time.sleep(60)

    return send


def once(content):
    return lambda connection, _: connection.sendall(content)


def generated(content):
    """Returns a function that sends content that is generated only when a request arrives."""
    return lambda connection, _: connection.sendall(content())


def echo(status):
    """Returns a function that sends the request back, with the key, in an error."""

    def send(connection, request):
        body = json.dumps({"error": {"message": request.decode(errors="replace")}}).encode()
        connection.sendall(b"HTTP/1.1 %s\r\ncontent-length: %d\r\n\r\n" % (status, len(body)) + body)

    return send


def redirect(location):
    return once(b"HTTP/1.1 302 Found\r\nlocation: %s\r\ncontent-length: 0\r\n\r\n" % location)


def said(text):
    return whole(completion({"role": "assistant", "content": text}))


CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"
#: The function that responds, and the allowed exit codes of the agent, by name.
SERVERS = {
    "endless-body": (endless(b" " * 65536, OK + b"\r\n"), (1,)),
    "endless-head": (endless(b"x: " + b"y" * 1000 + b"\r\n", b"HTTP/1.1 200 OK\r\n"), (1,)),
    "endless-header": (endless(b"y" * 65536, b"HTTP/1.1 200 OK\r\nx: "), (1,)),
    "endless-status": (endless(b"y" * 65536, b"HTTP/1.1 200 "), (1,)),
    "endless-line": (endless(b"y" * 65536, EVENTS + b"data: "), (1,)),
    "endless-events": (endless(b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % (b"y" * 1000), EVENTS), (0, 1)),
    "endless-comments": (endless(b": ping\n\n", EVENTS, 0.01), (1,)),
    "endless-call": (
        endless(b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"calculate","arguments":"%s"}}]}}]}\n\n' % (b"1" * 1000), EVENTS),
        (1,),
    ),
    "endless-chunks": (endless(b"1\r\n \r\n", CHUNKED), (1,)),
    "many-indices": (
        endless(b'data: {"choices":[{"delta":{"tool_calls":[{"index":4294967295,"id":"c","function":{"name":"x","arguments":""}}]}}]}\n\n', EVENTS),
        (0, 1),
    ),
    "silent": (silent(), (1,)),
    "silent-head": (silent(b"HTTP/1.1 200 OK\r\n"), (1,)),
    "silent-body": (silent(OK + b"content-length: 100\r\n\r\n{"), (1,)),
    "slow": (endless(b" ", OK + b"\r\n", 0.3), (1,)),
    "gzip-bomb": (generated(lambda: whole(gzip.compress(bytes(200 << 20)), OK + b"content-encoding: gzip\r\n")), (1,)),
    "redirect-to-file": (redirect(b"file:///etc/passwd"), (1,)),
    "redirect-to-itself": (redirect(b"/v1/chat/completions"), (1,)),
    "redirect-elsewhere": (redirect(b"http://127.0.0.1:9/"), (1,)),
    "key-401": (echo(b"401 Unauthorized"), (77,)),
    "key-403": (echo(b"403 Forbidden"), (77, 1)),
    "key-500": (echo(b"500 Oops"), (1,)),
    "retry-after": (once(b"HTTP/1.1 429 Busy\r\nretry-after: 1e20\r\ncontent-length: 0\r\n\r\n"), (1,)),
    "retry-after-negative": (once(b"HTTP/1.1 429 Busy\r\nretry-after: -1\r\ncontent-length: 0\r\n\r\n"), (1,)),
    "length-huge": (once(OK + b"content-length: 18446744073709551615\r\n\r\n{}"), (1,)),
    "length-negative": (once(OK + b"content-length: -1\r\n\r\n{}"), (1,)),
    "length-twice": (once(OK + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}"), (1,)),
    "chunk-huge": (once(CHUNKED + b"ffffffffffffffff\r\n{}"), (1,)),
    "chunk-bad": (once(CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n"), (1,)),
    "closes": (lambda connection, _: None, (1,)),
    "garbage": (once(bytes(range(256)) * 1000), (1,)),
    "nested": (generated(lambda: whole(b'{"choices":' + b"[" * 1_000_000)), (1,)),
    "arguments-nested": (generated(lambda: calls(1, "[" * 1_000_000)), (0, 1)),
    "arguments-huge": (generated(lambda: calls(1, json.dumps({"expression": "1+" * 5_000_000 + "1"}))), (0, 1)),
    "arguments-parentheses": (generated(lambda: calls(1, json.dumps({"expression": "(" * 1_000_000}))), (0, 1)),
    "calls-50000": (generated(lambda: calls(50_000, '{"expression":"1"}')), (0, 1)),
    "controls": (once(said("\x1b[31m\x07\u202e\x9b::error::x\n\r\x00")), (0,)),
    "answer-30-MB": (generated(lambda: said("x" * 30_000_000)), (0, 1)),
}  # fmt: skip


def serve(send):
    """Returns a function that starts a server which responds by `send`, and adds its port to the command line."""

    def prepare(context):
        listener = socket.create_server(("127.0.0.1", 0))
        context.words["port"] = listener.getsockname()[1]
        context.undo.append(lambda: (listener.shutdown(socket.SHUT_RDWR), listener.close()))

        def respond(connection):
            with connection:
                connection.settimeout(30)
                request = b""
                try:
                    while b"\r\n\r\n" not in request:
                        if not (piece := connection.recv(65536)):
                            return
                        request += piece
                    send(connection, request)
                except OSError:
                    pass

        def accept():
            while True:
                try:
                    connection = listener.accept()[0]
                except OSError:
                    return
                threading.Thread(target=respond, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()

    return prepare


def server_case(name, send, codes):
    argv = (
        "{bin}/reference-agent", "--json", "--provider", "openai", "--model", "m", "--base-url",
        "http://127.0.0.1:{port}/v1", "--timeout", "8", "--idle-timeout", "2", "--max-retries", "1", "--max-tool-turns",
        "2", "a query",
    )  # fmt: skip
    return Case(
        f"server/{name}", argv, Expect(codes, lacks=(KEY, KEY[::-1], "root:x")), live=False, prepare=serve(send),
        env={"OPENAI_API_KEY": KEY}, deadline=20,
    )  # fmt: skip


CASES = [server_case(name, send, codes) for name, (send, codes) in SERVERS.items()]
