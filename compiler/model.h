// A model: the graph of definitions and the values that came with it.
#ifndef YUBA_COMPILER_MODEL_H_
#define YUBA_COMPILER_MODEL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// The value of a parameter or constant before the first step, little-endian, row-major.
struct InitialValue {
  enum Kind { kMissing, kData, kFill };
  Kind kind = kMissing;                     // kMissing: a graph input that is a parameter
  std::shared_ptr<const std::string> data;  // kData: the whole tensor; kFill: one element
};

struct Model {
  std::string file;
  Graph graph;
  std::map<TensorId, InitialValue> values;  // for each parameter and constant
  std::string graph_hash;                   // canonical: no names, no weights, no order of the file
  std::vector<std::string> notes;           // for people: reshapes, dropped nodes, ...
  // By position in the file: the inputs that have no value there. Some may be parameters or unused.
  std::vector<std::string> file_inputs;
  int file_nodes = 0;  // nodes in the file
  int64_t opset = 0;
  int64_t flops = 0;  // of a step, on one device; saturating
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_MODEL_H_
