"""er.mean, er.prod, er.softmax and their like: live PyTorch, a value outside the set, and a narrower accumulator."""
import numpy as np
import pytest
import torch

import erx as er

F = torch.nn.functional
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
HALVES = DTYPES[2:]


def values(seed, *shape, dtype):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def assert_sharp(result, out):
    """Covered; one element a step above its set is refuted, and only that one."""
    er.assert_covers(result, out)
    assert result.shape == tuple(out.shape) and result.dtype == out.dtype
    if out.numel() == 0:
        return
    moved, index = out.clone(), tuple(n // 2 for n in out.shape)
    hi = torch.tensor(np.asarray(result.hi)[index]).to(out.dtype)
    moved[index] = hi + 1 if not out.is_floating_point() else torch.nextafter(hi, torch.tensor(float("inf"), dtype=out.dtype))
    report = result.check(moved)
    assert report.violations == 1 and tuple(np.atleast_2d(report.indices)[0]) == index, str(report)


ROWS = {
    "subtract": (er.subtract, torch.sub), "divide": (er.divide, torch.div), "negative": (lambda x, y: er.negative(x), lambda x, y: -x),
    "where": (lambda x, y: er.where(x > y, x, y), lambda x, y: torch.where(x > y, x, y)),
    "exp": (lambda x, y: er.exp(x), lambda x, y: torch.exp(x)), "log": (lambda x, y: er.log(x * x), lambda x, y: torch.log(x * x)),
    "mean": (lambda x, y: er.mean(x, 1), lambda x, y: x.mean(1)), "mean of all": (lambda x, y: er.mean(x), lambda x, y: x.mean()),
    "cumsum": (lambda x, y: er.cumsum(x, 1), lambda x, y: x.cumsum(1)),
    "max": (lambda x, y: er.max(x, 0, keepdims=True), lambda x, y: x.amax(0, keepdim=True)),
    "min": (lambda x, y: er.min(x), lambda x, y: x.min()),
    "softmax": (lambda x, y: er.softmax(x, -1), lambda x, y: x.softmax(-1)),
    "layer_norm": (lambda x, y: er.layer_norm(x, x.shape[1:], y[0], y[-1]), lambda x, y: F.layer_norm(x, x.shape[1:], y[0], y[-1])),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("row", ROWS)
def test_covers_pytorch_and_nothing_beside(row, dtype):
    function, live = ROWS[row]
    for k, shape in enumerate([(1, 1), (3, 7), (2, 33)]):
        x, y = values(2 * k, *shape, dtype=dtype), values(2 * k + 1, *shape, dtype=dtype)
        assert_sharp(function(x, y), live(x, y))


@pytest.mark.parametrize("dtype", DTYPES[:2], ids=str)
def test_more_in_the_wide_formats(dtype):
    x, w = values(1, 5, 33, dtype=dtype), values(2, 33, dtype=dtype)
    assert_sharp(er.log_softmax(x, 1), x.log_softmax(1))
    assert_sharp(er.logsumexp(x, 1), x.logsumexp(1))
    assert_sharp(er.logsumexp(x, (0, 1), keepdims=True), torch.logsumexp(x, (0, 1), keepdim=True))
    assert_sharp(er.rms_norm(x, 33, w), F.rms_norm(x, (33,), w))
    assert_sharp(er.prod(x, 1), x.prod(1))
    assert_sharp(er.softmax(x, 0), x.softmax(0))


def in_steps(x, step):
    total = x[:, :1]
    for i in range(1, x.shape[1]):
        total = step(total, x[:, i : i + 1])
    return total[:, 0]


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_a_narrower_accumulator_is_refuted(dtype):
    x = values(3, 8, 200, dtype=dtype).abs() + 0.5
    total = in_steps(x, torch.add)
    for result, wrong in [(er.sum(x, 1), total), (er.mean(x, 1), total / 200), (er.cumsum(x, 1)[:, -1], total)]:
        assert result.check(wrong).violations > 1
    assert er.sum(x, 1).check(total, str(dtype)[6:])
    near = 1 + values(4, 8, 60, dtype=dtype) / 64
    product = in_steps(near, torch.mul)
    assert er.prod(near, 1).check(product).violations > 2 and er.prod(near, 1).check(product, str(dtype)[6:])
    e = torch.exp(x - x.amax(1, keepdim=True))
    assert er.softmax(x, 1).check(e / in_steps(e, torch.add)[:, None]).violations > 100
    narrow = in_steps(x * x, torch.add)[:, None] / 200
    assert er.rms_norm(x, 200).check(x * torch.rsqrt(narrow)).violations > 100
    assert er.layer_norm(x, 200).check((x - (total / 200)[:, None]) * torch.rsqrt(x.var(1, False, keepdim=True))).violations > 100
    assert er.log_softmax(x, 1).check(x - x.amax(1, keepdim=True) - torch.log(in_steps(e, torch.add))[:, None]).violations > 100
    ones = torch.ones(2, 4000, dtype=dtype)  # the sum stays at 256, or at 2048
    assert er.logsumexp(ones * 0, 1).check(torch.log(in_steps(ones, torch.add))).violations == 2


def test_integers_and_booleans():
    n, b = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.int32), torch.tensor([[True, False, True]])
    for x in (n, b):
        assert_sharp(er.cumsum(x, 1), x.cumsum(1))
        assert_sharp(er.prod(x, 1), x.prod(1))
        assert_sharp(er.exp(x), x.exp())
        assert_sharp(er.divide(x, 3), x / 3)
        with pytest.raises(TypeError, match="convert"):
            er.mean(x)
    er.assert_covers(er.max(n, 0), n.amax(0))
    er.assert_covers(er.where(n > 2, n, 0), torch.where(n > 2, n, 0))
    er.assert_covers(er.negative(n), -n)
    with pytest.raises(TypeError, match="booleans"):
        er.negative(b)
    with pytest.raises(TypeError, match="boolean"):
        er.where(n, n, n)
    big = torch.tensor([2**24 + 1, 3], dtype=torch.int64)  # rounded once to float32, as PyTorch casts
    assert_sharp(er.divide(big, 3), big / 3)


def test_special_values():
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([[-inf, -inf], [inf, 1], [nan, 1], [-inf, 0]])
    er.assert_covers(er.softmax(x, 1), x.softmax(1))
    er.assert_covers(er.log_softmax(x, 1), x.log_softmax(1))
    er.assert_covers(er.logsumexp(x, 1), x.logsumexp(1))
    er.assert_covers(er.max(x, 1), x.amax(1))
    er.assert_covers(er.mean(x, 1), x.mean(1))
    er.assert_covers(er.mean(torch.ones(2, 0), 1), torch.ones(2, 0).mean(1))
    assert not er.softmax(x, 1).covers(torch.zeros(4, 2)).any(axis=1)[:3].any()
    for function in (er.max, er.min):
        with pytest.raises(ValueError, match="no elements"):
            function(torch.ones(0))


def in_every_order(factors):
    """The results of every tree over every permutation, each product rounded to the dtype of the factors."""
    if len(factors) == 1:
        return {factors[0].item()}
    found = set()
    for mask in range(1, 2 ** (len(factors) - 1)):
        parts = [[f for k, f in enumerate(factors) if (mask >> k & 1) == side] for side in (0, 1)]
        found |= {(factors[0].dtype.type(p) * factors[0].dtype.type(q)).item() for p in in_every_order(parts[0]) for q in in_every_order(parts[1])}
    return found


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_products_that_leave_the_range_in_some_order(kind):
    rng, smallest = np.random.default_rng(7), np.finfo(kind).smallest_subnormal
    reach, left, sharp = int(-np.log2(float(smallest))), 0, 0
    with np.errstate(all="ignore"):
        for trial in range(150):
            n = int(rng.integers(3, 6))
            x = (rng.choice([-1, 1], n) * rng.uniform(1, 2, n) * 2.0 ** rng.integers(-reach, reach, n)).astype(kind)
            if trial % 5 == 0:
                x[rng.integers(n)] = rng.choice([np.inf, 0, -0.0, smallest, np.finfo(kind).max])
            values = list(in_every_order(list(x)))
            r, compute = er.prod(x), str(np.dtype(kind))
            for v in values:
                assert r.covers(np.array(v, kind), compute, signed_zero=True).all(), (x, v, r.spec)
            left += len({v for v in values if not np.isfinite(v)}) > 0
            if np.isfinite(values).all() and abs(values[0]) > 64 * np.finfo(kind).tiny and r.check(np.array(values[0], kind), compute).tightness < 30:
                sharp += 1  # a wrong sign, and what is far outside
                assert not r.covers(np.array(-values[0], kind), compute) and not r.covers(np.array(values[0] * 2, kind), compute)
    assert left > 20 and sharp > 5
    stuck = np.full(400, 0.6, kind)  # once it is the smallest value, 0.6 times it is that value again
    assert er.prod(stuck).covers(np.array(smallest), str(np.dtype(kind))).all() and not er.prod(stuck).covers(np.array(1, kind))


def test_products_of_special_factors():
    assert er.prod(torch.tensor([0.0, 2.0, -3.0])).covers(torch.tensor(-0.0), signed_zero=True)
    assert er.prod(torch.tensor([float("inf"), 0.0, 2.0])).covers(torch.tensor(float("nan")))
    assert er.prod(torch.tensor([1e30, 1e30, 3.0])).lo == np.inf
    assert not er.prod(torch.tensor([1e30, 1e-30, 3.0])).covers(torch.tensor(float("inf")))
    with pytest.raises(er.SpecError, match="chain"):
        er.prod(torch.tensor([1e30, 1e30, 1e-30], dtype=torch.complex64))
    with pytest.raises(er.SpecError, match="chain"):
        er.prod(er.multiply(torch.ones(3), 2.0))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_complex_quotients_products_and_running_sums(dtype):
    x, y = (torch.randn(6, 9, generator=torch.Generator().manual_seed(k), dtype=torch.complex128).to(dtype) for k in (31, 32))
    for result, out in [(er.divide(x, y), x / y), (er.divide(x, 2.5), x / 2.5), (er.divide(1, y), 1 / y), (er.prod(x, 1), x.prod(1)),
                        (er.prod(x, 0, keepdims=True), x.prod(0, keepdim=True)), (er.cumsum(x, 1), x.cumsum(1)), (er.exp(x), x.exp()),
                        (er.prod(x[:0], 0), x[:0].prod(0)), (er.prod(x[0, 0]), x[0, 0].prod()), (er.divide(x.numpy(), y.numpy()), torch.from_numpy(x.numpy() / y.numpy()))]:
        er.assert_covers(result, out)
        assert result.dtype == out.dtype and result.shape == tuple(out.shape)
        assert not result.covers(out * (1 + 1e-3)).any() and not result.covers(out.conj().resolve_conj() + 1).any()
        if dtype == torch.complex128:
            narrow = out.to(torch.complex64).to(dtype)
            assert not result.covers(narrow)[(narrow != out).numpy()].any()
    tiny = x * 1e-30  # the textbook's denominator is subnormal or 0 in float32; Smith's formula is not troubled
    er.assert_covers(er.divide(tiny, tiny.flip(0)), tiny / tiny.flip(0))


def test_comparisons_of_parts_with_a_choice_are_no_pair():
    z = torch.tensor([1 + 2j, 3 - 1j])
    e = er.expr("let t = any_of(z, z * 2); let p = complex(where(real(t) == 1, 5, real(t)), where(imag(t) == 1, 5, imag(t))); p[0:1] * 1")
    assert e(z=z).covers(np.array([5 + 2j], np.complex64)) and not e(z=z).covers(np.array([1 + 2j], np.complex64))


def test_a_number_is_its_own_only_row():
    for dtype in DTYPES:
        x = torch.tensor(1.5, dtype=dtype)
        for axis in (0, -1):
            for function, live in [(er.sum, torch.sum), (er.mean, torch.mean), (er.prod, torch.prod), (er.max, torch.amax), (er.min, torch.amin),
                                   (er.softmax, torch.softmax), (er.log_softmax, torch.log_softmax), (er.logsumexp, torch.logsumexp), (er.cumsum, torch.cumsum)]:
                assert_sharp(function(x, axis), live(x, axis))
        with pytest.raises(ValueError, match="out of range"):
            er.sum(x, 1)


def test_booleans_are_added_as_or_and_multiplied_as_and():
    a, b = torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])
    for result, out in [(er.add(a, b), a + b), (er.multiply(a, b), a * b), (er.add(a, True), a + True)]:
        assert result.dtype == "bool" and result.check(out) and result.check(~out).violations == 4
    with pytest.raises(TypeError, match="alpha"):
        er.add(a, b, alpha=2)
    with pytest.raises(TypeError, match="booleans"):
        er.subtract(a, b)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_where_pytorch_rounds_more_a_chain_covers_it(dtype):
    x, name = values(5, 5, 33, dtype=dtype), str(dtype)[6:]
    largest = er.max(x, 1, keepdims=True)
    exponentials = er.exp(er.subtract(x, largest))
    assert_sharp(er.add(er.log(er.sum(exponentials, 1, keepdims=True)), largest), torch.logsumexp(x, 1, keepdim=True))
    assert not er.logsumexp(x, 1, keepdims=True).check(torch.logsumexp(x, 1, keepdim=True))

    # Along another dimension than the last, softmax stores the exponentials; their sum is of the wide ones.
    out, largest = torch.softmax(x, 0), er.max(x, 0, keepdims=True)
    wide = er.exp(er.subtract(x, largest, dtype="float32"))
    stored = er.round(wide, name)
    assert_sharp(er.divide(stored, er.sum(wide, 0, keepdims=True), dtype=name), out)
    assert not er.softmax(x, 0).check(out)

    # Along the last one, log_softmax stores the sum, and its logarithm.
    out, largest = torch.log_softmax(x, 1), er.max(x, 1, keepdims=True)
    total = er.sum(er.exp(er.subtract(x, largest, dtype="float32")), 1, keepdims=True)
    rest = er.log(er.round(total, name))
    chain = er.expr(f"round<{rest.dtype.kind}>(within<f32>(x - m - rest))")(x=x, m=largest, rest=rest)
    assert_sharp(chain, out)
    assert not er.log_softmax(x, 1).check(out)
    assert_sharp(er.log_softmax(x, 0), torch.log_softmax(x, 0))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_rms_norm_rounds_once(dtype):
    x, w = values(5, 5, 33, dtype=dtype), values(6, 33, dtype=dtype)
    assert_sharp(er.rms_norm(x, 33, w), F.rms_norm(x, (33,), w))
    assert_sharp(er.rms_norm(x, (5, 33), eps=0.25), F.rms_norm(x, (5, 33), eps=0.25))
