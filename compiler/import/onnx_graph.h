// The model between the file and the graph: values with the shapes of the file, and the uses of
// descriptions that make them. Factors are not unified yet, nothing is simplified.
#ifndef YUBA_COMPILER_IMPORT_ONNX_GRAPH_H_
#define YUBA_COMPILER_IMPORT_ONNX_GRAPH_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/import/tie_class.h"
#include "compiler/model.h"
#include "opsemantics/elaborate/elaborate.h"
#include "opsemantics/oracle/interpret.h"

namespace yuba::onnx {

struct OnnxValue {
  std::string name;  // empty until a name of the file is given to it
  TensorKind kind = TensorKind::kActivation;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
  std::vector<std::string> dim_names;        // of inputs and outputs: the file's symbols, or ""
  compiler::InitialValue initial;            // of parameters and constants
  bool stored = false;                       // an initializer of the file
  std::shared_ptr<const TensorValue> known;  // what is known now, if it is small
};

// One use of a description. Its slots' dims group the flat dimensions of its definitions into the
// dimensions of the values.
struct Use {
  Instance instance;
  std::vector<int> values;  // for each slot its value; -1: internal
  TieClass tie_class = TieClass::kOperator;
  std::string from;  // the node of the file, for messages
};

struct OnnxGraph {
  std::deque<OnnxValue> values;  // references stay valid
  std::vector<Use> uses;         // in an order of computation
  std::vector<int> inputs;
  std::vector<int> rebatched;  // inputs whose dimension 0 is not the file's
  std::vector<int> outputs;
  std::vector<std::string> output_names;
  std::map<std::string, int> by_name;  // names of the file
  std::vector<std::string> notes;
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_ONNX_GRAPH_H_
