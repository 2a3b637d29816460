#!/usr/bin/python3
# requests.py POLICY DIRECTORY: sbx-tls by itself, as TAP.  It is handed connections
# as sbx-proxy does, with a client and a server of ours at their ends: what it lets
# through, what it refuses, and that no byte of a secret comes back.
import array, base64, os, socket, ssl, struct, subprocess, sys, threading
import time

policy, work = sys.argv[1:]
program = os.environ['builddir'] + '/sbx-tls'
SECRET = b'ghp_S3cr3tS3cr3tS3cr3tS3cr3tS3cr3t012345'
OTHER = b'npm_' + b'Q' * 32
count = failed = 0


def tap(held, name, more=''):
    global count, failed
    count += 1
    failed += not held
    print('ok' if held else 'not ok', count, '-', name)
    if not held:
        print('#', repr(more)[:600])


# --- a server: answers what its handler says to each request ----------------------

class Server(threading.Thread):
    def __init__(self, handler, name='tls.test', tls=True):
        super().__init__(daemon=True)
        self.listening = socket.create_server(('127.0.0.1', 0))
        self.port = self.listening.getsockname()[1]
        self.handler, self.seen, self.context = handler, [], None
        if tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(f'{work}/{name}.pem', f'{work}/key')
        self.start()

    def run(self):
        while True:
            end, _ = self.listening.accept()
            threading.Thread(target=self.serve, args=(end,),
                             daemon=True).start()

    def serve(self, end):
        try:
            if self.context:
                end = self.context.wrap_socket(end, server_side=True)
            while True:
                bytes = b''
                while b'\r\n\r\n' not in bytes:
                    more = end.recv(65536)
                    if not more:
                        return
                    bytes += more
                head, body = bytes.split(b'\r\n\r\n', 1)
                self.seen.append(head + b'\r\n')
                for part in self.handler(head):
                    end.sendall(part)
                if b'Connection: close' in head:
                    end.unwrap() if self.context else 0
                    end.close()
        except OSError:
            pass


def echo(head):
    field = b'X-Echo: ' + head.replace(b'\r\n', b'|')
    return [b'HTTP/1.1 200 OK\r\n', field,
            b'\r\nContent-Length: %d\r\n\r\n' % len(head), head]


# In chunks that end at these bytes of the secret, which is in the trailer, too.
def chunks(cuts):
    def handler(head):
        at = head.find(SECRET)
        ends = [0] + [at + cut for cut in cuts] + [len(head)]
        answer = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
        for begin, end in zip(ends, ends[1:]):
            if end > begin:
                answer += b'%x;x=y\r\n' % (end - begin)
                answer += head[begin:end] + b'\r\n'
        return [answer + b'0\r\nX: ' + SECRET + b'\r\n\r\n']
    return handler


def without_chunks(body):
    whole = b''
    while body and body[:1] != b'0':
        size, body = body.split(b'\r\n', 1)
        whole += body[:int(size.split(b';')[0], 16)]
        body = body[int(size.split(b';')[0], 16) + 2:]
    return whole


# --- sbx-tls ------------------------------------------------------------------------

def name_in(blob, name):
    sections, = struct.unpack_from('<I', blob, 20)
    for i in range(sections):
        kind, _, offset, size = struct.unpack_from('<4I', blob, 32 + 16 * i)
        if kind == 2:
            return blob[offset:offset + size].index(b'\0' + name + b'\0') + 1


