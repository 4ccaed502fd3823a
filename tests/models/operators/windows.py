"""Products of matrices, convolutions and pooling, written as plain loops."""
import itertools
import math

import numpy as np

from case import Case


def positions(extents):
    return itertools.product(*map(range, extents))


def window_outputs(n, k, stride, dilation, lo, hi, ceil=False):
    """ONNX's formula; with `ceil` no window begins in the padding behind."""
    span = n + lo + hi - dilation * (k - 1) - 1
    if not ceil:
        return span // stride + 1
    count = math.ceil(span / stride) + 1
    return count - 1 if (count - 1) * stride >= n + lo else count


def products():
    with Case("matmul") as case:
        a, b = case.normal(2, 3, 5), case.normal(2, 5, 4)
        case.node("MatMul", [case.input("a", a), case.input("b", b)], np.matmul(a, b))
    with Case("matmul_broadcast") as case:
        a, b = case.normal(3, 1, 2, 5), case.normal(2, 5, 4)
        case.node("MatMul", [case.input("a", a), case.input("b", b)], np.matmul(a, b))
    with Case("linear") as case:
        a, b, c, d = case.normal(3, 5), case.normal(5, 4), case.normal(4), case.normal(3, 1)
        names = [case.input(n, v) for n, v in zip("abcd", (a, b, c, d))]
        case.node("Gemm", names[:3], 0.5 * (a @ b) - 1.5 * c, alpha=0.5, beta=-1.5)
        case.node("Gemm", [names[0], names[1], names[3]], a @ b + d)
        case.node("Gemm", [names[1], names[0]], 2 * (a @ b).T, alpha=2.0, transA=1, transB=1)
    with Case("einsum") as case:
        a, b = case.normal(2, 3, 4), case.normal(3, 5, 2)
        names = [case.input("a", a), case.input("b", b)]
        for equation in "bij,ikb->bkj", "bij,ikb->ji", "bij,ikb":
            case.node("Einsum", names, np.einsum(equation, a, b), equation=equation)


