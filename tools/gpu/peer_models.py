"""The zoo's models in PyTorch, for comparisons: GPT, ResNet-50 and Llama with the same sizes."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.mixed = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, sequence, width = x.shape
        q, k, v = (part.view(batch, sequence, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.mixed(y.transpose(1, 2).reshape(batch, sequence, width))
        return x + self.outer(F.gelu(self.inner(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, sequence, _, vocab):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocab, width), nn.Embedding(sequence, width)
        self.blocks = nn.Sequential(*[GptBlock(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.blocks(self.tokens(ids) + self.places.weight)
        return (self.norm(x) @ self.tokens.weight.T).flatten(0, 1)


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.path = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.beside = nn.Identity()
        if stride > 1 or inputs != outputs:
            self.beside = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                        nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.path(x) + self.beside(x))


def resnet50():
    layers, inputs = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
                      nn.MaxPool2d(3, 2, 1)], 64
    for stage, (blocks, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, 2 if stage > 0 and block == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


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


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, kv_heads, feed_forward):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        kv = width // heads * kv_heads
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.q, self.k, self.v, self.mixed = (nn.Linear(*sizes, bias=False) for sizes in (
            (width, width), (width, kv), (width, kv), (width, width)))
        self.gate, self.up, self.down = (nn.Linear(*sizes, bias=False) for sizes in (
            (width, feed_forward), (width, feed_forward), (feed_forward, width)))

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
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, layers, width, heads, kv_heads, feed_forward, vocab, theta=500000):
        super().__init__()
        self.half, self.theta = width // heads // 2, theta
        self.tokens = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList([LlamaBlock(width, heads, kv_heads, feed_forward)
                                     for _ in range(layers)])
        self.norm, self.head = RmsNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        x = self.tokens(ids)
        cosines, sines = rotations(ids.shape[1], self.half, self.theta, ids.device)
        for block in self.blocks:
            x = block(x, cosines, sines)
        return self.head(self.norm(x)).flatten(0, 1)
