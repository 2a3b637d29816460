"""What lies outside of a sandbox's network, for network.sh: a server of pages,
packages and repositories under several names, by HTTP and HTTPS.

    outside.py DIRECTORY ADDRESS...

DIRECTORY has cert.pem and key.pem, and what is served as files.  It gets a file
`ready` when everything listens.  Each request is a line of the file `asked`.
"""
import base64
import hashlib
import http.server
import io
import json
import os
import socketserver
import ssl
import sys
import tarfile
import threading
import zipfile

ROOT = sys.argv[1]
TEXT = b"hello from a package\n"


def tar(names):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in names.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def archive(names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, data in names.items():
            made.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


NPM = tar({
    "package/package.json": b'{"name":"tiny","version":"1.0.0"}',
    "package/hello": TEXT,
})
CRATE = tar({
    "tiny-1.0.0/Cargo.toml":
        b'[package]\nname="tiny"\nversion="1.0.0"\nedition="2021"\n',
    "tiny-1.0.0/src/lib.rs": b"",
})
META = b"Metadata-Version: 2.1\nName: tiny\nVersion: 1.0.0\n"
WHEEL = archive({
    "tiny.py": b"",
    "tiny-1.0.0.dist-info/METADATA": META,
    "tiny-1.0.0.dist-info/WHEEL":
        b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "tiny-1.0.0.dist-info/RECORD": b"",
})
MODULE = b"module example.test/tiny\n\ngo 1.18\n"
GO = archive({
    "example.test/tiny@v1.0.0/go.mod": MODULE,
    "example.test/tiny@v1.0.0/tiny.go": b"package tiny\n",
})


def npm(base):
    digest = base64.b64encode(hashlib.sha512(NPM).digest()).decode()
    return json.dumps({
        "name": "tiny",
        "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": {
            "name": "tiny",
            "version": "1.0.0",
            "dist": {
                "tarball": base + "/npm/tiny/-/tiny-1.0.0.tgz",
                "integrity": "sha512-" + digest,
            },
        }},
    }).encode()


def crate():
    return json.dumps({
        "name": "tiny", "vers": "1.0.0", "deps": [], "features": {},
        "cksum": hashlib.sha256(CRATE).hexdigest(), "yanked": False,
    }).encode() + b"\n"


PAGES = {
    "/hello": lambda base, host: b"hello from " + host.encode() + b"\n",
    "/npm/tiny": lambda base, host: npm(base),
    "/npm/tiny/-/tiny-1.0.0.tgz": lambda base, host: NPM,
    "/cargo/config.json":
        lambda base, host: json.dumps({"dl": base + "/crates"}).encode(),
    "/cargo/ti/ny/tiny": lambda base, host: crate(),
    "/crates/tiny/1.0.0/download": lambda base, host: CRATE,
    "/simple/tiny/": lambda base, host:
        b'<a href="/tiny-1.0.0-py3-none-any.whl">tiny-1.0.0-py3-none-any.whl'
        b"</a>",
    "/tiny-1.0.0-py3-none-any.whl": lambda base, host: WHEEL,
    "/go/example.test/tiny/@v/list": lambda base, host: b"v1.0.0\n",
    "/go/example.test/tiny/@v/v1.0.0.info":
        lambda base, host: b'{"Version":"v1.0.0"}',
    "/go/example.test/tiny/@v/v1.0.0.mod": lambda base, host: MODULE,
    "/go/example.test/tiny/@v/v1.0.0.zip": lambda base, host: GO,
}


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    secure = False

    def __init__(self, *args):
        super().__init__(*args, directory=os.path.join(ROOT, "www"))

    def do_GET(self):
        host = self.headers.get("Host", "").split(":")[0]
        base = ("https://" if self.secure else "http://") + host
        with open(os.path.join(ROOT, "asked"), "a") as asked:
            asked.write("%s %s%s\n" % (self.command, base, self.path))
        page = PAGES.get(self.path.split("?")[0])
        if page is None:
            super().do_GET()
            return
        body = page(base, host)
        self.send_response(200)
        if self.path.startswith("/simple/"):
            self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Secure(Handler):
    secure = True


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *args):
        pass


class SecureServer(Server):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def finish_request(self, request, address):
        request = self.context.wrap_socket(request, server_side=True)
        super().finish_request(request, address)


SecureServer.context.load_cert_chain(os.path.join(ROOT, "cert.pem"),
                                     os.path.join(ROOT, "key.pem"))
servers = []
for where in sys.argv[2:]:
    servers.append(Server((where, 80), Handler))
    servers.append(SecureServer((where, 443), Secure))
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()
open(os.path.join(ROOT, "ready"), "w").close()
threading.Event().wait()
