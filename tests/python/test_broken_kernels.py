"""Each kernel of test_kernels.py broken in ten ways and more: every message has a place, and a fix that it suggests removes a mistake.

What is said of each is tests/golden/broken_kernels.txt, which is read by eye; ERX_WRITE_GOLDEN=1 writes it anew.
"""
import os
import pathlib
import re

import pytest
import test_kernels

import erx as er

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "broken_kernels.txt"

EDITS = {
    "adam": [
        ('m + exact(', 'mm + exact('),
        ('sqrt(v1)', 'sqr(v1)'),
        ('v: f32[N], step', 'v: f32[M], step'),
        ('(p1: f32[N], m1: f32[N], v1: f32[N])', '(p1: f32[N], m1: f32[N])'),
        ('exact(round<f32>(1 - b1)) * (g - m)', 'exact(round<f32>(1 - b1) * (g - m)'),
        ('in f32, contract { sqrt(v1) / exact(round<f32>(sqrt(c2))) + round<f32>(eps) }', 'sqrt(v1) / exact(round<f32>(sqrt(c2))) + round<f32>(eps)'),
        ('let c1 = 1 - b1 ** step', 'let c1 = 1 - b1 ^ step'),
        ('b1 ** step', 'pow(b1)'),
        ('1e-3', '1e-3f'),
        ('let c1 = 1 - b1 ** step\n', ''),
        ('round<f32>(eps)', 'eps'),
        ('in f32, contract { p', 'in f32, contracted { p'),
        ('m1, v1)\n}', 'm1, v1, p)\n}'),
        ('let m1 =', 'let m ='),
        ('step: int', 'step: integer'),
        ('lr: real = 1e-3', 'lr = 1e-3'),
    ],
    "rms_norm_with_residual": [
        ('sum(in f32 { h * h }', 'sum(in f32 { h * hh }'),
        ('rsqrt(', 'rsqr('),
        ('weight: bf16[D]', 'weight: bf16[T]'),
        ('axis=-1', 'axis=2'),
        ('keepdims=true', 'keepdim=true'),
        ('approx<f32, ulp=2>(rsqrt(', 'approx<f32>(ulp=2, rsqrt('),
        ('in bf16 { round<bf16>(in f32 { h * r }) * weight }', 'h * r * weight'),
        ('let h = in bf16 { x + residual }', 'let h = x + residual'),
        ('f32(eps)', 'eps'),
        ('acc<f32>(sum(', 'sum(('),
        ('acc<f32>', 'acc<bf16>'),
        ('v / D', 'v / d'),
        ('let h =', 'h ='),
        ('return (', 'return '),
        ('(y: bf16[T, D], h: bf16[T, D])', 'bf16[T, D]'),
    ],
    "moe_gate": [
        ('logits = round<bf16>(acc<f32>(x @ w.T))', 'logits = round<bf16>(acc<f32>(x @ w))'),
        ('softmax(logits)', 'softmax(logit)'),
        ('softmax', 'softmaxx'),
        ('keep: bool[T, E]', 'keep: bool[E, T]'),
        ('where(keep, p, 0)', 'where(p, keep, 0)'),
        ('where(keep, p, 0)', 'where(keep, p)'),
        ('within<f32>(softmax(logits))', 'within(softmax(logits))'),
        ('round<bf16>(in f32 { masked / total })', 'masked / total'),
        ('w.T', 'w.t'),
        ('axis=-1', 'dim=-1'),
        ('let total =', 'let p ='),
        ('round<bf16>(acc', 'round<b16>(acc'),
        ('keep, p, 0', 'keep, p, 0.0.0'),
        ('return (p,', 'return {p,'),
        ('(probs: f32[T, E], weights', '(probs: f32[T, E] weights'),
        ('within<f32>', 'within<f32, seq>'),
        ('acc<f32>(sum(masked', 'acc<f32>(mean(masked'),
    ],
    "fp8_gemm_with_block_scales": [
        ('A: f8e4m3fn', 'A: f8e4m3fm'),
        ('zeros((M, N))', 'zeros(M, N)'),
        ('0..K / 4', '0..K / 3'),
        ('over b in 0..K / 4', 'over b in K / 4'),
        ('4*b:4*b + 4] @', '4*b:4*b + 3] @'),
        ('repeat(sb[b, :], 4, axis=0)', 'repeat(sb[b, :], 4, axis=1)'),
        ('repeat(sb[b, :], 4, axis=0)', 'sb[b, :]'),
        ('let s = fold', 'let A = fold'),
        ('return bf16(s)', 'return s'),
        ('in f32, contract { c', 'in f32, contract ( c'),
        ('sa[:, b]', 'sa[:, bb]'),
        ('sa[:, b][:, None]', 'sa[b, :][:, None]'),
        ('acc<f32>(A', 'acc<f16, sec>(A'),
        ('K / 4, N / 4', 'K / 4, N / 5'),
        ('fold (c = zeros', 'fold (zeros'),
    ],
    "attention_over_tiles": [
        ('tiles(N, 5)', 'tile(N, 5)'),
        ('tiles(N, 5)', 'tiles(N)'),
        ('K[t, :].T', 'K[:, t].T'),
        ('K[t, :].T', 'K[t + 1, :].T'),
        ('full((M, 1), -inf)', 'full((M, 1), -infinity)'),
        ('next (m1, in', 'next (in'),
        ('round<f32>(scale)', 'scale'),
        ('maximum(m,', 'max(m,'),
        ('return in f32 { o / l }', 'return o / l'),
        ('approx<f32, ulp=4>', 'approx<f32, ulps=4>'),
        ('1 / sqrt(D)', '1 / sqrt(d)'),
        ('let (m, l, o)', 'let m, l, o'),
        ('let p =', 'let m ='),
        ('p @ V[t, :]', 'V[t, :] @ p'),
        ('l = zeros((M, 1))', 'l = zeros((M, 1)'),
        ('V: f32[N, E]', 'V: f32[M, E]'),
    ],
    "rotary_embedding": [
        ('x[:, :D / 2]', 'x[:, :D / 3]'),
        ('D / 2:]', 'D / 2]'),
        ('axis=-1)', 'axis=-3)'),
        ('concat(', 'concatenate('),
        ('a * c - b', 'a * d - b'),
        ('c: bf16[T, D / 2]', 'c: bf16[T, D]'),
        ('in bf16 { b * c + a * s }', 'b * c + a * s'),
        ('-> bf16[T, D]', '-> bf16[T]'),
        ('-> bf16[T, D]', ''),
        ('let a = x', 'let a := x'),
        ('spec rope(', 'def rope('),
        ('{\n  let', '\n  let'),
        ('x: bf16[T, D]', 'x: f32[T, D]'),
        ('in bf16 { a', 'in bf16 [ a'),
        ('axis=-1', 'axis=-1, axis=0'),
    ],
    "convolution": [
        ('windows)', 'window)'),
        ('"ocw,cwl->ol"', '"ocw,cwl->oc"'),
        ('"ocw,cwl->ol"', '"ocw,cw->ol"'),
        ('"ocw,cwl->ol"', '"ocw,cwl"'),
        ('stack(', 'stak('),
        ('axis=1)', 'axis=7)'),
        ('b[:, None]', 'b'),
        ('acc<f32>', 'acc'),
        ('acc<f32>(', 'acc<f32>(0.5 * '),
        ('f32[O, L - W + 1]', 'f32[O, L]'),
        ('w: f32[O, C, W]', 'w: f32[O, C W]'),
        ('stack(x[', 'stack x['),
        ('return', 'retrun'),
        ('W + 2]', 'W + 2'),
        ('b: f32[O])', 'b: f32[O]'),
    ],
    "welford": [
        ('d / n1', 'd / n2'),
        ('let n1 = f32(n + 1)', 'let n1 = n + 1'),
        ('over i in 0..N', 'over i in 1..N + 1'),
        ('over i in 0..N', 'over i in range(N)'),
        ('next (n1, m1,', 'next (n1, m1, 0,'),
        ('x[i] - m }', 'x(i) - m }'),
        ('x: f32[N]', 'x: f32[N, M]'),
        ('(mean: f32, var: f32)', '(mean: f32, mean: f32)'),
        ('return (m, in', 'return (mm, in'),
        ('let d =', 'let d'),
        ('0..N', '0...N'),
        ('m = 0, s', 'm = 0 s'),
        ('x: f32[N]', 'x: f64[N]'),
        ('f32(n + 1)', 'f32[n + 1]'),
        ('x[i] - m }', 'x[i, 0] - m }'),
    ],
    "int8_gemm_with_zero_points": [
        ('wrap<i32>', 'wrap<int32_t>'),
        ('saturate<u8>', 'saturate<f32>'),
        ('saturate<u8>', 'saturated<u8>'),
        ('B - zb', 'B - zbb'),
        ('rint(', 'round('),
        ('-> u8[M, N]', '-> i8[M, N]'),
        ('saturate<u8>(rint(in f32 { f32(s) * scale }) + zc)', 'rint(in f32 { f32(s) * scale }) + zc'),
        ('sa * sb / sc }', 'sa * sb / sc'),
        ('u8[M, K], B', 'u8[M, K] B'),
        ('A: u8[M, K]', 'A: u8[K, M]'),
        ('sc: f32', 'sc: f32[2]'),
        ('in f32 { sa', 'in i32 { sa'),
        ('wrap<i32>((A - za) @ (B - zb))', 'wrap((A - za) @ (B - zb))'),
    ],
    "prefix_sum": [
        ('cumsum(x, axis=1)), acc', 'cumsum(x)), acc'),
        ('acc<f32, seq>', 'acc<f32, sequential>'),
        ('acc<f32, seq>', 'acc<f32 seq>'),
        ('acc<f32, seq>(cumsum(x, axis=1))', 'cumsum(x, axis=1)'),
        ('acc<f32, assoc>', 'acc<assoc>'),
        ('axis=1)), acc', 'axis=2)), acc'),
        ('cumsum(x, axis=1)), acc', 'cumsum(x, 1)), acc'),
        ('cumsum(x', 'cumulative_sum(x'),
        ('serial: f32[M, N]', 'serial: f32[N, M]'),
        ('serial: f32[M, N]', 'serial: bf16[M, N]'),
        ('x: f32[M, N]', 'x: f32(M, N)'),
        ('return (', 'return ['),
        ('spec prefix', 'spec 1prefix'),
        ('(serial', 'serial'),
        ('acc<f32, seq>', 'acc<f32, blocked>'),
    ],
    "moving_average": [
        ('avg * f32(decay)', 'avg * decay'),
        ('any_of(', 'anyof('),
        ('any_of(', 'either('),
        ('f32(1 - decay)', 'f32(1 - decoy)'),
        ('contract {', 'contract: {'),
        ('in f32, contract', 'in f32 contract'),
        ('bf16(in f32, contract', 'f32(in f32, contract'),
        ('real = 0.99', 'real = 0,99'),
        ('x: bf16[N]', 'x: bf16[n]'),
        ('x: bf16[N]', 'x: bfloat[N]'),
        ('exact(bf16(1 - decay))', 'bf16(1 - decay)'),
        ('exact(f32(1 - decay)) }),', 'exact(f32(1 - decay)) })'),
        ('}\n', ''),
        ('decay: real = 0.99', 'decay: real = 99%'),
    ],
}


