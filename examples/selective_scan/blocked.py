"""The selective scan in blocks of K: scans within all blocks at once, a scan over what the blocks leave behind, and a second pass with the carries.

`allocated_for=32` with K=128 repeats the call of the report: the buffers of the carries were allocated for blocks of 32, and the kernel
indexes them as if they were made for the K that it is called with. Everything else is right.
"""
import torch


def combine(left, right):
    """First the left step, then the right one: h -> a h + u."""
    (a1, u1), (a2, u2) = left, right
    return a2 * a1, a2 * u1 + u2


def doubling_scan(a, u):
    """All prefixes along the last axis, by Hillis and Steele: each round reaches twice as far back."""
    reach = 1
    while reach < a.shape[-1]:
        af, uf = combine((a[..., :-reach], u[..., :-reach]), (a[..., reach:], u[..., reach:]))
        a, u = torch.cat([a[..., :reach], af], -1), torch.cat([u[..., :reach], uf], -1)
        reach *= 2
    return a, u


def carries(a, u, allocated):
    """The state before each block, from what each block does to a state. Both pass through buffers [2, .., blocks], which have room for `allocated`
    blocks: where that is not the number of blocks, the part that reads a whole buffer does not find what was written block by block."""
    blocks = a.shape[-1]
    whole, before = (torch.zeros(2, *a.shape[:-1], allocated) for _ in range(2))
    whole.view(-1)[: 2 * a.numel()] = torch.stack([a, u]).reshape(-1)  # written with the strides of `blocks`
    _, h = doubling_scan(whole[0], whole[1])  # read with the strides of `allocated`
    before[1, ..., 1:] = h[..., :-1]
    return before.view(-1)[a.numel(): 2 * a.numel()].reshape(a.shape)  # and read as it was written


def blocked_scan(a, u, K, allocated_for=None):
    """h_t = a_t h_(t-1) + u_t along the last axis, h_(-1) = 0."""
    length = a.shape[-1]
    filled = (0, -length % K)  # the last block is filled up with steps that do nothing
    a, u = torch.nn.functional.pad(a, filled, value=1.0), torch.nn.functional.pad(u, filled)
    a, u = (t.unflatten(-1, (-1, K)) for t in (a, u))
    whole_a, whole_u = (t[..., -1] for t in doubling_scan(a, u))
    before = carries(whole_a, whole_u, -(-length // (allocated_for or K)))
    u = torch.cat([(a[..., :1] * before[..., None] + u[..., :1]), u[..., 1:]], -1)
    _, h = doubling_scan(a, u)
    return h.flatten(-2)[..., :length]


def forward(x, A, b, c, delta, K=128, allocated_for=None):
    dtype, (x, b, c, delta) = x.dtype, (t.float() for t in (x, b, c, delta))
    h = blocked_scan(torch.exp(delta * A), b * delta * x, K, allocated_for)
    return (c * h).sum(1, keepdim=True).to(dtype)


def backward(dy, x, A, b, c, delta, K=128, allocated_for=None):
    dy, x, b, c, delta = (t.float() for t in (dy, x, b, c, delta))
    a_, b_ = torch.exp(delta * A), b * delta
    h = blocked_scan(a_, b_ * x, K, allocated_for)
    before = torch.cat([torch.zeros_like(h[..., :1]), h[..., :-1]], -1)
    # The gradient of the state is a scan from the end, with the coefficients of the next step.
    next_a = torch.cat([a_[..., 1:], torch.ones_like(a_[..., :1])], -1)
    dh = blocked_scan(next_a.flip(-1), (c * dy).flip(-1), K, allocated_for).flip(-1)
    da_, db_ = dh * before, dh * x
    return ((b_ * dh).sum(1, keepdim=True), (da_ * (delta * a_)).sum(-1, keepdim=True), (db_ * delta).sum(2, keepdim=True),
            (h * dy).sum(2, keepdim=True), (da_ * (A * a_) + db_ * b).sum(1, keepdim=True))
