// A graph of definitions: what the front end makes, the search plans and the interpreter can run.
// Tensors and nodes refer to each other by number (TensorId, NodeId: positions in Graph::tensors
// and Graph::nodes). It holds no operator of any framework; names and origins are for people only.
//
// Example: relu(x w) is four tensors (x, w, z, y) and two nodes, z = x w and y = relu(z). x is a
// kInput, w a kParameter, z and y are kActivation; z has producer 0 and consumers {1}; y is an
// output.
//
// A *carried pair*, a state and its next value, is one tensor: it is stored, and a node computes
// it. Nodes up to that node, itself included, read the value with which the step began, nodes after
// it the next value, with which the next step begins. So the order of nodes is part of what a graph
// with carried tensors means. Example: a counter is the kState n and the node n[] = n[] + 1.
//
// A graph may have several *entries*: named lists of nodes, one behind the other, each of which a
// caller runs by itself, any number of times. They share stored tensors, and nothing else: what one
// entry computes reaches another through a carried tensor, which each of them may write once.
// Example: `prefill` and `decode` of a decoder read the same weights, and write the same caches.
#ifndef YUBA_OPSEMANTICS_DEFINITION_GRAPH_H_
#define YUBA_OPSEMANTICS_DEFINITION_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

using TensorId = int;
using NodeId = int;

// An input is given for each step; a parameter, a constant and a state have a value before the
// first step. kCopy and kPartial are made by the search (search/rewrite/): a copy is a tensor
// gathered once for several readers, a partial is the result of a sum that is not reduced yet.
// The canonical order of the search mixes in the numbers of kinds: a new kind goes to the end.
enum class TensorKind : uint8_t {
  kInput,
  kParameter,
  kConstant,
  kActivation,
  kCopy,
  kPartial,
  kState
};
// "input", "weight", "constant", "activation", "copy", "partial", "state"
const char* Name(TensorKind kind);
// Whether tensors of the kind have a value before a step begins, and keep their memory throughout.
bool IsStored(TensorKind kind);
// Whether they have it before the first step and keep it from step to step: all that is stored but
// inputs.
bool HasInitialValue(TensorKind kind);

struct Tensor {
  std::string name;
  TensorKind kind = TensorKind::kActivation;
  TensorType type;                         // flat dimensions
  std::vector<std::vector<int64_t>> dims;  // the factors of each dimension as the user knows it;
                                           // their concatenation is type.dims
  bool output = false;                     // an output of the graph
  NodeId producer = -1;           // the first node that computes it; -1: only stored; a copy has a
                                  // copy node
  std::vector<NodeId> producers;  // all of them, ascending: of a carried tensor one in each entry
                                  // that writes it, of others one at most
  std::vector<NodeId> consumers;  // the nodes that read it, each once, ascending
  std::vector<std::string> dim_names;  // parallel to dims, as the user calls them; "": no name;
                                       // an empty list: no dimension has a name
  int batch_dim = -1;                  // of an input: which of dims counts examples; -1: none, or
                                       // that is not known
  std::string next_name;               // of a carried tensor: what the user calls its next value
  int64_t cache_rows = 0;  // of a state, one integer, that counts the rows of caches which hold
                           // something: how many rows the caches have; 0: it counts none
};

// Whether the tensor is a carried pair: its value at the end of a step is that of the next step.
inline bool IsCarried(const Tensor& tensor) {
  return tensor.producer >= 0 && IsStored(tensor.kind);
}
// What the user calls the tensor as an output.
inline const std::string& OutputName(const Tensor& tensor) {
  return IsCarried(tensor) ? tensor.next_name : tensor.name;
}

struct Node {
  std::string name;  // of its result
  std::string op;    // the operator it came from, for people
  std::string from;  // the node of the user's model, for messages
  int instance = 0;  // nodes that came from one use of an operator have the same number
  int entry = 0;     // position in Graph::entries
  std::shared_ptr<const Definition> definition;
  std::vector<TensorId> operands;  // parallel to definition->operands; distinct
  TensorId result = -1;
};

