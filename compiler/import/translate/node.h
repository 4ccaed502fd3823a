// One node of the file while it is translated: its attributes and operands, and the uses of
// descriptions that it becomes. The first mistake is kept and everything after it does nothing, so
// that translations read as what they mean: they test failed() before they index by what they read.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_NODE_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_NODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/templates/templates.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/language/library.h"

namespace yuba::onnx {

class NodeContext {
 public:
  NodeContext(const ::onnx::NodeProto& proto, int64_t opset, std::string label,
              const std::string& folder, const OperatorLibrary& library, OnnxGraph& graph);

  // Mistakes.
  template <typename... Args>
  void Fail(const Args&... args) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(args...));
  }
  void Check(const absl::Status& status) {
    if (status_.ok() && !status.ok()) status_ = status;
  }
  bool failed() const { return !status_.ok(); }
  const absl::Status& status() const { return status_; }

  // What the file says.
  const ::onnx::NodeProto& proto() const { return proto_; }
  int64_t opset() const { return opset_; }
  const std::string& folder() const { return folder_; }
  bool HasAttribute(const std::string& name) const { return Find(name) != nullptr; }
  const ::onnx::AttributeProto* Find(const std::string& name) const;
  int64_t Int(const std::string& name, int64_t absent);
  double Float(const std::string& name, double absent);
  std::string String(const std::string& name, const std::string& absent);
  std::vector<int64_t> Ints(const std::string& name, const std::vector<int64_t>& absent = {});
  std::vector<double> Floats(const std::string& name);

  // Operands; -1 where absent.
  int InputCount() const { return proto_.input_size(); }
  int OutputCount() const { return proto_.output_size(); }
  bool HasOutput(int i) const { return i < proto_.output_size() && !proto_.output(i).empty(); }
  int Optional(int i) const;
  int Input(int i);  // a mistake where it is absent
  std::vector<int> AllInputs();
  const OnnxValue& ValueOf(int value) const;  // an empty one for -1
  const std::vector<int64_t>& Dims(int value) const { return ValueOf(value).dims; }
  int Rank(int value) const { return static_cast<int>(Dims(value).size()); }
  // Integers that decide a shape: a mistake where the operand is not known when planning.
  std::vector<int64_t> KnownInts(int value, absl::string_view what);
  bool IsKnown(int value) const { return value >= 0 && ValueOf(value).known != nullptr; }
  // The axis, counted from the end where it is negative: 0 <= result < rank.
  int Axis(int64_t axis, int rank);
  // Axes as an attribute or, from opset `since` on, as operand `input`; sorted, each once.
  std::vector<int> Axes(int since, int input, int rank, bool* given = nullptr);

  // What it becomes. All give -1 for each output after a mistake.
  int Entry(absl::string_view entry, const std::vector<int>& operands,
            const Attributes& attributes = {});
  std::vector<int> EntryOutputs(absl::string_view entry, const std::vector<int>& operands,
                                const Attributes& attributes = {});
  int Write(const OpTemplate& op_template, const std::vector<int>& operands);
  std::vector<int> WriteOutputs(const OpTemplate& op_template, const std::vector<int>& operands);
  int Constant(TensorValue value);
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
  void SetOutput(int i, int value);

 private:
  std::vector<int> Emit(const OpDescription& op, const std::vector<int>& operands,
                        const Attributes& attributes, const OpTemplate* op_template);
  std::vector<int> AddUse(Instance instance, const std::vector<int>& operands,
                          const OpTemplate* op_template);
  bool Fold(const Instance& instance, const std::vector<int>& operands, std::vector<int>& outputs);

  const ::onnx::NodeProto& proto_;
  int64_t opset_;
  std::string label_;
  const std::string& folder_;
  const OperatorLibrary& library_;
  OnnxGraph& graph_;
  absl::Status status_;
  bool fold_ = true;
};

// Values of at most so many elements are computed at import where all operands are known; a larger
// one would be stored where a few instructions give it.
inline constexpr int64_t kFoldedElements = 64;

// The same for the terms that are looked at on the way.
inline constexpr double kFoldedPoints = 1e6;

// Integers of at most so many elements are looked into when a node asks for them.
inline constexpr int64_t kKnownElements = 4096;

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_NODE_H_
