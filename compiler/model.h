// A model as all phases see it: the graph of definitions, and the values that came with it.
// The phase `import` makes one from a file; the phases after it replace the graph (by one with
// gradients, or with copies) and keep the rest. Plain data that owns what it holds; values are
// shared, so that a copy of a Model does not copy its weights.
#ifndef YUBA_COMPILER_MODEL_H_
#define YUBA_COMPILER_MODEL_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "opsemantics/base/draw.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/values/stored_form.h"

namespace yuba::onnx {
struct Source;  // import/source.h
}

namespace yuba::compiler {

// The value of a parameter or constant before the first step, little-endian and row-major. A
// parameter f32[2, 3] of kind kData has 24 bytes of `data`; one of kind kFill has 4 bytes, the one
// element that all six are. One of kind kFile has a `range` of 24 bytes, which nobody has read:
// large values stay in their files. One of kind kDrawn is made, element by element, when a program
// begins: a parameter of floats with which its training begins.
struct InitialValue {
  enum Kind { kMissing, kData, kFill, kFile, kDrawn };
  Kind kind = kMissing;  // kMissing: a parameter whose value is not in the file
  // kData: the whole tensor; kFill: one element; else null.
  std::shared_ptr<const std::string> data;
  FileRange range;  // of kFile: the whole tensor; bytes of bools are 0 or any other
  Draw draw;        // of kDrawn
};

// Nodes of one entry that one kernel may compute (compiler/cluster). They follow each other in the
// graph's order, and their definitions begin with the same `shared` output indices.
struct Cluster {
  int shared = 0;                 // at least 1
  std::vector<TensorId> results;  // of its nodes, in the graph's order; at least two
  int entry = 0;                  // position in Graph::entries
  // Whether a kernel for GPUs may compute them, whose threads share out the loops inside of the
  // shared indices (compiler/kernels/threads).
  enum Rows : uint8_t {
    kNone,  // not where there are such loops
    kOnce,  // loops only in the first: few rows, each so long that several blocks compute it
    kTogether
  };
  Rows rows = kTogether;
  friend bool operator==(const Cluster& a, const Cluster& b) {
    return a.shared == b.shared && a.results == b.results && a.entry == b.entry && a.rows == b.rows;
  }
};

// What the description of an operator says about the gradients of one use of it. It is there from
// import to the phase `train` (train/rules.h): meanwhile the tensors that are named here are inputs
// and outputs of the graph behind the user's own, so that no simplification makes them part of
// others.
struct GradientRule {
  struct Pair {
    int of = 0;         // position in Graph::outputs
    int gradient = -1;  // of an output: position in Graph::inputs; of an operand: in
                        // Graph::outputs, -1: the description does not say it
  };
  std::vector<Pair> outputs;              // of the use: all that may have a gradient
  std::vector<Pair> operands;             // all
  int first_input = 0, first_output = 0;  // positions of what the rule added to the graph
};

// Two weights of the file that are one parameter of the graph (--tie): only `kept` is there.
struct TiedWeights {
  std::string tied, kept;
  bool transposed = false;  // `tied` is the transpose of `kept`
};

// What the file, and the nodes that read them, say of stored values, by their names.
struct StoredWords {
  std::set<std::string> parameters;         // the file calls them so, whatever they hold
  std::map<std::string, std::string> kept;  // no training changes them, and why not
  std::set<std::string> states;             // a step of the model itself changes them
  std::set<std::string> first_states;       // recurrences begin with them
};

struct Model {
  std::string file;  // the path it was imported from
  Graph graph;
  std::map<TensorId, InitialValue> values;  // for each parameter and constant
  // Of stored tensors, by name, that are parameters of the user's program in another form.
  std::map<std::string, StoredForm> forms;
  // Parameters and buffers of the user's program that cannot be set to a new value, by PyTorch's
  // names: the file has what was computed with them, or stores them once with others. Each with the
  // tensor that it is, or is stored once with, or "".
  std::map<std::string, std::string> missing_parameters;
  std::vector<GradientRule> gradient_rules;  // none but before differentiation
  std::vector<Cluster> clusters;             // in the graph's order; no node is in two
  StoredWords words;                         // which parameters are weights
  // Of a training step: the names of what it trains, and of what it would if that were not frozen.
  std::set<std::string> trainable;
  std::vector<TiedWeights> ties;
  // Of a training step: what decides what it computes, by the names of the flags that say it.
  std::map<std::string, std::string> training;
  std::string graph_hash;          // HashOfGraph: no names, weights or order of the file
  std::vector<std::string> notes;  // for people: reshapes, dropped nodes, ...
  // The names of the file's inputs that have no value in it, in its order. Some are parameters, and
  // some nothing reads.
  std::vector<std::string> file_inputs;
  // What output_0.pb, output_1.pb, ... of a folder of data are of: the file's outputs, where the
  // graph has several entries, whose outputs have other names (NameInEntry), or the loss of a
  // training step. Empty: the graph's outputs.
  std::vector<std::string> file_outputs;
  int file_nodes = 0;  // nodes in the file, before anything was simplified
  int64_t opset = 0;   // of ONNX's own domain
  int64_t flops = 0;   // of one step of the whole model; at most the largest int64_t
  // The file as it was read, of which WithFactors (phases.h) makes the model with other factors.
  // Null where the model was not imported by this process.
  std::shared_ptr<const onnx::Source> source;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_MODEL_H_
