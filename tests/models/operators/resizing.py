"""Resize of any kind, by formulas of one dimension each."""
import math
from fractions import Fraction as F

import numpy as np

from case import Case


def place(q, n, m, scale, mode, roi):
    if mode == "asymmetric":
        return q / scale
    if mode == "align_corners":
        return F(q * (n - 1), m - 1) if m > 1 else F(0)
    if mode == "tf_crop_and_resize":
        if m == 1:
            return (roi[0] + roi[1]) / 2 * (n - 1)
        return roi[0] * (n - 1) + q * (roi[1] - roi[0]) * (n - 1) / (m - 1)
    if mode == "pytorch_half_pixel" and m == 1:
        return F(0)
    at = (q + F(1, 2)) / scale - F(1, 2)
    return at + F(n, 2) * (1 - m / (scale * n)) if mode == "half_pixel_symmetric" else at


def kernel(filter, distance, a):
    v = abs(distance)
    if filter == "linear":
        return max(1 - v, 0)
    near = ((a + 2) * v - (a + 3)) * v * v + 1
    return near if v <= 1 else ((a * v - 5 * a) * v + 8 * a) * v - 4 * a if v < 2 else 0


ROUND = {"floor": math.floor, "ceil": math.ceil,
         "round_prefer_floor": lambda c: math.ceil(c - F(1, 2)),
         "round_prefer_ceil": lambda c: math.floor(c + F(1, 2))}


def matrix(n, m, scale, filter="linear", mode="half_pixel", roi=None, rounding="round_prefer_floor",
           a=-0.75, antialias=False, exclude_outside=False):
    """[m, n] weights; a row is None where the place is outside of a crop."""
    rows = []
    for q in range(m):
        c, row = place(q, n, m, scale, mode, roi), np.zeros(n)
        if mode == "tf_crop_and_resize" and not 0 <= c <= n - 1:
            rows.append(None)
            continue
        rows.append(row)
        if filter == "nearest":
            row[min(max(ROUND[rounding](c), 0), n - 1)] = 1
            continue
        s = min(scale, 1) if antialias else 1
        for p in range(-9 * n, 10 * n):
            if not (exclude_outside and not 0 <= p < n):
                row[min(max(p, 0), n - 1)] += kernel(filter, float((c - p) * s), a)
        row /= row.sum()
    return rows


def resized(x, axes, outside=0.0, **how):
    """`axes`: {axis: (length, scale)}, or with the part that is taken as a third."""
    y = x.astype(np.float64)
    for axis, (m, scale, *roi) in axes.items():
        rows = matrix(x.shape[axis], m, scale, roi=roi[0] if roi else None, **how)
        y = np.moveaxis(y, axis, -1)
        y = np.stack([np.full(y.shape[:-1], outside) if row is None else y @ row for row in rows],
                     -1)
        y = np.moveaxis(y, -1, axis)
    return y


def stretch(n, m):
    return m, F(m, n)


def sizes():
    with Case("resize_linear", reference=False) as case:
        x = case.normal(2, 1, 4, 5)
        names = [case.input("x", x), "", ""]
        for rows, columns in (8, 10), (3, 7), (1, 4):
            axes = {2: stretch(4, rows), 3: stretch(5, columns)}
            to = case.constant(np.array([2, 1, rows, columns]))
            for mode in "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric":
                case.node("Resize", names + [to], resized(x, axes, mode=mode), mode="linear",
                          coordinate_transformation_mode=mode)
    with Case("resize_cubic", reference=False) as case:
        x = case.normal(1, 2, 4, 5)
        names = [case.input("x", x), "", ""]
        for rows, columns in (8, 3), (7, 10), (1, 4):
            axes = {2: stretch(4, rows), 3: stretch(5, columns)}
            to = case.constant(np.array([1, 2, rows, columns]))
            for mode in "half_pixel", "align_corners":
                for exclude in 0, 1:
                    case.node("Resize", names + [to],
                              resized(x, axes, mode=mode, filter="cubic", a=-0.5,
                                      exclude_outside=exclude),
                              mode="cubic", coordinate_transformation_mode=mode,
                              cubic_coeff_a=-0.5, exclude_outside=exclude)
        one = case.input("one", x[:, :, :1, :1])
        to = case.constant(np.array([1, 2, 3, 2]))
        case.node("Resize", [one, "", "", to], np.broadcast_to(x[:, :, :1, :1], (1, 2, 3, 2)),
                  mode="cubic")
    with Case("resize_antialias", reference=False) as case:
        x = case.normal(1, 1, 9, 7)
        names, to = [case.input("x", x), "", ""], case.constant(np.array([4, 2]))
        for filter in "linear", "cubic":
            for exclude in 0, 1:
                axes = {2: stretch(9, 4), 3: stretch(7, 2)}
                case.node("Resize", names + [to],
                          resized(x, axes, filter=filter, antialias=True, exclude_outside=exclude),
                          mode=filter, antialias=1, axes=[2, -1], exclude_outside=exclude)
        up = case.constant(np.array([12, 3]))
        case.node("Resize", names + [up], resized(x, {2: stretch(9, 12), 3: stretch(7, 3)},
                                                  antialias=True),
                  mode="linear", antialias=1, axes=[2, 3])


