"""The Python interface: specs, results, reports. Each verdict is asserted both ways."""
import copy
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import erx as er

GEMM = """
spec gemm(A: bf16[M, K], B: bf16[K, N], alpha: real = 1) -> bf16[M, N] {
  return round<bf16>(in f32 { round<f32>(alpha) * acc<f32>(A @ B) })
}
"""
TWO = """
spec both(x: f32[N]) -> (twice: f32[N], half: f32[N]) {
  return (round<f32>(2 * x), round<f32>(x / 2))
}
"""
SEVERAL = GEMM + TWO


def small(dtype=np.float32):
    return np.array([[1, 2], [3, 4]], dtype)


# Specs

def test_an_expression_takes_its_free_names_as_inputs():
    e = er.expr("round<bf16>(alpha*A) @ B + C")
    eye = np.eye(2, dtype=np.float32)
    r = e(A=small(), B=eye, C=np.zeros((2, 2), np.float32), alpha=0.5)
    assert r.covers(small() / 2).all()
    assert not r.covers(small()).any()
    assert set(e.parameters) == {"A", "B", "C", "alpha"}


def test_a_single_spec_is_callable_and_indexable():
    spec = er.parse(GEMM)
    A = er.array(small(), dtype="bfloat16")
    for call in (spec, spec["gemm"]):
        r = call(A=A, B=A, alpha=2)
        assert r.covers([[14, 20], [30, 44]]).all()
        assert not r.covers([[7, 10], [15, 22]]).any()
    assert spec.name == "gemm"
    assert call(A, A).covers([[7, 10], [15, 22]]).all()  # by position, with the default


def test_several_specs_are_indexed_by_name(tmp_path):
    path = tmp_path / "several.erx"
    path.write_text(SEVERAL)
    for program in (er.parse(SEVERAL), er.load(path), er.load(str(path))):
        assert list(program) == ["gemm", "both"]
        assert program["gemm"].name == "gemm"
        with pytest.raises(KeyError, match="there is no spec `gem`; did you mean `gemm`"):
            program["gem"]
        with pytest.raises(KeyError, match="there is no spec `softmax`; there are: gemm, both"):
            program["softmax"]
        with pytest.raises(TypeError, match=r"2 specs: choose one .*specs\['gemm'\]\(\.\.\); there are: gemm, both"):
            program(A=1, B=2)
        assert "softmax" not in program
    with pytest.raises(KeyError, match="there is no spec `gem`; did you mean `gemm`"):
        er.parse(GEMM)["gem"]
    with pytest.raises(KeyError, match="there is no spec `softmax`; there is: gemm"):
        er.parse(GEMM)["softmax"]


def test_errors_of_a_spec_are_spec_errors_with_a_place(tmp_path):
    assert issubclass(er.SpecError, ValueError)
    with pytest.raises(er.SpecError, match="(?s)unknown.*1:"):
        er.expr("nosuch(A)")(A=1.0)
    bad = tmp_path / "bad.erx"
    bad.write_text("spec f(x: f32[N]) -> bf16[N] { return x + 1 }\n")
    with pytest.raises(er.SpecError, match=r"(?s)bad\.erx:1:.*round<bf16>"):
        er.load(bad)
    with pytest.raises(er.SpecError, match="no such|cannot|not found|No such"):
        er.load(tmp_path / "missing.erx")


def test_wrong_calls_are_explained():
    spec = er.parse(GEMM)
    A = er.array(small(), dtype="bfloat16")
    with pytest.raises(er.SpecError, match="B"):
        spec(A=A)
    with pytest.raises(er.SpecError, match="alpha"):
        spec(A=A, B=A, alhpa=2)
    with pytest.raises(er.SpecError, match="K|dimension|shape"):
        spec(A=A, B=er.array(np.ones((3, 2)), dtype="bfloat16"))
    with pytest.raises(er.SpecError, match=r"(?s)`A`.*4\.01"):
        spec(A=np.array([[1, 2], [3, 4.01]], np.float32), B=A)
    with pytest.raises(TypeError, match="by name"):
        er.expr("x + 1")(1.0)
    with pytest.raises(TypeError, match="input `A`"):
        spec(A="A.npy", B=A)
    with pytest.raises(TypeError):
        er.expr(3)
    with pytest.raises(er.SpecError, match="er.parse"):
        er.expr(GEMM)


# Results

