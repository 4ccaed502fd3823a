// Convolutions and pools: windows, strides, dilations and pads as entries take them.
#include <algorithm>

#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/products.h"
#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {
namespace {

// The window of one node; each list has an entry for each spatial dimension.
struct Window {
  Dims kernel, stride, dilation, lo, hi;
};

bool IsCount(int64_t value) { return value >= 1 && value < (int64_t{1} << 31); }

Dims CheckedInts(NodeContext& node, const char* name, size_t count, int64_t absent) {
  const Dims values = node.Ints(name, Dims(count, absent));
  if (values.size() != count && !node.failed())
    node.Fail("attribute '", name, "' must have ", count, " integers");
  return node.failed() ? Dims(count, absent) : values;
}

Window ReadWindow(NodeContext& node, const Dims& kernel) {
  const size_t spatial = kernel.size();
  Window window;
  window.kernel = kernel;
  window.stride = CheckedInts(node, "strides", spatial, 1);
  window.dilation = CheckedInts(node, "dilations", spatial, 1);
  const Dims pads = CheckedInts(node, "pads", 2 * spatial, 0);
  const std::string automatic = node.String("auto_pad", "NOTSET");
  if (automatic != "NOTSET" && node.HasAttribute("pads")) {
    node.Fail("it has `pads` and auto_pad '", automatic,
              "', of which one alone may be there: ", "remove the one that is not meant");
  }
  window.lo.assign(pads.begin(), pads.begin() + static_cast<int64_t>(spatial));
  window.hi.assign(pads.begin() + static_cast<int64_t>(spatial), pads.end());
  for (size_t d = 0; d < spatial && !node.failed(); ++d) {
    if (!IsCount(window.kernel[d]) || !IsCount(window.stride[d]) || !IsCount(window.dilation[d]))
      node.Fail("its kernel, strides and dilations must be positive");
    for (int64_t pad : {pads[d], pads[spatial + d]}) {
      if (pad <= -(int64_t{1} << 31) || pad >= int64_t{1} << 31) node.Fail("a pad is too large");
    }
  }
  return window;
}

// Pads that give ceil(size / stride) outputs, one more behind (UPPER) or in front (LOWER).
void PadAutomatically(NodeContext& node, const Dims& dims, Window& window) {
  const std::string mode = node.String("auto_pad", "NOTSET");
  if (mode == "NOTSET" || node.failed()) return;
  for (size_t d = 0; d < window.kernel.size(); ++d) {
    window.lo[d] = window.hi[d] = 0;
    if (mode == "VALID") continue;
    if (mode != "SAME_UPPER" && mode != "SAME_LOWER")
      return node.Fail("auto_pad '", mode, "' is unknown");
    const int64_t size = dims[2 + d], outputs = (size + window.stride[d] - 1) / window.stride[d];
    const int64_t span = window.dilation[d] * (window.kernel[d] - 1) + 1;
    const int64_t total = std::max<int64_t>(0, (outputs - 1) * window.stride[d] + span - size);
    window.lo[d] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.hi[d] = total - window.lo[d];
  }
}

Attributes WindowAttributes(const Window& window) {
  return {{"stride", window.stride}, {"lo", window.lo}, {"hi", window.hi}};
}

// The spatial extents of the filter, which `kernel_shape` may repeat.
Dims FilterKernel(NodeContext& node, int x, int filter) {
  if (node.failed()) return {};
  const Dims& dims = node.Dims(filter);
  if (node.Rank(x) < 3 || dims.size() != node.Dims(x).size()) {
    node.Fail("its operands ", Extents(node.Dims(x)), " and ", Extents(dims),
              " are no input [batch, channels, ...] and filter");
    return {};
  }
  const Dims kernel(dims.begin() + 2, dims.end());
  if (node.Ints("kernel_shape", kernel) != kernel)
    node.Fail("attribute 'kernel_shape' differs from the filter ", Extents(dims));
  return kernel;
}

}  // namespace

int ConvOf(NodeContext& node, int x, int filter, int bias) {
  Window window = ReadWindow(node, FilterKernel(node, x, filter));
  PadAutomatically(node, node.Dims(x), window);
  if (node.failed()) return -1;
  const int64_t groups = node.Int("group", 1);
  if (groups < 1 || node.Dims(filter)[1] * groups != node.Dims(x)[1] ||
      node.Dims(filter)[0] % groups != 0) {
    node.Fail("its input ", Extents(node.Dims(x)), " and filter ", Extents(node.Dims(filter)),
              " do not fit ", groups, " groups");
  }
  Attributes attributes = WindowAttributes(window);
  attributes["dilation"] = window.dilation;
  return node.Entry("conv", {x, filter, bias}, attributes);
}