def nearest():
    with Case("resize_any_nearest", reference=False) as case:
        x = case.normal(5, 6)
        names = [case.input("x", x), "", ""]
        for mode in "half_pixel", "align_corners", "asymmetric":
            for rounding in ROUND:
                for rows, columns in (10, 3), (4, 9), (1, 2):
                    axes = {0: stretch(5, rows), 1: stretch(6, columns)}
                    to = case.constant(np.array([rows, columns]))
                    case.node("Resize", names + [to],
                              resized(x, axes, mode=mode, filter="nearest", rounding=rounding),
                              coordinate_transformation_mode=mode, nearest_mode=rounding)


def crops_and_scales():
    with Case("resize_crop", reference=False) as case:
        x = case.normal(1, 1, 5, 6)
        name, to = case.input("x", x), case.constant(np.array([4, 7]))
        part = (F(1, 4), F(5, 4)), (F(3, 4), F(-1, 8))  # beyond the end; backwards, below 0
        roi = case.constant(np.array([part[0][0], part[1][0], part[0][1], part[1][1]], np.float32))
        axes = {2: (4, F(4, 5), part[0]), 3: (7, F(7, 6), part[1])}
        for filter in "nearest", "linear", "cubic":
            case.node("Resize", [name, roi, "", to],
                      resized(x, axes, -1.5, mode="tf_crop_and_resize", filter=filter),
                      mode=filter, coordinate_transformation_mode="tf_crop_and_resize",
                      extrapolation_value=-1.5, axes=[2, 3])
        scales = case.constant(np.array([1.2, 0.9], np.float32))
        roi = case.constant(np.array([0.25, 0, 1.25, 1], np.float32))
        axes = {2: (6, F(6, 5), (F(1, 4), F(5, 4))), 3: (5, F(9, 10), (F(0), F(1)))}
        case.node("Resize", [name, roi, scales],
                  resized(x, axes, mode="tf_crop_and_resize"), mode="linear", axes=[2, 3],
                  coordinate_transformation_mode="tf_crop_and_resize")
    with Case("resize_scales", reference=False) as case:
        x = case.normal(1, 2, 7, 5)
        name = case.input("x", x)
        # 0.6 and 1.3, whose f32 are less and more, and lengths of 4.2 and 6.5.
        scales = case.constant(np.array([1, 1, 0.6, 1.3], np.float32))
        axes = {2: (4, F(3, 5)), 3: (6, F(13, 10))}
        for mode in "half_pixel", "half_pixel_symmetric", "asymmetric", "align_corners":
            for filter in "nearest", "linear", "cubic":
                case.node("Resize", [name, "", scales], resized(x, axes, mode=mode, filter=filter),
                          mode=filter, coordinate_transformation_mode=mode)
        to = case.constant(np.array([14, 6]))
        for policy, scale in ("not_larger", F(6, 5)), ("not_smaller", F(2)):
            axes = {2: (math.floor(7 * scale + F(1, 2)), scale), 3: (int(5 * scale), scale)}
            case.node("Resize", [name, "", "", to], resized(x, axes), mode="linear", axes=[2, 3],
                      keep_aspect_ratio_policy=policy)


def write():
    sizes()
    nearest()
    crops_and_scales()
