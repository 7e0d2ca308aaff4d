"""Inputs of a selective scan, made from a seed: `inputs(S=128, Ba=2, D=4, N=4)` and `inputs(S=1024, Ba=8, D=256, N=4)` are the two sizes of the
report. Shapes: x, delta [Ba, 1, D, S]; A [Ba, N, D, 1]; b, c [Ba, N, 1, S]; dy, the gradient of the output, as x."""
import torch


def inputs(S, Ba, D, N, seed=0, dtype=torch.float32, varied=False):
    """As in the report (A = -1, b = 0.1, dy = 1), or `varied`: every tensor random, of both signs where it may be."""
    generator = torch.Generator().manual_seed(seed)

    def uniform(*shape):
        return torch.rand(*shape, generator=generator)

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    if varied:
        x, A = normal(Ba, 1, D, S), -torch.exp(normal(Ba, N, D, 1))
        b, c, dy = normal(Ba, N, 1, S), normal(Ba, N, 1, S), normal(Ba, 1, D, S)
    else:
        x, A = uniform(Ba, 1, D, S), -torch.ones(Ba, N, D, 1)
        b, c, dy = torch.ones(Ba, N, 1, S) * 0.1, uniform(Ba, N, 1, S) * 0.1, torch.ones(Ba, 1, D, S)
    delta = uniform(Ba, 1, D, S) * 0.1
    return dict(x=x.to(dtype), A=A, b=b.to(dtype), c=c.to(dtype), delta=delta.to(dtype)), dy.to(dtype)
