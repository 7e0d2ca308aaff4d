"""Sets do not depend on the machine: instruction set, product of matrices, number of threads, tier; nor on flushing subnormals.

`build/tests/erx_baseline` and `erx_avx2` are the command with every vector loop forced to one instruction set (ERX_ISA_BASELINE,
ERX_ISA_AVX2 of ops/clones.hpp) and with Eigen's product instead of OpenBLAS; OPENBLAS_CORETYPE forces a kernel of OpenBLAS.
"""
import hashlib
import os
import pathlib
import platform
import random
import subprocess

import numpy as np
import pytest
import torch

import erx as er
from expressions import Generator

ROOT = pathlib.Path(__file__).resolve().parents[2]
ERX = pathlib.Path(os.environ.get("ERX", ROOT / "build" / "erx"))
X86 = platform.machine() == "x86_64"
FLAGS = set(pathlib.Path("/proc/cpuinfo").read_text().split()) if pathlib.Path("/proc/cpuinfo").exists() else set()

SPECS = {
    "matmul": "round<bf16>(acc<f32>(A @ B + C))", "exact": "round<f32>(A @ B)", "sums": "acc<f32>(A @ B)", "stored_sums": "round<f16>(acc<f32>(A @ B))", "double": "acc<f64>(D @ E)", "nearest": "round<f64>(D @ E)", "within": "within<f32>(A @ B + C)",
    "ordered": "acc<f32, pairwise(8)>(sum(C, axis=1))", "elementwise": "round<f16>(in f32, contract { C * C + C })",
    "functions": "round<f32>(exp(C) * tanh(C) + sqrt(abs(C)))", "stochastic": "round<f8e4m3fn, sr>(C / 3)",
    "cancelling": "acc<f32>(A @ B - C)", "approximate": "in f32, ulp=2 { exp(C) }",
    "states": "scan<f32>(A, A, axis=1)", "recurrence": "round<bf16>(scan<f32, seq>(C, C, axis=0, reverse=true))", "double_states": "scan<f64, seq>(D, D)",
    "short_states": "scan<f16>(A, A, axis=0)",
}


