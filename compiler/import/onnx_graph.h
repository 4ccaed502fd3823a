// The model between the file and the graph of definitions: values with the dimensions of the file,
// and the uses of descriptions that compute them. translate/ builds it, factors/ reads it. Factors
// are not unified yet, and nothing is simplified. Values are numbered by their position in
// OnnxGraph::values, in the order in which they came up.
//
// Example: y = Gemm(x, w) is one Use whose instance has the slots x, w and y, each with the number
// of its value.
#ifndef YUBA_COMPILER_IMPORT_ONNX_GRAPH_H_
#define YUBA_COMPILER_IMPORT_ONNX_GRAPH_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
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
  std::vector<int64_t> dims;                 // as the file has them, without factors
  std::vector<std::string> dim_names;        // of inputs and outputs: the file's symbols, or ""
  compiler::InitialValue initial;            // of parameters and constants
  bool stored = false;                       // it is an initializer of the file
  std::shared_ptr<const TensorValue> known;  // its elements where import knows them, else null
};

// One use of a description. The dims of its slots say how the flat dimensions of its definitions
// are grouped into the dimensions of the values.
struct Use {
  Instance instance;
  std::vector<int> values;  // [slot]: the number of its value; -1: internal to the use
  TieClass tie_class = TieClass::kOperator;
  std::string from;  // the node of the file, for messages
};

struct OnnxGraph {
  std::deque<OnnxValue> values;  // a deque, so that references stay valid as it grows
  std::vector<Use> uses;         // each after the uses whose values it reads
  std::vector<int> inputs;       // numbers of values, in the file's order
  std::vector<int> rebatched;    // inputs whose dimension 0 is another than the file's (--batch)
  std::vector<int> outputs;      // numbers of values, in the file's order
  std::vector<std::string> output_names;
  std::vector<std::pair<int, int>> carried;  // states and their next values, by numbers of values
  int seed = -1, step = -1;                  // the values of random_numbers.h; -1: not needed
  std::map<std::string, int> by_name;        // name in the file -> number of the value
  std::vector<std::string> notes;            // for people, as Model::notes
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_ONNX_GRAPH_H_
