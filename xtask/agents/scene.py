"""Runs an agent against the mock server, as the first process of new namespaces, and prints its exit code.

The arguments are those of `run_scene` in JSON. When this process ends, the kernel kills all processes that it leaves
behind. The only interface of the network namespace is loopback, so any port is free and no other host is reachable.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

PORT = 8080


def connections():
    """Returns the established connections to the mock server, as the kernel lists them."""
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    rows = (line.split() for line in lines)
    return {row[2] for row in rows if row[1].endswith(f":{PORT:04X}") and row[3] == "01"}


def wait_for_answer(agent):
    """Waits until a request has been open for two seconds: the agent then has the first half of the answer."""
    seen = {}
    while agent.poll() is None:
        now = time.monotonic()
        seen = {connection: seen.get(connection, now) for connection in connections()}
        if any(now - start > 2 for start in seen.values()):
            return
        time.sleep(0.1)


def run_scene(server, argv, env, folder, output, interruption):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    serve = subprocess.Popen([server, "serve", "--port", str(PORT)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while b"listening on" not in (line := serve.stdout.readline()):
        if not line:
            sys.exit("the mock server did not start")
    with open(f"{output}.stdout", "wb") as stdout, open(f"{output}.stderr", "wb") as stderr:
        agent = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, cwd=folder, env=env)
        if interruption:
            wait_for_answer(agent)
            agent.send_signal(signal.Signals[interruption])
        code = agent.wait()
    print(code if code >= 0 else 128 - code, flush=True)
    os._exit(0)


if __name__ == "__main__":
    run_scene(**json.loads(sys.argv[1]))
