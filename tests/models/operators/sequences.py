"""Attention and recurrent networks."""
import numpy as np

from case import Case


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def attention(q, k, v, scale, mask=0, causal=False, past=0):
    """q [b, heads, s, d]; k and v have fewer heads. Positions after i + past are hidden; a query
    that sees no key gets 0."""
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    share = q.shape[1] // k.shape[1]
    k, v = k.repeat(share, 1), v.repeat(share, 1)
    z = q @ k.swapaxes(2, 3) * scale + mask
    if causal:
        s, t = z.shape[2:]
        z = np.where(np.arange(t) <= np.arange(s)[:, None] + past, z, -np.inf)
    most = z.max(axis=-1, keepdims=True)
    e = np.exp(z - np.where(most == -np.inf, 0, most))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ v


def attentions():
    with Case("attention") as case:
        q, k, v = case.normal(2, 4, 3, 5), case.normal(2, 2, 6, 5), case.normal(2, 2, 6, 2)
        mask = case.normal(3, 6)
        heads = case.normal(2, 4, 3, 6)
        names = [case.input(n, a) for n, a in zip("qkvmh", (q, k, v, mask, heads))]
        case.node("Attention", names[:3], attention(q, k, v, 5 ** -0.5))
        case.node("Attention", names[:4], attention(q, k, v, 0.7, mask), scale=0.7)
        case.node("Attention", names[:3] + names[4:], attention(q, k, v, 0.3, heads), scale=0.3)
    with Case("attention_causal") as case:
        q, k, v = case.normal(1, 2, 4, 3), case.normal(1, 2, 4, 3), case.normal(1, 2, 4, 2)
        # What is hidden is much larger than what is seen: none of it may be the maximum.
        k *= np.array([1, 40, 1600, 64000], np.float32)[:, None]
        q = np.abs(q) + np.float32(0.25)
        k = np.abs(k) + np.float32(0.25)
        names = [case.input(n, a) for n, a in zip("qkv", (q, k, v))]
        case.node("Attention", names, attention(q, k, v, 0.5, causal=True), is_causal=1, scale=0.5)
    with Case("attention_masked") as case:
        q, k, v = case.normal(2, 2, 4, 3), case.normal(2, 1, 4, 3), case.normal(2, 1, 4, 2)
        # One query sees no key by the mask alone, two by the mask and the causal order together;
        # one sees only keys with the least finite number, which is not -inf.
        seen = np.ones((2, 1, 4, 4), bool)
        seen[0, :, 1] = False
        seen[1, ..., :2] = False
        added = np.where(seen, 0, -np.inf).astype(np.float32)
        added[0, :, 3] = np.finfo(np.float32).min
        names = [case.input(n, a) for n, a in zip("qkvsa", (q, k, v, seen, added))]
        hidden = np.where(seen, 0, -np.inf)
        case.node("Attention", names[:4], attention(q, k, v, 3 ** -0.5, hidden, causal=True),
                  is_causal=1)
        case.node("Attention", names[:4], attention(q, k, v, 3 ** -0.5, hidden))
        case.node("Attention", names[:3] + names[4:], attention(q, k, v, 0.01, added), scale=0.01)
    with Case("attention_short_mask") as case:
        q, k, v = case.normal(2, 2, 3, 3), case.normal(2, 2, 5, 3), case.normal(2, 2, 5, 2)
        added, seen = case.normal(2, 1, 3, 4), np.array([True, False, True])
        names = [case.input(n, a) for n, a in zip("qkvas", (q, k, v, added, seen))]
        fill = lambda m: np.concatenate([m, np.full((*m.shape[:-1], 5 - m.shape[-1]), -np.inf)], -1)
        case.node("Attention", names[:4], attention(q, k, v, 3 ** -0.5, fill(added)))
        case.node("Attention", names[:3] + names[4:],
                  attention(q, k, v, 3 ** -0.5, fill(np.where(seen, 0, -np.inf))))
    with Case("attention_past") as case:
        q, k, v = case.normal(1, 2, 3, 3), case.normal(1, 1, 3, 3), case.normal(1, 1, 3, 2)
        past_k, past_v = case.normal(1, 1, 2, 3), case.normal(1, 1, 2, 2)
        q = np.abs(q) + np.float32(1)
        k = np.abs(k) + np.array([[300], [1000], [4000]], np.float32)
        names = [case.input(n, a) for n, a in
                 zip(("q", "k", "v", "past_k", "past_v"), (q, k, v, past_k, past_v))]
        all_k, all_v = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
        y = attention(q, all_k, all_v, 0.5, causal=True, past=2)
        case.node("Attention", names[:3] + [""] + names[3:], y, all_k, all_v, is_causal=1,
                  scale=0.5)