def conv(x, f, bias, group, stride, dilation, lo, hi):
    ci, co = f.shape[1], f.shape[0] // group
    out = [window_outputs(*v) for v in zip(x.shape[2:], f.shape[2:], stride, dilation, lo, hi)]
    y = np.zeros((x.shape[0], f.shape[0], *out))
    for n, o, *p in positions(y.shape):
        y[(n, o, *p)] = bias[o]
        for c, *u in positions(f.shape[1:]):
            q = [i * s + j * d - l for i, s, j, d, l in zip(p, stride, u, dilation, lo)]
            if all(0 <= i < e for i, e in zip(q, x.shape[2:])):
                y[(n, o, *p)] += float(x[(n, o // co * ci + c, *q)]) * f[(o, c, *u)]
    return y


def convolutions():
    settings = [((2, 4, 7, 6), (6, 2, 3, 2), 2, (2, 1), (1, 2), (1, 0), (2, 1)),
                ((2, 3, 9), (4, 3, 3), 1, (2,), (2,), (3,), (1,)),
                ((1, 2, 5, 5), (3, 2, 2, 3), 1, (1, 2), (2, 1), (0, 2), (1, 0))]
    for i, (x_shape, f_shape, group, stride, dilation, lo, hi) in enumerate(settings):
        with Case(f"conv_{i}") as case:
            x, f, b = case.normal(*x_shape), case.normal(*f_shape), case.normal(f_shape[0])
            names = [case.input(n, v) for n, v in zip("xfb", (x, f, b))]
            case.node("Conv", names, conv(x, f, b, group, stride, dilation, lo, hi), group=group,
                      strides=stride, dilations=dilation, pads=[*lo, *hi])


def conv_transpose(x, f, bias, group, stride, dilation, lo, hi, extra):
    """Each element adds its multiple of the filter to the output."""
    ci, co = x.shape[1] // group, f.shape[1]
    out = [(n - 1) * s + d * (k - 1) + 1 + e - l - h for n, s, d, k, e, l, h in
           zip(x.shape[2:], stride, dilation, f.shape[2:], extra, lo, hi)]
    y = np.zeros((x.shape[0], co * group, *out)) + bias.reshape(-1, *[1] * len(out))
    for n, c, *p in positions(x.shape):
        for o, *u in positions(f.shape[1:]):
            q = [i * s + j * d - l for i, s, j, d, l in zip(p, stride, u, dilation, lo)]
            if all(0 <= i < e for i, e in zip(q, out)):
                y[(n, c // ci * co + o, *q)] += float(x[(n, c, *p)]) * f[(c, o, *u)]
    return y


def transposed():
    settings = [((1, 4, 3, 4), (4, 3, 3, 2), 2, (2, 3), (2, 1), (1, 0), (0, 1), (1, 2)),
                ((2, 2, 5), (2, 3, 4), 1, (3,), (1,), (2,), (1,), (1,))]
    for i, (x_shape, f_shape, group, stride, dilation, lo, hi, extra) in enumerate(settings):
        # The reference takes such filters of one group only.
        with Case(f"conv_transpose_{i}", reference=group == 1) as case:
            x, f, b = case.normal(*x_shape), case.normal(*f_shape), case.normal(f_shape[1] * group)
            names = [case.input(n, v) for n, v in zip("xfb", (x, f, b))]
            y = conv_transpose(x, f, b, group, stride, dilation, lo, hi, extra)
            case.node("ConvTranspose", names, y, group=group, strides=stride, dilations=dilation,
                      pads=[*lo, *hi], output_padding=extra)


def pool(x, k, stride, dilation, lo, hi, ceil, combine):
    """`combine` gets the values inside and the number of positions inside the padded operand."""
    dims = x.shape[2:]
    out = [window_outputs(*v, ceil) for v in zip(dims, k, stride, dilation, lo, hi)]
    y = np.zeros((*x.shape[:2], *out))
    for n, c, *p in positions(y.shape):
        values, padded = [], 0
        for u in positions(k):
            q = [i * s + j * d - l for i, s, j, d, l in zip(p, stride, u, dilation, lo)]
            padded += all(i < e + h for i, e, h in zip(q, dims, hi))
            if all(0 <= i < e for i, e in zip(q, dims)):
                values.append(float(x[(n, c, *q)]))
        y[(n, c, *p)] = combine(values, padded)
    return y


def dilated():
    settings = [((2, 2, 7, 6), (3, 2), (2, 3), (2, 3), (1, 0), (2, 1)),
                ((1, 2, 8), (3,), (2,), (2,), (2,), (1,)), ((1, 1, 9), (2,), (2,), (3,), (0,), (2,)),
                ((1, 1, 5), (2,), (3,), (2,), (0,), (2,))]
    for i, (shape, k, stride, dilation, lo, hi) in enumerate(settings):
        with Case(f"average_pool_dilated_{i}") as case:
            x = case.normal(*shape) - np.float32(3)
            names = [case.input("x", x)]
            window = dict(kernel_shape=k, strides=stride, pads=[*lo, *hi], dilations=dilation)
            for ceil in 0, 1:
                inside = lambda v, _: sum(v) / max(len(v), 1)
                y = pool(x, k, stride, dilation, lo, hi, ceil, inside)
                case.node("AveragePool", names, y, **window, ceil_mode=ceil)
                y = pool(x, k, stride, dilation, lo, hi, ceil, lambda v, n: sum(v) / n)
                case.node("AveragePool", names, y, **window, ceil_mode=ceil, count_include_pad=1)


def max_pool_indices(x, k, stride, dilation, lo, hi, columns):
    """The place in x of the first of the greatest elements of each window."""
    dims = x.shape[2:]
    out = [window_outputs(*v) for v in zip(dims, k, stride, dilation, lo, hi)]
    y = np.zeros((*x.shape[:2], *out), np.int64)
    for n, c, *p in positions(y.shape):
        inside = [q for u in positions(k)
                  for q in [tuple(i * s + j * d - l for i, s, j, d, l in
                                  zip(p, stride, u, dilation, lo))]
                  if all(0 <= i < e for i, e in zip(q, dims))]
        at = max(inside, key=lambda q: x[(n, c, *q)])
        place = np.ravel_multi_index(at, dims, order="F" if columns else "C")
        y[(n, c, *p)] = (n * x.shape[1] + c) * math.prod(dims) + place
    return y


def indices():
    settings = [((2, 2, 7, 6), (3, 2), (2, 3), (1, 2), (1, 0), (2, 1)),
                ((1, 2, 8), (2,), (3,), (1,), (1,), (1,)),
                ((1, 2, 3, 4, 5), (2, 2, 3), (1, 2, 2), (1, 1, 1), (0, 1, 1), (0, 0, 1))]
    for i, (shape, k, stride, dilation, lo, hi) in enumerate(settings):
        with Case(f"max_pool_indices_{i}") as case:
            x = np.round(case.normal(*shape) * 2) - np.float32(7)  # some are equal
            names = [case.input("x", x)]
            y = pool(x, k, stride, dilation, lo, hi, False, lambda v, _: max(v))
            for columns in 0, 1:
                at = max_pool_indices(x, k, stride, dilation, lo, hi, columns)
                case.node("MaxPool", names, y, at, kernel_shape=k, strides=stride,
                          pads=[*lo, *hi], dilations=dilation, storage_order=columns)


def pooling():
    # Strides and pads for which the last window ends outside, and (2, 3) for which one would begin
    # outside. The negative values would lose against padding of zeros.
    settings = [((2, 2, 7, 6), (3, 2), (2, 3), (1, 2), (1, 0), (2, 1)),
                ((1, 2, 8), (2,), (3,), (1,), (1,), (1,)),
                ((1, 2, 5), (3,), (2,), (1,), (2,), (0,)),
                ((1, 2, 6), (3,), (2,), (1,), (0,), (0,)),
                ((1, 2, 5), (3,), (2,), (1,), (1,), (0,)),
                ((1, 2, 7), (2,), (3,), (1,), (0,), (0,))]
    for i, (shape, k, stride, dilation, lo, hi) in enumerate(settings):
        for op, name in ("MaxPool", "max_pool"), ("AveragePool", "average_pool"):
            with Case(f"{name}_{i}") as case:
                x = case.normal(*shape) - np.float32(3)
                names = [case.input("x", x)]
                window = dict(kernel_shape=k, strides=stride, pads=[*lo, *hi])
                for ceil in 0, 1:
                    if op == "MaxPool":
                        y = pool(x, k, stride, dilation, lo, hi, ceil, lambda v, _: max(v))
                        case.node(op, names, y, **window, dilations=dilation, ceil_mode=ceil)
                        continue
                    ones = [1] * len(k)
                    inside = pool(x, k, stride, ones, lo, hi, ceil, lambda v, _: sum(v) / len(v))
                    padded = pool(x, k, stride, ones, lo, hi, ceil, lambda v, n: sum(v) / n)
                    case.node(op, names, inside, **window, ceil_mode=ceil)
                    case.node(op, names, padded, **window, ceil_mode=ceil, count_include_pad=1)
    dilated()
    indices()
    for op, name, formula in (("GlobalAveragePool", "global_average_pool", np.mean),
                              ("GlobalMaxPool", "global_max_pool", np.max)):
        with Case(name) as case:
            x = case.normal(2, 3, 4, 5) - np.float32(3)
            y = formula(x.astype(np.float64), axis=(2, 3), keepdims=True)
            case.node(op, [case.input("x", x)], y)


def write():
    products()
    convolutions()
    transposed()
    pooling()
