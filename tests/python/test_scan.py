"""Linear recurrences: what implementations compute is covered, what they get wrong is not, along any axis, from either end.

The implementations are written here step by step with float32 operations of PyTorch; `scan` is told nothing of them.
"""
import numpy as np
import pytest
import torch

import erx as er

F32 = torch.float32


def data(steps, lines=7, seed=0, decay=(0.5, 1.0)):
    rng = torch.Generator().manual_seed(seed)
    low, high = decay
    a = torch.rand(lines, steps, generator=rng) * (high - low) + low
    return a, torch.randn(lines, steps, generator=rng), torch.randn(lines, generator=rng)


def fma(a, x, b):
    """One rounding: products of float32 values are exact in float64, and the sum is rounded to odd there before it is rounded."""
    p, b = a.double() * x.double(), b.double()
    s = p + b
    t = s - p
    rest = (p - (s - t)) + (b - t)
    bits = s.view(torch.int64)
    odd = torch.where((rest != 0) & (bits % 2 == 0), bits + torch.where((rest > 0) == (s > 0), 1, -1), bits)
    return odd.view(torch.float64).float()


def step(a, x, b, fused):
    return fma(a, x, b) if fused else a * x + b


def in_order(a, b, h, fused=False):
    states = []
    for t in range(a.shape[1]):
        h = step(a[:, t], h, b[:, t], fused)
        states.append(h)
    return torch.stack(states, 1)


def kogge_stone(a, b, h, fused=False):
    a, b, distance = a.clone(), b.clone(), 1
    b[:, 0] = step(a[:, 0], h, b[:, 0], fused)
    while distance < a.shape[1]:
        left, right = slice(None, -distance), slice(distance, None)
        x = step(a[:, right], b[:, left], b[:, right], fused)
        f = a[:, right] * a[:, left]
        b, a = torch.cat([b[:, :distance], x], 1), torch.cat([a[:, :distance], f], 1)
        distance *= 2
    return b


def blocked(a, b, h, fused=False, size=16):
    """A scan within each block, then the carry through its products: A * carry + h_local."""
    states = []
    for first in range(0, a.shape[1], size):
        f, x = a[:, first], b[:, first]
        block = []
        for t in range(first, min(first + size, a.shape[1])):
            if t > first:
                f, x = f * a[:, t], step(a[:, t], x, b[:, t], fused)
            block.append(step(f, h, x, fused))
        states += block
        h = block[-1]
    return torch.stack(states, 1)


def blelloch(a, b, h, fused=False):
    """Up and down a tree with the identity (1, 0) at the root, then each step on what lies before it."""
    n = 1 << (a.shape[1] - 1).bit_length()
    pad = n - a.shape[1]
    f = torch.cat([a, torch.ones(a.shape[0], pad)], 1)
    x = torch.cat([b, torch.zeros(a.shape[0], pad)], 1)
    gap = 1
    while gap < n:
        right, left = slice(2 * gap - 1, None, 2 * gap), slice(gap - 1, None, 2 * gap)
        x[:, right], f[:, right] = step(f[:, right], x[:, left], x[:, right], fused), f[:, right] * f[:, left]
        gap *= 2
    f[:, -1], x[:, -1] = 1, 0
    gap = n // 2
    while gap:
        right, left = slice(2 * gap - 1, None, 2 * gap), slice(gap - 1, None, 2 * gap)
        above_f, above_x = f[:, right].clone(), x[:, right].clone()
        x[:, right] = step(f[:, left], above_x, x[:, left], fused)
        f[:, right] = f[:, left] * above_f
        f[:, left], x[:, left] = above_f, above_x
        gap //= 2
    f, x = f[:, : a.shape[1]], x[:, : a.shape[1]]
    f, x = a * f, step(a, x, b, fused)
    return step(f, h[:, None], x, fused)


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8, 33, 256])
@pytest.mark.parametrize("decay", [(0.5, 1.0), (-1.1, 1.1), (0.0, 0.1)])
def test_every_association_is_covered(steps, decay):
    for seed in range(3):
        a, b, h = data(steps, seed=seed, decay=decay)
        spec = er.expr("scan<f32>(a, b, init=h)")(a=a, b=b, h=h)
        for implementation in (in_order, kogge_stone, blocked, blelloch):
            for fused in (False, True):
                states = implementation(a, b, h, fused)
                assert spec.covers(states).all(), (implementation.__name__, fused, steps, decay, seed)