// Nodes that a caller runs together.
struct Entry {
  std::string name;   // "step" where a graph has one entry, and nobody named it
  int64_t times = 1;  // how often it runs, for the sum of bytes that the search makes small
  friend bool operator==(const Entry& a, const Entry& b) {
    return a.name == b.name && a.times == b.times;
  }
};

// Nodes are in an order in which they can be computed: each after the producers of its operands,
// but of a carried tensor before or after its producer, as it reads the one value or the other. The
// nodes of one entry stand together, in the order of the entries.
struct Graph {
  std::vector<Entry> entries = {{"step", 1}};  // at least one
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<TensorId> inputs;  // in the order of the user's model, parameters not among them
  std::vector<TensorId> outputs;
  std::string no_batch;  // why it is not known for sure which dimension is the batch; empty: it is
  bool copies = false;   // whether readers share copies (search/rewrite/copies.h)
};

// Recomputes producers, consumers and output flags from nodes, inputs and outputs.
void Link(Graph& graph);

// The node that computes the value which node `reader` reads of the tensor; -1 where the value was
// there when the reader's entry began.
NodeId ProducerFor(const Graph& graph, TensorId tensor, NodeId reader);
// The node of the entry that computes the tensor; -1 where none does.
NodeId ProducerIn(const Graph& graph, TensorId tensor, int entry);
// How often the node runs, as its entry.
inline int64_t TimesOf(const Graph& graph, NodeId node) {
  return graph.entries[graph.nodes[node].entry].times;
}
// The nodes of an entry: a range of positions in Graph::nodes.
Interval NodesOf(const Graph& graph, int entry);
// The graph with the nodes of one entry alone, linked. Tensors keep their numbers, so those that
// only other entries compute or read are there without a producer or a reader.
Graph GraphOfEntry(const Graph& graph, int entry);
// What the tensor or node `name` of the user's model is called in an entry: "decode:logits". Where
// a graph has one entry, names stay as they are.
std::string NameInEntry(const std::vector<Entry>& entries, int entry, const std::string& name);

// A fault of Yuba (CHECK) where a graph is malformed: ids out of range, operands of other types
// than the definition's, a tensor read before it is computed or computed twice in one entry,
// entries that are mixed.
void CheckGraph(const Graph& graph);

// Whether the node's result is a kCopy: its data moves, and nothing is computed.
bool IsCopy(const Graph& graph, const Node& node);
// Whether the result is the one operand, element for element: what a copy's definition must be.
bool IsIdentity(const Definition& definition);
// Such a definition, of this name.
Definition IdentityOf(const TensorType& type, const std::string& name);
// Whether a kernel may write the result over operand `operand`: a map that reads the operand only
// at the element that it writes. Example: w[i] - 0.1 * g[i] may overwrite w and g, w[i + 1] may
// not.
bool MayOverwrite(const Definition& definition, int operand);
// Whether the tensor is a kCopy or a kPartial: its sharding may leave out any axes.
bool IsTransient(const Tensor& tensor);
// Whether the definition adds up its operands, all of which hold partials, and does nothing else.
bool CombinesPartials(const Definition& definition);
// Such a definition, of that many operands: y[i0, ...] = sum(group) x0[i0, ...] + x1[i0, ...] + ...
Definition AccumulatorOf(const TensorType& type, int operands);
// Whether the node is of such a definition.
bool IsAccumulator(const Node& node);
// What is wrong with a node that writes or reads partials, for a message; "" where nothing is.
// Partials are the result of a sum and are read by one node alone, which is linear in them and has
// an index for groups.
std::string WhyPartialsIllegal(const Graph& graph, const Node& node);
// The tensor that a copy is of, through copies of copies; any other tensor itself.
TensorId SourceOf(const Graph& graph, TensorId tensor);

// The user's shape: for each dimension the product of its factors.
std::vector<int64_t> WholeDims(const Tensor& tensor);
int64_t ElementCount(const TensorType& type);  // 1 for a scalar

// What the operator of a node that computes a gradient ends with; no described operator's name has
// a point.
inline constexpr char kGradientSuffix[] = ".grad";
bool IsGradient(absl::string_view op);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_GRAPH_H_
