"""Entries with attributes left out. The importer always gives them, so these nodes are no ONNX."""
import numpy as np

from case import Case
from elementwise import X, sigmoid
from normalizations import channels, normalized
from windows import conv, conv_transpose, pool


def entry(name, operands, *expected, **attributes):
    with Case(f"{name}_defaults") as case:
        names = [case.input(f"x{i}", v) for i, v in enumerate(operands)]
        case.entry(name, names, *expected, **attributes)


def of_one_element():
    grow = np.exp(X.astype(np.float64)) - 1
    entry("affine", [X], X)
    entry("celu", [X], np.where(X < 0, grow, X))
    entry("clip", [X], X)
    entry("elu", [X], np.where(X < 0, grow, X))
    entry("hard_sigmoid", [X], np.clip(0.2 * X.astype(np.float64) + 0.5, 0, 1))
    infinite = np.array([-np.inf, 0, np.inf], np.float32)
    entry("is_inf", [infinite], np.isinf(infinite))
    entry("leaky_relu", [X], np.where(X < 0, X.astype(np.float64) * 0.01, X))
    entry("selu", [X], 1.0507009873554805 * np.where(X < 0, 1.6732632423543772 * grow, X))
    entry("shrink", [X], np.where(np.abs(X) > 0.5, X, 0))
    entry("swish", [X], X * sigmoid(X.astype(np.float64)))
    entry("thresholded_relu", [X], np.where(X > 1, X, 0))


def of_windows():
    draw = Case("windows_defaults").normal
    x, f, t, b = draw(2, 3, 5), draw(2, 3, 2), draw(3, 2, 2), draw(2)
    one, none = (1,), (0,)
    y = conv(x, f, np.zeros(2), 1, one, one, none, none)
    entry("conv", [x, f], y, g=1)
    y = conv_transpose(x, t, np.zeros(2), 1, one, one, none, none, none)
    entry("conv_transpose", [x, t], y)
    inner = lambda combine, stride=one, lo=none: (
        pool(x, (2,), stride, one, lo, none, False, combine))
    for name, combine in ("max_pool", lambda v, _: max(v)), ("avg_pool", lambda v, _: np.mean(v)):
        with Case(f"{name}_defaults") as case:
            names = [case.input("x", x)]
            case.entry(name, names, inner(combine), k=[2])
            case.entry(name, names, inner(combine, (2,)), k=[2], stride=[2])
            case.entry(name, names, inner(combine, lo=one), k=[2], lo=[1])
    lhs, rhs = draw(3, 4), draw(4, 2)
    entry("linear", [lhs, rhs, b], lhs.astype(np.float64) @ rhs + b)
    entry("pad", [x], x)
    entry("cumsum", [x], np.cumsum(x.astype(np.float64), 2))
    entry("cumsum_reverse", [x], np.cumsum(x.astype(np.float64)[..., ::-1], 2)[..., ::-1])
    entry("triu", [x], np.triu(x))
    entry("tril", [x], np.tril(x))
    entry("strided_slice", [x], x[:2, :2, :3], n=[2, 2, 3])


def of_normalizations():
    """Variances of about 1e-5, so that the usual epsilon counts."""
    draw = Case("normalizations_defaults").normal
    x, s, b = (draw(2, 4, 3) * 0.004).astype(np.float32), draw(4), draw(4)
    wide, cs, cb = x.astype(np.float64), channels(s, 3), channels(b, 3)
    epsilon = 1e-5
    entry("instance_norm", [x, s, b], normalized(wide, (2,), epsilon) * cs + cb)
    groups = normalized(wide.reshape(2, 2, 6), (2,), epsilon).reshape(x.shape)
    entry("group_norm", [x, s, b], groups * cs + cb, g=2)
    mean, variance = draw(4), (np.abs(draw(4)) * 1e-5).astype(np.float32)
    running = (wide - channels(mean, 3)) / np.sqrt(channels(variance, 3) + epsilon) * cs + cb
    entry("batch_norm", [x, s, b, mean, variance], running)
    entry("batch_norm_train", [x, s, b, mean, variance],
          normalized(wide, (0, 2), epsilon) * cs + cb, mean * 0.9 + wide.mean((0, 2)) * 0.1,
          variance * 0.9 + wide.var((0, 2)) * 0.1)
    rows, bias = draw(3), draw(3)
    entry("layer_norm", [x, rows, bias], normalized(wide, (2,), epsilon) * rows + bias)
    mean, inverse = wide.mean(2), 1 / np.sqrt(wide.var(2) + epsilon)
    entry("standardized", [x], normalized(wide, (2,), epsilon), mean, inverse, n=[3])
    square = np.square(wide).mean(axis=2, keepdims=True)
    entry("rms_norm", [x, rows], wide / np.sqrt(square + epsilon) * rows)
    large = draw(2, 3, 2, scale=50)
    square = np.square(large.astype(np.float64))
    entry("lrn", [large], large / (1 + 1e-4 * square) ** 0.75, width=1)


def write():
    of_one_element()
    of_windows()
    of_normalizations()