def start(secrets, roots):
    blob = open(policy, 'rb').read()
    events = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    handing = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    talk = socket.socketpair()
    files = [os.open(policy, os.O_RDONLY), events[1].fileno(),
             handing[1].fileno(), talk[1].fileno(), os.open(roots, os.O_RDONLY)]
    pid = os.fork()
    if pid == 0:
        high = [os.dup2(file, 100 + i) for i, file in enumerate(files)]
        for i, file in enumerate(high):
            os.dup2(file, 3 + i)
            os.close(file)
        # A leak is looked for by ptrace, which it does not let.
        os.execve(program, ['sbx-tls', 'full'],
                  {'ASAN_OPTIONS': 'detect_leaks=0'})
    for end in events[1], handing[1], talk[1]:
        end.close()
    said = struct.pack('=II', 1, len(secrets))
    for name, value in secrets:
        said += struct.pack('=II', name_in(blob, name), len(value)) + value
    talk[0].sendall(said)
    talk[0].shutdown(socket.SHUT_WR)
    answer = b''
    while more := talk[0].recv(65536):
        answer += more
    version, number = struct.unpack_from('=II', answer)
    values, at = [], 8
    while at < len(answer):
        _, size = struct.unpack_from('=II', answer, at)
        values.append(answer[at + 8:at + 8 + size])
        at += 8 + size
    return pid, number, values, handing[0], events[0]


kept = []


def hand_over(server, name, plain=0, head=b'', keeps=False):
    listening = socket.create_server(('127.0.0.1', 0))
    client = socket.create_connection(listening.getsockname())
    theirs, _ = listening.accept()
    upstream = socket.create_connection(('127.0.0.1', server.port))
    what = struct.pack('=IHBBII254s2x', 1, 443, 1, plain, 0, len(head),
                       name.encode()) + head
    sockets = array.array('i', [theirs.fileno(), upstream.fileno()])
    theirs.setblocking(False)
    upstream.setblocking(False)
    handing.sendmsg([what], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, sockets)])
    for end in listening, theirs, upstream:
        if keeps and end != listening:
            kept.append(end)
        else:
            end.close()
    if plain:
        return client
    context = ssl.create_default_context(cadata=pem)
    return context.wrap_socket(client, server_hostname=name)


def receive(client):
    got = b''
    client.settimeout(20)
    try:
        while more := client.recv(65536):
            got += more
            head, found, body = got.partition(b'\r\n\r\n')
            at = head.find(b'\r\nContent-Length: ')
            if found and at >= 0 and len(body) >= int(head[at + 18:].split()[0]):
                break
            if b'chunked' in head and body.endswith(b'0\r\n\r\n'):
                break
    except OSError as error:
        got += b'<%s>' % str(error).encode()
    return got


# A request; what came back, and what the server saw.
def ask(request, server=None, name='tls.test', **how):
    server = server or echoing
    before = len(server.seen)
    with hand_over(server, name, **how) as client:
        client.sendall(request)
        got = receive(client)
    for secret in SECRET, OTHER:
        texts = [secret] + [base64.b64encode(b'\0' * shift + secret)[4:-4]
                            for shift in range(3)]
        if any(text in got for text in texts):
            tap(False, 'no secret comes back', (request, got))
    return got, b''.join(server.seen[before:])


def status(status, what, request, **how):
    got, seen = ask(request, **how)
    tap(got[9:12] == b'%d' % status, what, (request, got))
    return got, seen


def line(text, more=b''):
    return b'%s\r\nHost: tls.test\r\n%s%s\r\n\r\n' % (text, bearer, more)


# --- what is tried ---------------------------------------------------------------------

pid, number, values, handing, events = start([(b'gh', b'short')], work + '/ca.pem')
tap(number == 0xffffffff and b'16 bytes' in values[0], 'a short secret', values)
pid, number, values, handing, events = start(
    [(b'gh', SECRET), (b'npm', OTHER)], work + '/ca.pem')
mine, other, pem = values[0], values[1], values[2].decode()
tap(len(mine) == len(SECRET) and mine[:4] == b'ghp_' and mine != SECRET,
    'a placeholder looks like its secret', mine)
with open(f'/proc/{pid}/status') as file:
    tap('Seccomp:\t2' in file.read(), 'it is confined')
echoing = Server(echo)
bearer = b'Authorization: Bearer ' + mine

for field in (b'Authorization: token %s', b'X-Api-Key: %s', b'Cookie: a=%s; b=%s'):
    request = line(b'GET /x HTTP/1.1', b'\r\n' + field.replace(b'%s', mine))
    got, seen = status(200, 'a field', request)
    tap(seen.count(SECRET) == field.count(b'%s') + 1 and mine in got,
        'the secret goes, and its placeholder comes back', (seen, got))
