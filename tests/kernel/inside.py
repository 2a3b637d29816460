"""Servers and clients of TCP for inside.sh: one act a run, and its outcome."""
import errno
import os
import socket
import sys
import time

LOCAL = {socket.AF_INET: '127.0.0.1', socket.AF_INET6: '::1'}
TCP_MD5SIG, TCP_FASTOPEN_CONNECT, TCP_MD5SIG_EXT = 14, 30, 32
TCP_FASTOPEN_NO_COOKIE, TCP_AO_ADD_KEY = 34, 38
# A port of defer()'s that another program of this machine's has had all along.
IN_USE = 'in use'


def family_of(address):
    return socket.AF_INET6 if ':' in address else socket.AF_INET


def server(address, port=0, share=False):
    made = socket.socket(family_of(address), socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if share:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind((address, port))
    made.listen(16)
    return made


def client(address):
    made = socket.socket(family_of(address), socket.SOCK_STREAM)
    made.settimeout(60)
    return made


def wait_for(path):
    end = time.monotonic() + 60
    while not os.path.exists(path):
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.01)


def touch(path, text=''):
    with open(path + '.new', 'w') as file:
        file.write(text)
    os.rename(path + '.new', path)


def pair(at, to):
    """A server at one address, a client that goes to another one."""
    listening = server(at)
    port = listening.getsockname()[1]
    connecting = client(to)
    connecting.connect((to, port))
    accepted, _ = listening.accept()
    connecting.sendall(b'x' * 100000)
    got = 0
    while got < 100000:
        got += len(accepted.recv(65536))
    accepted.sendall(b'back')
    assert connecting.recv(4) == b'back'
    listening.close()
    return 'ok'


def later(at, to):
    """A client that does not block, and one that finds nobody."""
    listening = server(at)
    port = listening.getsockname()[1]
    connecting = client(to)
    connecting.setblocking(False)
    error = connecting.connect_ex((to, port))
    assert error in (0, errno.EINPROGRESS), errno.errorcode[error]
    accepted, _ = listening.accept()
    connecting.setblocking(True)
    connecting.sendall(b'hello')
    assert accepted.recv(5) == b'hello'
    listening.close()
    return errno.errorcode[client(to).connect_ex((to, port))]


def reach(to, port):
    """A service of somebody's."""
    error = client(to).connect_ex((to, int(port)))
    return errno.errorcode.get(error, 'ok')


def keys():
    """Whoever could set a key could take one away."""
    said = set()
    for option in (TCP_MD5SIG, TCP_MD5SIG_EXT, TCP_AO_ADD_KEY):
        try:
            client('127.0.0.1').setsockopt(socket.IPPROTO_TCP, option,
                                           bytes(216))
            said.add('ok')
        except OSError as error:
            said.add(errno.errorcode[error.errno])
    return ' '.join(sorted(said))


def defer(directory):
    """Connects to its own server, but the kernel sends nothing before there is
    something to send; then the port is somebody else's."""
    listening = server('127.0.0.1')
    port = listening.getsockname()[1]
    connecting = client('127.0.0.1')
    connecting.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
    connecting.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 1)
    connecting.connect(('127.0.0.1', port))
    listening.close()
    touch(directory + '/port', str(port))
    wait_for(directory + '/taken')
    if os.path.exists(directory + '/heard'):
        return IN_USE
    try:
        connecting.sendall(b'secret')
    except OSError:
        pass
    # The other side tells when it has waited long enough.
    wait_for(directory + '/heard')
    return open(directory + '/heard').read()


def take(directory):
    """Takes the port that defer() has left, and tells whether somebody came."""
    wait_for(directory + '/port')
    try:
        listening = server('127.0.0.1', int(open(directory + '/port').read()))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        touch(directory + '/heard', IN_USE)
        touch(directory + '/taken')
        return IN_USE
    listening.settimeout(3)
    touch(directory + '/taken')
    try:
        accepted, _ = listening.accept()
        accepted.settimeout(60)
        touch(directory + '/heard', accepted.recv(100).decode())
    except OSError:
        touch(directory + '/heard', 'nothing')
    return open(directory + '/heard').read()


def serve(directory):
    """Listens until somebody outside has tried."""
    listening = server('0.0.0.0')
    touch(directory + '/serving', str(listening.getsockname()[1]))
    wait_for(directory + '/tried')
    listening.settimeout(0)
    try:
        listening.accept()
        return 'somebody came'
    except OSError:
        return 'nobody came'


def call(directory):
    """Tries what serve() has."""
    wait_for(directory + '/serving')
    connecting = client('127.0.0.1')
    connecting.settimeout(2)
    try:
        connecting.connect(('127.0.0.1',
                            int(open(directory + '/serving').read())))
        said = 'connected'
    except OSError:
        said = 'not connected'
    touch(directory + '/tried')
    return said


def share(port):
    """A second server at the port of one that lets others of its user in."""
    server('127.0.0.1', int(port), True)
    return 'ok'


def own(directory):
    """A service outside, which shares its port; until it is told to end."""
    listening = [server('127.0.0.1', share=True)]
    port = listening[0].getsockname()[1]
    listening.append(server('::1', port, True))
    touch(directory + '/outside', str(port))
    wait_for(directory + '/end')
    came = 'nobody came'
    for each in listening:
        each.settimeout(0)
        try:
            each.accept()
            came = 'somebody came'
        except OSError:
            pass
    return came


def main():
    act = {f.__name__: f for f in (pair, later, reach, keys, defer, take, serve,
                                   call, share, own)}[sys.argv[1]]
    try:
        print(act(*sys.argv[2:]))
    except OSError as error:
        print(errno.errorcode.get(error.errno, repr(error)))


main()
