"""Integers that stand for numbers."""
import numpy as np

from case import Case
from windows import conv

LIMITS = {np.dtype(np.uint8): (0, 255), np.dtype(np.int8): (-128, 127)}


def quantized(x, scale, zero):
    whole = np.rint(x / scale).astype(np.float64) + zero.astype(np.int64)
    return np.clip(whole, *LIMITS[zero.dtype]).astype(zero.dtype)


def dequantized(x, scale, zero):
    return (x.astype(np.float64) - zero) * scale


def linear():
    # Quotients that are halves, and some on both sides of what a byte can be.
    x = np.float32([[0, 0.25, -0.25, 0.75], [1.25, 100, -100, 70], [-64.5, 63.25, 0.5, 127]])
    half = np.float32(0.5)
    with Case("quantize") as case:
        names = [case.input("x", x), case.input("scale", half)]
        case.node("QuantizeLinear", names, quantized(x, half, np.uint8(0)))
        for zero in np.uint8(3), np.int8(-7):
            at = case.input(f"zero_{zero.dtype}", zero)
            case.node("QuantizeLinear", [*names, at], quantized(x, half, zero))
        case.node("QuantizeLinear", names, quantized(x, half, np.int8(0)), output_dtype=3)
        scales, zeros = np.float32([0.5, 2, 0.25, 1]), np.int8([0, -3, 5, 127])
        by = [case.input("scales", scales), case.input("zeros", zeros)]
        case.node("QuantizeLinear", [names[0], *by], quantized(x, scales, zeros), axis=-1)
        rows, marks = np.float32([0.5, 4, 1]), np.uint8([9, 100, 255])
        by = [case.input("rows", rows), case.input("marks", marks)]
        y = quantized(x, rows[:, None], marks[:, None])
        case.node("QuantizeLinear", [names[0], *by], y, axis=0)
        blocks = np.float32([[0.5, 2], [1, 3], [0.25, 8]])
        offsets = np.int8([[0, 1], [-2, 3], [4, 0]])
        by = [case.input("blocks", blocks), case.input("offsets", offsets)]
        y = quantized(x, blocks.repeat(2, 1), offsets.repeat(2, 1))
        case.node("QuantizeLinear", [names[0], *by], y, axis=1, block_size=2)
        list_of = [case.input("row", x[1]), case.input("row_scales", scales)]
        case.node("QuantizeLinear", list_of, quantized(x[1], scales, np.uint8(0)), axis=0)
    with Case("quantize_defaults") as case:
        names = [case.input("x", x), case.input("scale", half)]
        case.entry("quantize", names, quantized(x, half, np.uint8(0)))
        case.entry("quantize", [*names, case.input("zero", np.int32(-4))],
                   np.clip(np.rint(x / half) - 4, 0, 255).astype(np.uint8))
    with Case("dequantize") as case:
        draw = lambda *shape: case.random.integers(-128, 128, shape).astype(np.int8)
        x, scale, zero = draw(2, 4, 3), np.float32(0.125), np.int8(-5)
        names = [case.input(n, v) for n, v in zip(("x", "scale", "zero"), (x, scale, zero))]
        case.node("DequantizeLinear", names, dequantized(x, scale, zero))
        case.node("DequantizeLinear", names[:2], dequantized(x, scale, 0))
        scales, zeros = np.abs(case.normal(4)) + np.float32(0.25), draw(4)
        by = [case.input("scales", scales), case.input("zeros", zeros)]
        y = dequantized(x, scales[:, None], zeros[:, None])
        case.node("DequantizeLinear", [names[0], *by], y)
        blocks, offsets = np.abs(case.normal(2, 2, 3)) + np.float32(0.25), draw(2, 2, 3)
        by = [case.input("blocks", blocks), case.input("offsets", offsets)]
        y = dequantized(x, blocks.repeat(2, 1), offsets.repeat(2, 1))
        case.node("DequantizeLinear", [names[0], *by], y, block_size=2)
        long = case.input("long", np.int32([[70000, -5], [3, 2 ** 20]]))
        y = np.float32([[70000, -5], [3, 2 ** 20]]) * 0.125
        case.node("DequantizeLinear", [long, names[1]], y)
        case.node("DequantizeLinear", names, dequantized(x, scale, zero).astype(np.float16),
                  output_dtype=10)


