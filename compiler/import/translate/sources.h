// What the graph starts from: inputs, parameters and constants, with their shapes. The first step
// of translation; nodes come after it.
//
// A graph input that an initializer backs is that initializer. Floats of more than one element
// among the initializers are parameters, and so is one number where the file calls it a parameter,
// an operator its weight, bias, slope or scale (../parameters/stored_roles.h), or --trainable by
// its name; all others are constants. Where the file's training_info says how some of its inputs
// begin, these are parameters, and all others are inputs. A file that says no such thing and holds
// no float initializer at all came without its weights: then the first input, every input of
// integers and every input with a symbolic dimension is an input, and the others are parameters
// whose values are missing.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_SOURCES_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_SOURCES_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "compiler/import/file/file_graph.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/options.h"

namespace yuba::onnx {

// Adds values for the inputs and for those initializers that some node or output of `proto` reads,
// where no earlier entry has added the same, and sets graph.inputs and by_name. Symbolic dimensions
// come from `dims`, and a dimension 0 without a name from what that has for the empty one; an error
// (InvalidArgument) names all that are missing at once. What graph.at_batch names has the sizes
// there. An input in options.bind becomes a constant. Entries have inputs of equal types and shapes
// in common, all initializers, and all states: also an error where a state has another shape than
// before.
absl::Status AddSources(const ::onnx::GraphProto& proto, const FileGraph& order,
                        const std::string& folder, const ImportOptions& options,
                        const std::map<std::string, int64_t>& dims, OnnxGraph& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_SOURCES_H_
