"""The zoo's decoders in PyTorch, for comparisons: Llama and Mixtral with the same sizes."""
import math

import torch
from torch import nn
from torch.nn import functional as F


def rotations(sequence, half, theta, device):
    """Cosines and sines of rotary positions, [sequence, half of a head's width]."""
    rates = torch.exp(torch.arange(half, device=device) / half * -math.log(theta))
    angles = torch.arange(sequence, device=device)[:, None] * rates
    return angles.cos(), angles.sin()


def rotated(x, cosines, sines):
    """x is [batch, heads, sequence, width of a head]."""
    first, second = x.chunk(2, -1)
    cosines, sines = cosines.to(x.dtype), sines.to(x.dtype)
    return torch.cat([first * cosines - second * sines, second * cosines + first * sines], -1)


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)
        return (wide * scale).to(x.dtype) * self.weight


class GatedLayer(nn.Module):
    def __init__(self, width, feed_forward):
        super().__init__()
        self.gate, self.up, self.down = (nn.Linear(*sizes, bias=False) for sizes in (
            (width, feed_forward), (width, feed_forward), (feed_forward, width)))

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """A mixture of gated layers with so many places in each expert; tokens that find none pass by."""

    def __init__(self, width, feed_forward, experts, chosen, places):
        super().__init__()
        self.chosen, self.places = chosen, places
        self.router = nn.Linear(width, experts, bias=False)
        self.w1, self.w3, self.w2 = (nn.Parameter(0.02 * torch.randn(experts, *sizes)) for sizes in (
            (width, feed_forward), (width, feed_forward), (feed_forward, width)))

    def forward(self, x):
        batch, sequence, width = x.shape
        experts = len(self.w1)
        logits, best = self.router(x).topk(self.chosen, -1)
        shares = F.softmax(logits, -1).flatten(1)
        expert = best.flatten(1)  # [batch, sequence * chosen], earlier tokens first
        taken = F.one_hot(expert, experts).cumsum(1).gather(2, expert[..., None])[..., 0] - 1
        fits = taken < self.places
        row = torch.arange(batch, device=x.device)[:, None] * experts + expert
        place = torch.where(fits, row * self.places + taken, batch * experts * self.places)
        tokens = x.repeat_interleave(self.chosen, 1)
        slots = x.new_zeros(batch * experts * self.places + 1, width)  # the last for those without
        slots = slots.index_copy(0, place.flatten(), tokens.flatten(0, 1))
        given = slots[:-1].view(batch, experts, self.places, width)
        given = given.transpose(0, 1).flatten(1, 2)
        made = torch.bmm(F.silu(torch.bmm(given, self.w1)) * torch.bmm(given, self.w3), self.w2)
        made = made.view(experts, batch, self.places, width).transpose(0, 1).flatten(0, 2)
        made = torch.cat([made, made.new_zeros(1, width)])[place]
        made = made * (shares * fits)[..., None]
        return made.view(batch, sequence, self.chosen, width).sum(2)


class DecoderBlock(nn.Module):
    def __init__(self, width, heads, kv_heads, inner):
        super().__init__()
        self.heads, self.kv_heads, self.inner = heads, kv_heads, inner
        kv = width // heads * kv_heads
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.q, self.k, self.v, self.mixed = (nn.Linear(*sizes, bias=False) for sizes in (
            (width, width), (width, kv), (width, kv), (width, width)))

    def split(self, x, heads):
        return x.view(*x.shape[:2], heads, -1).transpose(1, 2)

    def forward(self, x, cosines, sines):
        y = self.norm1(x)
        q = rotated(self.split(self.q(y), self.heads), cosines, sines)
        k = rotated(self.split(self.k(y), self.kv_heads), cosines, sines)
        v = self.split(self.v(y), self.kv_heads)
        k, v = (part.repeat_interleave(self.heads // self.kv_heads, 1) for part in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.mixed(y.transpose(1, 2).flatten(2))
        return x + self.inner(self.norm2(x))


class Decoder(nn.Module):
    """`inner()` makes what a layer has behind its attention."""

    def __init__(self, layers, width, heads, kv_heads, vocab, inner, theta):
        super().__init__()
        self.half, self.theta = width // heads // 2, theta
        self.tokens = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList([DecoderBlock(width, heads, kv_heads, inner())
                                     for _ in range(layers)])
        self.norm, self.head = RmsNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        x = self.tokens(ids)
        cosines, sines = rotations(ids.shape[1], self.half, self.theta, ids.device)
        for block in self.blocks:
            x = block(x, cosines, sines)
        return self.head(self.norm(x)).flatten(0, 1)


def llama(layers, width, heads, kv_heads, feed_forward, vocab):
    return Decoder(layers, width, heads, kv_heads, vocab, lambda: GatedLayer(width, feed_forward),
                   500000)


def mixtral(layers, width, heads, kv_heads, feed_forward, vocab, sequence, experts=8, chosen=2):
    places = (sequence * chosen * 125 + 100 * experts - 1) // (100 * experts)
    return Decoder(layers, width, heads, kv_heads, vocab,
                   lambda: Experts(width, feed_forward, experts, chosen, places), 1000000)
