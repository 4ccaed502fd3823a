"""Writes the folders beside it: PyTorch's steps of training; needs PyTorch 2.15 and onnx.

Each folder has a model, its inputs with the labels behind them (input_N.pb), and the weights after
one step of sgd with rate 1 and the mean squared error as loss (after_NAME.pb).
"""
import pathlib
import shutil
import zlib

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
OPSET = 24


def normal(name, *shape):
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return np.round(random.normal(size=shape), 2).astype(np.float32)


def node(op, inputs, outputs="y", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(" "), **attributes)


def case(name, nodes, weights, inputs, formula):
    """`formula` has all weights and inputs as keywords and gives y."""
    if not isinstance(nodes, list):
        nodes = [nodes]
    trained = {n: torch.tensor(v, requires_grad=True) for n, v in weights.items()}
    given = {n: torch.tensor(v) for n, v in inputs.items()}
    y = formula(**trained, **given)
    labels = normal(name + " labels", *y.shape)
    torch.nn.functional.mse_loss(y, torch.tensor(labels)).backward()
    info = lambda n, a: helper.make_tensor_value_info(
        n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
    graph = helper.make_graph(nodes, name, [info(n, v) for n, v in inputs.items()],
                              [info("y", labels)],
                              [numpy_helper.from_array(v, n) for n, v in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    files = {f"input_{i}": v for i, v in enumerate([*inputs.values(), labels])}
    files.update({f"after_{n}": (w - w.grad).detach().numpy() for n, w in trained.items()})
    for file, array in files.items():
        tensor = numpy_helper.from_array(np.asarray(array, order="C"))
        (folder / f"{file}.pb").write_bytes(tensor.SerializeToString())


def attentions():
    operands = {"q": normal("q", 2, 2, 4, 3), "k": normal("k", 2, 2, 4, 3),
                "v": normal("v", 2, 2, 4, 2)}
    attention = torch.nn.functional.scaled_dot_product_attention
    seen = np.ones((2, 1, 4, 4), bool)
    seen[0, :, 1] = False
    seen[1, ..., :2] = False
    case("attention_masked", node("Attention", "q k v seen", is_causal=1), operands,
         {"seen": seen}, lambda q, k, v, seen: attention(q, k, v, seen.tril()))
    added = np.where(seen, normal("added", 2, 1, 4, 4), np.float32(-np.inf))
    case("attention_added", node("Attention", "q k v added"), operands, {"added": added},
         lambda q, k, v, added: attention(q, k, v, added))


def capped_attention():
    operands = {"q": normal("q", 2, 2, 4, 3), "k": normal("k", 2, 1, 5, 3),
                "v": normal("v", 2, 1, 5, 2)}
    lengths = np.array([5, 2])
    seen = np.arange(5) <= np.arange(4)[:, None] + lengths[:, None, None, None] - 4

    # PyTorch's softmax of -inf alone is NaN, and so is its gradient: those rows are left out.
    def rows_with_keys(q, k, v, lengths):
        rows = torch.tensor(seen.any(-1))[..., None]
        scores = 2 * torch.tanh(q @ k.mT * 3 ** -0.5 / 2)
        hidden = ~torch.tensor(seen)
        scores = torch.where(rows, scores.masked_fill(hidden, -torch.inf), 0)
        return torch.where(rows, torch.softmax(scores, -1) @ v, 0)
    case("attention_capped",
         helper.make_node("Attention", ["q", "k", "v", "", "", "", "lengths"], ["y"], is_causal=1,
                          softcap=2.0),
         operands, {"lengths": lengths}, rows_with_keys)
    # The same in parts, as the weights are an output too.
    case("attention_in_parts",
         helper.make_node("Attention", ["q", "k", "v", "", "", "", "lengths"],
                          ["y", "", "", "weights"], is_causal=1, softcap=2.0,
                          qk_matmul_output_mode=3),
         operands, {"lengths": lengths}, rows_with_keys)


def reductions():
    x = normal("x", 3, 4)
    x[1] += 1000
    case("log_sum_exp",
         [node("Constant", "", "axes", value_ints=[1]),
          node("ReduceLogSumExp", "x axes", keepdims=0)],
         {"x": x}, {}, lambda x: torch.logsumexp(x, 1))


def normalizations():
    x = normal("n", 2, 3, 4)
    layer = torch.nn.functional.layer_norm
    case("layer_norm_full_scale", node("LayerNormalization", "x s b"),
         {"x": x, "s": normal("ns", 2, 3, 4), "b": normal("nb", 3, 1)}, {},
         lambda x, s, b: layer(x, (4,)) * s + b)
    case("rms_norm_row_scale", node("RMSNormalization", "x s", axis=1),
         {"x": x, "s": normal("nr", 1, 4)}, {},
         lambda x, s: torch.nn.functional.rms_norm(x, (3, 4), eps=1e-5) * s)
    # The weight reaches y through the mean and the inverse deviation too.
    case("layer_norm_statistics",
         [node("LayerNormalization", "x s", "z mean inverse"), node("Mul", "z inverse", "zi"),
          node("Add", "zi mean")], {"x": x, "s": normal("nt", 4)}, {},
         lambda x, s: layer(x, (4,)) * s / torch.sqrt(x.var(-1, correction=0, keepdim=True) + 1e-5)
         + x.mean(-1, keepdim=True))


def rotations():
    def turned(x, cs, sn, part):
        a, b = x[..., :part:2], x[..., 1:part:2]
        y = torch.stack([a * cs - b * sn, b * cs + a * sn], -1).flatten(-2)
        return torch.cat([y, x[..., part:]], -1)
    angles = normal("angles", 2, 3, 2)
    case("rotary_embedding",
         node("RotaryEmbedding", "x cs sn", interleaved=1, rotary_embedding_dim=4),
         {"x": normal("rx", 2, 2, 3, 6), "cs": np.cos(angles), "sn": np.sin(angles)}, {},
         lambda x, cs, sn: turned(x, cs[:, None], sn[:, None], 4))


def writes():
    at = np.array([3, 1])
    def written(x, rows, at):
        places = (at[:, None] + torch.arange(3)) % 4
        return torch.stack([x[b].index_copy(0, places[b], rows[b]) for b in range(2)])
    case("scatter_circular", node("TensorScatter", "x rows at", mode="circular", axis=1),
         {"x": normal("wx", 2, 4, 3), "rows": normal("wr", 2, 3, 3)}, {"at": at}, written)


def recurrences():
    """Packed sequences; ONNX has the gates of an LSTM as input, output, forget, cell."""
    steps, batch, size, hidden, lengths = 4, 3, 3, 2, np.array([2, 4, 1], np.int32)
    orders = {"LSTM": [0, 2, 3, 1], "GRU": [1, 0, 2], "RNN": [0]}

    def in_torchs_order(w, op):
        return torch.cat([w.chunk(len(orders[op]))[i] for i in orders[op]])

    for op, module in ("LSTM", torch.nn.LSTM), ("GRU", torch.nn.GRU), ("RNN", torch.nn.RNN):
        net, gates = module(size, hidden, bidirectional=True), len(orders[op])

        def packed(x, w, r, b, lengths):
            weights = {}
            for d, suffix in enumerate(("", "_reverse")):
                wb, rb = b[d].chunk(2)
                for name, value in ("weight_ih", w[d]), ("weight_hh", r[d]), ("bias_ih", wb), \
                        ("bias_hh", rb):
                    weights[f"{name}_l0{suffix}"] = in_torchs_order(value, op)
            rows = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
            out, last = torch.func.functional_call(net, weights, (rows,))
            out, _ = torch.nn.utils.rnn.pad_packed_sequence(out, total_length=steps)
            last = last[0] if op == "LSTM" else last
            y = out.reshape(steps, batch, 2, hidden).transpose(1, 2)
            return y + last  # [directions, batch, hidden]
        case(f"{op.lower()}_lengths",
             [helper.make_node(op, ["x", "w", "r", "b", "lengths"], ["all", "last"],
                               direction="bidirectional", hidden_size=hidden,
                               **({"linear_before_reset": 1} if op == "GRU" else {})),
              node("Add", "all last")],
             {"x": normal("lx", steps, batch, size), "w": normal("lw", 2, gates * hidden, size),
              "r": normal("lr", 2, gates * hidden, hidden),
              "b": normal("lb", 2, 2 * gates * hidden)}, {"lengths": lengths}, packed)


def maxima():
    """Equal ones, which PyTorch shares out, or gives to one, or to none."""
    x = np.array([[2, 1, 2], [3, 3, 3], [-1, 2, 0.5]], np.float32)
    other = np.array([[2, 2, -1], [3, 0, 3], [-1, 2, 1]], np.float32)
    axes = node("Constant", "", "axes", value_ints=[1])
    low = node("Constant", "", "low", value_float=2.0)

    def made_of(one, target):
        one.metadata_props.add(key="pkg.torch.onnx.fx_node",
                               value=f"%n : [num_users=1] = call_function[target=torch.ops."
                               f"{target}](args = (%x, [1]), kwargs = {{}})")
        return one
    case("max_over_all", node("ReduceMax", "x"), {"x": x}, {}, lambda x: x.amax((0, 1), True))
    case("min_over_all", node("ReduceMin", "x", keepdims=0), {"x": x}, {}, lambda x: x.min())
    case("max_of_row", node("ReduceMax", "x"), {"x": x[0]}, {}, lambda x: x.max()[None])
    case("max_over_one", [axes, node("ReduceMax", "x axes")], {"x": x}, {},
         lambda x: x.max(1, True).values)
    case("amax_over_one", [axes, made_of(node("ReduceMax", "x axes"), "aten.amax.default")],
         {"x": x}, {}, lambda x: x.amax(1, True))
    case("maximum", node("Max", "x o"), {"x": x, "o": other}, {},
         lambda x, o: torch.maximum(x, o))
    case("minimum", node("Min", "x o r"), {"x": x, "o": other[:1], "r": other[:, :1]}, {},
         lambda x, o, r: torch.minimum(torch.minimum(x, o), r))
    case("at_least", [low, node("Max", "x low")], {"x": x}, {}, lambda x: x.clamp(min=2.0))
    case("at_most", [low, node("Min", "x low")], {"x": x}, {}, lambda x: x.clamp(max=2.0))
    case("clip", [low, node("Constant", "", "high", value_float=3.0), node("Clip", "x low high")],
         {"x": x}, {}, lambda x: x.clamp(2.0, 3.0))
    bounds = [node("Constant", "", n, value_int=v) for n, v in (("first", 0), ("last", 2))]
    case("clip_of_indices",
         [*bounds, node("Clip", "ids first last", "places"), node("Gather", "x places")],
         {"x": x}, {"ids": np.array([-1, 2, 7, 0])}, lambda x, ids: x[ids.clamp(0, 2)])


def samples():
    """Places outside too, on both sides; none is whole, or at an edge."""
    grid = normal("grid", 2, 3, 2, 2) * np.float32(1.3)
    grid[0, 0, 0] = [3.1, -2.7]
    forms = [(mode, padding, corners) for mode in ("linear", "cubic", "nearest")
             for padding, corners in (("zeros", 0), ("border", 1), ("reflection", 0))]
    def summed(x, grid):
        names = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}
        sample = torch.nn.functional.grid_sample
        return sum(sample(x, grid, names[m], p, bool(c)) for m, p, c in forms)
    nodes = [node("GridSample", "x grid", f"y{i}", mode=m, padding_mode=p, align_corners=c)
             for i, (m, p, c) in enumerate(forms)]
    case("grid_sample", [*nodes, node("Sum", " ".join(f"y{i}" for i in range(len(forms))))],
         {"x": normal("gx", 2, 2, 3, 4), "grid": grid}, {}, summed)
    volume = normal("volume", 1, 2, 2, 2, 3)
    case("grid_sample_volume", node("GridSample", "x grid"),
         {"x": normal("gv", 1, 2, 2, 3, 4), "grid": volume}, {},
         lambda x, grid: torch.nn.functional.grid_sample(x, grid, align_corners=False))


def shrunk():
    x = np.array([[0.2, 0.5, -0.5, 1.5], [-1.5, 0, 2, -0.7]], np.float32)
    case("shrink", [node("Shrink", "x", "soft", lambd=0.5, bias=0.5),
                    node("Shrink", "x", "hard", lambd=0.6), node("Add", "soft hard")], {"x": x}, {},
         lambda x: torch.nn.functional.softshrink(x) + torch.nn.functional.hardshrink(x, 0.6))


def reversed_and_scaled():
    lengths = np.array([3, 1, 0])
    def turned(x, lengths):
        return torch.stack([torch.cat([x[:n, b].flip(0), x[n:, b]]) for b, n in enumerate(lengths)],
                           1)
    case("reverse_sequence", node("ReverseSequence", "x lengths"), {"x": normal("rs", 4, 3, 2)},
         {"lengths": lengths}, turned)
    q, zero = np.array([[-128, 5, 127], [0, -3, 64]], np.int8), np.array([-5, 0, 9], np.int8)
    case("dequantize", node("DequantizeLinear", "q scale zero"),
         {"scale": np.array([0.02, 0.5, 0.01], np.float32)}, {"q": q, "zero": zero},
         lambda scale, q, zero: (q.float() - zero.float()) * scale)


attentions()
capped_attention()
reductions()
normalizations()
rotations()
writes()
recurrences()
maxima()
samples()
shrunk()
reversed_and_scaled()
