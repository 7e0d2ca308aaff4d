"""Long evaluations: other Python threads run meanwhile, Ctrl-C ends them, threads share a result."""
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import erx as er

LONG = er.expr("round<f64>(exp(sin(x)) * erf(x))")  # nearly every element needs multiple precision: microseconds each


def long_result(n=3_000_000):
    return LONG(x=np.linspace(0.1, 1, n))


def test_other_threads_run_while_a_result_is_evaluated():
    ticks = 0
    done = threading.Event()

    def count():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    r = long_result(300_000)
    thread.start()
    before = ticks
    start = time.monotonic()
    r.lo
    elapsed = time.monotonic() - start
    during = ticks - before
    done.set()
    thread.join()
    assert during > min(20, elapsed * 100), f"{during} ticks in {elapsed:.2f} s"


def test_a_signal_ends_an_evaluation_and_the_next_one_works():
    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    r = long_result()
    old = signal.signal(signal.SIGALRM, stop)
    try:
        start = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Stop):
            r.lo
        assert time.monotonic() - start < 3
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    small = long_result(1000)
    assert small.covers(small.lo).all()


def test_ctrl_c_is_a_keyboard_interrupt():
    code = textwrap.dedent("""
        import signal, sys, numpy as np, erx as er
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell inherits that it is ignored
        r = er.expr("round<f64>(exp(sin(x)) * erf(x))")(x=np.linspace(0.1, 1, 20_000_000))
        print("ready", flush=True)
        try:
            r.lo
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            sys.exit(7)
    """)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                               env={**__import__("os").environ, "PYTHONPATH": ":".join(sys.path)})
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 7 and "interrupted" in out
    assert time.monotonic() - start < 5


def test_threads_may_share_a_result():
    r = long_result(200_000)
    found = []
    threads = [threading.Thread(target=lambda: found.append(r.lo)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 4 and all(np.array_equal(f, found[0]) for f in found)


def test_results_do_not_depend_on_the_run():
    first, second = long_result(50_000), long_result(50_000)
    assert np.array_equal(first.lo, second.lo) and np.array_equal(first.hi, second.hi)