for user in b'u:', b'uu:', b'uuu:':
    basic = b'Authorization: Basic ' + base64.b64encode(user + mine)
    got, seen = status(200, 'Basic', b'GET /x HTTP/1.1\r\nHost: tls.test\r\n' +
                       basic + b'\r\n\r\n')
    tap(base64.b64encode(user + SECRET) in seen, 'in Basic', seen)
held = True
for cuts in [(cut,) for cut in range(0, 41, 3)] + [(1, 2), tuple(range(41))]:
    got, seen = ask(line(b'GET /x HTTP/1.1'), server=Server(chunks(cuts)))
    held &= mine in without_chunks(got.partition(b'\r\n\r\n')[2])
tap(held, 'an echo in pieces')
got, seen = status(200, 'a body', line(b'POST /x HTTP/1.1',
                   b'\r\nContent-Length: %d' % len(mine)) + mine)
got, seen = status(200, 'no part of the answer, and no encoding of it',
                   line(b'GET /x HTTP/1.1', b'\r\nRange: bytes=0-3'
                        b'\r\nAccept-Encoding: gzip'))
tap(b'Range' not in seen and b'gzip' not in seen, 'neither is asked for', seen)
got, seen = status(200, 'a field that is for us alone',
                   line(b'GET /x HTTP/1.1', b'\r\nConnection: Authorization'))
tap(SECRET not in seen, 'it does not go on', seen)
got, seen = status(200, 'a body of GET', line(
    b'GET /x HTTP/1.1', b'\r\nContent-Length: 1') + b'x')
tap(b'Connection: close' in seen, 'nothing may follow it', seen)
got, seen = status(200, 'a method of another case', line(b'head /x HTTP/1.1'))
tap(mine in got.split(b'\r\n\r\n')[-1], 'its answer has a body', got)
got, seen = status(100, 'who waits to be told to go on', line(
    b'POST /x HTTP/1.1', b'\r\nExpect: 100-continue\r\nConnection: close'
    b'\r\nContent-Length: 1') + b'x')

status(403, 'in the query', line(b'GET /x?k=' + mine + b' HTTP/1.1'))
status(403, "another host's secret",
       line(b'GET /x HTTP/1.1', b'\r\nX: ' + other))
status(403, 'in Basic', line(b'GET /x HTTP/1.1', b'\r\nAuthorization: Basic ' +
                             base64.b64encode(b'u:' + other)))
status(403, 'without TLS', line(b'GET /x HTTP/1.1'), plain=1,
       server=Server(echo, tls=False))
judged = Server(echo, 'judged.test')
for want, request, more in (
        (200, b'GET /a/x', b''), (200, b'HEAD /a/x', b'Connection: close\r\n'),
        (403, b'GET /b', b''), (403, b'POST /a/x', b''),
        (403, b'GET /a/../b', b''), (403, b'GET /a/%2e%2e/b', b''),
        (403, b'GET //a/x', b''), (403, b'GET /a/x;y', b''),
        (403, b'GET /a/x', bearer + b'\r\n'),
        (400, b'GET /a/x', b'X-HTTP-Method-Override: PUT\r\n'),
        (400, b'GET /a/x', b'X_Original_Url: /b\r\n')):
    status(want, request.decode(), request + b' HTTP/1.1\r\nHost: judged.test\r\n'
           + more + b'\r\n', server=judged, name='judged.test')

for host in (b'judged.test', b'tls.test:444', b'tls.test@x', b'tls.test.x', b'x\t',
             b'tls.test\r\nHost: tls.test'):
    got, seen = ask(b'GET /x HTTP/1.1\r\nHost: ' + host + b'\r\n\r\n')
    tap(got[9:12] in (b'400', b'403') and not seen, 'a host', (host, got))
for host in b'TLS.test', b'tls.test.', b'tls.test:443':
    status(200, 'the same host', b'GET /x HTTP/1.1\r\nHost: ' + host + b'\r\n\r\n')
