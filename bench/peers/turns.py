"""How a peer takes turns with the program that is measured.

It reads lines. `measure NAME<tab>FILE`: it reads what the program has shared (see `share` in
../bench.h), computes the gradient once, which also compiles what there is to compile, writes it to
FILE.result in the same form, and answers `ready`, or `cannot` and the reason. `primal` and
`gradient`: it runs that once and answers with the milliseconds, of all its threads together; it has
one processor.
"""

import os
import sys
import time
from functools import partial

import numpy as np


class Cannot(Exception):
    """Why a function is not measured."""


class Shared(dict):
    """What a program shares, by name; numbers are arrays with one entry."""

    def __init__(self, path):
        super().__init__()
        with open(path, "rb") as file:
            while line := file.readline():
                name, count = line.split()
                self[name.decode()] = np.frombuffer(file.read(8 * int(count)), dtype=np.float64)

    def number(self, name):
        return int(self[name][0])


def measured(peer):
    """What is measured, by name, of the functions that a peer written with arrays has."""
    return {
        "dot": peer["dot"],
        "matmul i j k": partial(peer["matmul"], False),
        "matmul i k j": partial(peer["matmul"], False),
        "matmul a b^T": partial(peer["matmul"], True),
        "lse": peer["lse"],
        "llsq": peer["llsq"],
        "kmeans gradient": partial(peer["kmeans"], False),
        "kmeans direction": partial(peer["kmeans"], True),
        "gmm": peer["gmm"],
        "lstm": peer["lstm"],
        "ode": peer["ode"],
        "ba": peer["ba"],
        "det": peer["det"],
    }


def serve(functions):
    """Answers until there are no more lines. Each of `functions` gets what is shared and gives two
    functions without arguments: the primal, and the gradient, whose result can be turned into an
    array, or a list of such results. Both have finished when they return."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    primal = gradient = None
    for line in sys.stdin:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "measure":
            name, path = rest.split("\t")
            try:
                if name not in functions:
                    raise Cannot("this function is not written for it")
                primal, gradient = functions[name](Shared(path))
                write_result(path + ".result", gradient())
                primal()
                say("ready")
            except Cannot as reason:
                say(f"cannot {reason}")
            except (MemoryError, RuntimeError, ValueError) as error:
                say("cannot " + f"{type(error).__name__}: {error}".splitlines()[0])
        else:
            function = {"primal": primal, "gradient": gradient}[word]
            start = time.process_time()
            function()
            say(f"{1e3 * (time.process_time() - start):.6f}")


def write_result(path, result):
    parts = result if isinstance(result, (list, tuple)) else [result]
    flat = np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in parts])
    with open(path, "wb") as file:
        file.write(f"result {flat.size}\n".encode())
        file.write(flat.tobytes())


def say(text):
    print(text, flush=True)
