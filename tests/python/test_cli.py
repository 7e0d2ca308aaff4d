"""The command `erx` as a user runs it: files in, verdict, exit status, where each text goes."""
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import time
import zipfile

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ERX = os.environ.get("ERX", str(ROOT / "build" / "erx"))

GEMM = """\
spec gemm(A: bf16[M, K], B: bf16[K, N], C: bf16[M, N],
          alpha: real = 1, beta: real = 1) -> bf16[M, N] {
  let a = round<f32>(alpha)
  let b = round<f32>(beta)
  let ab = acc<f32>(A @ B)
  return where(beta == 0,
    round<bf16>(in f32 { a * ab }),
    any_of(
      round<bf16>(in f32, contract { a * ab + b * C }),
      round<bf16>(in f32, contract { a * ab + round<bf16>(exact(b * C)) })))
}

example "two by two" {
  A = [[1, 2], [3, 4]]
  B = [[1, 0], [0, 1]]
  C = [[0, 0], [0, 0]]
  covers  [[1, 2], [3, 4]]
  rejects [[1, 2], [3, 4.03125]]
}
"""


def erx(*args, stdin=None, cwd=None, timeout=60):
    return subprocess.run([ERX, *map(str, args)], input=stdin, capture_output=True, text=True, cwd=cwd, timeout=timeout)


def bits(values):
    """bfloat16 bit patterns of values that are bfloat16 already."""
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def verdict(run, status, *parts):
    shown = f"{run.args}\nstatus {run.returncode}\n--- out\n{run.stdout}\n--- err\n{run.stderr}"
    assert run.returncode == status, shown
    text = run.stderr if status in (2, 70) else run.stdout
    for part in parts:
        assert part in text, f"{part!r} is missing in\n{shown}"
    return run


@pytest.fixture
def here(tmp_path):
    (tmp_path / "gemm.erx").write_text(GEMM)
    np.save(tmp_path / "A.npy", np.array([[1, 2], [3, 4]], np.float32))
    np.save(tmp_path / "B.npy", np.eye(2, dtype=np.float32))
    np.save(tmp_path / "C.npy", np.zeros((2, 2), np.float32))
    np.save(tmp_path / "good.npy", np.array([[1, 2], [3, 4]], np.float32))
    np.save(tmp_path / "bad.npy", np.array([[1, 2], [3, 4.03125]], np.float32))
    return tmp_path


INPUTS = ["A=A.npy", "B=B.npy", "C=C.npy"]


def test_check_covered_and_violated(here):
    covered = erx("check", "gemm.erx", "--in", *INPUTS, "--out", "good.npy", cwd=here)
    verdict(covered, 0)
    assert covered.stderr == ""
    violated = erx("check", "gemm.erx", "--in", *INPUTS, "--out", "bad.npy", cwd=here)
    verdict(violated, 1, "[1, 1]", "4.03125")
    assert violated.stderr == ""


def test_check_json(here):
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", "bad.npy", "--json", "r.json", cwd=here), 1)
    report = json.loads((here / "r.json").read_text())
    assert report["verdict"] == "violation" and report["ok"] is False and report["violations"] == 1
    (result,) = report["results"]
    assert result["name"] == "output" and result["type"] == "bf16" and result["shape"] == [2, 2] and result["checked"] == 4
    assert result["first"][0]["index"] == [1, 1] and result["first"][0]["got"] == "4.03125" and result["outside"] == [3]
    assert result["first"][0]["ulps"] == 1
    assert sum(report["decided"].values()) > 0
    run = erx("check", "gemm.erx", "--in", *INPUTS, "--out", "good.npy", "--json", "-", cwd=here)
    assert json.loads(verdict(run, 0).stdout)["verdict"] == "covered"
    assert not [f for f in os.listdir(here) if f.endswith(".part")]


def test_json_is_not_written_when_the_call_is_wrong(here):
    (here / "r.json").write_text("before")
    verdict(erx("check", "gemm.erx", "--in", "A=A.npy", "--out", "good.npy", "--json", "r.json", cwd=here), 2)
    assert (here / "r.json").read_text() == "before"
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", "good.npy", "--json", "no/r.json", cwd=here), 2, "no/r.json")