for more in (b'Content-Length: 5\r\nTransfer-Encoding: chunked',
             b'Content-Length: 5\r\nContent-Length: 5', b'Content-Length: +5',
             b'Transfer-Encoding: chunked, identity', b'Transfer-Encoding : chunked',
             b'Transfer-Encoding: xchunked', b'X: a\r\n b', b'X: a\nY: b',
             b'X: a\rb', b'X\0: a', b'Content-Length: 0x5', b': x', b'x',
             b'Content-Length: 99999999999999999999', b'X: ' + b'a' * 9000):
    status(400, 'two meanings: ' + repr(more[:40]),
           line(b'POST /x HTTP/1.1', b'\r\n' + more) + b'hello')
for first in (b'GET  /x HTTP/1.1', b'GET /x', b'GET /x HTTP/1.2', b'GET x HTTP/1.1',
              b'GET http://tls.test/x HTTP/1.1', b'CONNECT tls.test:443 HTTP/1.1',
              b'OPTIONS * HTTP/1.1', b'GET /\xc3\xa4 HTTP/1.1', b'G<T /x HTTP/1.1',
              b'GET\t/x HTTP/1.1', b'\r\nGET /x HTTP/1.1', b'PRI * HTTP/2.0'):
    status(400, 'a first line: ' + repr(first), line(first))
status(403, 'another protocol', line(b'GET /x HTTP/1.1', b'\r\nUpgrade: websocket'))
status(200, 'one that may be declined', line(b'GET /x HTTP/1.1', b'\r\nUpgrade: h2c'))

ok = b'HTTP/1.1 200 OK\r\n'
for answer in (ok + b'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello',
               ok + b'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
               b'HTTP/1.1 200 OK\nContent-Length: 5\r\n\r\n', b'x\r\n\r\n',
               b'HTTP/1.1 101 Other\r\nUpgrade: x\r\n\r\n', ok + b': x\r\n\r\n',
               ok + b'Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx',
               ok + b'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
               ok + b'X: ' + SECRET * 900 + b'\r\n\r\n'):
    status(502, 'an answer: ' + repr(answer[:50]), line(b'GET /x HTTP/1.1'),
           server=Server(lambda head: [answer]))
early = b'HTTP/1.1 103 Early\r\nLink: ' + SECRET + b'\r\n\r\n' + ok
for answer in (early + b'Location: /' + SECRET + b'\r\nContent-Length: 0\r\n\r\n',
               ok + b'Content-Length: 80\r\n\r\n' + SECRET[:20] + SECRET + SECRET[20:],
               ok + b'Transfer-Encoding: chunked\r\n\r\nzz\r\n' + SECRET):
    status(200, 'an answer: ' + repr(answer[:50]), line(b'GET /x HTTP/1.1'),
           server=Server(lambda head: [answer]))
got, seen = status(502, 'a server that is not believed', line(b'GET /x HTTP/1.1'),
                   server=Server(echo, 'judged.test'))
tap(b'not believed' in got and not seen, 'it gets nothing', (got, seen))

# Two requests at once are two; the second is judged, too.
first = b'GET /a/x HTTP/1.1\r\nHost: judged.test\r\n\r\n'
with hand_over(judged, 'judged.test') as client:
    client.sendall(first + first.replace(b'/a/x', b'/b'))
    got = receive(client) + receive(client)
tap(b'200 OK' in got and b'403 Forbidden' in got, 'one behind the other', got)
# sbx-proxy closes its own descriptors when it comes to that, perhaps after the end.
with hand_over(judged, 'judged.test', plain=1, keeps=True) as client:
    client.sendall(b'x\r\n\r\n')
    tap(receive(client)[9:12] == b'400', 'what is no request', got)
    client.shutdown(socket.SHUT_WR)
    time.sleep(0.1)
    kept[1].shutdown(socket.SHUT_RDWR)
    time.sleep(0.1)
tap(os.waitpid(pid, os.WNOHANG) == (0, 0), 'it has lived through all of that')
handing.close()
tap(os.waitpid(pid, 0)[1] == 0, 'it ends when nobody hands over any more')
print(f'1..{count}')
sys.exit(failed != 0)