def rotations():
    with Case("rotary") as case:
        x, angles = case.normal(2, 3, 4, 6), case.normal(4, 3)
        cos, sin = np.cos(angles), np.sin(angles)
        a, b = x[..., :3].astype(np.float64), x[..., 3:].astype(np.float64)
        y = np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
        names = [case.input(n, v) for n, v in zip(("x", "cs", "sn"), (x, cos, sin))]
        case.entry("rotary", names, y)


def attention_parts(q, k, v, scale, added, cap=0.0):
    """The four scores that attention may put out, and y; `added` is 0 or -inf or any number."""
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    share = q.shape[1] // k.shape[1]
    raw = q @ k.repeat(share, 1).swapaxes(2, 3) * scale
    capped = cap * np.tanh(raw / cap) if cap else raw
    biased = capped + added
    most = biased.max(-1, keepdims=True)
    e = np.exp(biased - np.where(most == -np.inf, 0, most))
    total = e.sum(-1, keepdims=True)
    weights = e / np.where(total == 0, 1, total)
    return (raw, capped, biased, weights), weights @ v.repeat(share, 1)


def attentions_of_parts():
    hidden = lambda seen: np.where(seen, 0, -np.inf)
    with Case("attention_lengths") as case:
        q, k, v = case.normal(3, 2, 2, 3), case.normal(3, 1, 5, 3), case.normal(3, 1, 5, 2)
        lengths, mask = np.array([5, 1, 3]), case.normal(2, 2, 4)
        names = [case.input(n, a) for n, a in zip("qkvml", (q, k, v, mask, lengths))]
        i, j = np.arange(2)[:, None], np.arange(5)
        first = np.array([j < n for n in lengths])[:, None, None]
        later = np.array([j <= i + n - 2 for n in lengths])[:, None]
        long = np.pad(mask, ((0, 0), (0, 0), (0, 1)), constant_values=-np.inf)
        gaps = [""] * 3
        case.node("Attention", names[:3] + gaps + names[4:],
                  attention_parts(q, k, v, 0.5, hidden(first))[1], scale=0.5)
        case.node("Attention", names[:3] + gaps + names[4:],
                  attention_parts(q, k, v, 0.5, hidden(later), 1.5)[1], scale=0.5, is_causal=1,
                  softcap=1.5)
        case.node("Attention", names[:4] + gaps[:2] + names[4:],
                  attention_parts(q, k, v, 0.5, hidden(later) + long)[1], scale=0.5, is_causal=1)
    with Case("attention_scores") as case:
        q, k, v = case.normal(2, 4, 3, 5), case.normal(2, 2, 3, 5), case.normal(2, 2, 3, 2)
        past = case.normal(2, 2, 1, 5), case.normal(2, 2, 1, 2)
        mask = np.ones((2, 1, 3, 4), bool)
        mask[1, :, 2] = False
        names = [case.input(n, a) for n, a in
                 zip(("q", "k", "v", "m", "pk", "pv"), (q, k, v, mask, *past))]
        all_k, all_v = (np.concatenate(p, 2) for p in ((past[0], k), (past[1], v)))
        causal = np.arange(4) <= np.arange(3)[:, None] + 1
        scores, y = attention_parts(q, all_k, all_v, 0.5, hidden(mask & causal), 1.5)
        for mode in range(4):
            # The reference gives capped scores in mode 0 too, so that has no cap.
            if mode == 0:
                scores, y = attention_parts(q, all_k, all_v, 0.5, hidden(mask & causal))
            case.node("Attention", names, y, all_k, all_v, scores[mode], is_causal=1, scale=0.5,
                      qk_matmul_output_mode=mode, **({"softcap": 1.5} if mode else {}))
            scores, y = attention_parts(q, all_k, all_v, 0.5, hidden(mask & causal), 1.5)
    with Case("attention_raw_scores", reference=False) as case:  # it gives capped ones
        q, k, v = case.normal(1, 6, 8), case.normal(1, 4, 4), case.normal(1, 4, 6)
        names = [case.input(n, a) for n, a in zip("qkv", (q, k, v))]
        heads = lambda x, n: x.reshape(1, x.shape[1], n, -1).transpose(0, 2, 1, 3)
        scores, y = attention_parts(heads(q, 4), heads(k, 2), heads(v, 2), 2 ** -0.5, 0, 0.75)
        case.node("Attention", names, y.transpose(0, 2, 1, 3).reshape(1, 6, 12), heads(k, 2),
                  heads(v, 2), scores[0], q_num_heads=4, kv_num_heads=2, softcap=0.75)
    with Case("attention_precision", reference=False) as case:
        # Sums of f16 are exact where all weights are the same.
        q, k, v = np.zeros((1, 1, 2, 3), np.float32), case.normal(1, 1, 4, 3), case.normal(1, 1, 4, 2)
        names = [case.input(n, a) for n, a in zip("qkv", (q, k, v))]
        y = np.repeat(v.astype(np.float64).mean(2, keepdims=True), 2, 2)
        for precision in 1, 10, 11, 16:
            case.node("Attention", names, y, softmax_precision=precision)
        added = np.array([[0, 0.0001, 0, -0.0002]], np.float32)  # which f16 rounds away
        names.append(case.input("m", added))
        weights = np.exp(added.astype(np.float16).astype(np.float64))
        weights = (weights / weights.sum()).astype(np.float16).astype(np.float64)
        case.node("Attention", names, np.repeat((weights @ v[0, 0])[None, None], 2, 2),
                  softmax_precision=10)
    with Case("attention_entries") as case:
        q, k, v = case.normal(2, 4, 3, 5), case.normal(2, 2, 4, 5), case.normal(2, 2, 4, 2)
        p = np.abs(case.normal(2, 4, 3, 4))
        names = [case.input(n, a) for n, a in zip("qkvp", (q, k, v, p))]
        case.entry("attention_scores", names[:2], attention_parts(q, k, v, 0.3, 0)[0][0], scale=0.3)
        case.entry("attention_values", [names[3], names[2]],
                   p.astype(np.float64) @ v.repeat(2, 1).astype(np.float64))
        case.entry("hide_later", names[3:],
                   np.where(np.arange(4) <= np.arange(3)[:, None], p, -np.inf))
        case.entry("soft_cap", names[3:], 0.5 * np.tanh(p.astype(np.float64) / 0.5), cap=0.5)
        lengths = case.input("l", np.array([3, 1]))
        j = np.arange(4)
        case.entry("sees_keys", [lengths],
                   np.broadcast_to(np.array([j < 3, j < 1])[:, None], (2, 2, 4)), s=2, t=4, choices=5)


