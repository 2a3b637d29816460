#!/usr/bin/env python3
"""A model for tests: it answers agents with the shell commands of a file.

    model.py SCRIPT LOG [PORT]

SCRIPT has a command a line.  Whoever asks gets the next one as a call of its
shell tool, and at the end a word.  What the tools said goes to LOG, and once
whether the agent was told where it is.  Speaks the protocols of Anthropic, of
OpenAI (responses and chat) and of Gemini, on 127.0.0.1, and prints its port.
Ends with the process that has started it, and in any case after five minutes.
"""
import http.server
import json
import os
import signal
import sys
import threading
import time

LIMIT = 300  # seconds
script, log = sys.argv[1:3]
commands = [line.rstrip("\n") for line in open(script) if line.strip()]
SHELLS = ("Bash", "bash", "shell", "shell_command", "local_shell",
          "exec_command", "run_shell_command")
seen = {}


def note(*words):
    with open(log, "a") as file:
        print(*words, file=file, flush=True)


def texts(value):
    """The texts in a part of a message, joined."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(texts(item) for item in value)
    if isinstance(value, dict):
        return "".join(texts(value[key]) for key in
                       ("text", "content", "output", "error") if key in value)
    return ""


def results_anthropic(body):
    for message in body.get("messages", []):
        if isinstance(message["content"], list):
            for part in message["content"]:
                if part.get("type") == "tool_result":
                    yield texts(part.get("content"))


def results_responses(body):
    for item in body.get("input", []):
        if isinstance(item, dict) and str(item.get("type")).endswith("_output"):
            yield texts(item.get("output"))


def results_chat(body):
    for message in body.get("messages", []):
        if message["role"] == "tool":
            yield texts(message["content"])


def results_gemini(body):
    for message in body.get("contents", []):
        for part in message.get("parts", []):
            if "functionResponse" in part:
                yield texts(part["functionResponse"].get("response"))


def shell_tool(body):
    """The name of the shell tool among those that are offered, or None."""
    names = []
    for tool in body.get("tools", []):
        names += [item.get("name") for item in
                  tool.get("functionDeclarations", [])]
        names += [tool.get("name"), tool.get("function", {}).get("name")]
    return next((name for name in SHELLS if name in names), None)


def arguments(tool, command):
    if tool == "shell":
        return {"command": ["bash", "-lc", command]}
    if tool == "exec_command":
        return {"cmd": command}
    return {"command": command, "description": "a command of the test"}


def events_anthropic(tool, count, command):
    yield "message_start", {"message": {
        "id": "m%d" % count, "type": "message", "role": "assistant",
        "content": [], "model": "test", "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1}}}
    block = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": "finished"}
    if command is not None:
        block = {"type": "tool_use", "id": "toolu_%d" % count, "name": tool,
                 "input": {}}
        delta = {"type": "input_json_delta",
                 "partial_json": json.dumps(arguments(tool, command))}
    yield "content_block_start", {"index": 0, "content_block": block}
    yield "content_block_delta", {"index": 0, "delta": delta}
    yield "content_block_stop", {"index": 0}
    yield "message_delta", {"delta": {
        "stop_reason": "end_turn" if command is None else "tool_use",
        "stop_sequence": None}, "usage": {"output_tokens": 1}}
    yield "message_stop", {}


def events_responses(tool, count, command):
    yield "response.created", {"response": {"id": "r%d" % count}}
    item = {"type": "message", "role": "assistant", "id": "m%d" % count,
            "content": [{"type": "output_text", "text": "finished"}]}
    if command is not None:
        item = {"type": "function_call", "id": "f%d" % count,
                "call_id": "call_%d" % count, "name": tool,
                "arguments": json.dumps(arguments(tool, command))}
    yield "response.output_item.done", {"output_index": 0, "item": item}
    yield "response.completed", {"response": {
        "id": "r%d" % count, "usage": {
            "input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}}


def events_chat(tool, count, command):
    delta = {"role": "assistant", "content": "finished"}
    if command is not None:
        delta = {"role": "assistant", "tool_calls": [{
            "index": 0, "id": "call_%d" % count, "type": "function",
            "function": {"name": tool, "arguments":
                         json.dumps(arguments(tool, command))}}]}
    base = {"id": "c%d" % count, "object": "chat.completion.chunk",
            "created": 1, "model": "test"}
    yield None, {**base, "choices": [{"index": 0, "delta": delta,
                                      "finish_reason": None}]}
    yield None, {**base, "choices": [{
        "index": 0, "delta": {},
        "finish_reason": "stop" if command is None else "tool_calls"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1,
                  "total_tokens": 2}}


def events_gemini(tool, count, command):
    part = {"text": "finished"}
    if command is not None:
        part = {"functionCall": {"name": tool,
                                 "args": arguments(tool, command)}}
    yield None, {"candidates": [{
        "content": {"role": "model", "parts": [part]}, "index": 0,
        "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1,
                          "totalTokenCount": 2}}


PROTOCOLS = (
    ("/messages", results_anthropic, events_anthropic),
    ("/responses", results_responses, events_responses),
    ("/chat/completions", results_chat, events_chat),
    ("GenerateContent", results_gemini, events_gemini),
)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self.answer(b"", "text/plain")

    def do_GET(self):
        self.answer(b'{"data": [], "models": [], "object": "list"}',
                    "application/json")

    def do_POST(self):
        size = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(size)
        path = self.path.split("?")[0]
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        for ending, results, events in PROTOCOLS:
            if path.lower().endswith(ending.lower()):
                break
        else:
            note("OTHER", self.path)
            self.answer(b'{"input_tokens": 1, "totalTokens": 1}',
                        "application/json")
            return
        tool, command = shell_tool(body), None
        if b"sandbox of sbx" in raw and not seen.get("told"):
            seen["told"] = True
            note("TOLD")
        done = list(results(body))
        if tool is not None:
            for index, text in enumerate(done):
                if seen.get(index) != text:
                    seen[index] = text
                    note("RESULT", index + 1, json.dumps(text))
            if len(done) < len(commands):
                command = commands[len(done)]
        out = ""
        for name, event in events(tool, len(done), command):
            if name is not None:
                out += "event: %s\n" % name
                event = {"type": name, **event}
            out += "data: %s\n\n" % json.dumps(event)
        if ending == "/chat/completions":
            out += "data: [DONE]\n\n"
        if not body.get("stream") and "stream" not in path:
            out = json.dumps(event)
            self.answer(out.encode(), "application/json")
            return
        self.answer(out.encode(), "text/event-stream")


def end_with(parent):
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


signal.alarm(LIMIT)
threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
port = int(sys.argv[3]) if len(sys.argv) > 3 else 0
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
print(server.server_port, flush=True)
server.serve_forever()
