"""The selective scan as PyTorch does it, one step after the other, and its gradients by autograd. State and arithmetic are float32."""
import torch


def forward(x, A, b, c, delta):
    dtype, (x, b, c, delta) = x.dtype, (t.float() for t in (x, b, c, delta))
    a_, b_ = torch.exp(delta * A), b * delta
    h, y = 0, []
    for t in range(x.shape[-1]):
        h = a_[..., t] * h + b_[..., t] * x[..., t]
        y.append((c[..., t] * h).sum(1, keepdim=True))
    return torch.stack(y, -1).to(dtype)


def backward(dy, x, A, b, c, delta):
    """The gradients of x, A, b, c and delta, in float32."""
    leaves = [t.float().clone().requires_grad_() for t in (x, A, b, c, delta)]
    forward(*leaves).backward(dy.float())
    return tuple(t.grad for t in leaves)