def test_spec_by_name_and_from_standard_input(here):
    (here / "two.erx").write_text(GEMM.split("example")[0] + "\nspec twice(x: f32[N]) -> f32[N] {\n  return round<f32>(2 * x)\n}\n")
    np.save(here / "x.npy", np.array([1, 2.5], np.float32))
    np.save(here / "y.npy", np.array([2, 5], np.float32))
    verdict(erx("check", "two.erx:twice", "--in", "x=x.npy", "--out", "y.npy", cwd=here), 0)
    verdict(erx("check", "two.erx", "--in", "x=x.npy", "--out", "y.npy", cwd=here), 2, "gemm", "twice")
    verdict(erx("check", "two.erx:twize", "--in", "x=x.npy", "--out", "y.npy", cwd=here), 2, "twice")
    verdict(erx("check", "-", "--in", *INPUTS, "--out", "good.npy", cwd=here, stdin=GEMM), 0)
    verdict(erx("check", "-:twice", "--in", "x=x.npy", "--out", "y.npy", cwd=here, stdin=(here / "two.erx").read_text()), 0)
    verdict(erx("check", "-", "--in", *INPUTS, "--out", "good.npy", cwd=here, stdin="spec ("), 2, "<stdin>:1:")


def test_bare_expression_with_numbers(here):
    spec = "round<bf16>(alpha*A) @ B + C"
    np.save(here / "out.npy", np.array([[0.5, 1], [1.5, 2]], np.float32))
    for alpha in ["0.5", "1/2", ".5", "5e-1", "+0.5"]:
        verdict(erx("check", "-", "--in", *INPUTS, f"alpha={alpha}", "--out", "out.npy", cwd=here, stdin=spec), 0)
    verdict(erx("check", "-", "--in", *INPUTS, "alpha=0.25", "--out", "out.npy", cwd=here, stdin=spec), 1)


def test_a_fraction_is_exact_and_a_decimal_is_the_nearest_double(here):
    spec = "spec s(x: real) -> f64 {\n  return round<f64, rtp>(x)\n}\n"
    np.save(here / "nearest.npy", np.float64(0.3))
    np.save(here / "above.npy", np.nextafter(np.float64(0.3), 1))
    # 0.3 as a double lies below 3/10, so only the exact fraction rounds up past it.
    verdict(erx("check", "-", "--in", "x=0.3", "--out", "nearest.npy", cwd=here, stdin=spec), 0)
    verdict(erx("check", "-", "--in", "x=0.3", "--out", "above.npy", cwd=here, stdin=spec), 1)
    verdict(erx("check", "-", "--in", "x=3/10", "--out", "above.npy", cwd=here, stdin=spec), 0)
    verdict(erx("check", "-", "--in", "x=3/10", "--out", "nearest.npy", cwd=here, stdin=spec), 1)
    np.save(here / "x.npy", np.float32(0.25))
    np.save(here / "quarter.npy", np.float64(0.25))
    verdict(erx("check", "-", "--in", "x=x.npy", "--out", "quarter.npy", cwd=here, stdin=spec), 0)
    verdict(erx("check", "-", "--in", "x=x.npy", "--out", "0.25", cwd=here, stdin=spec), 0)
    verdict(erx("check", "-", "--in", "x=x.npy", "--out", "0.26", cwd=here, stdin=spec), 1)
    verdict(erx("check", "-", "--in", "x=3/0", "--out", "nearest.npy", cwd=here, stdin=spec), 2, "divides by zero")
    verdict(erx("check", "-", "--in", "x=1e999", "--out", "nearest.npy", cwd=here, stdin=spec), 2, "range of a double")


