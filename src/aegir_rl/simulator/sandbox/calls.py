"""Sending the arguments of calls to a program, one call at a time.

A program gets the arguments of a call when the host has the result of the call before. So the process that runs a solution never
has arguments that it has not been asked about, and a frame that it forges is the answer to the call it was about.
"""

import json
import os
from collections.abc import Sequence

from aegir_rl.simulator.task import Json


def encode_frame(content: bytes) -> bytes:
    """Four bytes of length, and the content."""
    return len(content).to_bytes(4, "big") + content


class CallFeed:
    """Sends the arguments of calls, each when the result of the one before has come, and closes the pipe after the last.

    `file` does not block; `results` is what has come of the program's result frames, to which others add.
    """

    def __init__(
        self, file: int, calls: Sequence[Sequence[Json]], results: bytearray, first: bytes = b""
    ) -> None:
        self.file: int | None = file
        self._calls, self._results, self._waiting = calls, results, first
        self._place, self._frames, self._sent = 0, 0, 0

    def send(self) -> bool:
        """Send what may be sent by now; whether something is left that the pipe did not take."""
        self._count_frames()
        while self.file is not None:
            try:
                if self._waiting:
                    self._waiting = self._waiting[os.write(self.file, self._waiting) :]
                elif self._sent < min(self._frames, len(self._calls)):
                    self._waiting = encode_frame(json.dumps(self._calls[self._sent]).encode())
                    self._sent += 1
                elif self._frames > len(self._calls):
                    self.close()
                else:
                    return False
            except BlockingIOError:
                return True
            except BrokenPipeError:
                self.close()
        return False

    def close(self) -> None:
        """Send nothing more."""
        if self.file is not None:
            os.close(self.file)
            self.file = None

    def _count_frames(self) -> None:
        """Count whole frames: one for the start of the program, then one for each call."""
        while len(self._results) - self._place >= 4:
            length = int.from_bytes(self._results[self._place : self._place + 4], "big")
            if len(self._results) - self._place < 4 + length:
                return
            self._place += 4 + length
            self._frames += 1
