"""A spec is lowered once for all calls with the same types and shapes: nothing that depends on anything else may be shared."""
import itertools
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest
import torch

import erx as er

GEMM = "spec gemm(A: f32[M, K], B: f32[K, N], alpha: real = 1) -> f32[M, N] { return round<f32>(alpha * A @ B) }"
rng = np.random.default_rng(3)


def matrix(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def said(results):
    """All that a call says: texts, types, shapes, sets, and what a report says of the sets' lower ends."""
    every = results if isinstance(results, tuple) else (results,)
    return [(r.spec, r.name, r.dtype, r.dtype.kind, r.shape, np.array2string(r.lo), np.array2string(r.hi)) for r in every]


def assert_alike(text, calls, twice=True):
    """One spec for all calls, beside a fresh one for each."""
    shared = er.parse(text)
    for inputs in [*calls, *calls] if twice else calls:
        assert said(shared(**inputs)) == said(er.parse(text)(**inputs)), inputs


def test_other_values_and_other_shapes():
    shapes = [(2, 3, 4), (2, 3, 4), (4, 3, 2), (1, 1, 1), (2, 0, 3)]
    assert_alike(GEMM, [{"A": matrix(m, k), "B": matrix(k, n)} for m, k, n in shapes])


def test_more_shapes_than_are_kept():
    assert_alike(GEMM, [{"A": matrix(n, 2), "B": matrix(2, n)} for n in range(1, 21)])


def test_an_input_with_a_default_given_and_not():
    A, B = matrix(2, 3), matrix(3, 2)
    assert_alike(GEMM, [{"A": A, "B": B}, {"A": A, "B": B, "alpha": 2}, {"A": A, "B": B, "alpha": 0.5}, {"A": A, "B": B, "alpha": 0.0}, {"A": A, "B": B}])


KINDS = [1, 3, 1.0, 0.1, -2.5, True, False, 2j, 2**70, np.float32(0.1), np.float64(0.1), np.int8(5), np.uint64(2**63), np.bool_(True), np.complex64(1j),
         np.array(2), np.array([2]), np.array([2.0]), np.array([[2.0]]), np.array([2], np.int8), np.array([2], np.uint8), np.array([2.0], np.float16),
         np.array([2.0], ml_dtypes.bfloat16), np.array([2.0, 3.0]), np.array([1j]), torch.tensor(2.0), torch.tensor([2.0]), torch.tensor([2.0]).bfloat16(),
         er.array([2.0], dtype="float<e=8, m=7>"), er.array([2.0], dtype="float<e=8, m=8>"), er.array([2.0], dtype="f8e4m3"), er.array(2.0, dtype="bfloat16")]


@pytest.mark.parametrize("text", ["x * 3", "round<f32>(x + 1)", "x @ ones(1)", "conj(x)", "where(x == 2, x, 1)", "x"])
def test_an_expression_of_every_kind_of_argument(text):
    """A number is no array, True is not 1, and formats of the same values keep their names."""
    shared = er.expr(text)
    for x in itertools.chain(KINDS, reversed(KINDS), KINDS):
        try:
            expected = said(er.expr(text)(x=x))
        except er.SpecError as error:
            with pytest.raises(er.SpecError) as again:
                shared(x=x)
            assert str(again.value) == str(error)
        else:
            assert said(shared(x=x)) == expected, x


def test_generic_formats():
    text = "spec twice<F: format>(x: F[...S]) -> F[...S] { return round<F>(x + x) }"
    formats = ["f32", "bfloat16", "float16", "float<e=8, m=7>", "float<e=5, m=10>", "f8e5m2"]
    assert_alike(text, [{"x": er.array(np.ones(shape), dtype=f)} for f in formats for shape in ((2,), (1, 2), ())])


def test_whole_numbers_that_shapes_and_loops_are_made_of():
    numbers = [3, 2, 3, 1, 4, 2.0, np.int64(3), np.array(2), 5]
    x = matrix(6)
    assert_alike("spec head(x: f32[N], n: int) -> f32[n] { return x[:n] }", [{"x": x, "n": n} for n in numbers])
    assert_alike("spec steps(x: f32[N], n: i32) -> f32[] { return fold (h = 0) over i in 0..n { next f32(h + x[i]) } }", [{"x": x, "n": n} for n in numbers])
    shared = er.expr("n + x[n:]")
    for n in [n for n in numbers * 2 if not isinstance(n, float)]:
        assert said(shared(x=x, n=n)) == said(er.expr("n + x[n:]")(x=x, n=n)), n


def test_scalars_of_one_type_share_no_value():
    text = "spec f(x: f32[N], s: real, t: bf16) -> f32[N] { return round<f32>(s * x + t) }"
    x = np.array([np.inf, 1, 2], np.float32)
    assert_alike(text, [{"x": x, "s": s, "t": t} for s in (0, 1, 0.5, -0.0, 1.0) for t in (0, 0.5, 2)])  # where s is 0 its product is absent


def test_assumptions_are_of_the_values():
    spec = er.parse("spec root(x: f32[N], s: real) -> f32[N] {\n  assume s > 0\n  assume x >= 0\n  return round<f32>(sqrt(x) * s)\n}\n")
    x = np.array([1, 4], np.float32)
    for _ in range(2):
        assert spec(x, 1).check(np.sqrt(x)).applicable and spec(x, 1).check(np.sqrt(x))
        assert "s > 0" in str(spec(x, -1).check(x)) and not spec(x, -1).check(x).applicable
        assert "x >= 0" in str(spec(-x, 1).check(x)) and not spec(-x, 1).check(x).applicable
    ahead = spec(x, 1)
    assert not er.expr("y + 1")(y=spec(-x, 1)).check(x).applicable and er.expr("y + 1")(y=ahead).check(x + np.sqrt(x)).applicable


def test_mistakes_are_told_again():
    spec = er.parse(GEMM)
    good, bad = (matrix(2, 3), matrix(3, 2)), [{"A": matrix(2, 3), "B": matrix(2, 3)}, {"A": matrix(2, 3)}, {"A": matrix(2, 3, dtype=np.float64), "B": matrix(3, 2)},
                                               {"A": matrix(2, 3), "B": matrix(3, 2), "C": 1}, {"A": matrix(2), "B": matrix(3, 2)}]
    texts = []
    for _ in range(3):
        for inputs in bad:
            with pytest.raises(er.SpecError) as error:
                spec(**inputs)
            texts.append(str(error.value))
        assert spec(*good).covers(spec(*good).lo).all()
    assert texts[:len(bad)] * 3 == texts and len(set(texts[:len(bad)])) == len(bad)
    narrow = er.parse("spec f(n: i8, x: bf16[N]) -> bf16[N] { return x }")  # what does not fit depends on the values alone
    ones = np.ones(2, np.float32).astype(ml_dtypes.bfloat16)
    for _ in range(2):
        assert narrow(5, ones).covers(ones).all()
        with pytest.raises(er.SpecError, match="300"):
            narrow(300, ones)


def test_results_of_one_graph_stay_apart():
    spec = er.parse('spec f(x: f64[N]) -> f64[N] { return round<f64>(any_of<"way">(x, x + 1)) }')
    x, y = np.array([1.0]), np.array([5.0])
    first, second, other = spec(x), spec(x), spec(y)
    assert (first - first).hi.tolist() == [0] and (first - second).lo.tolist() == [-1] and (first - second).hi.tolist() == [1]
    assert (other - first).lo.tolist() == [3] and (other - first).hi.tolist() == [5]
    assert first.covers(x).all() and not first.covers(y).all() and other.covers(y).all()
    x += 4  # captured before
    assert first.lo.tolist() == [1.0] and spec(x).lo.tolist() == [5.0]


def test_two_inputs_of_the_same_elements():
    spec = er.parse("spec f(x: f32[N], y: f32[N]) -> f32[N] { return round<f32>(x - 2 * y) }")
    x, y = matrix(3), matrix(3)
    for a, b in ((x, x), (x, y), (y, x), (x, x)):
        assert said(spec(a, b)) == said(er.parse(str(spec))(a, b))


def test_a_result_is_an_input_and_data_is():
    spec = er.parse("spec f(x: f32[N]) -> f32[N] { return round<f32>(x / 3) }")
    x = matrix(4)
    for _ in range(2):
        assert np.array_equal(spec(spec(x)).lo, (x / np.float32(3)) / np.float32(3))
        assert np.array_equal(spec(x).lo, x / np.float32(3))


def test_a_result_of_before_a_loop_is_none_of_its_steps():
    """Its parts are made when the loop first looks at it, and are still older than the loop."""
    spec = er.parse("spec f(x: f64[N], y: f64[N]) -> f64[N] { let z = x * y\n  return round<f64>(z + 1) }")
    x, y = np.arange(1.0, 4), np.array([2.0, 2, 2])
    earlier = spec(x, y)
    now = er.fold(lambda h, i: er.round(h + earlier, "f64"), np.zeros(3), range(4))
    looked_at = spec(x, y)
    assert looked_at.reshape(3).lo.tolist() == earlier.lo.tolist()
    before = er.fold(lambda h, i: er.round(h + looked_at, "f64"), np.zeros(3), range(4))
    assert now.spec == before.spec and now.lo.tolist() == before.lo.tolist() == (4 * (x * y + 1)).tolist()
    inside = er.fold(lambda h, i: spec(h, y), np.ones(3), range(3))
    assert inside.lo.tolist() == [15.0] * 3


def test_a_compute_format_after_a_check_without_one():
    spec = er.parse("spec f(x: f32[N]) -> f32[N] { return round<f32>(within<f32>(x * 3 + 1)) }")
    for _ in range(2):
        r, fresh = spec(matrix(50)), None
        out = r.lo
        assert r.check(out).tightness < r.check(out, "bfloat16").tightness
        plain = er.parse("spec f(x: f32[N]) -> f32[N] { return round<f32>(x * 3 + 1) }")(matrix(50))
        with pytest.raises(er.SpecError, match="within"):
            plain.check(plain.lo, "bfloat16")


def test_several_results_and_their_names():
    text = "spec f(x: f32[M, N]) -> (low: f32[M], high: bf16[M]) { return (round<f32>(sum(x, axis=1)), round<bf16>(max(x, axis=1))) }"
    assert_alike(text, [{"x": matrix(2, 3)}, {"x": matrix(3, 2)}, {"x": matrix(2, 3)}])
    results = er.parse(text)(matrix(2, 3))
    assert results["high"].dtype == "bf16" and results["low"].shape == (2,) and len(results) == 2


def test_threads_call_one_spec():
    spec = er.parse(GEMM)
    inputs = [(matrix(1 + k % 12, 3), matrix(3, 2)) for k in range(48)]
    expected = [er.parse(GEMM)(*pair).lo for pair in inputs]
    wrong = []

    def work(offset):
        for k in range(len(inputs)):
            i = (k * 5 + offset) % len(inputs)
            if not np.array_equal(spec(*inputs[i]).lo, expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(7 * t,)) for t in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_what_is_kept_holds_no_inputs():
    class Array(np.ndarray):
        pass

    spec = er.parse(GEMM)
    A = matrix(2, 2).view(Array)
    gone = weakref.ref(A)
    assert spec(A, matrix(2, 2)).check(A) is not None
    del A
    assert gone() is None


def test_graphs_that_are_too_large_to_be_kept():
    spec = er.expr(" + ".join(["x * 3"] * 1500))
    for x in (np.ones(2), np.full(2, 2.0), np.ones(3)):
        assert spec(x=x).lo.tolist() == [4500 * v for v in x]
