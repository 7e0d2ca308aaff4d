"""A float32 model of the order in which the mamba CUDA kernel works, in NumPy: exp2 of a scaled argument, delta * x first, products fused with
additions, scans within a thread, over the lanes of a warp, over warps, and a running prefix over chunks. h_(t-1) is recovered in the
backward as a h = h - u. Facts of the public kernel; none of its code."""
import numpy as np
import torch

F = np.float32


def fma(x, y, z):
    """Rounded once: in float64 the product is exact, and the sum is rounded to odd before it is rounded to float32."""
    p, z = x.astype(np.float64) * y.astype(np.float64), np.asarray(z, np.float64)
    s = p + z
    t = s - p
    error = (p - (s - t)) + (z - t)
    bits = s.view(np.int64)
    odd = np.where((error != 0) & (bits & 1 == 0), np.nextafter(s, np.where(error > 0, np.inf, -np.inf)), s)
    return odd.astype(F)


def combine(left, right):
    (a1, u1), (a2, u2) = left, right
    return a2 * a1, fma(a2, u1, u2)


def items_of(length):
    """Threads and items of each for a chunk."""
    for most, threads, items in ((128, 32, 4), (256, 32, 8), (512, 32, 16), (1024, 64, 16)):
        if length <= most:
            return threads, items
    return 128, 16


def chunk_scan(a, u, threads, items, running):
    """One chunk of [..., threads * items]; `running` is what came before. Returns the states and the new running pair."""
    a, u = (t.reshape(t.shape[:-1] + (threads, items)) for t in (a, u))
    # Each thread reduces its items.
    own = a[..., 0], u[..., 0]
    for k in range(1, items):
        own = combine(own, (a[..., k], u[..., k]))
    # Lanes of a warp: Kogge and Stone.
    pa, pu = (t.reshape(t.shape[:-1] + (-1, 32)) for t in own)
    for reach in (1, 2, 4, 8, 16):
        na, nu = combine((pa[..., :-reach], pu[..., :-reach]), (pa[..., reach:], pu[..., reach:]))
        pa, pu = np.concatenate([pa[..., :reach], na], -1), np.concatenate([pu[..., :reach], nu], -1)
    # Warps one after the other, then the running prefix before all.
    before = running
    exclusive_a, exclusive_u = np.empty_like(pa), np.empty_like(pu)
    warps = []
    for w in range(pa.shape[-2]):
        exclusive_a[..., w, 0], exclusive_u[..., w, 0] = before
        lanes = combine((before[0][..., None], before[1][..., None]), (pa[..., w, :-1], pu[..., w, :-1]))
        exclusive_a[..., w, 1:], exclusive_u[..., w, 1:] = lanes
        warps.append((pa[..., w, -1], pu[..., w, -1]))
        before = combine(before, warps[-1])
    state = exclusive_a.reshape(a.shape[:-1]), exclusive_u.reshape(u.shape[:-1])
    h = np.empty_like(u)
    for k in range(items):
        state = combine(state, (a[..., k], u[..., k]))
        h[..., k] = state[1]
    total = warps[0]
    for w in warps[1:]:
        total = combine(total, w)
    return h.reshape(h.shape[:-2] + (-1,)), combine(running, total)


def scan(a, u):
    length = a.shape[-1]
    threads, items = items_of(length)
    chunk = threads * items
    short = -length % chunk
    pad = [(0, 0)] * (a.ndim - 1) + [(0, short)]
    a, u = np.pad(a, pad, constant_values=1), np.pad(u, pad)
    running = np.ones_like(a[..., 0]), np.zeros_like(u[..., 0])
    states = []
    for first in range(0, a.shape[-1], chunk):
        h, running = chunk_scan(a[..., first:first + chunk], u[..., first:first + chunk], threads, items, running)
        states.append(h)
    return np.concatenate(states, -1)[..., :length]


def prepare(x, A, b, c, delta):
    x, A, b, c, delta = (t.float().numpy() for t in (x, A, b, c, delta))
    a_ = np.exp2((delta * (A * F(1.4426950408889634))).astype(np.float64)).astype(F)
    u = (delta * x) * b
    return x, A, b, c, delta, a_, u


def forward(x, A, b, c, delta):
    dtype = x.dtype
    x, A, b, c, delta, a_, u = prepare(x, A, b, c, delta)
    h = scan(a_, u)
    y = np.zeros_like(h[:, 0])
    for n in range(h.shape[1]):
        y = fma(h[:, n], np.broadcast_to(c[:, n], y.shape), y)
    return torch.from_numpy(y[:, None]).to(dtype)


def backward(dy, x, A, b, c, delta):
    dy = dy.float().numpy()
    x, A, b, c, delta, a_, u = prepare(x, A, b, c, delta)
    h = scan(a_, u)
    next_a = np.concatenate([a_[..., 1:], np.ones_like(a_[..., :1])], -1)
    dh = np.ascontiguousarray(scan(next_a[..., ::-1], np.ascontiguousarray((c * dy)[..., ::-1]))[..., ::-1])
    ah = h - u
    dhb = dh * b
    dx, ddelta = np.zeros_like(dhb[:, 0]), np.zeros_like(dhb[:, 0])
    for n in range(dh.shape[1]):
        dx = fma(dhb[:, n], delta[:, 0], dx)
        ddelta = ddelta + fma(dhb[:, n], x[:, 0], (dh * A)[:, n] * ah[:, n])
    dA = np.zeros_like(dh[..., 0])
    for t in range(dh.shape[-1]):
        dA = fma((dh * delta)[..., t], ah[..., t], dA)
    db, dc = np.zeros_like(dh[:, :, 0]), np.zeros_like(dh[:, :, 0])
    for d in range(dh.shape[2]):
        db = db + (dh * delta)[:, :, d] * x[:, :, d]
        dc = dc + dy[:, :, d] * h[:, :, d]
    return tuple(torch.from_numpy(np.ascontiguousarray(t)) for t in (dx[:, None], dA[..., None], db[:, :, None], dc[:, :, None], ddelta[:, None]))
