"""Who is the daemon: one process per user and directory, elected by a lock that lives as long as it does.

The lock file is never deleted, so two processes can never hold locks on two files of the same name. The socket is
replaced only under the lock, and removed only where it is still our own.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import time
from pathlib import Path

from ..cli import rendezvous
from ..cli.catalogue import VERSION
from ..cli.link import read_pid, with_deadline
from ..cli.rendezvous import Post

LOCK_SECONDS = 12.0
"""How long we wait for a daemon that is just ending its sessions."""
LOOK_SECONDS = 0.2
"""How often we look meanwhile whether it serves after all."""
LOOK_AGAIN = signal.SIGURG
"""Tells a daemon to look whether its socket is still there. Harmless to one that has not learnt that yet, or has left."""
BACKLOG = 256


class Refused(Exception):
    """This process may not be the daemon; the text says why."""


def _elect(lock: int, directory: str, post: Post) -> None:
    """Wait for the lock. Its holder may be leaving, or serve (then it is the daemon), or have lost its socket."""
    deadline = time.monotonic() + LOCK_SECONDS
    told = 0
    while True:
        try:
            with_deadline(LOOK_SECONDS, lambda: fcntl.flock(lock, fcntl.LOCK_EX))
            return
        except TimeoutError:
            holder = read_pid(directory, post)
            if _answers(post.socket):
                raise Refused(f"another {post.package} (pid {holder}) serves {directory}") from None
            if time.monotonic() > deadline:
                raise Refused(f"a {post.package} that does not answer (pid {holder}) holds {directory}") from None
            if holder and holder != told:
                os.kill(holder, LOOK_AGAIN)
                told = holder


def _answers(name: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.setblocking(False)
        try:
            line.connect(name)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True


class Claim:
    """The place of the daemon, held: the directory, the lock, the listening socket, the pid file."""

    def __init__(self, directory: Path, lock: int, post: Post = rendezvous.DAEMON) -> None:
        self.directory = directory
        self.post = post
        self._lock = lock
        self._identity: tuple[int, int] | None = None
        self.listener = self._listen()

    @classmethod
    def take(cls, post: Post = rendezvous.DAEMON) -> Claim:
        """Become the daemon, or the server of another kind, or say who is it already."""
        os.umask(0o077)
        directory = rendezvous.runtime_directory()
        try:
            rendezvous.secure(directory, create=True)
        except rendezvous.Unsafe as unsafe:
            raise Refused(str(unsafe)) from None
        try:
            os.chdir(directory)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            lock = os.open(post.life_lock, flags, 0o600)
            _elect(lock, directory, post)
            claim = cls(Path(directory), lock, post)
            claim._write_pid()
        except OSError as error:
            raise Refused(f"cannot use {Path(directory, error.filename or '')}: {error.strerror}") from None
        return claim

    @property
    def socket_path(self) -> Path:
        return self.directory / self.post.socket

    def _listen(self) -> socket.socket:
        """Listen in the directory we stand in: its path may be longer than a socket's address can be."""
        name = Path(self.post.socket)
        name.unlink(missing_ok=True)  # whoever made it is dead: we hold its lock
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(self.post.socket)
        name.chmod(0o600)
        listener.listen(BACKLOG)
        listener.setblocking(False)
        found = name.lstat()
        self._identity = (found.st_dev, found.st_ino)
        return listener

    def _write_pid(self) -> None:
        """The pid with its start time, without which a pid says nothing about who has it now."""
        draft = Path(self.post.pid + ".new")
        draft.write_text(f"{os.getpid()} {rendezvous.started_at(os.getpid())} {VERSION}\n")
        draft.replace(self.post.pid)

    def is_reachable(self) -> bool:
        """True while the socket in the directory is the one that we listen on."""
        try:
            found = self.socket_path.lstat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def listen_again(self) -> socket.socket:
        """A new socket where something (a cleaner of temporary files) has removed ours, which is closed already."""
        os.chdir(self.directory)
        self.listener = self._listen()
        self._write_pid()
        return self.listener

    def withdraw(self) -> None:
        """Be found no more, while still holding the lock; a client that comes now starts the next daemon."""
        if self.is_reachable():
            self.socket_path.unlink(missing_ok=True)

    def release(self) -> None:
        """Let the next daemon in; the lock file stays."""
        self.withdraw()
        self.listener.close()
        if read_pid(str(self.directory), self.post) in (0, os.getpid()):
            (self.directory / self.post.pid).unlink(missing_ok=True)
        os.close(self._lock)