def inputs():
    rng = np.random.default_rng(5)
    m, k, n = 65, 611, 47
    A, B = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    A[::5] = np.round(A[::5] * 4)
    B[:, ::3] = np.round(B[:, ::3] * 4)
    A[7, 11], B[5, 9] = np.inf, np.nan
    C = rng.standard_normal((m, n)) * 10.0 ** rng.integers(-6, 6, (m, n))
    C[0, :5] = [np.inf, -np.inf, np.nan, 0.0, -0.0]
    return {"A": A.astype(np.float16), "B": B.astype(np.float16), "C": C.astype(np.float32), "D": rng.standard_normal((m, k)),
            "E": rng.standard_normal((k, n))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("machine")
    for name, data in inputs().items():
        np.save(path / f"{name}.npy", data)
    for name, text in SPECS.items():
        (path / f"{name}.erx").write_text(text)
    return path


def digest(folder, command, *, threads=2, **environment):
    """Of every set of the corpus."""
    total = hashlib.sha256()
    for name, text in SPECS.items():
        used = [f"{n}={folder / n}.npy" for n in inputs() if n in text.replace("exact", "")]
        saved = folder / "sets.npz"
        subprocess.run([str(command), "eval", str(folder / f"{name}.erx"), "--threads", str(threads), "--in", *used, "--save", str(saved)],
                       check=True, capture_output=True, env={**os.environ, **environment})
        with np.load(saved) as sets:
            for key in sorted(sets.files):
                total.update(key.encode() + sets[key].tobytes())
    return total.hexdigest()


def test_sets_are_the_same_on_every_instruction_set_and_with_every_product(folder):
    want = digest(folder, ERX)
    variants = [("one thread", ERX, 1, {}), ("five threads", ERX, 5, {}), ("threads of OpenBLAS", ERX, 2, {"OPENBLAS_NUM_THREADS": "4"})]
    if X86:
        variants += [(f"OpenBLAS, {core}", ERX, 2, {"OPENBLAS_CORETYPE": core}) for core in ("Prescott", "Nehalem", "Sandybridge")]
        if "avx2" in FLAGS:
            variants.append(("OpenBLAS, Haswell", ERX, 2, {"OPENBLAS_CORETYPE": "Haswell"}))
    built = ERX.parent / "tests"
    for name, needed in (("baseline", set()), ("avx2", {"avx2", "fma", "bmi2"})):
        if (built / f"erx_{name}").exists() and needed <= FLAGS:
            variants += [(f"{name}, Eigen", built / f"erx_{name}", threads, {}) for threads in (1, 3)]
    assert not X86 or not built.exists() or any("Eigen" in v[0] for v in variants)
    different = [name for name, command, threads, environment in variants if digest(folder, command, threads=threads, **environment) != want]
    print(f"{len(variants) + 1} settings, digest {want[:16]}")
    assert not different, different


def test_the_digest_sees_one_changed_bit(folder):
    want = digest(folder, ERX)
    C = np.load(folder / "C.npy")
    moved = C.copy()
    moved[20, 20] = np.nextafter(moved[20, 20], np.float32(np.inf))
    np.save(folder / "C.npy", moved)
    try:
        assert digest(folder, ERX) != want
    finally:
        np.save(folder / "C.npy", C)


def of_flushing(function):
    """What a function returns while the calling thread flushes subnormals."""
    if not torch.set_flush_denormal(True):
        pytest.fail("this machine cannot flush subnormals")
    try:
        return function()
    finally:
        torch.set_flush_denormal(False)


def bits(result):
    return np.asarray(result.lo).tobytes() + np.asarray(result.hi).tobytes()


def test_a_caller_that_flushes_subnormals_changes_nothing():
    tiny = np.array([5e-324, 1e-310, -1e-310, 2.2e-308])
    texts = ["round<f64>(x)", "acc<f64>(sum(x))", "round<f64>(x * 0.5)", "round<f64>(1e-310 + x - x)", "within<f64>(x * 0.5)", "round<f64, rtp>(x * x)"]
    for text in texts:
        plain = bits(er.expr(text)(x=tiny))
        assert of_flushing(lambda: bits(er.expr(text)(x=tiny))) == plain, text
    result = er.expr("round<f64>(x)")(x=tiny)
    assert of_flushing(lambda: (list(result.covers(tiny)), list(result.covers(np.zeros(4))))) == ([True] * 4, [False] * 4)


def test_a_flushing_caller_and_random_specs():
    differ = []
    for seed in range(60):
        rng = random.Random(seed)
        case = Generator(rng, depth=2).case()
        make = (lambda: er.parse(case.text)(**case.inputs)) if case.is_spec else (lambda: er.expr(case.text)(**case.inputs))
        if bits(make()) != of_flushing(lambda: bits(make())):
            differ.append(case.text)
    assert not differ, differ[:3]


def test_fast_math_does_not_compile():
    """Every file that computes with doubles refuses."""
    compiler = os.environ.get("CXX", "g++")
    files = [p for folder in ("ops", "ops/num", "eval") for p in sorted((ROOT / folder).glob("*.cpp"))] + [ROOT / "ir" / "format.cpp"]
    files = [p for p in files if p.name not in ("gemm.cpp", "crew.cpp")] + [ROOT / "ops" / "gemm.hpp"]  # without Eigen's headers; a crew has no doubles
    accepted = []
    for path in files:
        command = [compiler, "-std=c++20", f"-I{ROOT}", "-ffast-math", "-E", "-x", "c++", str(path), "-o", os.devnull]
        refused = subprocess.run(command, text=True, capture_output=True)
        if refused.returncode == 0 or "fast-math" not in refused.stderr:
            accepted.append(path.name)
    assert len(files) > 40 and not accepted, accepted
    plain = [compiler, "-std=c++20", f"-I{ROOT}", "-E", "-x", "c++", str(ROOT / "ops" / "rounding.cpp"), "-o", os.devnull]
    assert subprocess.run(plain, capture_output=True).returncode == 0


def test_the_build_does_not_contract():
    """a * b + c is never fused where it is not written so."""
    commands = ROOT / "build" / "compile_commands.json"
    text = commands.read_text() if commands.exists() else (ROOT / "CMakeLists.txt").read_text()
    assert "-ffp-contract=off" in text and "-ffast-math" not in text and "-Ofast" not in text
