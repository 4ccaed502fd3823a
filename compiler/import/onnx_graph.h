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
#include <vector>

#include "compiler/import/file/file_graph.h"
#include "compiler/import/tie_class.h"
#include "compiler/model.h"
#include "opsemantics/elaborate/elaborate.h"
#include "opsemantics/oracle/interpret.h"

namespace yuba::onnx {

struct OnnxValue {
  std::string name;  // empty until a name of the file is given to it
  TensorKind kind = TensorKind::kActivation;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;           // as the file has them, without factors
  std::vector<std::string> dim_names;  // of inputs and outputs: the file's symbols, or ""
  int batch_dim = -1;                  // of inputs: as in Tensor (opsemantics/definition/graph.h)
  compiler::InitialValue initial;      // of parameters and constants
  bool stored = false;                 // it is an initializer of the file
  bool statistics = false;             // running statistics of a batch norm: not trained
  StoredRole role;                     // of initializers
  int total = -1, weight = -1;  // of a loss that is a mean by weight: numbers of values, whose
                                // quotient it is
  int entry = kCommon;          // position in OnnxGraph::entries; kCommon: several have it
  static constexpr int kCommon = -1;
  std::shared_ptr<const TensorValue> known;  // its elements where import knows them, else null
  // With caches (translate/caches.h) `known` is of full ones. What it would be with one row fewer;
  // null where that is the same.
  std::shared_ptr<const TensorValue> one_row_fewer;
  bool sizes_only = false;  // how it changes with the rows is not known: it may be a size, not data
  bool in_cache = false;    // the rows of a cache, or computed from them with as many elements
};

// One use of a description. The dims of its slots say how the flat dimensions of its definitions
// are grouped into the dimensions of the values.
struct Use {
  Instance instance;
  std::vector<int> values;  // [slot]: the number of its value; -1: internal to the use
  TieClass tie_class = TieClass::kOperator;
  std::string from;  // the node of the file, for messages
  int entry = 0;     // position in OnnxGraph::entries
  // Whether it is meant to mix the examples of a batch: a loss, or statistics of the batch.
  enum class Mixes : uint8_t { kNo, kLoss, kStatistics };
  Mixes mixes = Mixes::kNo;
};

// A value of the file at another batch than that with which the file was written.
struct ValueAtBatch {
  std::vector<int64_t> dims;
  std::shared_ptr<const std::string> data;  // of a value that the file stores; else null
};

// A pair of --cache, in an entry.
struct CacheSlot {
  int state = -1;      // number of the value that has all rows
  int past = -1;       // of the value that stands for the rows that are there when the entry begins
  int present = -1;    // of what the entry makes of the state; -1 until its Concat is translated
  int axis = 0;        // the dimension of rows
  int64_t length = 0;  // rows
  std::string present_name;
};

// Of several entries, each is the whole file at sizes of its own: its uses follow those of the
// entry before it, and by_name is of the last entry.
struct OnnxGraph {
  std::vector<Entry> entries = {{"step", 1}};
  int entry = 0;                 // the one that translation is at
  std::deque<OnnxValue> values;  // a deque, so that references stay valid as it grows
  std::vector<Use> uses;         // each after the uses whose values it reads
  std::vector<int> inputs;       // numbers of values, in the file's order
  // By the names of values in the file: those of the entry that translation is at whose sizes are
  // others than the file says or has written into its nodes (batch.h). Empty: none.
  std::map<std::string, ValueAtBatch> at_batch;
  // Whether the entry is read to find its batch: what may have it, floats of two dimensions or
  // more, is not computed while it is translated, so that uses of it stay.
  bool finds_batch = false;
  std::string no_batch;      // as in Graph
  std::vector<int> outputs;  // numbers of values: of each entry those of the file, in its order
  struct CarriedValues {
    int state = 0, next = 0;  // numbers of values
    std::string next_name;    // in the file
  };
  std::vector<CarriedValues> carried;
  std::vector<CarriedValues> statistics;  // of batch norms in training mode: outputs.h carries them
  // Whether the entry that translation is at is differentiated. Variances of a batch that are kept
  // then lack one degree of freedom, as in PyTorch, else none, as in ONNX.
  bool trains = false;
  // Whether the entry that translation is at evaluates what another one trains: batch norms use
  // their running statistics, and dropouts drop nothing.
  bool evaluates = false;
  std::vector<CacheSlot> caches;  // of the entry that translation is at
  struct Rows {                   // what an entry adds to a cache
    int present = -1;             // number of the value, an output
    int axis = 0;
    int64_t new_rows = 0;
    int entry = 0;
  };
  std::vector<Rows> rows;              // of all entries
  int rows_used = -1;                  // with caches: the value of the state that counts their rows
  int64_t new_rows = 0;                // with caches: how many the entry adds
  int seed = -1, step = -1;            // the values of random_numbers.h; -1: not needed
  std::map<std::string, int> by_name;  // name in the file -> number of the value
  // Sequences of tensors, of which import knows the elements: name in the file -> their numbers.
  std::map<std::string, std::vector<int>> sequences;
  // Inputs, parameters and constants of earlier entries, by their names in the file.
  std::map<std::string, std::vector<int>> earlier;
  std::vector<compiler::TiedWeights> ties;  // that by_name makes one
  std::vector<std::string> notes;           // for people, as Model::notes
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_ONNX_GRAPH_H_