def turned(x, cos, sin, pairs):
    """x [b, h, s, d], cos and sin [b, s, d/2]"""
    x, cos, sin = x.astype(np.float64), cos[:, None], sin[:, None]
    a, b = (x[..., ::2], x[..., 1::2]) if pairs else np.split(x, 2, -1)
    real, imaginary = a * cos - b * sin, b * cos + a * sin
    if pairs:
        return np.stack([real, imaginary], -1).reshape(x.shape)
    return np.concatenate([real, imaginary], -1)


def rotary_embeddings():
    with Case("rotary_embedding") as case:
        heads, rows = case.normal(2, 3, 4, 6), case.normal(2, 4, 18)
        angles, table = case.normal(2, 4, 3), case.normal(9, 3)
        ids = np.array([[0, 8, 3, 3], [1, 2, 5, 4]])
        names = {n: case.input(n, a) for n, a in
                 (("x", heads), ("r", rows), ("i", ids), ("c", np.cos(angles)),
                  ("s", np.sin(angles)), ("tc", np.cos(table)), ("ts", np.sin(table)),
                  ("c2", np.cos(angles[..., :2])), ("s2", np.sin(angles[..., :2])),
                  ("tc1", np.cos(table[:, :1])), ("ts1", np.sin(table[:, :1])))}
        split = rows.reshape(2, 4, 3, 6).transpose(0, 2, 1, 3)
        joined = lambda y: y.transpose(0, 2, 1, 3).reshape(rows.shape)
        part = lambda x, n, c, s, pairs: np.concatenate(
            [turned(x[..., :n], c, s, pairs), x[..., n:]], -1)
        for pairs in 0, 1:
            c, s, t, u = np.cos(angles), np.sin(angles), np.cos(table)[ids], np.sin(table)[ids]
            case.node("RotaryEmbedding", ["x", "c", "s"], turned(heads, c, s, pairs),
                      interleaved=pairs)
            case.node("RotaryEmbedding", ["r", "tc", "ts", "i"], joined(turned(split, t, u, pairs)),
                      interleaved=pairs, num_heads=3)
            case.node("RotaryEmbedding", ["r", "c2", "s2"],
                      joined(part(split, 4, c[..., :2], s[..., :2], pairs)), interleaved=pairs,
                      num_heads=3, rotary_embedding_dim=4)
            case.node("RotaryEmbedding", ["x", "tc1", "ts1", "i"],
                      part(heads, 2, t[..., :1], u[..., :1], pairs), interleaved=pairs,
                      rotary_embedding_dim=2)


