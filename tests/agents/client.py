#!/usr/bin/env python3
"""A client of one MCP server on standard input and output.

    client.py FILE NAME [TOOL ARGUMENTS]

Starts the server NAME of FILE, asks for its tools, calls TOOL, and prints
"tools yes", "answer TEXT" and whether the kernel says of the server, the last
process below the one that was started, that it has a filter.
"""
import json
import os
import subprocess
import sys

path, name = sys.argv[1:3]
entry = json.load(open(path))["mcpServers"][name]
server = subprocess.Popen(
    [entry["command"]] + entry.get("args", []), text=True,
    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    env={**os.environ, **entry.get("env", {})})
count = 0


def send(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


def request(method, params):
    """The result of a request; what the server asks for meanwhile is refused."""
    global count
    count += 1
    send({"id": count, "method": method, "params": params})
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == count and "method" not in message:
            return message.get("result") or message
        if "id" in message and "method" in message:
            send({"id": message["id"],
                  "error": {"code": -32601, "message": "no"}})
    sys.exit("the server has ended")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return file.read().split()


def last_below(pid):
    while children(pid):
        pid = children(pid)[0]
    return pid


request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                       "clientInfo": {"name": "test", "version": "1"}})
send({"method": "notifications/initialized"})
tools = request("tools/list", {}).get("tools", [])
print("tools", "yes" if tools else "no")
if len(sys.argv) > 3:
    result = request("tools/call", {"name": sys.argv[3],
                                    "arguments": json.loads(sys.argv[4])})
    print("answer", " ".join("".join(
        part.get("text", "") for part in result.get("content", [])).split()))
with open(f"/proc/{last_below(server.pid)}/status") as file:
    print("confined", "yes" if "\nSeccomp:\t2" in file.read() else "no")
server.stdin.close()
try:
    server.wait(20)
except subprocess.TimeoutExpired:
    server.terminate()
    server.wait(20)
