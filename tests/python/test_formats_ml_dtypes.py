"""Every format of ml_dtypes: rounding from float32 gives the same values, NaNs, infinities and signs of zero.

ml_dtypes converts float64 through float32, which rounds twice, so float32 is the only source compared. Two known differences:
* a format without NaN (f6, f4): ml_dtypes turns NaN into -0; NaN stays NaN here, and is left out,
* f8e8m0fnu: ml_dtypes rounds float32 subnormals between 2**-127 and 1.5 * 2**-127 up to 2**-126, though 2**-127 is nearer.

Zero and negative numbers, which f8e8m0fnu lacks, are NaN in both.
"""
import ml_dtypes
import numpy as np
import pytest

import erx as er

FORMATS = {
    "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e4m3": ml_dtypes.float8_e4m3, "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "f8e3m4": ml_dtypes.float8_e3m4, "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "f6e2m3fn": ml_dtypes.float6_e2m3fn, "f6e3m2fn": ml_dtypes.float6_e3m2fn, "f4e2m1fn": ml_dtypes.float4_e2m1fn,
    "bf16": ml_dtypes.bfloat16, "f16": np.float16,
}
WITHOUT_NAN = {"f6e2m3fn", "f6e3m2fn", "f4e2m1fn"}


def every_pattern(dtype):
    return np.arange(2**16, dtype=np.uint16).view(dtype).astype(np.float32)


def midpoints(dtype):
    """Each finite value, each midpoint and the float32 numbers beside it."""
    bits = 16 if np.dtype(dtype).itemsize == 2 else {"float6_e2m3fn": 6, "float6_e3m2fn": 6, "float4_e2m1fn": 4}.get(dtype.__name__, 8)
    codes = np.arange(2**bits, dtype=np.uint16 if bits == 16 else np.uint8).view(dtype)
    values = converted(codes, np.float64)
    values = np.unique(values[np.isfinite(values)])
    largest, step = values[-1], values[-1] - values[-2]
    values = np.concatenate([-(largest + step * np.arange(3, 0, -1)), values, largest + step * np.arange(1, 4)])
    with np.errstate(over="ignore"):
        points = np.concatenate([values, (values[1:] + values[:-1]) / 2]).astype(np.float32)
    return np.concatenate([points, np.nextafter(points, np.float32(np.inf)), np.nextafter(points, np.float32(-np.inf))])


def numbers(name, dtype):
    rng = np.random.default_rng(17)
    any_bits = rng.integers(0, 2**32, 20000, dtype=np.uint32).view(np.float32)
    x = np.concatenate([every_pattern(ml_dtypes.bfloat16), every_pattern(np.float16), midpoints(dtype), any_bits])
    if name in WITHOUT_NAN:
        x = x[~np.isnan(x)]
    if name == "f8e8m0fnu":
        x = x[~((x > 2.0**-127) & (x < 1.5 * 2.0**-127))]
    return x


def converted(x, dtype):
    with np.errstate(over="ignore", invalid="ignore"):
        return x.astype(dtype).astype(np.float64)


@pytest.mark.parametrize("name", FORMATS)
def test_rounding_from_float32_agrees(name):
    x = numbers(name, FORMATS[name])
    assert x.size > 100_000
    want = converted(x, FORMATS[name])
    r = er.expr(f"round<{name}>(x)")(x=x)
    for end in (r.lo, r.hi):
        different = ~((end == want) | (np.isnan(end) & np.isnan(want)))
        assert not different.any(), [(float(a).hex(), float(b), float(c)) for a, b, c in
                                     zip(x[different][:3], end[different], want[different])]
    # The sign of zero, and that a wrong one is refused.
    zero = want == 0
    if zero.any():
        z = er.expr(f"round<{name}>(x)")(x=x[zero])
        assert z.covers(want[zero], signed_zero=True).all()
        if not name.endswith("fnuz"):
            assert not z.covers(-want[zero], signed_zero=True).any()


@pytest.mark.parametrize("name", FORMATS)
def test_another_value_is_refused(name):
    dtype = FORMATS[name]
    x = midpoints(dtype)
    x = x[np.isfinite(converted(x, dtype)) & ~np.isnan(x)]
    if name == "f8e8m0fnu":
        x = x[x >= 2.0**-126]
    want = converted(x, dtype)
    r = er.expr(f"round<{name}>(x)")(x=x)
    assert r.covers(want).all()
    assert not r.covers(np.where(want == 0, 1, want * 2)).any()


@pytest.mark.parametrize("name", FORMATS)
def test_the_long_name_means_the_same_format(name):
    x = np.linspace(0.1, 5, 50, dtype=np.float32)
    long_name = np.dtype(FORMATS[name]).name
    a, b = er.expr(f"round<{name}>(x)")(x=x), er.expr(f"round<{long_name}>(x)")(x=x)
    assert (a.lo == b.lo).all() and (a.hi == b.hi).all()
    assert a.spec == b.spec


@pytest.mark.parametrize("name", FORMATS)
def test_stored_arrays_are_read_by_their_codes(name):
    dtype = FORMATS[name]
    bits = {"f6e2m3fn": 6, "f6e3m2fn": 6, "f4e2m1fn": 4}.get(name, 8 * np.dtype(dtype).itemsize)
    codes = np.arange(2**bits, dtype=np.uint16 if bits == 16 else np.uint8).view(dtype)
    want = converted(codes, np.float64)
    r = er.expr("x")(x=codes)
    assert ((r.lo == want) | (np.isnan(r.lo) & np.isnan(want))).all()
    assert ((r.hi == want) | (np.isnan(r.hi) & np.isnan(want))).all()


def test_subnormals_of_float32_go_to_the_nearest_power_of_two():
    x = np.float32(2.0**-127) * np.array([1.0, 1.25, 1.4375, 1.5, 1.75], np.float32)
    r = er.expr("round<f8e8m0fnu>(x)")(x=x)
    assert (r.lo == 2.0 ** np.array([-127, -127, -127, -126, -126])).all()


def test_e4m3fn_overflows_past_the_tie():
    x = np.array([448, 464, np.nextafter(np.float32(464), np.float32(1e9)), -464], np.float32)
    plain, away, saturated = (er.expr(f"round<f8e4m3fn{mode}>(x)")(x=x).lo for mode in ("", ", rna", ", rne, sat"))
    assert plain[0] == 448 and plain[1] == 448 and np.isnan(plain[2]) and plain[3] == -448
    assert away[0] == 448 and np.isnan(away[1:]).all()
    assert (saturated == [448, 448, 448, -448]).all()
