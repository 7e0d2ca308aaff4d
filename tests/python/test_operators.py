"""Operators against NumPy on arrays of exact rationals: random shapes, axes and formats, named sizes, specials.

Each case is a text and the same in NumPy; NumPy computes with Fractions, so every value is known exactly.
"""
import random
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import erx as er

SEED = 7
DTYPES = [np.float32, np.float16, np.float64, ml_dtypes.bfloat16]


def exact(x):
    """An array of Fractions."""
    out = np.empty(x.shape, object)
    for i in np.ndindex(*x.shape):
        out[i] = Fraction(float(x[i]))
    return out


def data(rng, shape, dtype=None):
    dtype = dtype or rng.choice(DTYPES)
    size = int(np.prod(shape))
    values = [rng.choice([rng.randint(-4, 4), rng.gauss(0, 1) * 2.0 ** rng.randint(-8, 8)]) for _ in range(size)]
    return np.array(values, np.float64).reshape(shape).astype(dtype)


def shape_of(rng, least=1, most=4, sizes=(1, 2, 3, 4)):
    return tuple(rng.choice(sizes) for _ in range(rng.randint(least, most)))


def same(text, inputs, expected, note=""):
    """The set of each element is the one exact value: enclosed as it is, and the only one when it is rounded."""
    result, rounded = er.expr(text)(**inputs), er.expr(f"round<f64>({text})")(**inputs)
    lo, hi = np.asarray(result.lo, np.float64), np.asarray(result.hi, np.float64)
    expected = np.asarray(expected, object)
    told = f"seed {SEED} {note}\n{text}\n" + "\n".join(f"{k} = {v.tolist() if hasattr(v, 'tolist') else v}" for k, v in inputs.items())
    assert lo.shape == expected.shape, f"{told}\nshape {lo.shape}, NumPy {expected.shape}"
    for i in np.ndindex(*expected.shape):
        value = Fraction(expected[i])
        assert Fraction(float(lo[i])) <= value <= Fraction(float(hi[i])), f"{told}\nat {i}: [{float(lo[i]).hex()}, {float(hi[i]).hex()}], exactly {value}"
        nearest = float(value)  # Python rounds it correctly
        assert rounded.lo[i] == rounded.hi[i] == nearest, f"{told}\nat {i}: {rounded.lo[i]!r} to {rounded.hi[i]!r}, exactly {nearest!r}"


def axis_text(rng, rank):
    """An axis as written, and as NumPy takes it."""
    axis = rng.randrange(rank)
    return rng.choice([axis, axis - rank])


def axes_of(rng, rank):
    axes = tuple(rng.sample(range(rank), rng.randint(1, rank)))
    return tuple(rng.choice([a, a - rank]) for a in axes)


