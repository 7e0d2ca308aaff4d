"""Random graphs of 10 to 40 nodes against the oracle: every execution that it lists is covered.

    ERX_GRAPHS=20000 ERX_SEED=5 pytest -s tests/python/test_random_graphs.py
"""
import collections
import os
import random
import re

import numpy as np
import pytest

from graphs import Graphs, count_nodes
from oracle import indices
from test_random_expressions import Tally, array, check_tightness, covers_each, executions, explain, judged, stored

COUNT = int(os.environ.get("ERX_GRAPHS", 150))
SEED = int(os.environ.get("ERX_SEED", 1))
BATCH = 50


def check_graph(seed, tally):
    rng = random.Random(seed)
    case = None
    while case is None:
        case = Graphs(rng).graph()
    tally.nodes.append(count_nodes(case.node))
    tally.words.update(re.findall(r"\b(acc|within|any_of|fold|in|round|where|sum|max|min|transpose|reshape|f\d+|sr|ftz)\b", case.text))
    found = executions(case, rng, limit=60, tally=tally)
    result, lo, hi, known = judged(seed, case, found, tally)
    columns = {i: stored(values, case.fmt) for i, (values, _) in known.items()}
    for k in range(max(map(len, columns.values()), default=0)):
        row = [columns[i][k % len(columns[i])] if columns.get(i) else 0.0 for i in indices(case.node.shape)]
        out = array(row, case.node.shape, case.fmt)
        covered = covers_each(result, out, one_choice="split({1" in case.text).reshape(case.node.shape)
        wrong = [i for i in indices(case.node.shape) if columns.get(i) and not covered[i]]
        assert not wrong, explain(seed, case, f"a legal execution is refused at {wrong[0]}: {float(out[wrong[0]]).hex()}, "
                                  f"the set is within [{float(lo[wrong[0]])!r}, {float(hi[wrong[0]])!r}]")
        tally.executions += sum(1 for i in columns if columns[i] and k < len(columns[i]))
    for i, (values, complete) in known.items():
        if complete:
            check_tightness(seed, case, result, i, values, lo[i], hi[i], tally)


def graph_tally():
    tally = Tally()
    tally.nodes, tally.words, tally.executions = [], collections.Counter(), 0
    return tally


@pytest.mark.parametrize("batch", range(max(COUNT // BATCH, 1)))
def test_every_execution_of_a_graph_is_covered(batch):
    tally = graph_tally()
    for k in range(BATCH):
        check_graph(SEED * 10**6 + batch * BATCH + k, tally)
    print(f"{tally}; {tally.executions} different results of elements, graphs of {min(tally.nodes)} to {max(tally.nodes)} nodes")
    assert min(tally.nodes) >= 10 and max(tally.nodes) <= 40
    assert tally.skipped < tally.elements / 5


def test_the_generator_mixes_all_constructs():
    words, ranks = collections.Counter(), set()
    for seed in range(400):
        case = Graphs(random.Random(seed)).graph()
        if case is None:
            continue
        ranks.add(len(case.node.shape))
        words.update(re.findall(r"\b(acc|within|any_of|fold|fn|in|where|sum|max|transpose|reshape|sr|ftz|contract)\b", case.text))
    assert ranks == {1, 2, 3, 4}
    missing = {"acc", "within", "any_of", "fold", "fn", "in", "where", "sum", "max", "transpose", "reshape", "sr", "contract"} - set(words)
    assert not missing, missing
