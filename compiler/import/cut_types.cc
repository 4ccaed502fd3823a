#include "compiler/import/cut_types.h"

#include <memory>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/source.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/onnx_tensor.h"

namespace yuba::onnx {
namespace {

// Symbols of the input that have no size, as "--dim NAME=N".
std::vector<std::string> OpenSymbols(const ::onnx::ValueInfoProto& input,
                                     const ImportOptions& options,
                                     const std::map<std::string, int64_t>& dims) {
  std::vector<std::string> open;
  const auto& shape = input.type().tensor_type().shape();
  for (int d = 0; d < shape.dim_size(); ++d) {
    const std::string& symbol = shape.dim(d).dim_param();
    if (symbol.empty() || dims.count(symbol) > 0 || (d == 0 && options.batch.has_value())) continue;
    open.push_back(absl::StrCat("--dim ", symbol, "=N"));
  }
  return open;
}

bool IsComplete(const ::onnx::ValueInfoProto& input, const ImportOptions& options,
                const std::map<std::string, int64_t>& dims) {
  const auto& type = input.type().tensor_type();
  if (!ElementTypeFromOnnx(type.elem_type()).ok() || !type.has_shape()) return false;
  for (const auto& dim : type.shape().dim()) {
    if (!dim.has_dim_value() && dim.dim_param().empty()) return false;
  }
  return OpenSymbols(input, options, dims).empty();
}

// The part of the file that leads to the tensors, at the sizes of the entry.
absl::StatusOr<std::shared_ptr<const Source>> ReadFront(const std::string& path,
                                                        const ImportOptions& options,
                                                        const std::map<std::string, int64_t>& dims,
                                                        const FileGraph& order,
                                                        std::vector<std::string> tensors) {
  ImportOptions front;
  front.to_tensors = std::move(tensors);
  front.library = options.library;
  front.batch = options.batch;
  front.batch_dims = options.batch_dims;
  front.bind = options.bind;
  std::set<std::string> symbols;
  for (const ::onnx::ValueInfoProto* input : order.inputs) {
    if (order.cut.count(input->name()) > 0) {
      front.bind.erase(input->name());
      continue;
    }
    for (const auto& dim : input->type().tensor_type().shape().dim())
      symbols.insert(dim.dim_param());
  }
  for (const auto& [symbol, size] : dims) {
    if (symbols.count(symbol) > 0) front.dims[symbol] = size;
  }
  return ReadSource(path, front);
}

void Declare(const OnnxValue& value, ::onnx::ValueInfoProto& input) {
  ::onnx::TypeProto::Tensor& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(OnnxNumberOf(value.type));
  type.mutable_shape()->clear_dim();
  for (const int64_t dim : value.dims) type.mutable_shape()->add_dim()->set_dim_value(dim);
}

absl::Status CannotTell(const std::vector<std::string>& names, const std::vector<std::string>& open,
                        const absl::Status& why) {
  return UserError("--from-tensors ", absl::StrJoin(names, ","), ": ",
                   open.empty() ? "the file does not say its type and shape, "
                                : "the file does not say all of its shape, ",
                   "and they cannot be told from the nodes in front of it: ", why.message(), "\n",
                   open.empty() ? "Write shapes into the file (onnx.shape_inference.infer_shapes)"
                                : absl::StrCat("Give ", absl::StrJoin(open, " ")),
                   ", or begin at other tensors");
}

}  // namespace

absl::Status DeclareCuts(const std::string& path, const ImportOptions& options,
                         const std::map<std::string, int64_t>& dims, const FileGraph& order,
                         ::onnx::GraphProto& graph) {
  std::vector<std::string> names, open;
  std::vector<::onnx::ValueInfoProto*> inputs;
  for (::onnx::ValueInfoProto& input : *graph.mutable_input()) {
    const auto cut = order.cut.find(input.name());
    if (cut == order.cut.end()) continue;
    input = cut->second;  // an earlier entry may have completed it
    if (IsComplete(input, options, dims)) continue;
    names.push_back(input.name());
    inputs.push_back(&input);
    for (std::string& flag : OpenSymbols(input, options, dims)) open.push_back(std::move(flag));
  }
  if (names.empty()) return absl::OkStatus();
  const absl::StatusOr<std::shared_ptr<const Source>> front =
      ReadFront(path, options, dims, order, names);
  if (!front.ok()) return CannotTell(names, open, front.status());
  const OnnxGraph& made = (*front)->graph;
  YUBA_CHECK(made.outputs.size() == inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) Declare(made.values[made.outputs[i]], *inputs[i]);
  return absl::OkStatus();
}

}  // namespace yuba::onnx