ACTIVATIONS = {
    "Affine": lambda x, a=1, b=0: a * x + b,
    "Elu": lambda x, a=1: np.where(x < 0, a * (np.exp(x) - 1), x),
    "HardSigmoid": lambda x, a=0.2, b=0.5: np.clip(a * x + b, 0, 1),
    "LeakyRelu": lambda x, a=0.01: np.where(x < 0, a * x, x),
    "Relu": lambda x: np.maximum(x, 0),
    "ScaledTanh": lambda x, a, b: a * np.tanh(b * x),
    "Sigmoid": sigmoid,
    "Softplus": lambda x: np.log1p(np.exp(x)),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Tanh": np.tanh,
    "ThresholdedRelu": lambda x, a=1: np.where(x > a, x, 0),
}


class Cell:
    """How gates become the next state: activations by name, or (name, alpha, beta)."""

    def __init__(self, *activations, clip=np.inf, input_forget=0, peepholes=None,
                 linear_before_reset=0):
        pairs = [a if isinstance(a, tuple) else (a,) for a in activations]
        self.functions = [lambda x, n=n, k=k: ACTIVATIONS[n](x, *k) for n, *k in pairs]
        self.clip, self.input_forget, self.peepholes = clip, input_forget, peepholes
        self.linear_before_reset = linear_before_reset

    def gate(self, number, x):
        return self.functions[number](np.clip(x, -self.clip, self.clip))


def rnn(cell, d, x, h, c, w, r, wb, rb):
    return cell.gate(0, x @ w.T + h @ r.T + wb + rb), c


