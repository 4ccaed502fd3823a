"""Reductions and running sums."""
import numpy as np

from case import Case

AXES = (-2, -1)


def log_sum_exp(x, axis, keepdims=False):
    m = x.max(axis=axis, keepdims=True)
    y = np.log(np.exp(x - m).sum(axis=axis, keepdims=True)) + m
    return y if keepdims else np.squeeze(y, axis)


FORMULAS = {
    "reduce_l1": ("ReduceL1", lambda x, **k: np.abs(x).sum(**k)),
    "reduce_l2": ("ReduceL2", lambda x, **k: np.sqrt(np.square(x).sum(**k))),
    "reduce_log_sum": ("ReduceLogSum", lambda x, **k: np.log(x.sum(**k))),
    "reduce_log_sum_exp": ("ReduceLogSumExp", log_sum_exp),
    "reduce_max": ("ReduceMax", np.max),
    "reduce_mean": ("ReduceMean", np.mean),
    "reduce_min": ("ReduceMin", np.min),
    "reduce_prod": ("ReduceProd", np.prod),
    "reduce_sum": ("ReduceSum", np.sum),
    "reduce_sum_square": ("ReduceSumSquare", lambda x, **k: np.square(x).sum(**k)),
}


def operand(case, name):
    x = case.normal(2, 3, 4, scale=1.5)
    if name == "reduce_log_sum":
        x = np.abs(x) + np.float32(0.25)
    if name == "reduce_log_sum_exp":  # only without the greatest does no exp overflow
        x = x + np.array([[[1000]], [[-1000]]], np.float32)
        x[1, 1, 1] = 900
    return x


def reductions():
    for name, (op, formula) in FORMULAS.items():
        with Case(name) as case:
            x = operand(case, name)
            names, wide = [case.input("x", x)], x.astype(np.float64)
            middle = names + [case.constant(np.array([1]))]
            outer = names + [case.constant(np.array([-1, 0]))]
            case.node(op, middle, formula(wide, axis=(1,), keepdims=True))
            case.node(op, outer, formula(wide, axis=(0, 2)), keepdims=0)
            case.entry(name, names, formula(wide, axis=AXES), r=[3, 4])


def of_infinities():
    """Logarithms of sums of exponentials in which all is -inf, or something inf."""
    x = np.array([[-np.inf] * 3, [np.inf, 1, 2], [np.inf, -np.inf, np.inf], [-np.inf, 0.5, -np.inf],
                  [1, 2, 3]], np.float32)
    right = np.array([-np.inf, np.inf, np.inf, 0.5, np.log(np.exp([1.0, 2, 3]).sum())])
    with Case("reduce_log_sum_exp_infinite") as case:  # the reference gives NaN
        case.reference = False
        names = [case.input("x", x), case.constant(np.array([1]))]
        case.node("ReduceLogSumExp", names, right[:, None])
        case.node("ReduceLogSumExp", names, right, keepdims=0)
        case.node("ReduceLogSumExp", names[:1], np.array(np.inf), keepdims=0)


def of_no_axis():
    """Over no axis, what a reduction does to each element is left."""
    with Case("reduce_no_axis") as case:
        x = case.normal(2, 3)
        positive = np.abs(x) + np.float32(0.5)
        names = [case.input("x", x), case.input("p", positive)]
        none = case.constant(np.array([], np.int64))
        for op, name, y in (("ReduceL1", "x", np.abs(x)), ("ReduceL2", "x", np.abs(x)),
                            ("ReduceSumSquare", "x", x * x), ("ReduceSum", "x", x),
                            ("ReduceLogSum", "p", np.log(positive)), ("ReduceMean", "x", x),
                            ("ReduceLogSumExp", "x", x), ("ReduceMax", "x", x)):
            case.node(op, [name], y, noop_with_empty_axes=1)
            case.node(op, [name, none], y, noop_with_empty_axes=1, keepdims=0)
        case.node("ReduceL1", ["x", none], np.abs(x).sum(keepdims=True))


def positions():
    x = np.array([[3, -1, 3, 2], [-5, -5, -4, -4], [0, 7, 7, 7]], np.float32)  # ties
    last = lambda f, axis: x.shape[axis] - 1 - f(np.flip(x, axis), axis)
    for name, op, formula in (("arg_max", "ArgMax", np.argmax), ("arg_min", "ArgMin", np.argmin)):
        with Case(name) as case:
            names = [case.input("x", x)]
            case.node(op, names, formula(x, 1), axis=1, keepdims=0)
            case.node(op, names, last(formula, 1), axis=-1, keepdims=0, select_last_index=1)
            case.node(op, names, last(formula, 0)[None], axis=0, select_last_index=1)
            case.entry(name, names, formula(x, 1))
    with Case("hardmax") as case:
        hot = np.eye(4, dtype=np.float32)[np.argmax(x, 1)]
        case.node("Hardmax", [case.input("x", x)], hot)


def running_sums():
    for name, reverse in ("cumsum", 0), ("cumsum_reverse", 1):
        with Case(name) as case:
            x = case.normal(3, 5)
            names = [case.input("x", x), case.constant(np.array(1))]
            turned = x[:, ::-1] if reverse else x
            total = np.cumsum(turned.astype(np.float64), 1)
            before = total - turned
            for sums, exclusive in (total, 0), (before, 1):
                sums = sums[:, ::-1] if reverse else sums
                case.node("CumSum", names, sums, exclusive=exclusive, reverse=reverse)


def write():
    reductions()
    of_infinities()
    of_no_axis()
    positions()
    running_sums()
