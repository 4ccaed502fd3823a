"""Normalizations. The epsilons are large and the variances small, so that they matter."""
import numpy as np

from case import Case

EPSILON = 0.125


def normalized(x, axes, epsilon=EPSILON):
    m = x.mean(axis=axes, keepdims=True)
    return (x - m) / np.sqrt(np.square(x - m).mean(axis=axes, keepdims=True) + epsilon)


def channels(v, rank):
    return v.reshape(-1, *[1] * (rank - 2)).astype(np.float64)


def statistics():
    with Case("batch_norm") as case:
        x, s, b, m = case.normal(2, 3, 4), case.normal(3), case.normal(3), case.normal(3)
        v = np.array([0, 0.25, 1.5], np.float32)
        names = [case.input(n, a) for n, a in zip("xsbmv", (x, s, b, m, v))]
        c = lambda a: channels(a, 3)
        y = (x - c(m)) / np.sqrt(c(v) + EPSILON) * c(s) + c(b)
        case.node("BatchNormalization", names, y, epsilon=EPSILON)
    with Case("batch_norm_train") as case:
        x, s, b, m = case.normal(2, 3, 4) + 2, case.normal(3), case.normal(3), case.normal(3)
        v = np.array([0, 0.25, 1.5], np.float32)
        names = [case.input(n, a) for n, a in zip("xsbmv", (x, s, b, m, v))]
        wide = x.astype(np.float64)
        y = normalized(wide, (0, 2)) * channels(s, 3) + channels(b, 3)
        case.entry("batch_norm_train", names, y, m * 0.75 + wide.mean(axis=(0, 2)) * 0.25,
                   v * 0.75 + wide.var(axis=(0, 2)) * 0.25, eps=EPSILON, momentum=0.75)


def of_one_element():
    with Case("instance_norm") as case:
        x, s, b = case.normal(2, 3, 4, 2) + 2, case.normal(3), case.normal(3)
        names = [case.input(n, a) for n, a in zip("xsb", (x, s, b))]
        y = normalized(x.astype(np.float64), (2, 3)) * channels(s, 4) + channels(b, 4)
        case.node("InstanceNormalization", names, y, epsilon=EPSILON)
    with Case("group_norm") as case:
        x, s, b = case.normal(2, 6, 3) + 2, case.normal(6), case.normal(6)
        names = [case.input(n, a) for n, a in zip("xsb", (x, s, b))]
        y = normalized(x.astype(np.float64).reshape(2, 2, 9), (2,)).reshape(x.shape)
        y = y * channels(s, 3) + channels(b, 3)
        case.node("GroupNormalization", names, y, num_groups=2, epsilon=EPSILON)


def of_last_dimensions():
    for axis in -1, 1:
        with Case(f"layer_norm_{axis % 3}") as case:
            x = case.normal(2, 3, 5) + 2
            s, b = case.normal(*x.shape[axis:]), case.normal(*x.shape[axis:])
            names = [case.input(n, a) for n, a in zip("xsb", (x, s, b))]
            z = normalized(x.astype(np.float64), tuple(range(axis % 3, 3)))
            case.node("LayerNormalization", names, z * s + b, axis=axis, epsilon=EPSILON)
            case.node("LayerNormalization", names[:2], z * s, axis=axis, epsilon=EPSILON)
        with Case(f"rms_norm_{axis % 3}") as case:
            x = case.normal(2, 3, 5, scale=0.5)
            s = case.normal(*x.shape[axis:])
            names = [case.input(n, a) for n, a in zip("xs", (x, s))]
            square = np.square(x.astype(np.float64))
            mean = square.mean(axis=tuple(range(axis % 3, 3)), keepdims=True)
            case.node("RMSNormalization", names, x / np.sqrt(mean + EPSILON) * s, axis=axis,
                      epsilon=EPSILON)


def broadcast():
    """Scales and biases that broadcast to what is normalized, or to the operand alone."""
    for op, first in ("LayerNormalization", normalized), ("RMSNormalization", root_mean_square):
        name = "layer_norm_scales" if op[0] == "L" else "rms_norm_scales"
        with Case(name) as case:
            x = case.normal(2, 3, 4) + 1
            scales = {"one": case.normal(1), "none": case.normal(), "row": case.normal(1, 1, 4),
                      "column": case.normal(3, 1), "full": case.normal(2, 3, 4)}
            names = [case.input("x", x)] + [case.input(n, s) for n, s in scales.items()]
            for axis in -1, 1:
                z = first(x.astype(np.float64), tuple(range(axis % 3, 3)))
                for n, s in scales.items():
                    case.node(op, ["x", n], z * s, axis=axis, epsilon=EPSILON)
                if op[0] == "L":
                    case.node(op, ["x", "one", "full"], z * scales["one"] + scales["full"],
                              axis=axis, epsilon=EPSILON)
                    case.node(op, ["x", "full", "none"], z * scales["full"] + scales["none"],
                              axis=axis, epsilon=EPSILON)
    with Case("group_norm_one_scale", reference=False) as case:
        x, s, b = case.normal(2, 6, 3) + 2, case.normal(1), case.normal(6)
        names = [case.input(n, a) for n, a in zip("xsb", (x, s, b))]
        y = normalized(x.astype(np.float64).reshape(2, 3, 6), (2,)).reshape(x.shape)
        case.node("GroupNormalization", names, y * s + channels(b, 3), num_groups=3,
                  epsilon=EPSILON)
        y = normalized(x.astype(np.float64), (2,))
        case.node("InstanceNormalization", names, y * s + channels(b, 3), epsilon=EPSILON)


