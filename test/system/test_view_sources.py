#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The second time: a source of reflit-view that has gone in each way, and is back,
is, field by field, what one is that was found a moment ago.

usage: test_view_sources.py FOLDER_OF_SOURCES SOURCE_ROOT
"""
import glob
import json
import os
import socket
import sys
import threading
import types

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.abspath(sys.argv[1]))
sys.argv[1:] = ["-", "-", sys.argv[2]]  # no program has a part in this
from played import Telemetry, listed  # noqa: E402
from reflit_test import Box, case, main  # noqa: E402
import metrics  # noqa: E402
import sources  # noqa: E402

IS_TRUSTED = sources.is_trusted
ANSWER = json.dumps({"/r": 5}).encode()
# how a source is before it goes: the room that it says, what it answers (None:
# nothing), and whether that is heard
LIVES = ((4096, ANSWER, True), (512, ANSWER[:-1], False), (8192, None, False),
         (0, ANSWER, True))


class Process(Telemetry):
    """A process whose telemetry is played."""

    def __init__(self, path, most=2048, says=ANSWER, hello=None):
        self.says, self.ends = says, threading.Event()
        greeting = {"version": "DPDK", "max_output_len": most}
        super().__init__(path, {"/r": self.answer},
                         hello or json.dumps(greeting).encode())

    def answer(self, _arg):
        if self.says is None:
            self.ends.wait(10)
        return self.says or b""

    def end(self):
        self.ends.set()
        self.stop()

    def kill(self):
        """Its socket stays."""
        os.link(self.path, self.path + ".left")
        self.end()
        os.rename(self.path + ".left", self.path)


def searched(box):
    """Sources that are searched for in the box alone."""
    s = sources.Sources([])
    sources.is_trusted = lambda folder: True
    sources.glob = types.SimpleNamespace(
        escape=glob.escape, glob=lambda _: glob.glob(box.path("found*")))
    return s


def answers(s, path):
    try:
        return s.ask([x.path for x in s.all].index(path), "/r", 1) == 5
    except (sources.NoAnswer, ValueError):
        return False


def fields(s, path):
    """All that is not a source's own: its path, its lock, its connection."""
    x = next(x for x in s.all if x.path == path)
    assert x.socket is not None
    return {k: v for k, v in vars(x).items()
            if k not in ("path", "lock", "socket")}


@case
def a_source_that_is_back_is_as_one_that_was_just_found():
    with Box() as box:
        s = searched(box)
        for most, says, heard in LIVES:
            old = Process(box.path("old"), most, says)
            s.add(old.path)
            assert answers(s, old.path) == heard
            old.end()  # while it is connected, or silent
            assert not answers(s, old.path)
            s.find()
            assert all(x.path == "" for x in s.all)
            now, other = Process(box.path("old")), Process(box.path("new"))
            for p in (now, other):
                s.add(p.path)
                assert answers(s, p.path)
            assert fields(s, now.path) == fields(s, other.path)
            for p in (now, other):
                p.end()
            s.find()
            assert all(x.path == "" for x in s.all)


@case
def what_no_json_can_hold_is_no_answer():
    """One of these in the answer of one source would be in that of all."""
    for good in (b"[1.5]", b"[-1e300]", b'{"a": 0.1e-3}', b"[1e-999]"):
        assert sources.parsed(good) == json.loads(good)
    for bad in (b"[1e999]", b"[-1e999]", b'{"a": [1.0e400]}', b"[NaN]",
                b"[Infinity]", b"[-Infinity]", b"1.5", b'"x"', b"null", b""):
        try:
            raise AssertionError(sources.parsed(bad))
        except sources.NoAnswer:
            pass


@case
def all_are_asked_at_once():
    """Each answers when all have been asked."""
    with Box() as box:
        together = threading.Barrier(3)

        def answer(_arg):
            together.wait(60)
            return {"n": 1}

        tels = [Telemetry(box.path("t%d" % i), {"/reflit/fabric": answer})
                for i in range(3)]
        s = sources.Sources([tels[0].path, box.path("none"), tels[1].path,
                             tels[2].path])
        some = {"n": 1}
        assert s.ask_all("/reflit/fabric") == {0: some, 1: {}, 2: some,
                                               3: some}
        text = metrics.metrics_text(s)
        assert [x.split()[-1] for x in text.splitlines()
                if x.startswith("reflit_source_up")] == ["1", "0", "1", "1"]
        for t in tels:
            t.stop()


@case
def a_process_that_follows_another_at_its_socket_is_connected():
    with Box() as box:
        for most, says, heard in LIVES:
            if says is None:
                continue
            s = sources.Sources([box.path("same"), box.path("beside")])
            p = Process(box.path("same"), most, says)
            assert answers(s, p.path) == heard
            p.end()
            p, other = Process(box.path("same")), Process(box.path("beside"))
            answers(s, p.path)  # the first question finds out
            assert answers(s, p.path) and answers(s, other.path)
            assert fields(s, p.path) == fields(s, other.path)
            for x in (p, other):
                x.end()


@case
def what_killed_processes_left_hides_no_process():
    with Box() as box:
        s = searched(box)
        for i in range(sources.MOST + 1):
            p = Process(box.path("found%02d" % i))
            s.find()
            assert answers(s, p.path), i
            p.kill()
            assert not answers(s, p.path)
        s.find()
        assert all(x.path == "" for x in s.all)


