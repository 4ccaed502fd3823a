// A graph of definitions: what the front end makes, the search plans and the interpreter can run.
// It holds no operator of any framework; names and origins are for people only.
#ifndef YUBA_OPSEMANTICS_DEFINITION_GRAPH_H_
#define YUBA_OPSEMANTICS_DEFINITION_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

using TensorId = int;
using NodeId = int;

enum class TensorKind : uint8_t { kInput, kParameter, kConstant, kActivation, kCopy, kPartial };
// "input", "weight", "constant", "activation", "copy", "partials"
const char* Name(TensorKind kind);

struct Tensor {
  std::string name;
  TensorKind kind = TensorKind::kActivation;
  TensorType type;                         // flat dimensions
  std::vector<std::vector<int64_t>> dims;  // the factors of each dimension as the user knows it;
                                           // their concatenation is type.dims
  bool output = false;                     // an output of the graph
  NodeId producer = -1;                // -1: input, parameter or constant; a copy: its copy node
  std::vector<NodeId> consumers;       // each once, ascending
  std::vector<std::string> dim_names;  // parallel to dims, as the user calls them, "" where that
                                       // is nothing; empty: all of them are nameless
};

struct Node {
  std::string name;  // of its result
  std::string op;    // the operator it came from, for people
  std::string from;  // the node of the user's model, for messages
  int instance = 0;  // definitions of one use of an operator share it
  std::shared_ptr<const Definition> definition;
  std::vector<TensorId> operands;  // parallel to definition->operands; distinct
  TensorId result = -1;
};

// Nodes are in an order in which they can be computed.
struct Graph {
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<TensorId> inputs;  // in the order of the user's model, parameters not among them
  std::vector<TensorId> outputs;
  int copies = 0;  // the window of its copies (search/rewrite/copies.h); 0: none were made
};

// Recomputes producers, consumers and output flags from nodes, inputs and outputs.
void Link(Graph& graph);

// An error of ours (CHECK) where a graph is malformed: types of operands, order, ranges of ids.
void CheckGraph(const Graph& graph);

// Whether the node makes a copy of its operand, which is then data that moves and nothing computed.
bool IsCopy(const Graph& graph, const Node& node);
// Whether the result is the one operand, element for element: what a copy's definition must be.
bool IsIdentity(const Definition& definition);
// Whether the tensor is a copy or partials: axes may be left out of its cut at will.
bool IsTransient(const Tensor& tensor);
// Whether the node adds up what the nodes that make its operands (all of kind kPartial) keep apart,
// and does nothing else.
bool IsAccumulator(const Node& node);
bool CombinesPartials(const Definition& definition);
// What is wrong with a node that keeps or reads partials, else "": partials are of a sum and read
// by one node alone, which is linear in them and has an index for groups.
std::string WhyNoAccumulation(const Graph& graph, const Node& node);
// What a copy is a copy of; any other tensor itself.
TensorId SourceOf(const Graph& graph, TensorId tensor);

std::vector<int64_t> WholeDims(const Tensor& tensor);  // products of the factors: the user's shape
int64_t ElementCount(const TensorType& type);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_GRAPH_H_