def lstm(cell, d, x, h, c, w, r, wb, rb):
    i, o, f, g = np.split(x @ w.T + h @ r.T + wb + rb, 4, axis=1)
    pi, po, pf = (0, 0, 0) if cell.peepholes is None else np.split(cell.peepholes[d], 3)
    i = cell.gate(0, i + pi * c)
    f = 1 - i if cell.input_forget else cell.gate(0, f + pf * c)
    c = f * c + i * cell.gate(1, g)
    return cell.gate(0, o + po * c) * cell.functions[2](c), c


def gru(cell, d, x, h, c, w, r, wb, rb):
    wz, wr, wh = np.split(x @ w.T + wb, 3, axis=1)
    rz, rr, rh = np.split(r, 3)
    bz, br, bh = np.split(rb, 3)
    z, s = cell.gate(0, wz + h @ rz.T + bz), cell.gate(0, wr + h @ rr.T + br)
    hidden = s * (h @ rh.T + bh) if cell.linear_before_reset else (s * h) @ rh.T + bh
    return (1 - z) * cell.gate(1, wh + hidden) + z * h, c


def unrolled(step, cells, operands, direction, lengths=None):
    """y [steps, directions, batch, hidden], the last h, the last c. Behind a sequence y is 0."""
    x, w, r, b, h0, c0 = (a.astype(np.float64) for a in operands)
    y = np.zeros((len(x), len(w), *h0.shape[1:]))
    last_h, last_c = h0.copy(), c0.copy()
    lengths = np.full(x.shape[1], len(x)) if lengths is None else lengths
    for d in range(len(w)):
        backward = direction == "reverse" or d == 1
        wb, rb = np.split(b[d], 2)
        for t in reversed(range(len(x))) if backward else range(len(x)):
            h, c = step(cells[d], d, x[t], last_h[d], last_c[d], w[d], r[d], wb, rb)
            runs = (t < lengths)[:, None]
            last_h[d], last_c[d] = np.where(runs, h, last_h[d]), np.where(runs, c, last_c[d])
            y[t, d] = np.where(runs, h, 0)
    return y, last_h, last_c


def recurrent():
    usual = {"RNN": ["Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"]}
    cells = [("rnn", "RNN", rnn, 1, {}), ("lstm", "LSTM", lstm, 4, {}),
             ("gru", "GRU", gru, 3, {"linear_before_reset": 1}),
             ("gru_reset_first", "GRU", gru, 3, {"linear_before_reset": 0})]
    steps, batch, size, hidden = 3, 2, 3, 2
    for name, op, step, gates, attributes in cells:
        for direction, many in ("bidirectional", 2), ("reverse", 1):
            with Case(f"{name}_{direction}") as case:
                operands = [case.normal(steps, batch, size),
                            case.normal(many, gates * hidden, size),
                            case.normal(many, gates * hidden, hidden),
                            case.normal(many, 2 * gates * hidden), case.normal(many, batch, hidden),
                            case.normal(many, batch, hidden)]
                names = [case.input(n, a) for n, a in zip("xwrbhc", operands)]
                if op != "LSTM":
                    del case.inputs["c"]
                cell = Cell(*usual[op], **attributes)
                y = unrolled(step, [cell] * many, operands, direction)
                state = names[4:] if op == "LSTM" else names[4:5]
                case.node(op, [*names[:4], "", *state], *y[:1 + len(state)], direction=direction,
                          hidden_size=hidden, **attributes)


