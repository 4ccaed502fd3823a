"""Writes model.onnx: GPT-2 small (12 layers, 768 wide, 12 heads) on 4 x 128 tokens, with a product
each for q, k and v. Weights are inputs of the graph: shapes alone. Needs the package onnx."""

from onnx import TensorProto, checker, helper, save

BATCH, LENGTH, WIDTH, HEADS, LAYERS, WORDS = 4, 128, 768, 12, 12, 50257


class Maker:
    def __init__(self):
        self.nodes, self.inputs, self.constants = [], [], {}

    def weight(self, name, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def constant(self, *values, kind=TensorProto.INT64, shape=None):
        name = "constant_" + "_".join(str(value) for value in values)
        shape = [len(values)] if shape is None else shape
        self.constants.setdefault(name, helper.make_tensor(name, kind, shape, values))
        return name

    def node(self, op, name, *operands, **attributes):
        self.nodes.append(helper.make_node(op, operands, [name], name=name, **attributes))
        return name

    def linear(self, name, x, inner, outer):
        weight = self.weight(name + ".weight", inner, outer)
        product = self.node("MatMul", name + "/product", x, weight)
        return self.node("Add", name, product, self.weight(name + ".bias", outer))

    def norm(self, name, x):
        return self.node("LayerNormalization", name, x, self.weight(name + ".weight", WIDTH),
                         self.weight(name + ".bias", WIDTH))

    def heads(self, name, x, order):
        shape = self.constant(BATCH, LENGTH, HEADS, WIDTH // HEADS)
        split = self.node("Reshape", name + "/split", x, shape)
        return self.node("Transpose", name + "/heads", split, perm=order)

    def attention(self, name, x):
        q = self.heads(name + ".q", self.linear(name + ".q", x, WIDTH, WIDTH), [0, 2, 1, 3])
        k = self.heads(name + ".k", self.linear(name + ".k", x, WIDTH, WIDTH), [0, 2, 3, 1])
        v = self.heads(name + ".v", self.linear(name + ".v", x, WIDTH, WIDTH), [0, 2, 1, 3])
        scale = self.constant(0.125, kind=TensorProto.FLOAT, shape=[])
        scores = self.node("MatMul", name + "/scores", q, k)
        scores = self.node("Mul", name + "/scaled", scores, scale)
        masked = self.node("Add", name + "/masked", scores, "mask")
        shares = self.node("Softmax", name + "/shares", masked, axis=-1)
        mixed = self.node("MatMul", name + "/mixed", shares, v)
        mixed = self.node("Transpose", name + "/whole", mixed, perm=[0, 2, 1, 3])
        whole = self.node("Reshape", name + "/joined", mixed, self.constant(BATCH, LENGTH, WIDTH))
        return self.linear(name + ".o", whole, WIDTH, WIDTH)

    def gelu(self, name, x):
        half = self.constant(0.5, kind=TensorProto.FLOAT, shape=[])
        root = self.constant(2.0 ** -0.5, kind=TensorProto.FLOAT, shape=[])
        one = self.constant(1.0, kind=TensorProto.FLOAT, shape=[])
        erf = self.node("Erf", name + "/erf", self.node("Mul", name + "/scaled", x, root))
        scale = self.node("Add", name + "/scale", erf, one)
        return self.node("Mul", name, self.node("Mul", name + "/half", x, half), scale)

    def model(self):
        tokens = helper.make_tensor_value_info("x", TensorProto.INT64, [BATCH, LENGTH])
        self.inputs.append(tokens)
        self.weight("mask", LENGTH, LENGTH)
        words = self.node("Gather", "words", self.weight("words.weight", WORDS, WIDTH), "x")
        y = self.node("Add", "placed", words, self.weight("places.weight", LENGTH, WIDTH))
        for layer in range(LAYERS):
            at = f"b.{layer}"
            y = self.node("Add", at + "/attended", y, self.attention(at, self.norm(at + ".n1", y)))
            wide = self.linear(at + ".f1", self.norm(at + ".n2", y), WIDTH, 4 * WIDTH)
            narrow = self.linear(at + ".f2", self.gelu(at + "/gelu", wide), 4 * WIDTH, WIDTH)
            y = self.node("Add", at + "/out", y, narrow)
        self.node("MatMul", "y", self.norm("n", y), self.weight("o.weight", WIDTH, WORDS))
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [BATCH, LENGTH, WORDS])
        graph = helper.make_graph(self.nodes, "gpt2_separate", self.inputs, [output],
                                  list(self.constants.values()))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


model = Maker().model()
checker.check_model(model)
save(model, "model.onnx")