void TranslateConv(NodeContext& node) {
  const int x = node.Input(0), filter = node.Input(1);
  node.SetOutput(0, ConvOf(node, x, filter, node.Optional(2)));
}

void TranslateConvTranspose(NodeContext& node) {
  const int x = node.Input(0), filter = node.Input(1);
  Window window = ReadWindow(node, FilterKernel(node, x, filter));
  const size_t spatial = window.kernel.size();
  Dims extra = CheckedInts(node, "output_padding", spatial, 0);
  if (node.failed()) return;
  const std::string mode = node.String("auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
    return node.Fail("auto_pad '", mode, "' is unknown");
  const Dims shape = node.Ints("output_shape");
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t size = node.Dims(x)[2 + d];
    const int64_t full =
        (size - 1) * window.stride[d] + window.dilation[d] * (window.kernel[d] - 1) + 1 + extra[d];
    if (shape.empty() && mode == "NOTSET") continue;
    if (mode == "VALID") {
      window.lo[d] = window.hi[d] = 0;
      continue;
    }
    const int64_t wanted =
        !shape.empty() ? shape[shape.size() < spatial + 2 ? std::min(d, shape.size() - 1) : d + 2]
                       : size * window.stride[d];
    const int64_t total = full - wanted;
    // A negative total asks for more outputs than there are: zeros behind, a negative pad.
    window.lo[d] = total < 0 ? 0 : mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.hi[d] = total - window.lo[d];
  }
  Attributes attributes = WindowAttributes(window);
  attributes["dilation"] = window.dilation;
  attributes["extra"] = extra;
  const int64_t groups = node.Int("group", 1);
  if (groups < 1 || node.Dims(x)[1] % groups != 0 || node.Dims(filter)[0] != node.Dims(x)[1]) {
    return node.Fail("its input ", Extents(node.Dims(x)), " and filter ",
                     Extents(node.Dims(filter)), " do not fit ", groups, " groups");
  }
  attributes["groups"] = groups;
  node.SetOutput(0, node.Entry("conv_transpose", {x, filter, node.Optional(2)}, attributes));
}

namespace {

Window PoolWindow(NodeContext& node, int x) {
  const size_t spatial = static_cast<size_t>(std::max(0, node.Rank(x) - 2));
  Window window = ReadWindow(node, CheckedInts(node, "kernel_shape", spatial, 0));
  PadAutomatically(node, node.Dims(x), window);
  if (node.Rank(x) < 3)
    node.Fail("its operand ", Extents(node.Dims(x)), " is no [batch, channels, ...]");
  return window;
}

}  // namespace

void TranslateMaxPool(NodeContext& node) {
  const int x = node.Input(0);
  const Window window = PoolWindow(node, x);
  Attributes attributes = WindowAttributes(window);
  attributes["k"] = window.kernel;
  attributes["dilation"] = window.dilation;
  attributes["ceil"] = node.Int("ceil_mode", 0);
  const int y = node.Entry("max_pool", {x}, attributes);
  node.SetOutput(0, y);
  const int64_t order = node.Int("storage_order", 0);
  if (order != 0 && order != 1) node.Fail("attribute 'storage_order' is ", order);
  if (!node.HasOutput(1) || node.failed()) return;
  const Dims result(node.Dims(y).begin() + 2, node.Dims(y).end());
  const WindowText text = {window.kernel, window.stride, window.dilation, window.lo, result};
  node.SetOutput(1, node.Write(MaxPoolIndicesTemplate(node.Dims(x), text, order == 1), {x}));
}

void TranslateAveragePool(NodeContext& node) {
  const int x = node.Input(0);
  const Window window = PoolWindow(node, x);
  Attributes attributes = WindowAttributes(window);
  attributes["k"] = window.kernel;
  attributes["include"] = node.Int("count_include_pad", 0);
  attributes["ceil"] = node.Int("ceil_mode", 0);
  const bool dilated = window.dilation != Dims(window.dilation.size(), 1);
  if (dilated) attributes["dilation"] = window.dilation;
  node.SetOutput(0, node.Entry(dilated ? "avg_pool_dilated" : "avg_pool", {x}, attributes));
}

}  // namespace yuba::onnx
