# SPDX-License-Identifier: BSD-3-Clause
"""A client of DPDK telemetry sockets. A source is one socket, that is, one
process; it is connected at the first request, and again after a failure. Any
thread may ask. Each source has a lock of its own, so a stopped source does not
block requests to others."""
import glob
import json
import math
import os
import socket
import stat
import struct
import threading
import time

MOST = 32  # sources
PATH_BYTES = 107  # of a socket's address
COMMAND_BYTES = 199
HELLO_BYTES = 1024
ANSWER_BYTES, ANSWER_BYTES_MOST = 16384, 1 << 20
SILENT_S = 10
# longest wait for an answer: to a question, to an order
ASK_S, ORDER_S = 2, 6
# limit of a list, whatever total a source announces
PAGES_MOST, LIST_BYTES_MOST = 65536, 32 << 20


class NoAnswer(Exception):
    """There is no such source, no answer, or none that is JSON."""


def dial(path, kind):
    """@return a connected socket; never waits"""
    # a socket with a full connection queue would block
    s = socket.socket(socket.AF_UNIX, kind | socket.SOCK_NONBLOCK)
    try:
        s.connect(path)
    except OSError:
        s.close()
        raise
    return s


def is_left(path):
    """Whether nothing listens: a process that was killed leaves its socket. The
    kernel says so to a socket of another type, without a connection: a program
    of DPDK's has ten."""
    try:
        dial(path, socket.SOCK_DGRAM).close()
    except (ConnectionRefusedError, FileNotFoundError):
        return True
    except OSError:
        pass
    return False


def is_trusted(folder):
    """Owned by this user or root, and writable by no other."""
    try:
        st = os.lstat(folder)
    except OSError:
        return False
    return (stat.S_ISDIR(st.st_mode) and st.st_uid in (os.geteuid(), 0) and
            st.st_mode & 0o022 == 0)


def peer_uid(s):
    """The user of the process at the other end."""
    return struct.unpack("iII", s.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]


def finite(text):
    """A number with a fraction, as JSON may have it."""
    if not math.isfinite(float(text)):
        raise ValueError(text)
    return float(text)


def parsed(text):
    """@return an object or a list"""
    try:
        o = json.loads(text.decode(), parse_constant=finite, parse_float=finite)
    except (ValueError, RecursionError):
        raise NoAnswer from None
    if not isinstance(o, (dict, list)):
        raise NoAnswer
    return o


def count_of(o, key):
    """A whole number of an object; 0 where it has none, or none of 64 bits."""
    v = o.get(key) if isinstance(o, dict) else None
    return (v if isinstance(v, int) and not isinstance(v, bool) and
            -1 << 63 <= v < 1 << 64 else 0)


