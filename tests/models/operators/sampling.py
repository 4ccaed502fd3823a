"""Values at places between elements, written as plain loops."""
import itertools
import math

import numpy as np

from case import Case


def mirrored(u, low, high):
    if high == low:
        return low
    while not low <= u <= high:
        u = 2 * low - u if u < low else 2 * high - u
    return u


def kept(u, n, padding, corners):
    if padding == "reflection":
        u = mirrored(u, 0 if corners else -0.5, n - 1 if corners else n - 0.5)
    return u if padding == "zeros" else min(max(u, 0), n - 1)


def keys(distance, a=-0.75):
    d = abs(distance)
    if d <= 1:
        return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1
    return a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a


def taps(g, n, mode, padding, corners):
    """Positions with their weights."""
    u = (g + 1) / 2 * (n - 1) if corners else ((g + 1) * n - 1) / 2
    inside = kept(u, n, padding, corners)
    if mode == "nearest":
        return [(round(inside), 1)]
    if mode == "linear":
        low = math.floor(inside)
        return [(low, low + 1 - inside), (low + 1, inside - low)]
    return [(kept(p, n, padding, corners), keys(u - p))
            for p in range(math.floor(u) - 1, math.floor(u) + 3)]


def sampled(x, grid, mode, padding, corners):
    spatial = x.shape[2:]
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for b, *place in itertools.product(*map(range, grid.shape[:-1])):
        numbers = grid[(b, *place)][::-1].astype(np.float64)
        along = [taps(g, n, mode, padding, corners) for g, n in zip(numbers, spatial)]
        for tap in itertools.product(*along):
            at = [int(p) for p, _ in tap]
            if all(0 <= p < n for p, n in zip(at, spatial)):
                counts = math.prod(weight for _, weight in tap)
                y[(b, slice(None), *place)] += x[(b, slice(None), *at)] * counts
    return y


def write():
    modes = "nearest", "linear", "cubic"
    for mode in modes:
        # Of cubic ones it moves the place inside first; PyTorch, and this, moves each position.
        with Case(f"grid_sample_{mode}", reference=mode != "cubic") as case:
            x, grid = case.normal(2, 2, 3, 4), case.normal(2, 3, 2, 2, scale=1.1)
            grid[0, 0] = [[-1, 1], [3.1, -2.7]]  # a corner, and far outside
            names = [case.input("x", x), case.input("grid", grid)]
            for padding, corners in itertools.product(("zeros", "border", "reflection"), (0, 1)):
                case.node("GridSample", names, sampled(x, grid, mode, padding, corners), mode=mode,
                          padding_mode=padding, align_corners=corners)
    with Case("grid_sample_volume") as case:
        x, grid = case.normal(1, 2, 3, 2, 4), case.normal(1, 2, 2, 3, 3)
        names = [case.input("x", x), case.input("grid", grid)]
        for mode in modes:
            case.node("GridSample", names, sampled(x, grid, mode, "zeros", 0), mode=mode)
    with Case("sample_position_defaults") as case:
        g = case.normal(2, 3)
        case.entry("sample_position", [case.input("g", g)], ((g + np.float64(1)) * 5 - 1) / 2, n=5)