def test_archives(here):
    arrays = {name: np.load(here / f"{name}.npy") for name in "ABC"}
    np.savez(here / "all.npz", **arrays)
    np.savez_compressed(here / "packed.npz", out=np.load(here / "good.npy"), **arrays)
    verdict(erx("check", "gemm.erx", "--in", "all.npz", "--out", "good.npy", cwd=here), 0)
    verdict(erx("check", "gemm.erx", "--in", "all.npz", "alpha=2", "--out", "good.npy", cwd=here), 1)
    verdict(erx("check", "gemm.erx", "--in", "A=packed.npz:A", "B=packed.npz:B", "C=packed.npz:C", "--out", "packed.npz:out", cwd=here), 0)
    verdict(erx("check", "gemm.erx", "--in", "A=packed.npz:a", "--out", "good.npy", cwd=here), 2, "packed.npz", "`a`")
    verdict(erx("check", "gemm.erx", "--in", "packed.npz", "--out", "good.npy", cwd=here), 2, "out")
    verdict(erx("check", "gemm.erx", "--in", "all.npz", "A=A.npy", "--out", "good.npy", cwd=here), 2, "`A` is given twice")


def test_bits_of_formats_that_numpy_does_not_know(here):
    for name in ["A", "B", "C", "good", "bad"]:
        raw = bits(np.load(here / f"{name}.npy"))
        np.save(here / f"{name}.V2.npy", raw.view("V2"))
        np.save(here / f"{name}.u2.npy", raw)
    void = [f"{n}={n}.V2.npy" for n in "ABC"]
    verdict(erx("check", "gemm.erx", "--in", *void, "--out", "good.V2.npy", cwd=here), 0)
    verdict(erx("check", "gemm.erx", "--in", *void, "--out", "bad.V2.npy", cwd=here), 1, "4.03125")
    verdict(erx("check", "gemm.erx", "--in", *[f"{n}=bits:{n}.u2.npy" for n in "ABC"], "--out", "bits:good.u2.npy", cwd=here), 0)
    # Without bits: an unsigned array holds numbers, and 0x3f80 is 16256.
    run = erx("check", "gemm.erx", "--in", "A=A.u2.npy", *void[1:], "--out", "good.npy", cwd=here)
    assert run.returncode in (1, 2)
    expression = "round<bf16>(A @ B + C)"
    verdict(erx("check", "-", "--in", *void, "--out", "good.V2.npy", cwd=here, stdin=expression), 2, "A.V2.npy", "A=bf16:")
    named = [f"{n}=bf16:{n}.V2.npy" for n in "ABC"]
    verdict(erx("check", "-", "--in", *named, "--out", "good.V2.npy", cwd=here, stdin=expression), 0)
    spec = "spec s(x: f8e4m3fn[N]) -> f8e4m3fn[N] {\n  return x\n}\n"
    np.save(here / "f8.npy", np.array([0x7E, 0x01, 0x80], np.uint8).view("V1"))
    np.save(here / "f8.f32.npy", np.array([448, 2.0**-9, 0], np.float32))
    verdict(erx("check", "-", "--in", "x=f8.npy", "--out", "f8.f32.npy", cwd=here, stdin=spec), 0)
    verdict(erx("check", "-", "--in", "x=f8.npy", "--out", "f8.f32.npy", "--signed-zero", cwd=here, stdin=spec), 1)
    f1 = (here / "f8.npy").read_bytes().replace(b"'|V1'", b"'<f1'")
    (here / "f1.npy").write_bytes(f1)
    verdict(erx("check", "-", "--in", "x=f1.npy", "--out", "f8.f32.npy", cwd=here, stdin=spec), 0)


def test_layouts_of_npy(here):
    spec = "spec s(x: f64[M, N]) -> f64[M, N] {\n  return x\n}\n"
    x = np.arange(6.0).reshape(2, 3)
    np.save(here / "x.npy", x)
    for name, array in {"fortran": np.asfortranarray(x), "big": x.astype(">f8"), "f4": x.astype(np.float32), "i8": x.astype(np.int64),
                        "view": np.repeat(x, 2, axis=1)[:, ::2], "f2": x.astype(np.float16)}.items():
        np.save(here / f"{name}.npy", array)
        verdict(erx("check", "-", "--in", f"x={name}.npy", "--out", "x.npy", cwd=here, stdin=spec), 0)
        verdict(erx("check", "-", "--in", "x=x.npy", "--out", "fortran.npy", cwd=here, stdin=spec), 0)
    np.save(here / "t.npy", np.ascontiguousarray(x.T).reshape(2, 3))
    verdict(erx("check", "-", "--in", "x=t.npy", "--out", "x.npy", cwd=here, stdin=spec), 1)
    np.save(here / "empty.npy", np.zeros((0, 3)))
    verdict(erx("check", "-", "--in", "x=empty.npy", "--out", "empty.npy", cwd=here, stdin=spec), 0)
    np.save(here / "scalar.npy", np.float64(2))
    verdict(erx("check", "-", "--in", "x=scalar.npy", "--out", "scalar.npy", cwd=here, stdin="spec s(x: f64) -> f64 {\n  return x\n}\n"), 0)
    verdict(erx("check", "-", "--in", "x=scalar.npy", "--out", "x.npy", cwd=here, stdin=spec), 2, "x")