@pytest.mark.parametrize("name, function", [("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min)])
def test_reductions_over_axes_with_and_without_masks(name, function):
    rng = random.Random(SEED)
    for k in range(60):
        x = data(rng, shape_of(rng))
        e, keep, options, text = exact(x), rng.random() < 0.5, {}, ""
        if rng.random() < 0.8:
            axes = axes_of(rng, x.ndim)
            options["axis"] = axes if len(axes) > 1 else axes[0]
            text += f", axis={options['axis']}"
        if keep:
            options["keepdims"] = True
            text += ", keepdims=true"
        same(f"{name}(x{text})", {"x": x}, function(e, **options), k)
        mask = np.array([rng.random() < 0.6 for _ in range(x.size)]).reshape(x.shape)
        if rng.random() < 0.3:
            mask = mask[..., :1]
        full = np.broadcast_to(mask, x.shape)
        if name in ("sum", "prod"):
            same(f"{name}(x where m{text})", {"x": x, "m": mask}, function(e, where=full, initial=Fraction(name == "prod"), **options), k)
        else:
            found = er.expr(f"{name}(x where m{text})")(x=x, m=mask)
            with np.errstate(all="ignore"):
                wanted = function(x.astype(np.float64), where=full, initial=-np.inf if name == "max" else np.inf, **options)
            assert np.array_equal(found.lo, wanted) and np.array_equal(found.hi, wanted)


def test_mean_any_all():
    rng = random.Random(SEED)
    for k in range(60):
        x = data(rng, shape_of(rng))
        e, axis = exact(x), axis_text(rng, x.ndim)
        same(f"mean(x, axis={axis})", {"x": x}, np.sum(e, axis=axis) / e.shape[axis], k)
        mask = np.array([rng.random() < 0.6 for _ in range(x.size)]).reshape(x.shape)
        count = np.sum(mask, axis=axis, keepdims=True)
        good = np.broadcast_to(count > 0, x.shape) & True
        mask = mask | ~good
        same(f"mean(x where m, axis={axis})", {"x": x, "m": mask}, np.sum(e, axis=axis, where=mask, initial=Fraction(0)) / np.sum(mask, axis=axis).astype(object), k)
        test = x.astype(np.float64) > 0
        for name, function in (("any", np.any), ("all", np.all)):
            same(f"where({name}(x > 0, axis={axis}), 1, 0)", {"x": x}, function(test, axis=axis).astype(int), k)
            same(f"where({name}(x > 0 where m, axis={axis}), 1, 0)", {"x": x, "m": mask}, function(test, axis=axis, where=mask).astype(int), k)


@pytest.mark.parametrize("name, function", [("cumsum", np.cumsum), ("cumprod", np.cumprod)])
def test_running_sums_and_products(name, function):
    rng = random.Random(SEED)
    for k in range(60):
        x = data(rng, shape_of(rng, sizes=(0, 1, 2, 3, 5)))
        e, axis = exact(x), axis_text(rng, x.ndim)
        same(f"{name}(x, axis={axis})", {"x": x}, function(e, axis=axis), k)
        same(f"{name}(x)", {"x": x}, function(e), k)
        mask = np.array([rng.random() < 0.6 for _ in range(x.size)], bool).reshape(x.shape)
        neutral = Fraction(0) if name == "cumsum" else Fraction(1)
        same(f"{name}(x where m, axis={axis})", {"x": x, "m": mask}, function(np.where(mask, e, neutral), axis=axis), k)
    same("cumsum(x * y, axis=0) - x", {"x": x, "y": x}, np.cumsum(e * e, axis=0) - e)
    same("sum(cumsum(x, axis=0))", {"x": x}, np.sum(np.cumsum(e, axis=0)))


def test_argmax():
    rng = random.Random(SEED)
    for k in range(100):
        x = data(rng, shape_of(rng), np.float32)
        if rng.random() < 0.3:
            x.reshape(-1)[rng.randrange(x.size)] = rng.choice([np.nan, np.inf, -np.inf])
        if rng.random() < 0.3:
            x.reshape(-1)[rng.randrange(x.size)] = x.reshape(-1)[0]
        axis, keep = axis_text(rng, x.ndim), rng.random() < 0.5
        same(f"argmax(x, axis={axis}, keepdims={str(keep).lower()})", {"x": x}, np.argmax(x, axis=axis, keepdims=keep), k)
        same("argmax(x)", {"x": x}, np.argmax(x), k)
    # The places at which a largest element may stand, and exactly those ends.
    a, b = np.array([1.0, 5, 3, 2], np.float32), np.array([1.0, 2, 6, 2], np.float32)
    r = er.expr("argmax(any_of(a, b))")(a=a, b=b)
    assert (int(r.lo), int(r.hi)) == (1, 2)
    assert not r.covers(np.array(0)) and not r.covers(np.array(3))
    # An absent element is not there, even where all the others are -inf.
    r = er.expr("argmax(x where m)")(x=np.array([3, -np.inf, -np.inf], np.float32), m=np.array([False, False, True]))
    assert int(r.lo) == int(r.hi) == 2
    with pytest.raises(er.SpecError, match="of nothing"):
        er.expr("argmax(x where m)")(x=a, m=np.zeros(4, bool)).lo
    with pytest.raises(er.SpecError, match="argmax of nothing"):
        er.expr("argmax(x)")(x=np.zeros(0, np.float32))


def test_argmax_of_functions_is_decided():
    x = np.array([0.25, 0.5, 0.5000001, 0.5], np.float32)
    r = er.expr("argmax(exp(x) * 3)")(x=x)
    assert int(r.lo) == int(r.hi) == 2


def test_empty_reductions():
    x = np.zeros((3, 0), np.float32)
    for text, value in [("sum(x, axis=1)", 0), ("prod(x, axis=1)", 1), ("max(x, axis=1)", -np.inf), ("min(x, axis=1)", np.inf),
                        ("any(x > 0, axis=1)", 0), ("all(x > 0, axis=1)", 1), ("mean(x, axis=1)", np.nan),
                        ("acc<f32>(sum(x, axis=1))", 0), ("acc<f32, seq>(sum(x, axis=1))", 0), ("einsum(\"ij->i\", x)", 0)]:
        r = er.expr(text)(x=x)
        dtype = bool if text.startswith("a") and "acc" not in text else np.float32
        assert np.all(r.covers(np.full(3, value, dtype))), text
        assert not np.any(r.covers(np.full(3, value != 1, dtype))), text
    y = np.ones((3, 2), np.float32)
    none = np.zeros((3, 2), bool)
    for text, value in [("sum(x where m, axis=1)", 0), ("acc<f32>(sum(x where m, axis=1))", 0), ("acc<f32, seq>(sum(x where m, axis=1))", 0),
                        ("within<f32>(sum(x where m, axis=1))", 0), ("mean(x where m, axis=1)", np.nan), ("max(x where m, axis=1)", -np.inf)]:
        r = er.expr(f"round<f32>({text})")(x=y, m=none)
        assert np.all(r.covers(np.full(3, value, np.float32))), text
        assert not np.any(r.covers(np.full(3, 1, np.float32))), text


def test_concat_stack_flip_repeat_diagonal():
    rng = random.Random(SEED)
    for k in range(60):
        shape = shape_of(rng)
        x, axis = data(rng, shape), axis_text(rng, len(shape))
        at = axis % len(shape)
        y, z = (data(rng, shape[:at] + (rng.choice([0, 1, 3]),) + shape[at + 1:]) for _ in range(2))
        same(f"concat(x, y, z, axis={axis})", {"x": x, "y": y, "z": z}, np.concatenate([exact(v) for v in (x, y, z)], axis=axis), k)
        new = axis_text(rng, len(shape) + 1)
        w = data(rng, shape)
        same(f"stack([x, w], axis={new})", {"x": x, "w": w}, np.stack([exact(x), exact(w)], axis=new), k)
        same(f"stack((x / 3, w), axis={new})", {"x": x, "w": w}, np.stack([exact(x) / 3, exact(w)], axis=new), k)
        axes = axes_of(rng, len(shape))
        same(f"flip(x, axis={axes if len(axes) > 1 else axes[0]})", {"x": x}, np.flip(exact(x), axis=axes), k)
        same("flip(x)", {"x": x}, np.flip(exact(x)), k)
        n = rng.choice([0, 1, 2, 3])
        same(f"repeat(x, {n}, axis={axis})", {"x": x}, np.repeat(exact(x), n, axis=axis), k)
        same(f"repeat(x, {n})", {"x": x}, np.repeat(exact(x), n), k)
        same(f"repeat(x, {n + 1}, axis={axis}).T + 1", {"x": x}, np.repeat(exact(x), n + 1, axis=axis).T + 1, k)
        if len(shape) > 1:
            a, b = rng.sample(range(len(shape)), 2)
            same(f"diagonal(x, {a}, {b})", {"x": x}, np.diagonal(exact(x), 0, a, b), k)


def test_filled_tensors():
    same("iota(5)", {}, np.arange(5))
    same("iota(0)", {}, np.arange(0))
    same("eye(3)", {}, np.eye(3))
    same("eye(2, 4) + zeros((2, 4)) * 2 + full((4,), 1/3)", {}, np.eye(2, 4).astype(int) + np.full(4, Fraction(1, 3)))
    same("ones((2, 0))", {}, np.ones((2, 0)))
    same("len(x) * x", {"x": np.ones((3, 2), np.float32)}, 3 * np.ones((3, 2)))
    assert np.all(er.expr("acc<f32>(x @ eye(3))")(x=np.arange(6, dtype=np.float32).reshape(2, 3)).lo == np.arange(6).reshape(2, 3))


def random_subscripts(rng):
    letters = "abcde"[:rng.randint(1, 5)]
    length = {x: rng.choice([1, 2, 3]) for x in letters}
    rest = tuple(rng.choice([1, 2]) for _ in range(rng.choice([0, 0, 1, 2])))
    terms, shapes = [], []
    for _ in range(rng.choice([1, 2, 2, 2, 3])):
        own = [rng.choice(letters) for _ in range(rng.randint(0, 3))]
        hidden = rest[rng.randint(0, len(rest)):]
        at = rng.randint(0, len(own))
        dots = bool(rest) and rng.random() < 0.7
        terms.append("".join(own[:at]) + ("..." if dots else "") + "".join(own[at:]))
        shapes.append(tuple(length[x] for x in own[:at]) + (hidden if dots else ()) + tuple(length[x] for x in own[at:]))
    left = ",".join(terms)
    if rng.random() < 0.3:
        return left, shapes
    used = sorted(set(left) & set(letters))
    result = rng.sample(used, rng.randint(0, len(used)))
    if "..." in left:
        result.insert(rng.randint(0, len(result)), "...")
    return left + "->" + "".join(result), shapes


def test_einsum():
    rng = random.Random(SEED)
    done = 0
    for k in range(400):
        subscripts, shapes = random_subscripts(rng)
        values = [data(rng, s, np.float32) for s in shapes]
        names = "xyz"[:len(values)]
        expected = np.einsum(subscripts, *(exact(v) for v in values))
        same(f'einsum("{subscripts}", {", ".join(names)})', dict(zip(names, values)), expected, k)
        done += 1
    assert done == 400


def test_einsum_takes_the_path_of_matrices():
    """Large products by letters are as fast and as sharp as @."""
    rng = np.random.default_rng(SEED)
    a, b = rng.standard_normal((2, 96, 128)).astype(np.float32), rng.standard_normal((2, 128, 80)).astype(np.float32)
    plain = er.expr("round<f32>(acc<f32>(a @ b))")(a=a, b=b)
    for text in ['einsum("bij,bjk->bik", a, b)', 'einsum("bjk,bij->bik", b, a)', 'einsum("...ij,...jk", a, b)']:
        r = er.expr(f"round<f32>(acc<f32>({text}))")(a=a, b=b)
        assert np.array_equal(r.lo, plain.lo) and np.array_equal(r.hi, plain.hi), text
        assert r.check(a @ b)
    wide = er.expr('acc<f32>(einsum("ikl,jkl->ij", p, q))')(p=a.reshape(2, 96, 128)[:, :48].copy(), q=b.reshape(2, 80, 128)[:, :48].copy())
    flat = er.expr("acc<f32>(p @ q.T)")(p=a[:, :48].reshape(2, -1).copy(), q=b.reshape(2, 80, 128)[:, :48].reshape(2, -1).copy())
    assert np.array_equal(wide.lo, flat.lo) and np.array_equal(wide.hi, flat.hi)


def test_slices_as_numpy():
    rng = random.Random(SEED)
    for k in range(300):
        shape = shape_of(rng, sizes=(0, 1, 2, 3, 5))
        x = data(rng, shape, np.float32)
        entries, index = [], []
        split = rng.randint(0, len(shape))
        dots = rng.random() < 0.5
        taken = [n for n in range(len(shape)) if rng.random() < 0.8 or not dots]
        before, after = [n for n in taken if n < split], [n for n in taken if n >= split]
        if dots:
            before, after = list(range(len(before))), list(range(len(shape) - len(after), len(shape)))
        else:
            before, after = list(range(rng.randint(0, len(shape)))), []
        for part, axes in ((0, before), (1, after)):
            if part and dots:
                entries.append("...")
                index.append(Ellipsis)
            for axis in axes:
                if rng.random() < 0.2:
                    entries.append("None")
                    index.append(None)
                n = shape[axis]
                if n and rng.random() < 0.3:
                    i = rng.randrange(-n, n)
                    entries.append(str(i))
                    index.append(i)
                    continue
                start, stop = (rng.choice([None, rng.randint(-n - 2, n + 2)]) for _ in range(2))
                step = rng.choice([None, 1, 2, -1, -2, 3, -3])
                entries.append(":".join("" if v is None else str(v) for v in (start, stop, step)))
                index.append(slice(start, stop, step))
        if not entries:
            continue
        same(f"x[{', '.join(entries)}]", {"x": x}, exact(x)[tuple(index)], k)


def test_named_sizes():
    """What is checked with names for dimensions is the same with their numbers."""
    spec = er.parse('''spec f(x: f32[M, K], y: f32[K, N], s: f32[M, G]) -> (a: f32[N, M], b: f32[M, 2*K], c: f32[M, 3*G], d: f32[M]) {
  let a = acc<f32>(einsum("mk,kn->nm", x, y))
  let b = concat((x, flip(x, axis=1)), axis=-1)
  let c = repeat(s, 3, axis=1)
  let d = round<f32>(mean(x where x > 0, axis=1))
  return (a, b, c, d)
}''')
    rng = np.random.default_rng(SEED)
    x, y, s = (rng.standard_normal(n).astype(np.float32) for n in ((4, 5), (5, 3), (4, 2)))
    a, b, c, d = spec(x=x, y=y, s=s)
    assert a.check((x @ y).T) and np.array_equal(b.lo, np.concatenate([x, x[:, ::-1]], 1)) and np.array_equal(c.lo, np.repeat(s, 3, 1))
    assert d.shape == (4,)


def test_masked_leaves_are_absent_from_a_rounded_sum():
    """A masked leaf rounds nothing: with one leaf left the sum is that leaf, in every order."""
    x = np.array([[1e8, 3.0, -1e8], [1.0, 2.0 ** -24, 2.0 ** -24]], np.float32)
    m = np.array([[False, True, False], [True, False, True]])
    for order in ("any", "seq", "rseq", "pairwise(1)", "assoc"):
        r = er.expr(f"acc<f32, {order}>(sum(x where m, axis=1))")(x=x, m=m)
        assert np.array_equal(r.lo, r.hi) and np.array_equal(r.lo, np.array([3.0, 1.0], np.float32))
    big = np.ones(10000, np.float32)
    keep = np.zeros(10000, bool)
    keep[[5, 77, 9000]] = True
    r = er.expr("acc<f32>(sum(x where m))")(x=big, m=keep)
    assert float(r.lo) == float(r.hi) == 3


def test_cumsum_in_order_is_the_loop():
    rng = np.random.default_rng(SEED)
    x = rng.standard_normal(300).astype(np.float32)
    out, total = np.empty_like(x), np.float32(0)
    for i, v in enumerate(x):
        total = np.float32(total + v)
        out[i] = total
    spec = er.expr("acc<f32, seq>(cumsum(x))")
    assert spec(x=x).check(out) and np.array_equal(spec(x=x).lo, out)
    assert er.expr("acc<f32>(cumsum(x))")(x=x).check(out)
    wrong = out.copy()
    wrong[200] = np.nextafter(wrong[200], np.float32(np.inf))
    assert not spec(x=x).check(wrong)
    lost = np.cumsum(np.delete(x, 3)).astype(np.float32)
    assert not er.expr("acc<f32>(cumsum(x))")(x=x).check(np.append(lost, lost[-1]))
    import torch
    t = torch.from_numpy(x)
    assert er.expr("acc<f32>(cumsum(x))")(x=t).check(torch.cumsum(t, 0))


def test_choices_pass_through_concat():
    a, b = np.array([1.0, 2], np.float32), np.array([5.0, 6], np.float32)
    r = er.expr("concat(any_of(a, b), a)")(a=a, b=b)
    assert r.check(np.array([1, 6, 1, 2], np.float32)) and not r.check(np.array([3, 2, 1, 2], np.float32))
    assert not r.check(np.array([1, 2, 5, 2], np.float32))


def test_a_diagonal_of_an_einsum_keeps_its_place_in_the_sum():
    """The order is that of the letters' first places, k before l, though the diagonal of k is taken first."""
    x = np.zeros((2, 2, 2), np.float32)
    x[0, 0, 0], x[0, 1, 0], x[1, 0, 1], x[1, 1, 1] = 2.0**24, 1, -(2.0**24), 0.5
    result = er.expr('acc<f32, seq>(einsum("klk->", x))')(x=x)
    assert result.covers(np.float32(0.5)).all() and not result.covers(np.float32(1.5)).any()
