"""The selective scan in Triton, in blocks of K: what each block does to a state, a scan over that, and a second pass with the carries. Runs on
a GPU, or anywhere under Triton's interpreter (TRITON_INTERPRET=1, set before Triton is imported); K and D are powers of two."""
import torch
import triton
import triton.language as tl


@triton.jit
def first_order_op(a1, u1, a2, u2):
    """First the left step, then the right one: h -> a h + u."""
    return a2 * a1, a2 * u1 + u2


@triton.jit
def states(X, A, B, C, Delta, dY, Before, Whole, H, Y, L, N: tl.constexpr, D: tl.constexpr, K: tl.constexpr, REVERSE: tl.constexpr, LAST: tl.constexpr):
    """One block of one batch. First pass: what the block does to a state, to Whole. Last pass: its states to H, and the output to Y."""
    block, batch = tl.program_id(0), tl.program_id(1)
    blocks, batches = tl.num_programs(0), tl.num_programs(1)
    k = tl.arange(0, K)[None, None, :]
    d = tl.arange(0, D)[None, :, None]
    n = tl.arange(0, N)[:, None, None]
    t = block * K + k
    inside = t < L
    sequence = (batch * N + n) * D + d  # N x D x 1
    of_d, of_n = (batch * D + d) * L + t, (batch * N + n) * L + t
    a = tl.load(A + sequence)
    if REVERSE:
        step = tl.exp(tl.load(Delta + of_d + 1, t + 1 < L, 0.0) * a)
        u = tl.load(C + of_n, inside, 0.0) * tl.load(dY + of_d, inside, 0.0)
    else:
        delta = tl.load(Delta + of_d, inside, 0.0)
        step = tl.exp(delta * a)
        u = tl.load(B + of_n, inside, 0.0) * delta * tl.load(X + of_d, inside, 0.0)
    edge = K - 1 if REVERSE else 0  # where the block starts
    place = sequence * blocks + block
    if LAST:
        before = tl.load(Before + place)
        u = tl.where(k == edge, step * before + u, u)
    whole, h = tl.associative_scan((step, u), 2, first_order_op, reverse=REVERSE)
    if LAST:
        tl.store(H + sequence * L + t, h, inside)
        if not REVERSE:
            y = tl.sum(tl.load(C + of_n, inside, 0.0) * h, 0)
            tl.store(Y + (batch * D + tl.arange(0, D)[:, None]) * L + block * K + tl.arange(0, K)[None, :], y, (block * K + tl.arange(0, K)[None, :]) < L)
    else:
        size = batches * N * D * blocks
        tl.store(Whole + place + 0 * k, whole, k == K - 1 - edge)
        tl.store(Whole + size + place + 0 * k, h, k == K - 1 - edge)


@triton.jit
def carries(Whole, Before, blocks, sequences, P: tl.constexpr, REVERSE: tl.constexpr):
    """The state before each block of one sequence."""
    sequence = tl.program_id(0)
    j = tl.arange(0, P)
    a = tl.load(Whole + sequence * blocks + j, j < blocks, 1.0)
    u = tl.load(Whole + (sequences + sequence) * blocks + j, j < blocks, 0.0)
    _, h = tl.associative_scan((a, u), 0, first_order_op, reverse=REVERSE)
    to = j - 1 if REVERSE else j + 1
    tl.store(Before + sequence * blocks + to, h, (to >= 0) & (to < blocks))


@triton.jit
def gradients(X, A, B, C, Delta, dY, H, dH, dX, dA, dB, dC, dDelta, L, N: tl.constexpr, D: tl.constexpr, K: tl.constexpr):
    block, batch = tl.program_id(0), tl.program_id(1)
    blocks = tl.num_programs(0)
    k = tl.arange(0, K)[None, None, :]
    d = tl.arange(0, D)[None, :, None]
    n = tl.arange(0, N)[:, None, None]
    t = block * K + k
    inside = t < L
    sequence = (batch * N + n) * D + d
    of_d, of_n, of_h = (batch * D + d) * L + t, (batch * N + n) * L + t, sequence * L + t
    a, b = tl.load(A + sequence), tl.load(B + of_n, inside, 0.0)
    x, delta, dy = tl.load(X + of_d, inside, 0.0), tl.load(Delta + of_d, inside, 0.0), tl.load(dY + of_d, inside, 0.0)
    h, before = tl.load(H + of_h, inside, 0.0), tl.load(H + of_h - 1, inside & (t > 0), 0.0)
    dh = tl.load(dH + of_h, inside, 0.0)
    step = tl.exp(delta * a)
    through_a, through_b = dh * before, dh * x
    k2, d2, n2 = tl.arange(0, K)[None, :], tl.arange(0, D)[:, None], tl.arange(0, N)[:, None]
    t2 = block * K + k2
    tl.store(dX + (batch * D + d2) * L + t2, tl.sum(b * delta * dh, 0), t2 < L)
    tl.store(dDelta + (batch * D + d2) * L + t2, tl.sum(through_a * (a * step) + through_b * b, 0), t2 < L)
    tl.store(dB + (batch * N + n2) * L + t2, tl.sum(through_b * delta, 1), t2 < L)
    tl.store(dC + (batch * N + n2) * L + t2, tl.sum(h * dy, 1), t2 < L)
    tl.store(dA + ((batch * N + n2) * D + tl.arange(0, D)[None, :]) * blocks + block, tl.sum(through_a * (delta * step), 2))


def scan(inputs, dy, K, reverse, allocated_for=None):
    """`allocated_for`: the buffers of the carries are made for blocks of that length, which is a mistake unless it is K."""
    x, A, b, c, delta = inputs
    Ba, N, D, _ = A.shape
    L = x.shape[-1]
    blocks, allocated = triton.cdiv(L, K), triton.cdiv(L, allocated_for or K)
    whole, before = torch.zeros(2, Ba, N, D, allocated), torch.zeros(Ba, N, D, allocated)
    h, y = torch.zeros(Ba, N, D, L), torch.zeros(Ba, 1, D, L)
    arguments = (*inputs, dy, before, whole, h, y, L)
    states[(blocks, Ba)](*arguments, N=N, D=D, K=K, REVERSE=reverse, LAST=False)
    carries[(Ba * N * D,)](whole, before, allocated, Ba * N * D, P=triton.next_power_of_2(allocated), REVERSE=reverse)
    states[(blocks, Ba)](*arguments, N=N, D=D, K=K, REVERSE=reverse, LAST=True)
    return h, y


def wide(*tensors):
    return tuple(t.float().contiguous() for t in tensors)


def forward(x, A, b, c, delta, K=16, allocated_for=None):
    return scan(wide(x, A, b, c, delta), torch.zeros(x.shape), K, False, allocated_for)[1].to(x.dtype)


def backward(dy, x, A, b, c, delta, K=16, allocated_for=None):
    dy, *inputs = wide(dy, x, A, b, c, delta)
    Ba, N, D, _ = A.shape
    L = x.shape[-1]
    blocks = triton.cdiv(L, K)
    h, dh = (scan(inputs, dy, K, reverse, allocated_for)[0] for reverse in (False, True))
    dx, ddelta, db, dc = (torch.zeros(t.shape) for t in (x, delta, b, c))
    dA = torch.zeros(Ba, N, D, blocks)
    gradients[(blocks, Ba)](*inputs, dy, h, dh, dx, dA, db, dc, ddelta, L, N=N, D=D, K=K)
    return dx, dA.sum(-1, keepdim=True), db, dc, ddelta