def test_one_order_is_exact():
    a, b, h = data(300)
    for text, fused in (("never", False), ("always", True)):
        result = er.expr(f"scan<f32, seq, fma={text}>(a, b, init=h)")(a=a, b=b, h=h)
        want = in_order(a, b, h, fused).numpy()
        assert (np.asarray(result.lo) == want).all() and (np.asarray(result.hi) == want).all()
        assert not result.covers(in_order(a, b, h, not fused)).all()
    either = er.expr("scan<f32, seq>(a, b, init=h)")(a=a, b=b, h=h)
    assert either.covers(in_order(a, b, h)).all() and either.covers(in_order(a, b, h, True)).all()
    assert not either.covers(kogge_stone(a, b, h)).all()


def test_what_is_wrong_is_refuted():
    a, b, h = data(256)
    spec = er.expr("scan<f32>(a, b, init=h)")(a=a, b=b, h=h)
    right = in_order(a, b, h)
    lost_carry = in_order(a, b, torch.zeros_like(h))
    half = in_order(a.bfloat16().float(), b, h)
    states = [right[:, 0]]
    for t in range(1, a.shape[1]):
        states.append((a[:, t] * states[-1] + b[:, t]).bfloat16().float())  # the state is kept in bfloat16
    late = torch.cat([right[:, :1], in_order(a[:, :-1], b[:, 1:], right[:, 0])], 1)  # the factor of the step before
    for wrong in (lost_carry, half, torch.stack(states, 1), late):
        assert not spec.covers(wrong).all()


@pytest.mark.parametrize("order", ["any", "seq"])
@pytest.mark.parametrize("shape, axis", [((40,), 0), ((3, 40), -1), ((40, 3), 0), ((2, 40, 300), 1), ((2, 3, 40), 2)])
def test_axes_and_directions(order, shape, axis):
    rng = np.random.default_rng(1)
    a, b = rng.uniform(-1, 1, shape).astype(np.float32), rng.standard_normal(shape).astype(np.float32)
    h = rng.standard_normal(np.delete(shape, axis)).astype(np.float32)
    lines = lambda x: np.moveaxis(x, axis, -1).reshape(-1, shape[axis])
    for reverse in (False, True):
        result = er.expr(f"scan<f32, {order}>(a, b, init=h, axis={axis}, reverse={str(reverse).lower()})")(a=a, b=b, h=h)
        turn = lambda x: np.ascontiguousarray(lines(x)[:, ::-1] if reverse else lines(x))
        alone = er.expr(f"scan<f32, {order}>(a, b, init=h)")(a=turn(a), b=turn(b), h=h.reshape(-1))
        for end in ("lo", "hi"):
            assert (turn(np.asarray(getattr(result, end))) == np.asarray(getattr(alone, end))).all()


def test_operands_broadcast():
    rng = np.random.default_rng(2)
    a, b = rng.uniform(0, 1, (1, 50, 1)).astype(np.float32), rng.standard_normal((3, 50, 40)).astype(np.float32)
    for text in ("scan<f32>(a, b, axis=1)", "scan<f32, seq>(a, b, axis=1)", "scan<f32, seq>(a, b, init=0.5, axis=1)"):
        x, y = er.expr(text)(a=a, b=b), er.expr(text)(a=np.broadcast_to(a, b.shape).copy(), b=b)
        assert (np.asarray(x.lo) == np.asarray(y.lo)).all() and (np.asarray(x.hi) == np.asarray(y.hi)).all()
    half, halves = er.expr("scan<f32>(0.5, b, axis=1)")(b=b), er.expr("scan<f32>(a, b, axis=1)")(a=np.full_like(b, 0.5), b=b)
    assert (np.asarray(half.lo) == np.asarray(halves.lo)).all() and (np.asarray(half.hi) == np.asarray(halves.hi)).all()


def test_whole_numbers_have_one_value_in_any_association():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, (300, 70)).astype(np.float32), rng.integers(-9, 10, (300, 70)).astype(np.float32)
    want, h = [], np.zeros(300)
    for t in range(70):
        h = a[:, t] * h + b[:, t]
        want.append(h)
    result = er.expr("scan<f32>(a, b)")(a=a, b=b)
    assert (np.asarray(result.lo) == np.stack(want, 1)).all() and (np.asarray(result.hi) == np.stack(want, 1)).all()


def test_special_values_stay_possible():
    a, b = np.full((1, 4), 0.5, np.float32), np.array([[1, np.inf, 1, 1]], np.float32)
    result = er.expr("scan<f32, seq>(a, b)")(a=a, b=b)
    assert list(result.covers(np.array([[1, np.inf, np.inf, np.inf]], np.float32))[0]) == [True] * 4
    assert list(result.covers(np.zeros((1, 4), np.float32))[0]) == [False] * 4
    a[0, 0] = np.inf  # acts on no state where the line starts at 0: an implementation may or may not multiply it
    b[0, 1] = 0
    for order in ("any", "seq"):
        result = er.expr(f"scan<f32, {order}>(a, b)")(a=a, b=b)
        for first in (1, np.nan):
            states = np.array([[first, 0.5 * first, 0.25 * first + 1, 0.125 * first + 1.5]], np.float32)
            assert result.covers(states).all(), (order, first)