@case
def what_is_no_source_of_ours_is_never_asked():
    """Such as a process of another user, or another program."""
    for hello in (None, b"hello", b"{", b"\xff", b"5", b"null"):
        with Box() as box:
            s, p = searched(box), Process(box.path("strange"), hello=hello)
            s.add(p.path)
            uid, sources.peer_uid = sources.peer_uid, lambda _: (
                0 if hello else os.geteuid() + 1)
            for _ in range(4):
                assert not answers(s, p.path)
                assert s.all[0].socket is None
            sources.peer_uid = uid
            assert p.asked == [] and s.all[0].silent_until == 0
            # one that the user names may be anyone's
            s.search = False
            sources.peer_uid = lambda _: os.geteuid() + 1
            assert answers(s, p.path) == (hello is None)
            sources.peer_uid = uid
            p.end()


@case
def the_user_of_a_peer_is_the_one_that_the_kernel_names():
    with Box() as box:
        p = Process(box.path("own"))
        s = sources.dial(p.path, socket.SOCK_SEQPACKET)
        assert sources.peer_uid(s) == os.geteuid()
        s.close()
        p.end()


@case
def one_that_closes_is_not_silent():
    with Box() as box:
        s, p = sources.Sources([box.path("closes")]), Process(box.path("closes"))
        for _ in range(3):
            assert answers(s, p.path)
            for peer in p.peers:
                peer.shutdown(socket.SHUT_RDWR)
            assert not answers(s, p.path)
            assert s.all[0].silent_until == 0 and s.all[0].socket is None
        p.end()


@case
def to_look_whether_something_listens_takes_no_connection():
    with Box() as box:
        s, p = searched(box), Process(box.path("found"))
        dead = Process(box.path("found2"))
        dead.kill()
        for _ in range(5):
            s.find()
            assert [x.path for x in s.all if x.path] == [p.path]
        assert p.peers == []
        # a living one beside a dead one stays, connected or not
        assert answers(s, p.path)
        for _ in range(5):
            s.find()
            assert [x.path for x in s.all if x.path] == [p.path]
        assert len(p.peers) == 1
        p.end()


@case
def no_more_sources_than_there_are_places_and_no_path_beyond_an_address():
    s = sources.Sources(["/s%d" % i for i in range(sources.MOST + 3)])
    assert [x.path for x in s.all] == ["/s%d" % i for i in range(sources.MOST)]
    for path, is_one in (("/" + "x" * 106, True), ("/" + "x" * 107, False),
                         ("/" + "\u00e4" * 53, True),
                         ("/" + "\u00e4" * 54, False)):
        s = sources.Sources([path])
        assert (s.path(0) == path) == is_one, path
    for i in (-1, sources.MOST, 10 ** 12):
        assert s.path(i) == ""


@case
def folders_that_others_can_write_to_are_not_trusted():
    with Box() as box:
        for mode, good in ((0o755, True), (0o700, True), (0o775, False),
                           (0o757, False), (0o1777, False)):
            os.chmod(box.dir, mode)
            assert IS_TRUSTED(box.dir) == good, oct(mode)
        os.chmod(box.dir, 0o700)
        assert not IS_TRUSTED(box.write("file", ""))
        os.symlink(box.dir, box.path("link"))
        assert not IS_TRUSTED(box.path("link"))
        assert not IS_TRUSTED(box.path("none"))


@case
def answers_are_json_of_one_key_and_numbers_are_exact():
    good = ((b'{"a": 9223372036854775807}', 2**63 - 1),
            (b'{"a": 18446744073709551615}', 2**64 - 1),
            (b'{"a": null}', None), (b'{"a": [0.1, true]}', [0.1, True]),
            ('{"a": "\u00e4"}'.encode(), "\u00e4"))
    bad = (b"", b"5", b"null", b'"a"', b"[1]", b"{}", b'{"a": 1, "b": 2}',
           b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": "\xff"}', b'{"a": 1',
           '{"a": 1}'.encode("utf-16"), b'{"a": ' + b"[" * 100000)
    with Box() as box:
        p = Process(box.path("json"), most=1 << 17)
        s = sources.Sources([p.path])
        for p.says, want in good:
            assert s.ask(0, "/r") == want, p.says
        for p.says in bad[1:]:
            try:
                raise AssertionError("%r for %r" % (s.ask(0, "/r"), p.says))
            except sources.NoAnswer:
                pass
        # none of these ended the connection
        assert len(p.peers) == 1
        p.end()


@case
def what_a_list_says_of_itself_takes_neither_time_nor_room():
    def said(page):
        p.answers["/l"] = page
        return s.list(0, "/l")

    with Box() as box:
        p = Process(box.path("list"), most=1 << 17)
        s = sources.Sources([p.path])
        assert said(listed(x=[1, 2])) == {"x": [1, 2], "total": 2}
        for count in (0, -1, True, "2", 1.5, None):
            assert said({"count": count, "total": 5, "x": [1]}) == {
                "total": 0}, count
        huge = said({"count": 10 ** 15, "total": 10 ** 15, "x": [1]})
        assert huge == {"x": [1], "total": 10 ** 15}
        assert said(7) == said([1]) == {"total": 0}
        assert said({"count": 1, "total": 1, "total2": 3, "y": {}, "z": "z",
                     "x": []}) == {"x": [], "total": 1}
        p.end()


main()