def test_what_is_no_array_of_numbers_is_refused(here):
    np.save(here / "object.npy", np.array([1, "a"], object), allow_pickle=True)
    (here / "short.npy").write_bytes((here / "A.npy").read_bytes()[:-1])
    (here / "text.npy").write_text("1 2 3")
    for name, part in {"object.npy": "Python objects", "short.npy": "cut short", "text.npy": "no .npy file",
                       "missing.npy": "No such file", ".": "folder"}.items():
        verdict(erx("check", "gemm.erx", "--in", f"A={name}", *INPUTS[1:], "--out", "good.npy", cwd=here), 2, name, part)
        verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", name, cwd=here), 2, name, part)


def test_complex_numbers(here):
    z = np.array([1 + 2j, 3 - 0.5j], np.complex64)
    np.save(here / "z.npy", z)
    np.savez(here / "all.npz", z=z, alpha=np.complex128(0.5 + 2j))
    np.save(here / "good.npy", z * np.complex64(0.5 + 2j))
    np.save(here / "bad.npy", (z * np.complex64(0.5 + 2j)).conj())
    spec = "spec s(z: complex<f32>[N], alpha: complex = 1) -> complex<f32>[N] {\n  return round<f32>(alpha * z)\n}\n"
    verdict(erx("check", "-", "--in", "z=z.npy", "alpha=0.5+2j", "--out", "good.npy", cwd=here, stdin=spec), 0, "COVERED", "complex<f32>[2]")
    verdict(erx("check", "-", "--in", "z=z.npy", "alpha=1/2+4/2j", "--out", "good.npy", cwd=here, stdin=spec), 0)
    verdict(erx("check", "-", "--in", "all.npz", "--out", "good.npy", cwd=here, stdin=spec), 0)
    verdict(erx("check", "-", "--in", "z=z.npy", "--out", "z.npy", cwd=here, stdin=spec), 0)
    verdict(erx("check", "-", "--in", "z=z.npy", "alpha=5e-1+2j", "--out", "bad.npy", cwd=here, stdin=spec), 1, "got -3.5-3j",
            "allowed {-3.5+3j}", "real 0, imaginary")
    run = erx("eval", "-", "--in", "z=z.npy", "alpha=-2j", "--save", "sets.npz", cwd=here, stdin=spec)
    verdict(run, 0, "output[0]", "{4-2j}")
    with np.load(here / "sets.npz") as sets:
        assert sorted(sets) == ["output.imag.flags", "output.imag.hi", "output.imag.lo", "output.real.flags", "output.real.hi", "output.real.lo"]
        assert sets["output.real.lo"].tolist() == [4, -1] and sets["output.imag.hi"].tolist() == [-2, -6]
    verdict(erx("check", "-", "--in", "z=z.npy", "alpha=2", "--out", "good.npy", cwd=here,
                stdin=spec.replace("alpha: complex = 1", "alpha: real")), 1)
    verdict(erx("check", "-", "--in", "z=z.npy", "alpha=2j", "--out", "good.npy", cwd=here,
                stdin=spec.replace("alpha: complex = 1", "alpha: real")), 2, "complex")
    np.save(here / "real.npy", np.ones(2, np.float32))
    verdict(erx("check", "-", "--in", "z=z.npy", "--out", "real.npy", cwd=here, stdin=spec), 2, "f32", "complex<f32>")


