// What takes parts of tensors or puts them together: split, concat, slice, gathers, pads, blocks.
#include <algorithm>
#include <limits>

#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/translate.h"
#include "compiler/simplify/constants.h"

namespace yuba::onnx {
namespace {

int64_t Clamp(int64_t value, int64_t low, int64_t high) {
  return std::min(std::max(value, low), high);
}

// Makes the node's outputs consecutive parts of x. Those of no elements take no part in the one
// description of the others.
void SetParts(int x, int axis, const Dims& lengths, NodeContext& node) {
  Dims full;
  for (const int64_t length : lengths) {
    if (length > 0) full.push_back(length);
  }
  std::vector<int> parts;
  if (!full.empty()) parts = node.WriteOutputs(SplitTemplate(node.Dims(x), axis, full), {x});
  size_t next = 0;
  for (int p = 0; p < node.OutputCount() && !node.failed(); ++p)
    node.SetOutput(p, lengths[p] > 0 ? parts[next++] : node.Part(x, axis, 0, 0));
}

}  // namespace

void TranslateSplit(NodeContext& node) {
  const int x = node.Input(0);
  const int axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  Dims lengths = node.opset() < 13       ? node.Ints("split")
                 : node.Optional(1) >= 0 ? node.KnownInts(node.Optional(1), "split")
                                         : Dims();
  if (node.failed()) return;
  const int64_t size = node.Dims(x)[axis];
  if (node.HasAttribute("num_outputs") && !lengths.empty())
    return node.Fail("it has `split` and `num_outputs`, of which one is allowed");
  if (lengths.empty()) {
    const int64_t parts = node.Int("num_outputs", node.OutputCount());
    if (node.opset() < 18 && parts > 0 && size % parts != 0) {
      return node.Fail("its ", parts, " parts of ", size, " elements are not equal; version 18 of ",
                       "the operator has a shorter last part");
    }
    const int64_t length = parts > 0 ? (size + parts - 1) / parts : 0;
    for (int64_t at = 0, p = 0; p < std::min<int64_t>(parts, node.OutputCount()); ++p) {
      lengths.push_back(Clamp(size - at, 0, length));
      at += lengths.back();
    }
  }
  int64_t total = 0;
  for (const int64_t length : lengths) {
    if (length < 0 || length > size) return node.Fail("it splits off a part of ", length);
    total += length;
  }
  if (total != size || lengths.size() < static_cast<size_t>(node.OutputCount())) {
    return node.Fail("its parts ", Extents(lengths), " do not make the ", size,
                     " elements of dimension ", axis);
  }
  SetParts(x, axis, lengths, node);
}

void TranslateConcat(NodeContext& node) {
  const std::vector<int> operands = node.AllInputs();
  if (operands.empty()) node.Fail("it has no operands");
  if (node.failed()) return;
  const int axis = node.Axis(node.Int("axis", node.opset() < 4 ? 1 : 0), node.Rank(operands[0]));
  if (node.failed()) return;
  node.SetOutput(0, node.Concat(operands, axis));
}

void TranslateSlice(NodeContext& node) {
  const int x = node.Input(0);
  const int rank = node.Rank(x);
  const bool attributes = node.opset() < 10;
  const auto list = [&](const char* name, int input) {
    if (attributes) return node.Ints(name);
    return node.Optional(input) < 0 ? Dims() : node.KnownInts(node.Optional(input), name);
  };
  const Dims starts = list("starts", 1), ends = list("ends", 2);
  Dims axes = list("axes", 3), steps = attributes ? Dims() : list("steps", 4);
  for (size_t i = axes.size(); i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  steps.resize(std::max(steps.size(), starts.size()), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    node.Fail("its starts, ends, axes and steps are not equally many");
  if (node.failed()) return;
  const Dims& dims = node.Dims(x);
  Dims start(rank, 0), step(rank, 1), length = dims;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int axis = node.Axis(axes[i], rank);
    if (node.failed()) return;
    const int64_t n = dims[axis], by = steps[i];
    if (by == 0 || by == std::numeric_limits<int64_t>::min()) return node.Fail("a step is 0");
    const auto place = [n, by](int64_t at) {
      if (at < 0) at = std::max(at, -n - 1) + n;
      return by > 0 ? Clamp(at, 0, n) : Clamp(at, -1, n - 1);
    };
    const int64_t first = place(starts[i]);
    // With a negative step, an end of -1 stands for the last element; only an end below -n stands
    // for the place before the first.
    const int64_t last = by < 0 && ends[i] < -n ? -1 : place(ends[i]);
    const int64_t span = by > 0 ? last - first : first - last;
    const int64_t stride = by > 0 ? by : -by;
    length[axis] = span <= 0 ? 0 : (span - 1) / stride + 1;
    start[axis] = length[axis] == 0 ? 0 : first;
    step[axis] = length[axis] <= 1 ? 1 : by;
  }
  if (length == dims && std::all_of(step.begin(), step.end(), [](int64_t by) { return by == 1; }))
    return node.SetOutput(0, x);
  node.SetOutput(0, node.Write(SliceTemplate(dims, start, step, length), {x}));
}

namespace {

// Known indices that follow each other are a slice.
bool GatherSlice(NodeContext& node, int x, int ids, int axis) {
  if (!node.IsKnown(ids) || node.GrowsWithCache(ids)) return false;
  Dims at = node.KnownInts(ids, "indices");
  const int64_t n = node.Dims(x)[axis];
  for (int64_t& i : at) {
    if (i < -n || i >= n) {
      node.Fail("index ", i, " is outside dimension ", axis, " of ", Extents(node.Dims(x)));
      return true;
    }
    if (i < 0) i += n;
  }
  for (size_t i = 1; i < at.size(); ++i) {
    if (at[i] != at[i - 1] + 1) return false;
  }
  if (at.empty()) return false;
  const int part = node.Part(x, axis, at[0], static_cast<int64_t>(at.size()));
  Dims result = node.Dims(x);
  result.erase(result.begin() + axis);
  result.insert(result.begin() + axis, node.Dims(ids).begin(), node.Dims(ids).end());
  node.SetOutput(0, node.Reshape(part, result));
  return true;
}

}  // namespace

void TranslateGather(NodeContext& node) {
  const int x = node.Input(0), ids = node.Input(1);
  const int axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  if (node.failed() || GatherSlice(node, x, ids, axis)) return;
  std::vector<int> first = {axis};
  for (int d = 0; d < node.Rank(x); ++d) {
    if (d != axis) first.push_back(d);
  }
  const int rows = node.Entry("gather", {node.Transpose(x, first), ids});
  if (node.failed()) return;
  // From [ids.., before.., after..] to [before.., ids.., after..].
  const int count = node.Rank(ids);
  std::vector<int> back;
  for (int d = 0; d < axis; ++d) back.push_back(count + d);
  for (int d = 0; d < count; ++d) back.push_back(d);
  for (int d = count + axis; d < node.Rank(rows); ++d) back.push_back(d);
  node.SetOutput(0, node.Transpose(rows, back));
}

void TranslateGatherElements(NodeContext& node) {
  const int x = node.Input(0), ids = node.Input(1);
  const int axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  if (node.Rank(x) != node.Rank(ids)) node.Fail("its operands differ in rank");
  if (node.failed()) return;
  const int result =
      node.Entry("gather_elements", {node.AxisLast(x, axis), node.AxisLast(ids, axis)});
  if (!node.failed()) node.SetOutput(0, node.AxisBack(result, axis));
}

// Of each element of the batch the first elements along time, in the reverse order.
void TranslateReverseSequence(NodeContext& node) {
  const int x = node.Input(0), lengths = node.Input(1);
  const int64_t batch = node.Int("batch_axis", 1), time = node.Int("time_axis", 0);
  if (!node.failed() && (node.Rank(x) < 2 || batch + time != 1 || batch * time != 0)) {
    node.Fail("its batch and time must be the first two dimensions of its operand ",
              Extents(node.Dims(x)), ", not ", batch, " and ", time);
  }
  if (node.failed()) return;
  std::vector<int> batch_first(node.Rank(x));
  for (size_t d = 0; d < batch_first.size(); ++d) batch_first[d] = static_cast<int>(d);
  if (batch == 1) std::swap(batch_first[0], batch_first[1]);
  const int y = node.Entry("reverse_sequence", {node.Transpose(x, batch_first), lengths});
  if (!node.failed()) node.SetOutput(0, node.Transpose(y, batch_first));
}

// A cache of fixed length with new rows in it, from a position of each batch on.
void TranslateTensorScatter(NodeContext& node) {
  const int cache = node.Input(0), rows = node.Input(1);
  if (node.failed()) return;
  const int axis = node.Axis(node.Int("axis", -2), node.Rank(cache));
  if (node.Rank(rows) != node.Rank(cache)) node.Fail("its cache and its update differ in rank");
  if (!node.failed() && axis == 0) node.Fail("its axis is that of the batch");
  const std::string mode = node.String("mode", "linear");
  if (mode != "linear" && mode != "circular") node.Fail("its mode '", mode, "' is unknown");
  if (!node.failed() && node.Dims(rows)[axis] > node.Dims(cache)[axis])
    node.Fail("it writes ", node.Dims(rows)[axis], " rows into ", node.Dims(cache)[axis]);
  if (node.failed()) return;
  const int at =
      node.Optional(2) >= 0 ? node.Input(2) : node.Constant(compiler::IntegerValue({1}, {0}));
  const std::vector<int> operands = {node.AxisLast(cache, axis), node.AxisLast(rows, axis), at};
  if (node.failed()) return;
  const int64_t places = node.Dims(cache)[axis] - node.Dims(rows)[axis] + 1;
  const int written = mode == "linear" ? node.Entry("write_rows", operands, {{"choices", places}})
                                       : node.Entry("write_rows_circular", operands);
  if (!node.failed()) node.SetOutput(0, node.AxisBack(written, axis));
}

namespace {

constexpr int64_t kLargestPad = int64_t{1} << 40;

struct Padding {
  Dims lo, hi;
};

Padding PaddingOf(NodeContext& node, int rank) {
  const Dims pads = node.opset() < 11 ? node.Ints("pads") : node.KnownInts(node.Input(1), "pads");
  Dims axes;
  if (node.opset() >= 18 && node.Optional(3) >= 0)
    axes = node.KnownInts(node.Optional(3), "axes");
  else
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  Padding padding{Dims(rank, 0), Dims(rank, 0)};
  if (pads.size() != 2 * axes.size())
    node.Fail("it has ", pads.size(), " pads for ", axes.size(), " axes");
  for (size_t i = 0; i < axes.size() && !node.failed(); ++i) {
    const int axis = node.Axis(axes[i], rank);
    if (node.failed()) break;
    padding.lo[axis] = pads[i];
    padding.hi[axis] = pads[axes.size() + i];
    for (int64_t pad : {pads[i], pads[axes.size() + i]}) {
      if (pad < -kLargestPad || pad > kLargestPad) node.Fail("a pad is too large");
    }
  }
  return padding;
}

}  // namespace

void TranslatePad(NodeContext& node) {
  int x = node.Input(0);
  const int rank = node.Rank(x);
  const std::string mode = node.String("mode", "constant");
  Padding padding = PaddingOf(node, rank);
  for (int d = 0; d < rank && !node.failed(); ++d) {  // negative pads cut off
    const int64_t before = std::max<int64_t>(0, -padding.lo[d]);
    const int64_t after = std::max<int64_t>(0, -padding.hi[d]);
    const int64_t left = node.Dims(x)[d] - before - after;
    if (left < 0) return node.Fail("it cuts off more of dimension ", d, " than there is");
    x = node.Part(x, d, before, left);
    padding.lo[d] = std::max<int64_t>(0, padding.lo[d]);
    padding.hi[d] = std::max<int64_t>(0, padding.hi[d]);
  }
  if (node.failed()) return;
  if (mode == "constant") {
    int value = node.opset() < 11 ? node.Literal(node.ValueOf(x).type, node.Float("value", 0))
                                  : node.Optional(2);
    if (value >= 0) value = node.Reshape(value, {});
    return node.SetOutput(0,
                          node.Entry("pad", {x, value}, {{"lo", padding.lo}, {"hi", padding.hi}}));
  }
  if (mode != "edge" && mode != "reflect" && mode != "wrap")
    return node.Fail("its mode '", mode, "' is not supported");
  for (int d = 0; d < rank && !node.failed(); ++d) {
    const int64_t n = node.Dims(x)[d], lo = padding.lo[d], hi = padding.hi[d];
    if (lo == 0 && hi == 0) continue;
    const int64_t most = mode == "edge"   ? std::numeric_limits<int64_t>::max()
                         : mode == "wrap" ? n
                                          : n - 1;
    if (n == 0 || lo > most || hi > most) {
      return node.Fail("mode '", mode, "' cannot pad dimension ", d, " of ", n, " elements by ", lo,
                       " and ", hi);
    }
    x = node.Write(BorderTemplate(node.Dims(x), d, lo, hi, mode), {x});
  }
  node.SetOutput(0, x);
}

void TranslateTrilu(NodeContext& node) {
  const int x = node.Input(0);
  const bool upper = node.Int("upper", 1) != 0;
  int64_t k = 0;
  if (node.Optional(1) >= 0) {
    const Dims given = node.KnownInts(node.Optional(1), "diagonal");
    if (given.size() != 1)
      node.Fail("its diagonal must be one integer");
    else
      k = given[0];
  }
  node.SetOutput(0, node.Entry(upper ? "triu" : "tril", {x}, {{"k", k}}));
}

void TranslateOneHot(NodeContext& node) {
  const int values = node.Input(2);
  const int ids = IsFloat(node.ValueOf(node.Input(0)).type)
                      ? node.Cast(node.Input(0), ElementType::kI64)
                      : node.Input(0);
  const Dims depth = node.KnownInts(node.Cast(node.Input(1), ElementType::kI64), "depth");
  if (depth.size() != 1 || depth[0] < 0) node.Fail("its depth must be one integer");
  const int axis = node.Axis(node.Int("axis", -1), node.Rank(ids) + 1);
  if (node.Dims(values) != Dims{2}) node.Fail("it needs a value for off and one for on");
  if (node.failed()) return;
  const int off = node.Reshape(node.Part(values, 0, 0, 1), {});
  const int on = node.Reshape(node.Part(values, 0, 1, 1), {});
  const int hot = node.Entry("one_hot", {ids, off, on}, {{"n", depth[0]}});
  if (!node.failed()) node.SetOutput(0, node.AxisBack(hot, axis));
}

void TranslateDepthToSpace(NodeContext& node) {
  const int x = node.Input(0);
  const std::string mode = node.String("mode", "DCR");
  if (mode != "CRD" && mode != "DCR")
    return node.Fail("its mode is '", mode, "', neither DCR nor CRD");
  const bool deep = node.proto().op_type() == "SpaceToDepth", crd = mode == "CRD";
  const char* const entry = deep  ? (crd ? "space_to_depth_crd" : "space_to_depth")
                            : crd ? "depth_to_space_crd"
                                  : "depth_to_space";
  node.SetOutput(0, node.Entry(entry, {x}, {{"r", node.Int("blocksize", 0)}}));
}

}  // namespace yuba::onnx