def test_the_hull_has_the_shape_and_kind_of_the_result():
    r = er.expr("any_of(round<bf16>(x), round<bf16, rtp>(x))")(x=np.array([1.001, 2.0], np.float32))
    assert r.lo.tolist() == [1.0, 2.0] and r.hi.tolist() == [1.0078125, 2.0]
    assert r.lo.dtype == np.float64 and r.shape == (2,)
    assert r.dtype == "bfloat16" == r.dtype and r.dtype == "bf16" and r.dtype != "float16"
    i = er.expr("x + 1")(x=np.array([[1, 2]], np.int32))
    assert i.lo.dtype == np.int64 and i.lo.tolist() == [[2, 3]]
    b = er.expr("x > 1")(x=np.array([1.0, 2.0]))
    assert b.lo.dtype == bool and b.lo.tolist() == [False, True]
    special = er.expr("round<f32>(x / 0)")(x=np.array([1.0, -1.0, 0.0]))
    assert special.lo[0] == np.inf and special.hi[1] == -np.inf and np.isnan(special.lo[2])


def test_a_real_result_is_stored_in_the_format_of_the_output():
    r = er.expr("x / 3")(x=np.array([1.0]))
    assert r.dtype == "real"
    for dtype in (np.float32, np.float16, np.float64):
        assert r.covers(np.array([1 / 3], dtype)).all()
        assert not r.covers(np.nextafter(np.array([1 / 3], dtype), dtype(1))).any()
    assert r.covers([1 / 3]).all()
    with pytest.raises((er.SpecError, TypeError)):
        r.covers(np.array([0]))


def test_views_are_views_of_the_sets():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    r = er.expr("any_of(x, x + 1)")(x=x)
    for view, of in [
        (r.T, x.T), (r.transpose(1, 2, 0), x.transpose(1, 2, 0)), (r.transpose((0, -1, 1)), x.transpose(0, -1, 1)),
        (r.reshape(4, 6), x.reshape(4, 6)), (r.reshape((-1, 8)), x.reshape(-1, 8)), (r[1], x[1]), (r[:, 1:, ::2], x[:, 1:, ::2]),
        (r[..., -1], x[..., -1]), (r[None, ..., ::-1], x[None, ..., ::-1]), (r[1, 2, 3], x[1, 2, 3]), (r[0:0], x[0:0]),
        (r[:, 5:2:-1], x[:, 5:2:-1]),
    ]:
        assert view.shape == of.shape
        assert np.array_equal(view.lo, of) and np.array_equal(view.hi, of + 1)
    assert len(r) == 2 and [v.shape for v in r] == [(3, 4)] * 2
    for bad in (2, (0, 0, 0, 0), (..., ...)):
        with pytest.raises(IndexError):
            r[bad]
    with pytest.raises(TypeError):
        r[np.array([True, False])]
    with pytest.raises(er.SpecError):
        r.reshape(5, 5)


def test_several_results_are_checked_together():
    x = np.array([1.0, 3.0], np.float32)
    results = er.parse(TWO)(x=x)
    assert isinstance(results, tuple) and len(results) == 2
    twice, half = results
    assert results["half"].lo.tolist() == [0.5, 1.5] and twice.name == "twice"
    assert results.check(2 * x, x / 2)
    report = results.check(2 * x, x)
    assert not report and report.violations == 2 and len(report.indices) == 2
    assert [i.tolist() for i in report.indices] == [[], [[0], [1]]]
    assert half.check(x / 2) and not half.check(x)
    er.assert_covers(results, 2 * x, x / 2)
    with pytest.raises(AssertionError):
        er.assert_covers(results, x, x / 2)
    with pytest.raises(TypeError):
        results.check(x)


def test_a_labelled_choice_is_one_choice_for_all_results():
    text = """
    spec f(x: f32[N]) -> (a: f32[N], b: f32[N]) {
      return (round<f32>(any_of<"way">(x, x + 1)), round<f32>(any_of<"way">(x, x + 1)))
    }"""
    x = np.array([1.0, 2.0], np.float32)
    results = er.parse(text)(x=x)
    assert results.check(x, x) and results.check(x + 1, x + 1)
    assert not results.check(x, x + 1)
    assert results[0].check(x) and results[1].check(x + 1)


def test_two_calls_choose_independently():
    e = er.expr("any_of<\"way\">(x, x + 1)")
    x = np.array([1.0])
    first, second = e(x=x), e(x=x)
    assert (first - first).lo.tolist() == [0] == (first - first).hi.tolist()
    assert (first - second).lo.tolist() == [-1] and (first - second).hi.tolist() == [1]
    ours = er.any_of(x, x + 1, label="way")  # of Python: one choice wherever it stands
    again = er.any_of(x, x + 1, label="way")
    assert (ours - again).hi.tolist() == [0]


# Reports