def test_an_argument_must_be_exactly_representable(here):
    np.save(here / "wide.npy", np.array([[1, 2], [0.30000001, 4]], np.float32))
    run = erx("check", "gemm.erx", "--in", "A=wide.npy", *INPUTS[1:], "--out", "good.npy", cwd=here)
    verdict(run, 2, "`A`", "bf16", "A[1, 0]", "0.30078125", "round<bf16>(A)")
    spec = "spec s(x: i8[N], n: i64) -> i64 {\n  return n\n}\n"
    np.save(here / "x.npy", np.array([1, 200]))
    verdict(erx("check", "-", "--in", "x=x.npy", "n=1", "--out", "good.npy", cwd=here, stdin=spec), 2, "x[1] is 200", "-128 to 127")
    np.save(here / "x.npy", np.array([1, 2]))
    verdict(erx("check", "-", "--in", "x=x.npy", "n=1.5", "--out", "good.npy", cwd=here, stdin=spec), 2, "`n`", "not an integer")


def test_wrong_calls(here):
    verdict(erx("check", "gemm.erx", "--in", "A=A.npy", "B=B.npy", "--out", "good.npy", cwd=here), 2, "C")
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "alhpa=1", "--out", "good.npy", cwd=here), 2, "alhpa", "alpha")
    verdict(erx("check", "gemm.erx", "--in", "A.npy", "--out", "good.npy", cwd=here), 2, "names no input")
    verdict(erx("check", "gemm.erx", "--in", "=A.npy", "--out", "good.npy", cwd=here), 2, "`=A.npy` has no name", "NAME=A.npy")
    verdict(erx("check", "gemm.erx", "--in", "--out", "good.npy", cwd=here), 2, "`--in` is followed by no value (inputs: NAME=FILE.npy")
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", cwd=here), 2, "`--out` is followed by no value (the output: FILE.npy")
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", "good.npy", "--json", "--signed-zero", cwd=here), 2, "`--json` is followed by no value")
    verdict(erx("check", "gemm.erx", "--in", "A=", "--out", "good.npy", cwd=here), 2, "gives no value")
    verdict(erx("check", "none.erx", "--in", *INPUTS, "--out", "good.npy", cwd=here), 2, "none.erx")
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", "x=good.npy", cwd=here), 2, "no result `x`")
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, cwd=here), 2, "--out")
    verdict(erx("check", cwd=here), 2, "SPEC")
    verdict(erx("chekc", "gemm.erx", cwd=here), 2, "no command `chekc`", "did you mean `check`?")
    verdict(erx("frobnicate", cwd=here), 2, "no command `frobnicate`", "check", "formats")
    verdict(erx(cwd=here), 2, "Usage", "check", "formats")
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--ot", "good.npy", cwd=here), 2, "no option `--ot`", "did you mean `--out`?")
    verdict(erx("check", "--in", *INPUTS, "gemm.erx", "--out", "good.npy", cwd=here), 2, "the spec comes before --in")
    for option in "--threads", "--show":
        for count in "many", "-1", "1.5", "", "1" * 30, "0x10":
            run = verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", "good.npy", option, count, cwd=here), 2,
                          option, f"`{count}` is no whole number from 0 to 999999999")
            assert len(run.stderr) < 200, run.stderr
        verdict(erx("eval", "gemm.erx", "--in", *INPUTS, option, "0", cwd=here), 0)
        verdict(erx("eval", "gemm.erx", "--in", *INPUTS, option + "=-3", cwd=here), 2, f"{option}: `-3` is no whole number")
    verdict(erx("--bogus", cwd=here), 2, "`erx` has no option `--bogus`", "--help, --version")
    verdict(erx("--versoin", cwd=here), 2, "did you mean `--version`?")
    verdict(erx("-x", "check", cwd=here), 2, "`erx` has no option `-x`")
    options = verdict(erx("graph", "gemm.erx", "--xyzzy", cwd=here), 2, "there are ").stderr
    assert options.count("--help") == 1 and "--dot" in options
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "alpha=true", "--out", "good.npy", cwd=here), 2, "is a boolean, not a number")
    np.save(here / "row.npy", np.ones((1, 2), np.float32))
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", "row.npy", cwd=here), 2)
    np.save(here / "B3.npy", np.ones((3, 2), np.float32))
    verdict(erx("check", "gemm.erx", "--in", "A=A.npy", "B=B3.npy", "C=C.npy", "--out", "good.npy", cwd=here), 2, "K")
    (here / "wrong.erx").write_text("spec s(x: f32[N]) -> f32[N] {\n  return round<f32>(y)\n}\n")
    verdict(erx("check", "wrong.erx", "--in", "x=A.npy", "--out", "good.npy", cwd=here), 2, "wrong.erx:2:", "^")