def test_sums_over_states():
    """The readout of a state-space layer, exactly and in float32, with sets for states."""
    rng = np.random.default_rng(4)
    a, b = rng.uniform(0.5, 1, (6, 30, 8)).astype(np.float32), rng.standard_normal((6, 30, 8)).astype(np.float32)
    c = rng.standard_normal((6, 30, 8)).astype(np.float32)
    states = np.stack([in_order(torch.tensor(x.T), torch.tensor(y.T), torch.zeros(8)).numpy().T for x, y in zip(a, b)])
    for text in ("let h = scan<f32>(a, b, axis=1); round<f32>(sum(c * h, axis=-1))", "let h = scan<f32>(a, b, axis=1); acc<f32>(sum(c * h, axis=-1))",
                 "let h = scan<f32>(a, b, axis=1); acc<f32>(sum(round<f32>(c * h), axis=-1))"):
        result = er.expr(text)(a=a, b=b, c=c)
        y = (torch.tensor(c) * torch.tensor(states)).sum(-1) if "acc" in text else torch.tensor((c.astype(np.float64) * states).sum(-1)).float()
        assert result.covers(y).all(), text
        assert not result.covers(y * (1 + 1e-4)).all()
    h = er.expr("let h = scan<f32, seq, fma=never>(a, b, axis=1); h[:, -1]")(a=a, b=b)
    assert h.covers(states[:, -1]).all() and (np.asarray(h.lo) == np.asarray(h.hi)).all()


def test_the_backward_is_a_scan_from_the_other_end():
    """dh_t = dy_t + a_(t+1) dh_(t+1), with a shifted: the last step multiplies nothing."""
    a, b, _ = data(40, lines=3)
    dy = torch.randn(3, 40, generator=torch.Generator().manual_seed(9))
    text = "let shifted = concat(a[:, 1:], ones((3, 1)), axis=1); scan<f32, seq, fma=never>(shifted, dy, reverse=true)"
    result = er.expr(text)(a=a, dy=dy)
    h, want = torch.zeros(3), []
    for t in reversed(range(40)):
        h = dy[:, t] if t == 39 else dy[:, t] + a[:, t + 1] * h
        want.insert(0, h)
    assert result.covers(torch.stack(want, 1)).all()
    # Whole numbers: nothing rounds, so the recurrence is the gradient that autograd finds.
    whole, x = torch.randint(0, 2, (3, 40)).float(), b.double().requires_grad_()
    dy = dy.round()
    in_order(whole.double(), x, torch.zeros(3, dtype=torch.float64)).backward(dy.double())
    anyhow = er.expr(text.replace(", seq, fma=never", ""))(a=whole, dy=dy)
    assert (np.asarray(anyhow.lo) == x.grad.numpy()).all() and (np.asarray(anyhow.hi) == x.grad.numpy()).all()


def test_flushed_states():
    tiny = np.float32(2.0**-126)
    a, b = np.full((1, 5), 0.5, np.float32), np.array([[tiny, 0, 0, 0, tiny]], np.float32)
    kept, flushed = [], []
    h = g = np.float32(0)
    for t in range(5):
        h = np.float32(a[0, t] * h + b[0, t])
        p = np.float32(a[0, t] * g)
        p = p if abs(p) >= tiny else np.float32(0)
        g = np.float32(p + b[0, t])
        kept.append(h)
        flushed.append(g)
    for order in ("any", "seq"):
        plain, free = er.expr(f"scan<f32, {order}>(a, b)")(a=a, b=b), er.expr(f"scan<f32, {order}, ftz=free>(a, b)")(a=a, b=b)
        assert plain.covers(np.array([kept])).all() and not plain.covers(np.array([flushed])).all()
        assert free.covers(np.array([kept])).all() and free.covers(np.array([flushed])).all()


@pytest.mark.parametrize("text", ["scan<f32>(a, b, axis=1)", "scan<f32, seq>(a, b, axis=1)", "scan<bf16, seq, fma=never>(round<bf16>(a), round<bf16>(b), axis=1)",
                                  "scan<f32>(round<f32, faithful>(a * 0.7), b, axis=1)", "scan<f32, seq>(round<f32, faithful>(a * 0.7), b, axis=1, reverse=true)",
                                  "scan<f64, seq>(a, b, axis=1)", "scan<f32, any, ftz=yes>(a, b)", "scan<f16>(round<f16>(a), round<f16>(100 * b), axis=0)"])
