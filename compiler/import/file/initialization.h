// How the parameters of a file begin, where it says so instead of storing their values: ONNX's
// ModelProto.training_info has a graph without inputs, `initialization`, and bindings from names of
// the model's graph to outputs of that graph.
//
//   initialization: node {RandomNormal, seed 7, scale 0.02, shape 64 10, output "a"}
//   initialization_binding: {key "w", value "a"}
// says that w is f32[64, 10], drawn around 0 with the deviation 0.02.
#ifndef YUBA_COMPILER_IMPORT_FILE_INITIALIZATION_H_
#define YUBA_COMPILER_IMPORT_FILE_INITIALIZATION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/base/draw.h"
#include "opsemantics/base/element_type.h"

namespace yuba::onnx {

// A tensor of floats. One of `draw`, `data` and `unread` is set.
struct Beginning {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
  absl::optional<Draw> draw;
  std::shared_ptr<const std::string> data;  // the whole tensor, as in TensorData
  std::string unread;                       // the node that makes it, which is not understood
};
using Initialization = std::map<std::string, Beginning>;  // by the name in the model's graph

// Reads the bindings of all training_info of a model in `folder`. RandomNormal, RandomUniform,
// ConstantOfShape of a stored shape, and stored values are understood; a node without `seed` has a
// seed that follows from its output's name. Bindings of integers are left out. The user's error
// where a name is bound twice, to what nothing makes, or to a node whose attributes make no tensor.
absl::StatusOr<Initialization> ReadInitialization(const ::onnx::ModelProto& model,
                                                  const std::string& folder);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_INITIALIZATION_H_