def test_mask_and_signed_zero(here):
    np.save(here / "mask.npy", np.array([[True, True], [True, False]]))
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", "bad.npy", "--where", "mask.npy", cwd=here), 0)
    np.save(here / "none.npy", np.zeros((2, 2), bool))
    run = verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", "bad.npy", "--where", "none.npy", "--json", "r.json", cwd=here), 0,
                  "COVERED, but no element was checked: the mask is false everywhere", "0 elements checked")
    assert "tightness" not in run.stdout and json.loads((here / "r.json").read_text())["results"][0]["checked"] == 0
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", "bad.npy", "--where", "A.npy", cwd=here), 2, "mask of booleans")
    np.save(here / "zero.npy", np.array([-0.0, 0.0], np.float32))
    np.save(here / "plus.npy", np.array([0.0, 0.0], np.float32))
    spec = "spec s(x: f32[N]) -> f32[N] {\n  return x\n}\n"
    verdict(erx("check", "-", "--in", "x=zero.npy", "--out", "plus.npy", cwd=here, stdin=spec), 0)
    verdict(erx("check", "-", "--in", "x=zero.npy", "--out", "plus.npy", "--signed-zero", cwd=here, stdin=spec), 1, "[0]")


def test_several_results(here):
    spec = "spec s(x: f32[N]) -> (double: f32[N], half: f32[N]) {\n  return (round<f32>(2 * x), round<f32>(x / 2))\n}\n"
    np.save(here / "x.npy", np.array([1, 2], np.float32))
    np.save(here / "d.npy", np.array([2, 4], np.float32))
    np.save(here / "h.npy", np.array([0.5, 1], np.float32))
    np.savez(here / "both.npz", double=np.load(here / "d.npy"), half=np.load(here / "h.npy"))
    run = lambda *out: erx("check", "-", "--in", "x=x.npy", "--out", *out, cwd=here, stdin=spec)
    verdict(run("double=d.npy", "half=h.npy"), 0)
    verdict(run("half=h.npy", "double=d.npy"), 0)
    verdict(run("both.npz"), 0)
    verdict(run("double=h.npy", "half=d.npy"), 1, "double", "half")
    verdict(run("double=d.npy"), 2, "`half`")
    verdict(run("d.npy"), 2, "double", "half")
    verdict(run("double=d.npy", "hafl=h.npy"), 2, "did you mean `half`?")


def test_eval_prints_and_saves_sets(here):
    run = verdict(erx("eval", "-", "--in", "x=x.npy", "--save", "sets.npz", cwd=prepare_sets(here), stdin="round<bf16, sr>(x)"), 0)
    assert "output: bf16[4], 4 elements, 3 with a single value" in run.stdout
    assert "[1, 1.0078125]" in run.stdout and "{-inf}" not in run.stdout and "-inf" in run.stdout and "NaN" in run.stdout
    with np.load(here / "sets.npz") as sets:
        assert sorted(sets) == ["output.flags", "output.hi", "output.lo"]
        np.testing.assert_array_equal(sets["output.lo"], [2, 1, -np.inf, np.nan])
        np.testing.assert_array_equal(sets["output.hi"], [2, 1.0078125, -np.inf, np.nan])
        assert sets["output.flags"].dtype == np.uint8
        np.testing.assert_array_equal(sets["output.flags"] & 7, [0, 0, 4, 1])
    assert not [f for f in os.listdir(here) if f.endswith(".part")]
    assert zipfile.ZipFile(here / "sets.npz").testzip() is None
    first = (here / "sets.npz").read_bytes()
    verdict(erx("eval", "-", "--in", "x=x.npy", "--save", "sets.npz", cwd=here, stdin="round<bf16, sr>(x)"), 0)
    assert (here / "sets.npz").read_bytes() == first


