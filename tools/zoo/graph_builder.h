// Writes an ONNX model node by node. Parameters are inputs of the graph without values; how their
// values are drawn stands in the model's training_info, where ONNX has a place for it: a graph of
// nodes RandomNormal, RandomUniform and ConstantOfShape whose outputs are bound to the parameters.
// So the file is small whatever it describes.
//
// Names are those of the scopes that are open, joined by dots:
//
//   GraphBuilder builder("tiny");
//   const Value x = builder.Input("x", ElementType::kF32, {8, 64});
//   {
//     const Scope scope(builder, "head");
//     const Value weight = builder.Parameter("weight", {64, 10}, Normal(0.02));  // "head.weight"
//     builder.Output("logits", builder.Apply("MatMul", {x, weight}, {8, 10}));
//   }
//   const std::string bytes = builder.Finish();
//
// Who calls says the dimensions of results; import derives them again and notices mistakes.
#ifndef YUBA_TOOLS_ZOO_GRAPH_BUILDER_H_
#define YUBA_TOOLS_ZOO_GRAPH_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "onnx/onnx.pb.h"
#include "opsemantics/base/draw.h"
#include "opsemantics/base/element_type.h"

namespace yuba::zoo {

using Dims = std::vector<int64_t>;

// A tensor of the graph.
struct Value {
  std::string name;
  Dims dims;
};

// An attribute of a node: {"axis", 1}, {"epsilon", 1e-5f}, {"pads", Dims{1, 1}}, {"equation",
// "..."}.
struct Attribute {
  std::string name;
  std::variant<int64_t, float, Dims, std::string> value;
};
using Attributes = std::vector<Attribute>;

// Distributions; the builder gives each parameter a seed of its own.
Draw Normal(double deviation);  // around 0
Draw Uniform(double largest);   // from -largest to largest
Draw Filled(double value);      // all elements are this one

class GraphBuilder {
 public:
  explicit GraphBuilder(const std::string& name);

  // An input that has another value in each step. The first input of a model holds its samples.
  Value Input(const std::string& name, ElementType type, const Dims& dims);
  // An input f32 whose value is drawn, and trained.
  Value Parameter(const std::string& name, const Dims& dims, const Draw& draw);
  // The same, but not trained: a running statistic of a batch norm.
  Value Statistic(const std::string& name, const Dims& dims, double value);

  // Constants: one float, a list of floats, one integer and a list of them. Equal ones are one.
  Value Number(float number);
  Value Numbers(const std::vector<float>& numbers);
  Value Integer(int64_t integer);
  Value Integers(const Dims& integers);

  // A node with one result. Its name, and the result's, is `op` in the scope, numbered where that
  // is taken: "h.0.MatMul", "h.0.MatMul_1". An operand without a name is left out.
  Value Apply(const std::string& op, const std::vector<Value>& operands, const Dims& dims,
              const Attributes& attributes = {});
  // The same with several results.
  std::vector<Value> ApplyMany(const std::string& op, const std::vector<Value>& operands,
                               const std::vector<Dims>& results, const Attributes& attributes = {});

  // Makes the tensor, f32, an output of the model under this name.
  void Output(const std::string& name, const Value& value);

  // Elements of all Parameter(); the largest int64_t where there are more.
  int64_t parameters() const { return parameters_; }
  // The file's bytes. The last call.
  std::string Finish();

 private:
  friend class Scope;
  std::string Scoped(const std::string& name) const;
  Value Constant(::onnx::TensorProto tensor, const Dims& dims);
  void Initialize(const Value& value, const Draw& draw);

  ::onnx::ModelProto model_;
  ::onnx::GraphProto& graph_;
  ::onnx::TrainingInfoProto& training_;
  std::string scope_;                       // empty, or it ends in a dot
  std::map<std::string, int> names_;        // of nodes: how many have it
  std::map<std::string, Value> constants_;  // by their bytes
  int64_t parameters_ = 0;
  uint32_t seed_ = 0;  // of the last parameter
};

// While it lives, names get this in front.
class Scope {
 public:
  Scope(GraphBuilder& builder, const std::string& name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  GraphBuilder& builder_;
  const std::string outer_;
};

}  // namespace yuba::zoo

#endif  // YUBA_TOOLS_ZOO_GRAPH_BUILDER_H_
