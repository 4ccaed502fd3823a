"""Functions of one element, of one to three operands."""
import math

import numpy as np

from case import Case

# Zero, the kinks at 0.6, 3 and 6, halves, small and large values of both signs.
X = np.array([[0, 0.6, -0.6, 1.3, -1.7], [0.5, -0.5, 1.5, 2.5, -2.5],
              [3, -3, 0.02, -0.03, 4.75]], np.float32)
POSITIVE = np.array([[0.01, 0.5, 1], [2.25, 7, 30]], np.float32)
LARGE = np.array([[90, -90, 5, -5, 0], [0.7, -0.7, 2, -2, 20]], np.float32)

erf = np.vectorize(math.erf)
softplus = lambda x: np.log1p(np.exp(x))
sigmoid = lambda x: 1 / (1 + np.exp(-x))


def unary(name, op, x, formula, *settings):
    """One node for each setting; the formula takes the attributes."""
    with Case(name) as case:
        x_name = case.input("x", x)
        wide = x.astype(np.float64) if x.dtype == np.float32 else x
        for attributes in settings or [{}]:
            case.node(op, [x_name], formula(wide, **attributes), **attributes)


def plain():
    unary("abs", "Abs", X, np.abs)
    unary("ceil", "Ceil", X, np.ceil)
    unary("cos", "Cos", X, np.cos)
    unary("cosh", "Cosh", X, np.cosh)
    unary("erf", "Erf", X, erf)
    unary("exp", "Exp", X, np.exp)
    unary("floor", "Floor", X, np.floor)
    unary("log", "Log", POSITIVE, np.log)
    unary("neg", "Neg", X, np.negative)
    unary("reciprocal", "Reciprocal", X + np.float32(0.125), lambda x: 1 / x)
    unary("relu", "Relu", X, lambda x: np.where(x < 0, 0, x))
    unary("round", "Round", X, np.rint)
    unary("sigmoid", "Sigmoid", X, sigmoid)
    unary("sign", "Sign", X, np.sign)
    unary("sin", "Sin", X, np.sin)
    unary("sinh", "Sinh", X, np.sinh)
    unary("sqrt", "Sqrt", POSITIVE, np.sqrt)
    unary("tan", "Tan", X, np.tan)
    unary("tanh", "Tanh", X, np.tanh)
    unary("not", "Not", X > 0, np.logical_not)
    unary("softplus", "Softplus", LARGE, softplus)
    unary("softsign", "Softsign", X, lambda x: x / (1 + np.abs(x)))
    unary("mish", "Mish", LARGE, lambda x: x * np.tanh(softplus(x)))
    strange = np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)
    unary("is_nan", "IsNaN", strange, np.isnan)
    infinite = lambda x, detect_negative=1, detect_positive=1: (
        (np.isposinf(x) & bool(detect_positive)) | (np.isneginf(x) & bool(detect_negative)))
    unary("is_inf", "IsInf", strange, infinite, {}, {"detect_negative": 0}, {"detect_positive": 0})


def with_attributes():
    unary("celu", "Celu", X,
          lambda x, alpha=1: np.where(x < 0, alpha * (np.exp(x / alpha) - 1), x),
          {}, {"alpha": 0.7})
    unary("elu", "Elu", X, lambda x, alpha=1: np.where(x < 0, alpha * (np.exp(x) - 1), x),
          {}, {"alpha": 0.7})
    unary("selu", "Selu", X,
          lambda x, alpha=1.6732632423543772, gamma=1.0507009873554805:
          gamma * np.where(x < 0, alpha * (np.exp(x) - 1), x), {}, {"alpha": 0.7, "gamma": 1.3})
    unary("leaky_relu", "LeakyRelu", X, lambda x, alpha=0.01: np.where(x < 0, alpha * x, x),
          {}, {"alpha": 0.3})
    # 0.5 and 1 are exact in f32: what is equal to alpha becomes 0.
    unary("thresholded_relu", "ThresholdedRelu", X,
          lambda x, alpha=1: np.where(x > alpha, x, 0), {}, {"alpha": 0.5})
    unary("shrink", "Shrink", X,
          lambda x, lambd=0.5, bias=0: np.where(np.abs(x) <= lambd, 0, x - bias * np.sign(x)),
          {}, {"lambd": 1.5, "bias": 0.25})
    unary("hard_sigmoid", "HardSigmoid", X,
          lambda x, alpha=0.2, beta=0.5: np.clip(alpha * x + beta, 0, 1),
          {}, {"alpha": 0.3, "beta": 0.4})
    unary("hard_swish", "HardSwish", X * 2, lambda x: x * np.clip(x / 6 + 0.5, 0, 1))
    unary("swish", "Swish", X, lambda x, alpha=1: x * sigmoid(alpha * x), {}, {"alpha": 1.7})
    gelu = lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))
    approximate = lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    unary("gelu", "Gelu", X, gelu)
    with Case("gelu_tanh") as case:
        y = approximate(X.astype(np.float64))
        case.node("Gelu", [case.input("x", X)], y, approximate="tanh")


def clipped():
    with Case("clip") as case:
        x = case.input("x", X)
        low, high = case.input("low", np.float32(-0.55)), case.input("high", np.float32(1.25))
        case.node("Clip", [x, low, high], np.clip(X, np.float32(-0.55), np.float32(1.25)))
        case.node("Clip", [x, low], np.maximum(X, np.float32(-0.55)))
        case.node("Clip", [x, "", high], np.minimum(X, np.float32(1.25)))