def prepare_sets(here):
    np.save(here / "x.npy", np.array([2, 1 + 2.0**-10, -np.inf, np.nan], np.float32))
    return here


def test_eval_of_a_large_result_is_cut(here):
    np.save(here / "x.npy", np.arange(1000, dtype=np.float32))
    run = verdict(erx("eval", "-", "--in", "x=x.npy", cwd=here, stdin="round<f32>(x + 1)"), 0)
    assert len(run.stdout.splitlines()) < 30 and "980 more" in run.stdout


def test_examples(here):
    run = verdict(erx("test", "gemm.erx", cwd=here), 0, "1 example: 2 passed, 0 failed")
    assert run.stdout.count("pass ") == 2 and "gemm.erx:" in run.stdout
    (here / "fails.erx").write_text(GEMM.replace("rejects", "covers"))
    run = verdict(erx("test", "fails.erx", cwd=here), 1, "1 passed, 1 failed", "FAIL", "fails.erx:18", "4.03125")
    (here / "fails2.erx").write_text(GEMM.replace("covers", "rejects"))
    verdict(erx("test", "fails2.erx", cwd=here), 1, "the spec allows this output")
    (here / "wrong.erx").write_text(GEMM.replace("A = [[1, 2]", "A = [[1, 0.3]"))
    run = verdict(erx("test", "gemm.erx", "wrong.erx", cwd=here), 2, "wrong.erx:14", "A[0, 1] is 0.3, which is no bf16 value")
    assert "2 examples: 2 passed, 0 failed, 1 error" in run.stdout
    (here / "wrong2.erx").write_text(GEMM.replace("4.03125", "4.01"))
    verdict(erx("test", "wrong2.erx", cwd=here), 2, "4.01, which is no bf16 value")
    (here / "none.erx").write_text(GEMM.split("example")[0])
    assert "no example" in verdict(erx("test", "none.erx", cwd=here), 0).stderr


def test_an_example_that_zeros_would_pass_is_warned_of(here):
    (here / "loose.erx").write_text("""\
spec loose(x: f32[N]) -> bf16[N] {
  return round<bf16>(any_of(x, 0 * x))
}

example "halves" {
  x = [0.5, 0.25, 1]
  covers [0.5, 0.25, 1]
}
""")
    run = verdict(erx("test", "loose.erx", cwd=here), 0)
    assert "a kernel that writes only zeros would pass" in run.stderr
    assert "zeros" not in erx("test", "gemm.erx", cwd=here).stderr


def test_fmt(here):
    messy = GEMM.replace("  let a = round<f32>(alpha)", "  let   a=round<f32>( alpha )")
    (here / "messy.erx").write_text(messy)
    verdict(erx("fmt", "--check", "messy.erx", cwd=here), 1, "messy.erx")
    assert (here / "messy.erx").read_text() == messy
    os.chmod(here / "messy.erx", 0o640)
    verdict(erx("fmt", "messy.erx", cwd=here), 0)
    text = (here / "messy.erx").read_text()
    assert "  let a = round<f32>(alpha)\n" in text
    assert os.stat(here / "messy.erx").st_mode & 0o777 == 0o640
    verdict(erx("fmt", "--check", "messy.erx", cwd=here), 0)
    assert verdict(erx("fmt", "-", cwd=here, stdin=messy), 0).stdout == text
    (here / "broken.erx").write_text("spec (")
    verdict(erx("fmt", "broken.erx", cwd=here), 2, "broken.erx:1:")
    assert (here / "broken.erx").read_text() == "spec ("