def root_mean_square(x, axes, epsilon=EPSILON):
    return x / np.sqrt(np.square(x).mean(axis=axes, keepdims=True) + epsilon)


def staged():
    """Statistics as outputs, and those of halves, which are f32."""
    with Case("layer_norm_statistics") as case:
        x, s, b = case.normal(2, 3, 4) + 2, case.normal(4), case.normal(4)
        names = [case.input(n, a) for n, a in zip("xsb", (x, s, b))]
        for axis in -1, 1:
            wide, axes = x.astype(np.float64), tuple(range(axis % 3, 3))
            mean = wide.mean(axes, keepdims=True)
            inverse = 1 / np.sqrt(wide.var(axes, keepdims=True) + EPSILON)
            case.node("LayerNormalization", names, (wide - mean) * inverse * s + b, mean, inverse,
                      axis=axis, epsilon=EPSILON)
        case.entry("standardized", names[:1], (wide - mean) * inverse, mean[:, 0, 0],
                   inverse[:, 0, 0], n=[3, 4], eps=EPSILON)
    with Case("norms_of_halves", reference=False) as case:  # it computes squares in f16
        x = (case.normal(2, 4, 8) * 100 + 400).astype(np.float16)  # whose squares are no f16
        # Powers of two as scales: products of halves with them are exact.
        rows, of_channels = (2.0 ** case.random.integers(-2, 3, n) for n in (8, 4))
        rows, of_channels = rows.astype(np.float16), of_channels.astype(np.float16)
        bias, column_bias = case.normal(8).astype(np.float16), case.normal(4).astype(np.float16)
        names = [case.input(n, a) for n, a in zip("xrcbd", (x, rows, of_channels, bias,
                                                            column_bias))]
        wide, half = x.astype(np.float64), lambda v: np.asarray(v).astype(np.float16)
        mean, variance = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
        inverse = 1 / np.sqrt(variance + 1e-5)
        z = half((wide - mean) * inverse).astype(np.float64)
        case.node("LayerNormalization", ["x", "r", "b"], half(z * rows + bias),
                  mean.astype(np.float32), inverse.astype(np.float32))
        case.node("LayerNormalization", ["x", "r"], half(z * rows))
        square = np.square(wide).mean(-1, keepdims=True)
        case.node("RMSNormalization", ["x", "r"], half(half(wide / np.sqrt(square + 1e-5)) * rows))
        scale, shift = of_channels[:, None].astype(np.float64), column_bias[:, None]
        case.node("InstanceNormalization", ["x", "c", "d"], half(z * scale + shift))
        groups = half(normalized(wide.reshape(2, 2, 16), (2,), 1e-5)).reshape(x.shape)
        case.node("GroupNormalization", ["x", "c", "d"], half(groups * scale + shift), num_groups=2)


def over_channels():
    x_shape = (5, 5, 2, 1)  # the reference leaves out channels where they outnumber the batch
    for size in 1, 2, 3, 4:
        with Case(f"lrn_{size}") as case:
            x = case.normal(*x_shape, scale=2)
            y = np.zeros(x_shape)
            for c in range(5):
                first, last = c - (size - 1) // 2, c + size // 2
                square = np.square(x[:, max(first, 0):last + 1].astype(np.float64)).sum(axis=1)
                y[:, c] = x[:, c] / (0.75 + 0.5 / size * square) ** 0.6
            case.node("LRN", [case.input("x", x)], y, size=size, alpha=0.5, beta=0.6, bias=0.75)


def soft():
    rows = np.array([[1000, 998.5, 1001, 997], [-1000, -1001, -999.5, -1003],
                     [-900, 2, 1, 900], [2, 1, -3, 0]], np.float32)
    # Only without the greatest of a row, and no other, does no exp overflow and no sum vanish.
    shift = rows.astype(np.float64) - rows.max(axis=-1, keepdims=True)
    log = shift - np.log(np.exp(shift).sum(axis=-1, keepdims=True))
    for name, op, y in ("softmax", "Softmax", np.exp(log)), ("log_softmax", "LogSoftmax", log):
        # The reference takes the logarithm of a softmax that is 0.
        with Case(name, reference=name == "softmax") as case:
            names = [case.input("x", rows), case.input("z", np.ascontiguousarray(rows.T))]
            case.node(op, names[:1], y)
            case.node(op, names[1:], y.T, axis=0)


def soft_of_nothing():
    x = np.array([[-np.inf] * 3, [-np.inf, 1, 2], [np.finfo(np.float32).min] * 3], np.float32)
    y = np.array([[0, 0, 0], [0, *np.exp([1.0, 2]) / np.exp([1.0, 2]).sum()], [1 / 3] * 3])
    with Case("softmax_of_nothing") as case:
        case.entry("softmax", [case.input("x", x)], y, least=float(np.finfo(np.float32).min),
                   floor=0.5)
    # As PyTorch's older exporter writes a mask. The last rows are NaN whatever is hidden.
    x = np.append(x, np.float32([[np.nan, 1, 2], [np.inf, 1, 2]]), 0)
    with np.errstate(invalid="ignore"):
        p = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
    with Case("softmax_or_zero") as case:
        case.node("Softmax", [case.input("x", x)], p)
        case.node("IsNaN", ["y0"], np.isnan(p))
        case.node("Where", ["y1", case.constant(np.float32(0)), "y0"], np.where(np.isnan(p), 0, p))


def write():
    soft_of_nothing()
    statistics()
    of_one_element()
    of_last_dimensions()
    broadcast()
    staged()
    over_channels()
    soft()
