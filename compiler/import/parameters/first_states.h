// Stored values that recurrences written as a Loop or a Scan begin with, beside those of operators
// that are recurrences.
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_FIRST_STATES_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_FIRST_STATES_H_

#include <map>
#include <string>

#include "compiler/import/file/file_graph.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Sets `first_state` of the roles of initializers that needed nodes read as nothing else.
// Example: Scan(h0, xs) with num_scan_inputs = 1, whose body makes tanh(h W + x) of h: h0.
void MarkFirstStates(const ::onnx::GraphProto& graph, const FileGraph& order,
                     std::map<std::string, StoredRole>& roles);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_FIRST_STATES_H_