def test_graph(here):
    text = verdict(erx("graph", "gemm.erx", cwd=here), 0, "acc<f32>(A @ B)").stdout
    assert verdict(erx("graph", "-", cwd=here, stdin=text), 0).stdout == text
    for inputs in [], ["--in", *INPUTS]:
        dot = verdict(erx("graph", "gemm.erx", "--dot", *inputs, cwd=here), 0).stdout
        assert dot.startswith("digraph") and dot.rstrip().endswith("}")
    verdict(erx("graph", "gemm.erx", "--in", *INPUTS, cwd=here), 0, "bf16[2, 2]")
    expression = "round<bf16>(alpha*A) @ B + C"
    assert verdict(erx("graph", "-", cwd=here, stdin=expression), 0).stdout == "round<bf16>(alpha * A) @ B + C\n"
    verdict(erx("graph", "-", "--dot", cwd=here, stdin=expression), 2, "--in")
    verdict(erx("graph", "-", "--dot", "--in", *INPUTS, "alpha=1", cwd=here, stdin=expression), 0, "digraph")


def test_tables_and_version():
    ops = verdict(erx("ops"), 0).stdout.splitlines()
    assert [l for l in ops if l.startswith("matmul")] and [l for l in ops if l.startswith("round")]
    formats = verdict(erx("formats"), 0).stdout.splitlines()
    (bf16,) = [l for l in formats if l.startswith("bf16")]
    assert "bfloat16" in bf16 and "3.3895313892515355e+38" in bf16
    assert len({l.index("IEEE 754") for l in formats if "  IEEE 754" in l}) <= 1  # the columns are aligned
    project = (ROOT / "CMakeLists.txt").read_text().split("project(erx VERSION ")[1].split()[0]
    assert verdict(erx("--version"), 0).stdout.strip() == f"erx {project}"
    for command in ["check", "eval", "test", "fmt", "graph"]:
        assert verdict(erx(command, "--help"), 0).stdout.strip()


def big_call(here):
    """An evaluation that takes long: many elements that only the slow tiers decide."""
    rng = np.random.default_rng(7)
    np.save(here / "x.npy", rng.standard_normal(3_000_000).astype(np.float32))
    (here / "slow.erx").write_text("spec s(x: f32[N]) -> f64[N] {\n  return round<f64>(exp(sin(x)) / 3 + tanh(x))\n}\n")
    return ["eval", "slow.erx", "--in", "x=x.npy"]


def hard_product(here):
    """A product nearly every element of which climbs, in two blocks: a block alone takes many seconds."""
    rng = np.random.default_rng(7)
    np.save(here / "P.npy", rng.standard_normal((1000, 1000)))
    np.save(here / "Q.npy", np.zeros((1000, 1000)))
    (here / "product.erx").write_text("spec s(P: f64[N, N]) -> f64[N, N] {\n  return round<f64>(acc<f64>(P @ P))\n}\n")
    return ["check", "product.erx", "--in", "P=P.npy", "--out", "Q.npy", "--json", "r.json"]


@pytest.mark.parametrize("call", [big_call, hard_product])
def test_interrupt_stops_at_once_and_leaves_no_file(here, call):
    arguments = call(here)
    before = sorted(os.listdir(here))
    process = subprocess.Popen([ERX, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=here)
    time.sleep(1)
    assert process.poll() is None
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - begin < 2
    assert process.returncode == -signal.SIGINT and b"interrupted" in err and out == b""
    assert sorted(os.listdir(here)) == before


def test_progress_only_on_a_terminal(here):
    call = [ERX, *big_call(here)]
    master, slave = pty.openpty()
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=slave, cwd=here)
    os.close(slave)
    shown = b""
    begin = time.monotonic()
    while time.monotonic() - begin < 15 and b"%" not in shown:
        if select.select([master], [], [], 0.1)[0]:
            shown += os.read(master, 1000)
    process.kill()
    process.wait()
    os.close(master)
    assert b"%" in shown
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=here)
    time.sleep(2)
    process.kill()
    assert process.communicate()[1] == b""


def test_a_full_disk_is_an_error(here):
    with open("/dev/full", "w") as full:
        run = subprocess.run([ERX, "formats"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 2 and "standard output" in run.stderr
    verdict(erx("check", "gemm.erx", "--in", *INPUTS, "--out", "good.npy", "--json", "/dev/full", cwd=here), 2, "/dev/full")
