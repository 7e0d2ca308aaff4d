"""The selective scan as PyTorch does it, one step after the other, and its gradients by autograd. State and arithmetic are float32."""
import torch


def forward(x, A, b, c, delta):
    dtype, (x, b, c, delta) = x.dtype, (t.float() for t in (x, b, c, delta))
    h, y = 0, []
    # unbind, not [..., t]: the gradient of an index is a whole tensor of zeros for each step
    for a_t, b_t, x_t, c_t in zip(*(t.unbind(-1) for t in (torch.exp(delta * A), b * delta, x, c))):
        h = a_t * h + b_t * x_t
        y.append((c_t * h).sum(1, keepdim=True))
    return torch.stack(y, -1).to(dtype)


def backward(dy, x, A, b, c, delta):
    """The gradients of x, A, b, c and delta, in float32."""
    leaves = [t.float().clone().requires_grad_() for t in (x, A, b, c, delta)]
    forward(*leaves).backward(dy.float())
    return tuple(t.grad for t in leaves)