def dynamic():
    inputs = [[0, 2, -3], [-2.5, 1.5, 0.5]], [-1, -4, -2.5], [[1], [3.25]], [0, 0, 0]
    with Case("quantization_of", reference=False) as case:  # it has 1/255 as the scale of zeros
        for n, x in enumerate(map(np.float32, inputs)):
            low, high = min(x.min(), 0), max(x.max(), 0)
            scale = np.float32((high - low) / 255 if high > low else 1)
            zero = np.uint8(np.rint(-low / scale))
            case.node("DynamicQuantizeLinear", [case.input(f"x{n}", x)], quantized(x, scale, zero),
                      scale, zero)


def products():
    with Case("integer_products", reference=False) as case:  # it takes lists for columns
        bytes_of = lambda *shape: case.random.integers(0, 256, shape).astype(np.uint8)
        a, b = bytes_of(2, 3, 5), bytes_of(5, 4).astype(np.int8)
        at, columns = np.uint8(100), np.int8([3, -4, 0, 100])
        rows = np.uint8([[[7], [8], [9]]] * 2)
        whole = lambda v: v.astype(np.int32)
        names = [case.input(n, v) for n, v in zip("ab", (a, b))]
        zeros = [case.input(n, v) for n, v in zip(("at", "columns", "rows"), (at, columns, rows))]
        case.node("MatMulInteger", names, whole(a) @ whole(b))
        case.node("MatMulInteger", [*names, *zeros[:2]],
                  (whole(a) - whole(at)) @ (whole(b) - whole(columns)))
        case.node("MatMulInteger", [*names, zeros[2]], (whole(a) - whole(rows)) @ whole(b))
        flat = case.input("flat", a[0])
        case.node("MatMulInteger", [flat, names[1], case.input("row_list", np.uint8([7, 8, 9]))],
                  (whole(a[0]) - whole(rows[0])) @ whole(b))
        scales = np.float32(0.02), np.float32([0.5, 0.25, 1, 2]), np.float32(40), np.int8(-3)
        by = [case.input(f"s{i}", v) for i, v in enumerate(scales)]
        numbers = ((whole(a) - whole(at)) @ (whole(b) - whole(columns))) * scales[0] * scales[1]
        case.node("QLinearMatMul", [names[0], by[0], zeros[0], names[1], by[1], zeros[1], *by[2:]],
                  quantized(numbers, scales[2], scales[3]))
        x, f = bytes_of(1, 4, 5, 6), bytes_of(6, 2, 3, 2)
        xz, fz = np.uint8(90), np.uint8([0, 5, 100, 130, 200, 255])
        bias = np.int32([9, -8, 7, 0, 5, 1])
        window = (2, (2, 1), (1, 2), (1, 0), (2, 1))
        sums = lambda filters, bias: whole(conv(whole(x) - whole(xz), filters, bias, *window))
        attributes = dict(group=2, strides=(2, 1), dilations=(1, 2), pads=(1, 0, 2, 1))
        each = whole(f) - whole(fz)[:, None, None, None]
        values = ("x", x), ("f", f), ("xz", xz), ("fz", fz), ("bias", bias)
        names = [case.input(n, v) for n, v in values]
        case.node("ConvInteger", names[:3], sums(whole(f), np.zeros(6)), **attributes)
        case.node("ConvInteger", names[:4], sums(each, np.zeros(6)), **attributes)
        several = np.abs(case.normal(6)) + np.float32(0.5)
        scales = np.float32(0.5), several, np.float32(900), np.uint8(80)
        by = [case.input(f"t{i}", v) for i, v in enumerate(scales)]
        numbers = sums(each, bias) * (scales[0] * scales[1])[:, None, None]
        operands = [names[0], by[0], names[2], names[1], by[1], names[3], *by[2:], names[4]]
        case.node("QLinearConv", operands, quantized(numbers, *scales[2:]), **attributes)


def write():
    linear()
    dynamic()
    products()
