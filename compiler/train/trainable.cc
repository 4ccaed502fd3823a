#include "compiler/train/trainable.h"

#include <algorithm>
#include <vector>

#include "compiler/simplify/constants.h"
#include "opsemantics/base/file_range.h"

namespace yuba::compiler {
namespace {

// Exporters write -10^9, -10^4 or the like for -inf.
constexpr double kLowest = -1000;

// Tensors of more elements are not looked at.
constexpr int64_t kLargestTable = int64_t{1} << 22;

// What the elements of a tensor are.
struct Elements {
  bool zeros = true;  // all are 0
  bool masks = true;  // all are 0 or stand for -inf
  bool known = true;  // all were seen

  void Look(const TensorValue& elements) {
    for (const Scalar& element : elements.elements) {
      zeros &= element.number == 0;
      masks &= element.number == 0 || element.number <= kLowest;
    }
  }
  bool IsMask() const { return known && masks && !zeros; }
  bool AreZeros() const { return known && zeros; }
};

// Looks at a tensor in a file, as far as it may be a mask.
void LookAtFile(const FileRange& range, ElementType type, Elements& elements) {
  const absl::StatusOr<RangeReader> reader = RangeReader::Open(range);
  constexpr int64_t kPiece = 1 << 16;  // bytes; a multiple of every element's size
  elements.known = reader.ok();        // who needs the values says what is wrong with the file
  std::string piece;
  for (int64_t at = 0; elements.known && elements.masks && at < reader->length(); at += kPiece) {
    piece.resize(static_cast<size_t>(std::min(kPiece, reader->length() - at)));
    const auto count = static_cast<int64_t>(piece.size());
    if (!reader->Read(at, count, piece.data()).ok()) elements.known = false;
    if (elements.known) elements.Look(ValueFromBytes(type, {count / ByteSize(type)}, piece));
  }
}

Elements ElementsOf(const Tensor& tensor, const InitialValue& value) {
  Elements elements;
  if (ElementCount(tensor.type) > kLargestTable) {
    elements.known = false;
  } else if (value.kind == InitialValue::kFile) {
    LookAtFile(value.range, tensor.type.type, elements);
  } else if (value.data != nullptr) {
    const std::vector<int64_t> one;
    elements.Look(ValueFromBytes(
        tensor.type.type, value.kind == InitialValue::kFill ? one : tensor.type.dims, *value.data));
  } else {
    elements.known = false;
  }
  return elements;
}

}  // namespace

bool IsStateOfModel(const Model& model, TensorId parameter) {
  return model.words.states.count(model.graph.tensors[parameter].name) > 0;
}

std::string WhyNotTrainable(const Model& model, TensorId parameter) {
  const Tensor& tensor = model.graph.tensors[parameter];
  const StoredWords& words = model.words;
  if (IsStateOfModel(model, parameter)) return "a state of the model";
  const auto kept = words.kept.find(tensor.name);
  if (kept != words.kept.end()) return kept->second;
  const auto value = model.values.find(parameter);
  if (value == model.values.end() || words.parameters.count(tensor.name) > 0) return "";
  const Elements elements = ElementsOf(tensor, value->second);
  if (elements.IsMask()) return "a mask of 0 and -inf";
  if (!elements.AreZeros()) return "";
  // A node of the file fills it, as a recurrence's first state.
  if (value->second.kind == InitialValue::kFill) return "a fill of 0";
  return words.first_states.count(tensor.name) > 0 ? "zeros that recurrences begin with" : "";
}

std::set<std::string> TrainableParameters(const Model& model) {
  std::set<std::string> names = model.trainable;
  if (!names.empty()) return names;
  for (TensorId id = 0; id < static_cast<TensorId>(model.graph.tensors.size()); ++id) {
    const Tensor& tensor = model.graph.tensors[id];
    if (tensor.kind != TensorKind::kParameter || !IsFloat(tensor.type.type)) continue;
    if (WhyNotTrainable(model, id).empty()) names.insert(tensor.name);
  }
  return names;
}

}  // namespace yuba::compiler