class Source:
    """One socket. All but the path belongs to its lock."""

    def __init__(self):
        self.lock = threading.Lock()
        self.forget()

    def forget(self):
        self.path = ""  # a free place; the list's lock
        self.socket = None
        self.most_bytes = 0  # of an answer, as the socket says
        self.silent_until = 0.0

    def disconnect(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = None

    def receive(self, most):
        try:
            data = self.socket.recv(most)
        except socket.timeout:
            self.silent_until = time.monotonic() + SILENT_S
            data = b""
        except OSError:
            data = b""
        if not data:
            self.disconnect()
            raise NoAnswer
        return data

    def connect(self, path, found, limit_s):
        """The socket greets with its version and its largest answer."""
        try:
            self.socket = dial(path, socket.SOCK_SEQPACKET)
            # one that the user did not name must be the user's own, or root's
            if found and peer_uid(self.socket) not in (os.geteuid(), 0):
                raise PermissionError
        except OSError:
            self.disconnect()
            raise NoAnswer from None
        self.socket.settimeout(limit_s)
        try:
            most = count_of(parsed(self.receive(HELLO_BYTES)),
                            "max_output_len")
        except NoAnswer:
            self.disconnect()
            raise
        self.most_bytes = (most if 0 < most <= ANSWER_BYTES_MOST
                           else ANSWER_BYTES)

    def ask(self, command, limit_s):
        """@return the answer as it came"""
        self.socket.settimeout(limit_s)
        try:
            self.socket.send(command)
        except OSError:
            self.disconnect()
            raise NoAnswer from None
        return self.receive(self.most_bytes)


class Sources:
    """Those that were named, or all that are found where DPDK puts them."""

    def __init__(self, paths):
        self.lock = threading.Lock()
        self.all = [Source() for _ in range(MOST)]
        self.search = not paths
        for path in paths:
            self.add(path)

    def add(self, path):
        if len(os.fsencode(path)) > PATH_BYTES:
            return
        with self.lock:
            free = [s for s in self.all if not s.path]
            if free and all(s.path != path for s in self.all):
                free[0].path = path

    def path(self, i):
        """Of source i; "": there is none."""
        with self.lock:
            return self.all[i].path if 0 <= i < MOST else ""

    def forget_gone(self):
        """Those whose process is gone; one in use is left for a later call."""
        with self.lock:
            for s in self.all:
                if not s.path or not s.lock.acquire(blocking=False):
                    continue
                if (not os.path.exists(s.path) if s.socket is not None
                        else is_left(s.path)):
                    s.disconnect()
                    s.forget()
                s.lock.release()

    def find(self):
        """Adds new sockets at which a process listens, and forgets those where
        none does. Takes only sockets of processes of this user or root, in
        folders that no other user can write to."""
        if not self.search:
            return
        self.forget_gone()
        folder = ("/var/run" if os.geteuid() == 0
                  else os.environ.get("XDG_RUNTIME_DIR", "/tmp")) + "/dpdk"
        if not is_trusted(folder):
            return
        known = [s.path for s in self.all]
        for path in sorted(glob.glob(os.path.join(
                glob.escape(folder), "*", "dpdk_telemetry.v2*"))):
            if (path not in known and is_trusted(os.path.dirname(path)) and
                    not is_left(path)):
                self.add(path)

    def answer(self, i, command, limit_s):
        """@return what it answers, and its length"""
        path = self.path(i)
        if not path:
            raise NoAnswer
        s = self.all[i]
        with s.lock:
            # an order is always tried
            if limit_s != ORDER_S and time.monotonic() < s.silent_until:
                raise NoAnswer
            if s.socket is None:
                s.connect(path, self.search, limit_s)
            text = s.ask(command.encode(errors="surrogateescape"), limit_s)
        o = parsed(text)
        if not isinstance(o, dict) or len(o) != 1:
            raise NoAnswer
        return next(iter(o.values())), len(text)

    def ask(self, i, command, limit_s=ASK_S):
        """Asks source i, "/reflit/links,0". One that was silent is not asked
        again for some seconds, but for an order."""
        return self.answer(i, command, limit_s)[0]

    def ask_all(self, command):
        """Asks all at once, so that those that are silent take no longer than one.
        @return what each answers, by source; {}: it does not"""
        def ask(i):
            try:
                answers[i] = self.ask(i, command)
            except NoAnswer:
                pass

        answers = {i: {} for i in range(MOST) if self.path(i)}
        threads = [threading.Thread(target=ask, args=(i,)) for i in answers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return answers

    def list(self, i, command):
        """All pages of a list as one object of columns."""
        columns, at, total, size = {}, 0, 1, 0
        for _ in range(PAGES_MOST):
            if at >= total or size >= LIST_BYTES_MOST:
                break
            try:
                page, n = self.answer(i, "%s,%d" % (command, at), ASK_S)
            except NoAnswer:
                break
            if count_of(page, "count") <= 0:
                break
            size += n
            total = count_of(page, "total")
            at += count_of(page, "count")
            for key, v in page.items():
                if isinstance(v, list):
                    columns.setdefault(key, []).extend(v)
        columns["total"] = at
        return columns