def of_lengths():
    usual = {"RNN": ["Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"]}
    steps, batch, size, hidden = 4, 3, 3, 2
    lengths = np.array([2, 4, 1], np.int32)
    for op, step, gates in ("RNN", rnn, 1), ("LSTM", lstm, 4), ("GRU", gru, 3):
        # The reference reads lengths of no operator.
        with Case(f"{op.lower()}_lengths", reference=False) as case:
            for direction, many in ("bidirectional", 2), ("reverse", 1), ("forward", 1):
                operands = [case.normal(steps, batch, size), case.normal(many, gates * hidden, size),
                            case.normal(many, gates * hidden, hidden),
                            case.normal(many, 2 * gates * hidden),
                            case.normal(many, batch, hidden), case.normal(many, batch, hidden)]
                names = [case.input(f"{n}_{direction}", a) for n, a in zip("xwrbhc", operands)]
                if op != "LSTM":
                    del case.inputs[names.pop()]
                if direction == "bidirectional":
                    case.input("lengths", lengths)
                y = unrolled(step, [Cell(*usual[op])] * many, operands, direction, lengths)
                case.node(op, [*names[:4], "lengths", *names[4:]], *y[:len(names) - 3],
                          direction=direction, hidden_size=hidden)


def of_other_cells():
    """Other activations, clips, coupled gates and peepholes, which the reference ignores."""
    steps, batch, size, hidden = 3, 2, 3, 2
    hard, scaled, leaky = ("HardSigmoid", 0.3, 0.4), ("ScaledTanh", 1.2, 0.7), ("LeakyRelu", 0.2)
    affine, above = ("Affine", 1.5, 0.6), ("ThresholdedRelu", 0.3)
    plain = ["Sigmoid", "Tanh", "Tanh"]
    variants = [
        ("RNN", rnn, 1, [["Relu"], [affine]], {}), ("RNN", rnn, 1, [["Tanh"]], {"clip": 0.5}),
        ("RNN", rnn, 1, [[above], ["Softplus"]], {}), ("RNN", rnn, 1, [["Elu"]], {}),
        ("LSTM", lstm, 4, [[hard, scaled, "Relu"], [hard, leaky, affine]], {"clip": 0.75}),
        ("LSTM", lstm, 4, [plain], {"input_forget": 1}),
        ("LSTM", lstm, 4, [plain, plain], {"peepholes": True}),
        ("LSTM", lstm, 4, [plain], {"peepholes": True, "clip": 0.5}),
        ("GRU", gru, 3, [["Sigmoid", "Softsign"], [hard, ("Elu", 1.2)]], {}),
        ("GRU", gru, 3, [["Sigmoid", "Tanh"]], {"clip": 0.5, "linear_before_reset": 1})]
    for number, (op, step, gates, activations, attributes) in enumerate(variants):
        many = len(activations)
        direction = "bidirectional" if many == 2 else "forward"
        with Case(f"cell_{number}", reference=False) as case:
            operands = [case.normal(steps, batch, size), case.normal(many, gates * hidden, size),
                        case.normal(many, gates * hidden, hidden),
                        case.normal(many, 2 * gates * hidden),
                        case.normal(many, batch, hidden), case.normal(many, batch, hidden)]
            names = [case.input(n, a) for n, a in zip("xwrbhc", operands)]
            if op != "LSTM":
                del case.inputs[names.pop()]
            names.insert(4, "")
            written = dict(attributes)
            if written.pop("peepholes", False):
                attributes = {**attributes, "peepholes": case.normal(many, 3 * hidden)}
                names.append(case.input("p", attributes["peepholes"]))
            named = [a if isinstance(a, tuple) else (a,) for one in activations for a in one]
            if activations[0] != {"RNN": ["Tanh"], "LSTM": plain, "GRU": plain[:2]}[op]:
                written["activations"] = [name for name, *_ in named]
                written["activation_alpha"] = [k[0] for _, *k in named if k]
                written["activation_beta"] = [k[1] for _, *k in named if len(k) > 1]
            cells = [Cell(*one, **attributes) for one in activations]
            y = unrolled(step, cells, operands, direction)
            case.node(op, names, *y[:3 if op == "LSTM" else 2], direction=direction,
                      hidden_size=hidden, **{k: v for k, v in written.items() if v != []})


def write():
    attentions()
    attentions_of_parts()
    rotations()
    rotary_embeddings()
    recurrent()
    of_lengths()
    of_other_cells()