def test_tiles_threads_and_tiers(text):
    """Sets do not depend on tiles and threads; exact rationals give the same set of one order, and one inside the bound of any association."""
    rng = np.random.default_rng(5)
    a, b = rng.uniform(-1, 1, (5, 13, 11)).astype(np.float32), rng.standard_normal((5, 13, 11)).astype(np.float32)
    b[0, 3, 4], b[1, 2, 3], a[2, 0, 0], a[3, :, 5] = np.inf, np.nan, np.inf, 3
    b[4, :, :7], a[4, 5, :9] = 0, -0.0
    result = er.expr(text)(a=a, b=b)
    hull = lambda **how: result._group.evaluated_by(**how).hull(result._index)
    whole = result._group.hull(result._index)
    for how in ({"tile": 1, "threads": 3}, {"tile": 3, "threads": 1}, {"tile": 1000, "threads": 2}):
        assert all(np.asarray(x).tobytes() == np.asarray(y).tobytes() for x, y in zip(whole, hull(**how))), how
    (lo, hi, flags), no_reals = whole, 32
    # (MPFR alone does not decide an operand that is an exact product with 7/10.)
    for how in ({"lowest": "exact"},) + (() if "faithful" in text else ({"lowest": "big", "highest": "big"},)):
        low, high, own = hull(**how)
        real = (own & no_reals) == 0
        assert ((own & 7 & ~flags) == 0).all() and ((flags & no_reals)[real] == 0).all(), how
        assert (lo <= low)[real].all() and (high <= hi)[real].all(), how
        if "seq" in text:
            assert (lo == low)[real].all() and (hi == high)[real].all(), how


INTERMEDIATES = """
fn chosen(x, y) { return any_of(in f32 { x * y }, in f32 { x + y }) }
fn states(x, p) { return scan<f32, ORDER>(round<f32>(0.5 * x), p, axis=1) }
fn told(h, y, p) { return any_of(in f32 { h * y }, in f32 { h - p }) }
spec few(x: f32[M, N], y: f32[M, N]) -> (s: f32[N], t: f32[M], u: bf16[M]) {
  let p = chosen(x, y)
  let h = states(x, p)
  let q = told(h, y, p)
  return (acc<f32>(sum(q * p, axis=0)), acc<f32>(sum(h * y, axis=1)), round<bf16>(max(q, axis=1)))
}
spec every(x: f32[M, N], y: f32[M, N]) -> (s: f32[N], t: f32[M], u: bf16[M], p: f32[M, N], h: f32[M, N], q: f32[M, N]) {
  let p = chosen(x, y)
  let h = states(x, p)
  let q = told(h, y, p)
  return (acc<f32>(sum(q * p, axis=0)), acc<f32>(sum(h * y, axis=1)), round<bf16>(max(q, axis=1)), p, h, q)
}
"""


@pytest.mark.parametrize("order", ["any", "seq"])
def test_what_is_given_back_or_merged_changes_nothing(order):
    """Large intermediates live until they have been read, and keep alternatives apart only for what can tell them apart; results live on."""
    rng = np.random.default_rng(11)
    x, y = ((rng.uniform(0.25, 2, (70, 1000)) * rng.choice([-1, 1], (70, 1000))).astype(np.float32) for _ in range(2))
    program = er.parse(INTERMEDIATES.replace("ORDER", order))
    few, every, backwards = program["few"](x, y), program["every"](x, y), program["every"](x, y)
    ends = lambda results, name: np.stack([np.asarray(results[name].lo, dtype=np.float64), np.asarray(results[name].hi, dtype=np.float64)])
    for name in "stu":
        np.testing.assert_array_equal(ends(few, name), ends(every, name), name)
    for name in "qhputs":  # each by itself, the last one first
        np.testing.assert_array_equal(ends(backwards, name), ends(every, name), name)
    right = torch.from_numpy(ends(every, "q")[0].astype(np.float32))  # a result is judged by each alternative when all is computed
    wrong = right.clone()
    wrong[3, 5] += 1000
    report = every["q"].check(wrong)
    assert every["q"].check(right).ok and report.violations == 1 and "[3, 5]" in str(report), report


def test_a_line_that_starts_at_zero_carries_the_sign_of_its_first_term():
    """h_1 may be b_1 itself; among many lines as in one."""
    a, b = np.full((40, 64), 0.5, np.float32), np.full((40, 64), -0.0, np.float32)
    for fma in ("never", "always"):
        r = er.expr(f"scan<f32, seq, fma={fma}>(a, b, init=0, axis=0)")(a=a, b=b)
        assert r.check(b, signed_zero=True).ok and r.check(-b, signed_zero=True).ok
