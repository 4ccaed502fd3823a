// One node of the file while it is translated: its attributes and operands come in through this
// class, and the uses of descriptions that it becomes go out through it into the OnnxGraph. Values
// are passed as numbers in OnnxGraph::values, -1 for an absent one.
//
// Mistakes in the file are recorded, not returned: the first is kept and everything after it does
// nothing and gives harmless values, so that a translation reads as what it means. It only has to
// test failed() before it indexes by what it read.
//
// Example, all of Flatten: int x = node.Input(0); the axis by node.Int("axis", 1); the new dims;
// then node.SetOutput(0, node.Reshape(x, dims)).
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_NODE_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_NODE_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/templates/templates.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/language/library.h"

namespace yuba::onnx {

// What a name of the file stands for: a tensor, or a sequence of tensors.
struct NamedValue {
  int tensor = -1;
  absl::optional<std::vector<int>> sequence;
};

class NodeContext {
 public:
  // Translates a node that is inside of this one; the error names it.
  using TranslateInside = std::function<absl::Status(const ::onnx::NodeProto& node)>;

  // All references must outlive the context. `label` is what the node is called in Use::from,
  // `folder` is the model's.
  NodeContext(const ::onnx::NodeProto& proto, int64_t opset, std::string label,
              const std::string& folder, const OperatorLibrary& library, OnnxGraph& graph,
              TranslateInside translate_inside = nullptr);

