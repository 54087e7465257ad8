# SPDX-License-Identifier: GPL-2.0
"""wsctl run: what the command gets, signals, and that streams are released."""

import os
import pty
import signal
import subprocess

import pytest

from lib import broker
from lib.shell import run, status


@pytest.fixture
def mounted(bed):
    bed.make(agcount=16, streams=4)
    return bed


def start(path, script, *options, **more):
    return subprocess.Popen(
        ["wsctl", "run", "-n", "2", *options, path, "--", "sh", "-c", script],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        **more,
    )


def test_what_the_command_gets(mounted):
    script = """
        echo $WSFS_STREAMS $WSFS_STREAM_IDS
        IFS=,
        for fd in $WSFS_STREAM_FDS; do
            sed -n 's/^stream:[[:space:]]*//p' /proc/self/fdinfo/$fd
        done
        ls /proc/self/fd | wc -l
    """
    output = run("wsctl", "run", "-n", 3, mounted.path, "--", "sh", "-c", script).split()
    assert output[0] == "3"
    assert output[1].split(",") == output[2:5]
    # 0, 1, 2, the streams, and ls's own: nothing else of wsctl's is open.
    assert int(output[5]) == 7
    assert broker.reserved(mounted.path) == []


def test_closed_standard_descriptors(mounted):
    run("sh", "-c", f"wsctl run -n 2 {mounted.path} -- sh -c '"
        "case ,$WSFS_STREAM_FDS, in *,[012],*) exit 9;; esac' <&- >&- 2>&-")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_both(mounted, number):
    with start(mounted.path, "echo ready; exec sleep 1000") as process:
        assert process.stdout.readline() == "ready\n"
        assert len(broker.reserved(mounted.path)) == 2
        process.send_signal(number)
        assert process.wait(20) == 128 + number
    assert broker.reserved(mounted.path) == []


def test_a_command_may_catch_it(mounted):
    script = "trap 'echo caught; exit 5' TERM; echo ready; while :; do sleep 0.1; done"
    with start(mounted.path, script) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "caught\n"
        assert process.wait(20) == 5
    assert broker.reserved(mounted.path) == []


def test_a_killed_wsctl_leaves_the_streams_to_the_command(mounted):
    with start(mounted.path, "echo $$; exec sleep 1000") as process:
        command = int(process.stdout.readline())
        process.kill()
        process.wait(20)
        assert len(broker.reserved(mounted.path)) == 2
        os.kill(command, signal.SIGTERM)
        broker.wait_for(lambda: broker.reserved(mounted.path) == [])


def test_what_stays_behind_keeps_the_streams(mounted):
    output = run("wsctl", "run", mounted.path, "--", "sh", "-c",
                 "sleep 1000 >/dev/null 2>&1 & echo $!")
    assert len(broker.reserved(mounted.path)) == 1
    os.kill(int(output), signal.SIGKILL)
    broker.wait_for(lambda: broker.reserved(mounted.path) == [])


def test_ctrl_c_on_a_terminal_comes_once(mounted):
    script = "n=0; trap 'n=$((n+1))' INT; echo ready; i=0; " \
             "while [ $i -lt 10 ]; do sleep 0.1; i=$((i+1)); done; echo count=$n; exit 3"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("wsctl", ["wsctl", "run", mounted.path, "--", "sh", "-c", script])
    text = b""
    while b"ready" not in text:
        text += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    try:
        while data := os.read(terminal, 1000):
            text += data
    except OSError:
        pass  # the other end is closed
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    assert b"count=1" in text
    assert broker.reserved(mounted.path) == []


def test_exec_is_the_same_process(mounted):
    with start(mounted.path, "echo $$; exec sleep 1000", "--exec") as process:
        assert int(process.stdout.readline()) == process.pid
        assert len(broker.reserved(mounted.path)) == 2
        process.terminate()
    assert broker.reserved(mounted.path) == []


def test_status(mounted):
    assert status("wsctl", "run", mounted.path, "--", "sh", "-c", "exit 77")[0] == 77
    assert status("wsctl", "run", mounted.path, "--", "/no/such")[0] == 127
    assert status("wsctl", "run", mounted.path, "--", "/etc/passwd")[0] == 126
    assert status("wsctl", "run", "-n", 5, mounted.path, "--", "true")[0] == 125
    assert broker.reserved(mounted.path) == []