def message(text, inputs):
    try:
        er.parse(text)(**inputs)
    except er.SpecError as e:
        return str(e)
    return ""


def said(name):
    """What stands in the golden file: messages and places, without the lines of the text."""
    kernel = getattr(test_kernels, name)
    spec, inputs, _, _ = kernel(8, 0)
    out = []
    for before, after in EDITS[name]:
        assert before in spec, (name, before)
        lines = [line for line in message(spec.replace(before, after, 1), inputs).splitlines() if re.match(r"error:|note:|help:| *--> |  *\|  *\^", line)]
        out.append(f"{name}: {before!r} -> {after!r}\n" + "".join(f"    {re.sub(r'^ *[|] *', '| ', line).strip()}\n" for line in lines))
    return "\n".join(out)


def test_messages():
    text = "\n".join(said(name) for name in EDITS)
    if os.environ.get("ERX_WRITE_GOLDEN"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


@pytest.mark.parametrize("name", EDITS)
def test_every_message_has_a_place_and_its_fixes_help(name):
    spec, inputs, _, _ = getattr(test_kernels, name)(8, 0)
    assert len(EDITS[name]) >= 10
    for before, after in EDITS[name]:
        text = spec.replace(before, after, 1)
        found = message(text, inputs)
        assert found.startswith("error: "), (before, after)
        errors = found.split("\nerror: ")
        for one in errors:
            place = re.search(r"--> <string>:(\d+):(\d+)", one)
            assert place, one
            fix = re.search(r"^help: replace '(.*?)' with '(.*)'$", one, re.M)
            if not fix or "\n" in fix[0]:
                continue
            lines = text.split("\n")
            row = int(place[1]) - 1
            if fix[1] not in lines[row]:
                continue
            at = lines[row].find(fix[1], max(0, int(place[2]) - 1))
            at = lines[row].find(fix[1]) if at < 0 else at
            lines[row] = lines[row][:at] + fix[2] + lines[row][at + len(fix[1]):]
            again = message("\n".join(lines), inputs)
            head = "\n".join(one.removeprefix("error: ").splitlines()[:2])  # what, and where
            assert head not in again, f"{one}\nafter the fix:\n{again}"