def test_a_report_counts_lists_and_explains():
    r = er.expr("round<bf16>(x)")(x=np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
    good = r.check(small())
    assert good and good.ok and good.violations == 0 and good.tightness == 1 and good.indices.shape == (0, 2)
    bad = r.check(np.array([[1, 2], [3, 4.03125]], np.float32))
    assert not bad and bad.violations == 1 and bad.indices.tolist() == [[1, 1]] and bad.indices.dtype == np.int64
    assert "4.03125" in str(bad) and "[1, 1]" in str(bad)
    data = json.loads(bad.to_json())
    assert data
    assert "1 violation" in repr(bad)


def test_a_report_on_nothing_says_so():
    r = er.expr("round<f32>(x + 1)")(x=np.zeros((2, 2), np.float32))
    report = r.check(np.zeros((2, 2)), where=np.zeros((2, 2), bool))
    assert report.ok and np.isnan(report.tightness) and "no element was checked" in repr(report)
    assert str(report).startswith("COVERED, but no element was checked: the mask is false everywhere\n") and "tightness" not in str(report)
    one = r.check(np.ones((2, 2)), where=np.array([[True, False], [False, False]]))
    assert str(one).startswith("COVERED: every element") and "1 element checked" in str(one) and "but" not in repr(one)
    empty = er.expr("round<f32>(x + 1)")(x=np.zeros((0, 2), np.float32)).check(np.zeros((0, 2)))
    assert str(empty).startswith("COVERED, but there is no element to check: the output is empty\n")
    two = er.parse(TWO)(x=[1.0, 2.0]).check([2.0, 4.0], [3.0, 4.0], where=[False, False])
    assert two.ok and str(two).startswith("COVERED, but no element")


def test_a_result_has_no_equality_and_no_copies():
    r = er.expr("round<f32>(x + 1)")(x=np.float32([1, 2]))
    for equal in (lambda: r == np.float32([2, 3]), lambda: r != np.float32([2, 3]), lambda: np.float32([2, 3]) == r, lambda: r == 2.0,
                  lambda: [2.0, 3.0] == r, lambda: r == er.expr("x")(x=1.0)):
        with pytest.raises(TypeError, match=r"has no ==; ask result\.covers\(output\)"):
            equal()
    assert r == r and r != None and r in [None, r] and len({r, r}) == 1  # noqa: E711
    assert copy.copy(r) is r
    spec = er.parse(GEMM)
    for thing, instead in (r, r"r\.lo and r\.hi"), (er.parse(TWO)(x=[1.0, 2.0]), r"r\.lo"), (r.check([2, 3]), "to_json"), (spec, "str"), (er.parse(SEVERAL), "text"):
        for copied in pickle.dumps, copy.deepcopy:
            with pytest.raises(TypeError, match=f"cannot be pickled or deep-copied: .*{instead}"):
                copied(thing)


def test_assert_covers_fails_with_the_report():
    r = er.expr("round<bf16>(x)")(x=np.array([1.0]))
    er.assert_covers(r, np.array([1.0], np.float32))
    with pytest.raises(AssertionError) as caught:
        er.assert_covers(r, np.array([1.5], np.float32))
    assert "1.5" in str(caught.value)
    with pytest.raises(TypeError):
        er.assert_covers(np.array([1.0]), np.array([1.0]))


def test_pytest_shows_the_line_of_the_test_and_the_explanation(tmp_path):
    (tmp_path / "test_kernel.py").write_text(
        "import erx as er\n\n\ndef test_kernel():\n"
        "    r = er.expr('round<bf16>(x)')(x=[1.0, 2.0])\n    er.assert_covers(r, [1.0, 2.5])\n"
    )
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, cwd=tmp_path)
    assert done.returncode == 1
    assert "test_kernel.py:6: AssertionError" in done.stdout and "2.5" in done.stdout and "_result.py" not in done.stdout


def test_options_of_a_check():
    r = er.expr("x + 0*y")(x=np.array([0.0, 1.0]), y=np.array([-1.0, 1.0]))
    out = np.array([-0.0, 1.0])
    assert r.covers(out).all()
    assert r.covers(out, signed_zero=True).tolist() == [False, True]
    wrong = np.array([5.0, 1.0])
    assert r.covers(wrong).tolist() == [False, True]
    assert r.check(wrong, where=np.array([False, True]))
    assert not r.check(wrong, where=[True, True])
    assert r.covers(wrong, where=np.array([False, True])).all()
    with pytest.raises(TypeError, match="boolean"):
        r.check(out, where=np.array([1, 1]))


def test_an_output_of_another_shape_is_an_error():
    r = er.expr("x + 1")(x=np.zeros(3))
    with pytest.raises(er.SpecError, match=r"3"):
        r.covers(np.ones(4))
    with pytest.raises(er.SpecError):
        r.check(np.ones((3, 1)))
    with pytest.raises(TypeError):
        r.check("out")


