"""Messages over a socket: whole or not at all, however they are cut."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.processes.channel import Channel, TooLong, frame, read_message


@given(
    messages=st.lists(st.binary(max_size=300), max_size=8),
    cuts=st.lists(st.integers(1, 50), min_size=1, max_size=5),
)
def test_messages_arrive_as_they_were_sent_however_they_are_cut(
    messages: list[bytes], cuts: list[int]
):
    here, there = Channel.pair()
    content, received, turn = b"".join(map(frame, messages)), [], 0
    while content:
        size = cuts[turn % len(cuts)]
        here.connection.sendall(content[:size])
        content, turn = content[size:], turn + 1
        received += there.receive_available() or []
    assert received == messages
    here.close()
    assert there.receive() is None
    there.close()


def test_a_message_larger_than_any_buffer_arrives():
    here, there = Channel.pair()
    large = bytes(range(256)) * 20_000  # 5 MB
    sending = threading.Thread(target=here.send, args=(large,))
    sending.start()
    assert there.receive() == large
    sending.join()
    here.close()
    there.close()


def test_a_message_that_breaks_off_is_the_end():
    here, there = Channel.pair()
    here.connection.sendall(frame(b"whole") + frame(b"cut off")[:-2])
    here.close()
    assert there.receive() == b"whole"
    assert there.receive() is None
    there.close()


def test_a_message_that_is_too_long_is_refused_before_it_is_read():
    here, there = Channel.pair()
    here.connection.sendall(frame(b"x" * 100)[:4])  # its length alone
    with pytest.raises(TooLong):
        there.receive(longest=99)
    here.close()
    there.close()


def test_what_was_sent_before_the_other_side_left_unread_messages_still_arrives():
    here, there = Channel.pair()
    here.send(b"never read")
    there.send(b"the last words")
    there.close()  # with something unread, which resets the connection
    assert here.receive() == b"the last words"
    assert here.receive() is None
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        here.send(b"nobody is there")
    here.close()
    here.close()  # twice does no harm


def test_an_asyncio_stream_reads_the_same_messages():
    async def scenario() -> list[bytes]:
        stream = asyncio.StreamReader()
        stream.feed_data(frame(b"") + frame(b"two"))
        stream.feed_eof()
        read = [await read_message(stream), await read_message(stream)]
        with pytest.raises(asyncio.IncompleteReadError):
            await read_message(stream)
        return read

    assert asyncio.run(scenario()) == [b"", b"two"]