def converted():
    with Case("cast") as case:
        x = case.input("x", np.array([2.7, -2.7, 0, -0.4, 100.5], np.float32))
        i = case.input("i", np.array([3, -4, 0, 70000], np.int64))
        case.node("Cast", [x], np.array([2, -2, 0, 0, 100], np.int64), to=7)
        case.node("Cast", [x], np.array([2, -2, 0, 0, 100], np.int32), to=6)
        case.node("Cast", [x], np.array([True, True, False, True, True]), to=9)
        case.node("Cast", [i], np.array([3, -4, 0, 70000], np.float32), to=1)
        case.node("Cast", [i], np.array([True, True, False, True]), to=9)


def unnamed():
    """Entries that no ONNX operator becomes."""
    with Case("affine") as case:
        x = case.input("x", X)
        case.entry("affine", [x], X * 1.5 - 0.25, scale=1.5, shift=-0.25)
        case.entry("affine", [x], X + 2.0, shift=2)
    with Case("identity") as case:
        case.entry("identity", [case.input("x", X)], X)
    with Case("detached") as case:
        case.entry("detached", [case.input("x", X)], X)
    with Case("clip_attributes") as case:
        case.entry("clip", [case.input("x", X)], np.clip(X, -0.5, 1.5), least=-0.5, greatest=1.5)


def binary(name, op, a, b, formula, **attributes):
    with Case(name) as case:
        names = [case.input("a", a), case.input("b", b)]
        wide = [v.astype(np.float64) if v.dtype == np.float32 else v for v in (a, b)]
        case.node(op, names, formula(*wide), **attributes)


def binaries():
    a = np.array([[[1.5, -2, 0.25]], [[3, 0.5, -1]]], np.float32)  # 2, 1, 3
    b = np.array([[0.5], [-2], [4], [1.5]], np.float32)            # 4, 1
    binary("add", "Add", a, b, np.add)
    binary("sub", "Sub", a, b, np.subtract)
    binary("mul", "Mul", a, b, np.multiply)
    binary("div", "Div", a, b, np.divide)
    binary("pow", "Pow", np.abs(a), b, np.power)
    binary("fmod", "Mod", a, b, np.fmod, fmod=1)
    binary("prelu", "PRelu", np.tile(a, (1, 4, 1)), b, lambda x, s: np.where(x < 0, s * x, x))
    binary("equal", "Equal", a, b, np.equal)
    binary("greater", "Greater", a, b, np.greater)
    binary("less", "Less", a, b, np.less)
    binary("greater_equal", "GreaterOrEqual", a, b, np.greater_equal)
    binary("less_equal", "LessOrEqual", a, b, np.less_equal)
    truths = np.array([[[True, False]]]), np.array([[True], [False]])
    binary("and", "And", *truths, np.logical_and)
    binary("or", "Or", *truths, np.logical_or)
    binary("xor", "Xor", *truths, np.logical_xor)
    whole = np.array([7, -7, 7, -7, 6, 0], np.int64), np.array([2, 2, -2, -2, -3, 5], np.int64)
    toward_zero = lambda x, y: np.trunc(x / y).astype(np.int64)
    binary("div_integers", "Div", *whole, toward_zero)
    binary("mod", "Mod", whole[0][:, None], whole[1], np.mod)
    binary("trunc_mod", "Mod", whole[0][:, None], whole[1], np.fmod, fmod=1)
    with Case("floor_mod", opset=28) as case:
        x, y = np.float32([[-7.5, 7.5, -6, 0.25, -1e-6]]), np.float32([[3], [-3], [np.inf], [-0.5]])
        case.node("Mod", [case.input("a", x), case.input("b", y)], np.mod(x, y))
    with Case("bounds") as case:
        names = [case.input("a", a), case.constant(np.float32(0.5)), case.constant(np.float32(1))]
        case.node("Max", names[:2], np.maximum(a, np.float32(0.5)))
        case.node("Min", [names[0], names[2]], np.minimum(a, np.float32(1)))
    with Case("extremes_with_number") as case:
        names = [case.input("a", a), case.input("b", np.float32(0.5))]
        case.entry("maximum_with", names, np.maximum(a, np.float32(0.5)))
        case.entry("minimum_with", names, np.minimum(a, np.float32(0.5)))
    with Case("pow_integers") as case:
        long = np.array([3037000499, -7, 3, 2, 10, -1], np.int64)
        times = np.array([2, 21, 39, 62, 18, 2 ** 32 + 1], np.int64)
        short = np.array([46340, -7, 3, 2, 10, -1], np.int32)
        exact = np.array([94906265, -7, 3], np.int64), np.array([2, 11, 33], np.float32)
        names = [case.input(n, v) for n, v in zip("ltsef", (long, times, short, *exact))]
        power = lambda base: np.array([int(b) ** int(t % 64) for b, t in zip(base, times)])
        case.node("Pow", names[:2], power(long))
        case.node("Pow", [names[2], names[1]], power(short).astype(np.int32))
        case.node("Pow", names[3:], np.array([int(b) ** int(t) for b, t in zip(*exact)]))
    with Case("select") as case:
        c = np.array([[True], [False], [True], [False]])
        names = [case.input("c", c), case.input("a", a), case.input("b", b)]
        case.node("Where", names, np.where(c, a, b))
    folds = {"maximum": ("Max", np.maximum.reduce), "minimum": ("Min", np.minimum.reduce),
             "sum": ("Sum", sum), "mean": ("Mean", lambda v: sum(v) / 3)}
    for name, (op, formula) in folds.items():
        with Case(name, reference=name != "mean") as case:  # it cannot broadcast it
            values = [np.broadcast_to(a, (2, 4, 3)), np.broadcast_to(b, (2, 4, 3)),
                      case.normal(2, 4, 3)]
            names = [case.input(n, v) for n, v in zip("abc", (a, b, values[2]))]
            case.node(op, names, formula(values))


def write():
    plain()
    with_attributes()
    clipped()
    converted()
    unnamed()
    binaries()
