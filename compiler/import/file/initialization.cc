#include "compiler/import/file/initialization.h"

#include <cmath>
#include <utility>

#include "compiler/import/file/file_graph.h"
#include "compiler/import/file/read.h"
#include "opsemantics/base/half.h"
#include "opsemantics/base/hash_order.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba::onnx {
namespace {

uint32_t SeedFrom(const std::string& name) {
  uint64_t mixed = 0;
  for (const char c : name) mixed = HashMix(mixed + static_cast<unsigned char>(c), mixed);
  return static_cast<uint32_t>(mixed >> 32);
}

// What the graph `initialization` makes.
class Reader {
 public:
  Reader(const ::onnx::GraphProto& graph, const std::string& folder) : folder_(folder) {
    for (const ::onnx::TensorProto& tensor : graph.initializer()) stored_[tensor.name()] = &tensor;
    for (int n = 0; n < graph.node_size(); ++n) {
      const ::onnx::NodeProto& node = graph.node(n);
      for (const std::string& output : node.output()) made_[output] = {&node, n};
      const ::onnx::AttributeProto* value = Find(node, "value");
      if (node.op_type() == "Constant" && node.output_size() == 1 && value != nullptr &&
          value->has_t())
        stored_[node.output(0)] = &value->t();
    }
  }

  absl::StatusOr<Beginning> Read(const std::string& output) const {
    if (const auto stored = stored_.find(output); stored != stored_.end())
      return Stored(*stored->second);
    const auto made = made_.find(output);
    if (made == made_.end()) return UserError("'", output, "', which nothing makes");
    const auto& [node, position] = made->second;
    absl::StatusOr<Beginning> read = Made(*node, output);
    if (!read.ok()) return Annotate(read.status(), "node " + NodeLabel(*node, position));
    if (!read->draw.has_value()) read->unread = NodeLabel(*node, position);
    return read;
  }

 private:
  static const ::onnx::AttributeProto* Find(const ::onnx::NodeProto& node,
                                            const std::string& name) {
    for (const ::onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.name() == name) return &attribute;
    }
    return nullptr;
  }

  static float Number(const ::onnx::NodeProto& node, const std::string& name, float absent) {
    const ::onnx::AttributeProto* found = Find(node, name);
    return found == nullptr ? absent : found->f();
  }

  absl::StatusOr<Beginning> Stored(const ::onnx::TensorProto& tensor) const {
    YUBA_ASSIGN_OR_RETURN(TensorData read, ReadTensor(tensor, folder_));
    Beginning beginning;
    beginning.type = read.type;
    beginning.dims = std::move(read.dims);
    beginning.data = std::make_shared<const std::string>(std::move(read.data));
    return beginning;
  }

  // Without a draw where the node is none of those that are understood.
  absl::StatusOr<Beginning> Made(const ::onnx::NodeProto& node, const std::string& output) const {
    if (node.op_type() == "RandomNormal" || node.op_type() == "RandomUniform")
      return Drawn(node, output);
    if (node.op_type() == "ConstantOfShape" && node.input_size() == 1 &&
        stored_.count(node.input(0)) > 0)
      return Filled(node);
    return Beginning();
  }

  static absl::StatusOr<Beginning> Drawn(const ::onnx::NodeProto& node, const std::string& output) {
    const ::onnx::AttributeProto* shape = Find(node, "shape");
    if (shape == nullptr) return UserError("it has no attribute 'shape'");
    const ::onnx::AttributeProto* type = Find(node, "dtype");
    Beginning beginning;
    YUBA_ASSIGN_OR_RETURN(
        beginning.type,
        ElementTypeFromOnnx(type == nullptr ? int64_t{::onnx::TensorProto::FLOAT} : type->i()));
    if (!IsFloat(beginning.type)) return UserError("its elements are ", Name(beginning.type));
    beginning.dims.assign(shape->ints().begin(), shape->ints().end());
    const bool normal = node.op_type() == "RandomNormal";
    const ::onnx::AttributeProto* seed = Find(node, "seed");
    beginning.draw =
        Draw{normal ? Draw::kNormal : Draw::kUniform, Number(node, normal ? "mean" : "low", 0),
             Number(node, normal ? "scale" : "high", 1),
             seed == nullptr ? SeedFrom(output) : BitsOf(seed->f())};
    return Checked(std::move(beginning));
  }

  absl::StatusOr<Beginning> Filled(const ::onnx::NodeProto& node) const {
    YUBA_ASSIGN_OR_RETURN(const TensorData shape, ReadTensor(*stored_.at(node.input(0)), folder_));
    if (shape.type != ElementType::kI64 || shape.dims.size() != 1)
      return UserError("its shape '", node.input(0), "' is no list of integers");
    Beginning beginning;
    for (int64_t d = 0; d < shape.dims[0]; ++d)
      beginning.dims.push_back(static_cast<int64_t>(ValueAt(shape, d)));
    double element = 0;
    if (const ::onnx::AttributeProto* value = Find(node, "value"); value != nullptr) {
      YUBA_ASSIGN_OR_RETURN(const TensorData read, ReadTensor(value->t(), folder_));
      if (read.data.size() != static_cast<size_t>(ByteSize(read.type)))
        return UserError("its value is not one element");
      beginning.type = read.type;
      element = ValueAt(read, 0);
    }
    beginning.draw = Draw{Draw::kUniform, element, element, 0};
    return Checked(std::move(beginning));
  }

  static absl::StatusOr<Beginning> Checked(Beginning beginning) {
    if (std::isfinite(beginning.draw->first) && std::isfinite(beginning.draw->second))
      return beginning;
    return UserError("its numbers are ", beginning.draw->first, " and ", beginning.draw->second);
  }

  const std::string& folder_;
  std::map<std::string, const ::onnx::TensorProto*> stored_;
  std::map<std::string, std::pair<const ::onnx::NodeProto*, int>> made_;
};

}  // namespace

absl::StatusOr<Initialization> ReadInitialization(const ::onnx::ModelProto& model,
                                                  const std::string& folder) {
  Initialization initialization;
  for (const ::onnx::TrainingInfoProto& training : model.training_info()) {
    const Reader reader(training.initialization(), folder);
    for (const ::onnx::StringStringEntryProto& binding : training.initialization_binding()) {
      absl::StatusOr<Beginning> beginning = reader.Read(binding.value());
      const std::string bound = "training_info binds '" + binding.key() + "'";
      if (!beginning.ok()) return Annotate(beginning.status(), bound);
      if (!IsFloat(beginning->type)) continue;
      if (!initialization.emplace(binding.key(), *std::move(beginning)).second)
        return UserError(bound, " twice; leave one binding out");
    }
  }
  return initialization;
}

}  // namespace yuba::onnx