  // Mistakes. Fail and Check record the first; its message is an InvalidArgument without the node's
  // name, which the caller of the translation adds.
  template <typename... Args>
  void Fail(const Args&... args) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(args...));
  }
  void Check(const absl::Status& status) {
    if (status_.ok() && !status.ok()) status_ = status;
  }
  // Fail, where it is not known when planning which nodes inside of the node run.
  template <typename... Args>
  void FailUnknown(const Args&... args) {
    if (status_.ok()) unknown_ = true;
    Fail(args..., " is not known when planning");
  }
  bool unknown() const { return unknown_; }  // whether FailUnknown was the first mistake
  bool failed() const { return !status_.ok(); }
  const absl::Status& status() const { return status_; }

  // What the file says. An attribute of another kind than asked for is a mistake; an absent one
  // gives `absent`.
  const ::onnx::NodeProto& proto() const { return proto_; }
  int64_t opset() const { return opset_; }
  const std::string& folder() const { return folder_; }
  // Whether PyTorch's exporter says that the node was made of a call of one of these functions, as
  // "aten.amax".
  bool MadeOf(const std::vector<std::string>& functions) const;
  bool HasAttribute(const std::string& name) const { return Find(name) != nullptr; }
  const ::onnx::AttributeProto* Find(const std::string& name) const;
  int64_t Int(const std::string& name, int64_t absent);
  double Float(const std::string& name, double absent);
  std::string String(const std::string& name, const std::string& absent);
  std::vector<int64_t> Ints(const std::string& name, const std::vector<int64_t>& absent = {});
  std::vector<double> Floats(const std::string& name);

  // Operands and outputs of the node by position, as numbers of values; -1 where absent.
  int InputCount() const { return proto_.input_size(); }
  int OutputCount() const { return proto_.output_size(); }
  bool HasOutput(int i) const { return i < proto_.output_size() && !proto_.output(i).empty(); }
  int Optional(int i) const;
  int Input(int i);  // a mistake where it is absent
  std::vector<int> AllInputs();
  // Operands and outputs that are sequences, as the numbers of their elements.
  bool IsSequence(int i) const;
  std::vector<int> Sequence(int i);  // a mistake where it is none
  void CheckSequences();             // a mistake where an operand is one, and nothing asked for it
  void SetSequence(int i, std::vector<int> elements);
  const OnnxValue& ValueOf(int value) const;  // for -1 one without dimensions
  const std::vector<int64_t>& Dims(int value) const { return ValueOf(value).dims; }
  int Rank(int value) const { return static_cast<int>(Dims(value).size()); }
  // Integers that decide a shape: a mistake where the operand is not known when planning, or where
  // it grows with caches and is not their length.
  std::vector<int64_t> KnownInts(int value, absl::string_view what);
  bool IsKnown(int value) const { return value >= 0 && ValueOf(value).known != nullptr; }
  // Whether what is known of the value holds for full caches only (caches.h).
  bool GrowsWithCache(int value) const { return ValueOf(value).one_row_fewer != nullptr; }
  // The axis, counted from the end where it is negative; 0 <= result < rank, else a mistake.
  int Axis(int64_t axis, int rank);
  // Axes as an attribute or, from opset `since` on, as operand `input`; sorted, each once. `given`
  // says whether the node names axes at all.
  std::vector<int> Axes(int since, int input, int rank, bool* given = nullptr);

  // The dimensions of `value` from `start` on, as a constant that knows how they grow with caches.
  int Sizes(int value, int start, const TensorValue& dims);
  // Whether a dimension that grows by so much with each row of the caches can be this long: a
  // mistake where it grows and is not the length of full caches.
  bool MayBeLength(int64_t length, int64_t growth);

  // What it becomes. Each of these adds uses or values to the graph and returns the numbers of the
  // results, -1 after a mistake. Entry uses a description of the library, Write a template; results
  // that are known and small are computed at once and become constants (kFoldedElements).
  int Entry(absl::string_view entry, const std::vector<int>& operands,
            const Attributes& attributes = {});
  std::vector<int> EntryOutputs(absl::string_view entry, const std::vector<int>& operands,
                                const Attributes& attributes = {});
  int Write(const OpTemplate& op_template, const std::vector<int>& operands);
  std::vector<int> WriteOutputs(const OpTemplate& op_template, const std::vector<int>& operands);
  int Constant(TensorValue value);
  // The same of what is known for full caches, and what it would be with one row fewer.
  int Constant(TensorValue value, TensorValue one_row_fewer);
  int Stored(ElementType type, const std::vector<int64_t>& dims,
             std::shared_ptr<const std::string> data);  // a constant, known if it is small
  int Fill(ElementType type, const std::vector<int64_t>& dims,
           std::shared_ptr<const std::string> element);  // a parameter that starts as a fill
  int Literal(ElementType type, double number);          // rounded to the type
  int Copy(int value);                                   // a node even where the value is known
  int Reshape(int value, const std::vector<int64_t>& dims);
  int Transpose(int value, const std::vector<int>& permutation);
  // The value with dimension `axis` moved to the end, and back.
  int AxisLast(int value, int axis);
  int AxisBack(int value, int axis);
  int Cast(int value, ElementType type);
  // `length` elements of dimension `axis` from `begin` on; one element without that dimension.
  int Part(int value, int axis, int64_t begin, int64_t length);
  int Element(int value, int axis, int64_t at);
  // Values one behind the other along an axis that they have, or along a new one; at least one.
  int Concat(const std::vector<int>& values, int axis);
  int Stack(const std::vector<int>& values, int axis);
  void SetOutput(int i, int value);
  // Makes what an operator changes a state: an initializer, and in training also a parameter that
  // the file's training_info begins, which forward passes only read. False where it is something
  // else.
  bool MakeState(int value);
  // What the last use adds up over the batch is meant: they are statistics of it.
  void MarkStatisticsOfBatch() {
    if (!failed()) graph_.uses.back().mixes = Use::Mixes::kStatistics;
  }
  // The node's output as it is at another batch than that which is written into the node or its
  // operands; null where it has no such batch.
  const ValueAtBatch* AtBatch(int output) const;
  // `dims`, or those of AtBatch.
  std::vector<int64_t> DimsAtBatch(int output, const std::vector<int64_t>& dims) const;
  // The value holds running statistics.
  void MarkStatistics(int value);
  // The value is the quotient of these two: a mean of losses.
  void MarkMean(int value, int total, int weight);
  // The value `next` is that of the state for the next step, though the file does not say so.
  void KeepStatistics(int state, int next);
  const OnnxGraph& graph() const { return graph_; }

  // Nodes inside of the node, as in the branches of an If, see the names of the file. A mistake
  // where a name is one already, or where the node inside has one.
  absl::optional<NamedValue> Named(const std::string& name) const;
  void SetNamed(const std::string& name, const NamedValue& value);
  void Inside(const ::onnx::NodeProto& node);

 private:
  std::vector<int> Emit(const OpDescription& op, const std::vector<int>& operands,
                        const Attributes& attributes, const OpTemplate* op_template);
  std::vector<int> AddUse(Instance instance, const std::vector<int>& operands,
                          const OpTemplate* op_template);
  bool Fold(const Instance& instance, const std::vector<int>& operands, std::vector<int>& outputs);
  bool FoldGrowing(const Instance& instance, const std::vector<int>& operands,
                   std::vector<int>& outputs);
  // A value that the caches' count of rows decides, computed from it; any other value itself. A
  // mistake where only its size is known.
  int DataOf(int value);
  bool ReadsCache(const std::vector<int>& operands) const;
  // The value of that name of an earlier entry, where it is a parameter or constant of the same
  // elements; else `value`.
  int SameInEarlierEntry(const std::string& name, int value);

  const ::onnx::NodeProto& proto_;
  int64_t opset_;
  std::string label_;
  const std::string& folder_;
  const OperatorLibrary& library_;
  OnnxGraph& graph_;
  TranslateInside translate_inside_;
  absl::Status status_;
  bool unknown_ = false;
  std::set<int> sequences_;  // operands that were asked for as sequences
  bool fold_ = true;
};

// Values of at most so many elements are computed at import where all operands are known. A larger
// one would take memory as a constant where a few instructions compute it.
inline constexpr int64_t kFoldedElements = 64;

// And only where the interpreter looks at no more points of the iteration space than this.
inline constexpr double kFoldedPoints = 1e6;

// Stored integers of at most so many elements are read when a node asks for their values.
inline constexpr int64_t kKnownElements = 4096;

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_NODE_H_