def test_the_compute_format_of_within():
    x = np.array([1.0, 1.0], np.float32)
    y = np.array([2.0**-9, 2.0**-30], np.float32)
    r = er.add(x, y)
    lost = np.array([1.0, 1.0], np.float32)
    assert r.covers(lost).tolist() == [False, True]
    assert r.covers(lost, "bfloat16").all()
    with pytest.raises(er.SpecError, match="within"):
        er.expr("x + 1")(x=x).covers(x + 1, "bfloat16")
    e = er.expr("within<f32>(x + y)")(x=x, y=y)
    assert e.covers(lost).tolist() == [False, True]
    assert e.covers(lost, "bf16").all()


# Composition

def test_building_from_python_gives_the_text():
    A, B = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
    C = np.full((2, 2), 0.25, np.float32)
    from_text = er.expr("round<bf16>(A) @ B + C")(A=A, B=B, C=C)
    from_python = er.round(A, "bfloat16") @ B + C
    assert np.array_equal(from_text.lo, from_python.lo)
    assert from_text.covers(np.full((2, 2), 3.25, np.float32)).all()
    assert from_python.covers(np.full((2, 2), 3.25, np.float32)).all()
    named = er.expr("A")(A=A)
    assert str((er.round(named, "bf16") * 2 - named).spec) == "round<bf16>(A) * 2 - A"


def test_the_spec_of_a_call_keeps_its_names():
    ones = np.ones((2, 2), np.float32)
    assert er.expr("A @ B")(A=ones, B=ones).spec == "A @ B"


def test_arithmetic_of_results():
    x = np.array([1.0, 2.0])
    r = er.expr("x")(x=x)
    pairs = [(r + 1, x + 1), (1 + r, 1 + x), (r - 0.5, x - 0.5), (1 - r, 1 - x), (r * x, x * x), (x * r, x * x), (r / 2, x / 2), (1 / r, 1 / x),
             (-r, -x), (abs(-r), x), (r @ x, x @ x), (x @ r, x @ x)]
    for result, expected in pairs:
        assert np.array_equal(result.lo, expected) and np.array_equal(result.hi, expected), result.spec


def test_a_result_is_one_stored_tensor():
    r = er.expr("any_of(x, x + 1)")(x=np.array([1.0]))
    assert (r - r).hi.tolist() == [0.0] == (r - r).lo.tolist()
    s = er.expr("any_of(x, x + 1)")(x=np.array([1.0]))
    assert (r - s).lo.tolist() == [-1.0] and (r - s).hi.tolist() == [1.0]


def test_a_result_can_be_bound_to_an_input():
    stored = er.round(np.array([1.001, 2.003]), "bfloat16")
    r = er.expr("y * 2")(y=stored)
    assert r.lo.tolist() == [2.0, 4.0]
    spec = er.parse("spec f(x: f32[N], y: bf16[N]) -> f32[N] { return round<f32>(x + y) }")
    assert spec(x=stored, y=stored).lo.tolist() == [2.0, 4.0]
    with pytest.raises(er.SpecError, match="(?s)y.*bf16"):
        spec(x=stored, y=er.round(np.array([1.0, 2.0]), "float16"))


def test_a_long_chain_of_results():
    y = er.array([0.0], dtype="float32")
    for _ in range(3000):
        y = er.add(y, er.array([1.0], dtype="float32"))
    assert y.lo.tolist() == [3000.0] == y.hi.tolist()
    del y  # taken apart without recursion


# Evidence

def test_what_is_bound_is_captured():
    x = np.ones(3, np.float32)
    frozen = x.copy()
    r = er.expr("x + 1")(x=x)
    x[:] = 7
    assert r.lo.tolist() == [2, 2, 2]
    out = np.full(3, 2, np.float32)
    assert r.covers(out).all()
    out[:] = 5
    assert not r.covers(out).any()
    assert np.array_equal(frozen + 1, r.lo)


def test_read_only_arrays_are_fine_and_nothing_is_modified():
    x = np.arange(4, dtype=np.float32)
    x.flags.writeable = False
    before = x.tobytes()
    r = er.expr("in f32 { x * x + x }")(x=x)
    assert r.covers(x * x + x).all()
    assert x.tobytes() == before


@pytest.mark.parametrize("shapes", [((40, 1, 1500), (1, 1500, 1)), ((2, 1, 3000), (1, 3000, 1)), ((1, 1500, 1), (40, 1, 1500)), ((160, 1, 170), (1, 170, 1)), ((160, 170, 1), (1, 1, 170))])
def test_products_over_an_axis_that_one_operand_lacks(shapes):
    """Its lines lie over one another: they are not a matrix as BLAS takes one."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-8, 9, s).astype(np.float32) for s in shapes)
    r = er.expr("round<f32>(sum(x * y, axis=2))")(x=x, y=y)
    exact = (x.astype(np.float64) * y).sum(axis=2)
    assert np.array_equal(np.asarray(r.lo), exact) and np.array_equal(np.asarray(r.hi), exact)
    assert "BLAS" not in str(r.check(exact.astype(np.float32)))
