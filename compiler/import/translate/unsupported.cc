#include "compiler/import/translate/unsupported.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace yuba::onnx {
namespace {

const std::map<std::string, WhyUnsupported>& Rows() {
  static const auto* const kRows = new std::map<std::string, WhyUnsupported>{
      {"If", WhyUnsupported::kControlFlow},
      {"Loop", WhyUnsupported::kControlFlow},
      {"Compress", WhyUnsupported::kShapeFromData},
      {"NonMaxSuppression", WhyUnsupported::kShapeFromData},
      {"NonZero", WhyUnsupported::kShapeFromData},
      {"Unique", WhyUnsupported::kShapeFromData},
      {"CastMap", WhyUnsupported::kNoTensors},
      {"DictVectorizer", WhyUnsupported::kNoTensors},
      {"ImageDecoder", WhyUnsupported::kNoTensors},
      {"LabelEncoder", WhyUnsupported::kNoTensors},
      {"Optional", WhyUnsupported::kNoTensors},
      {"OptionalGetElement", WhyUnsupported::kNoTensors},
      {"OptionalHasElement", WhyUnsupported::kNoTensors},
      {"RegexFullMatch", WhyUnsupported::kNoTensors},
      {"StringConcat", WhyUnsupported::kNoTensors},
      {"StringNormalizer", WhyUnsupported::kNoTensors},
      {"StringSplit", WhyUnsupported::kNoTensors},
      {"TfIdfVectorizer", WhyUnsupported::kNoTensors},
      {"ZipMap", WhyUnsupported::kNoTensors},
      {"Adagrad", WhyUnsupported::kTraining},
      {"Adam", WhyUnsupported::kTraining},
      {"Gradient", WhyUnsupported::kTraining},
      {"Momentum", WhyUnsupported::kTraining},
  };
  return *kRows;
}

// Of the domain com.microsoft: the beginnings of the names of what its quantisers put in.
constexpr const char* kQuantisers[] = {
    "QLinear",          "QGemm",         "QAttention",      "QEmbedLayer",
    "QOrdered",         "QMoE",          "MatMulNBits",     "MatMulBnb4",
    "MatMulFpQ4",       "MatMulInteger", "DynamicQuantize", "GatherBlockQuantized",
    "DequantizeLinear", "QuantizeLinear"};

WhyUnsupported WhyOfMicrosoft(const std::string& op_type) {
  const bool quantised =
      std::any_of(std::begin(kQuantisers), std::end(kQuantisers),
                  [&](const char* begin) { return absl::StartsWith(op_type, begin); });
  return quantised ? WhyUnsupported::kQuantiser : WhyUnsupported::kOptimised;
}

}  // namespace

WhyUnsupported WhyUnsupportedIs(const std::string& domain, const std::string& op_type) {
  if (domain == "com.microsoft") return WhyOfMicrosoft(op_type);
  const bool known = domain.empty() || domain == "ai.onnx" || domain == "ai.onnx.ml" ||
                     domain == "ai.onnx.preview.training";
  const auto found = known ? Rows().find(op_type) : Rows().end();
  return found == Rows().end() ? WhyUnsupported::kUndescribed : found->second;
}

std::string AdviceOf(WhyUnsupported why, const std::string& operators) {
  const std::string describe =
      "in a .tdl file under the operator's name, and pass that with --operators "
      "(opsemantics/README.md: the language on one page; docs/how_to.md: an example)";
  switch (why) {
    case WhyUnsupported::kUndescribed:
      return absl::StrCat(operators, ": nobody has described this. Describe it ", describe);
    case WhyUnsupported::kOptimised:
      return absl::StrCat(
          operators,
          ": ONNX Runtime puts such operators in when it optimises. Take the model from ",
          "before, save it at level basic (graph_optimization_level = ORT_ENABLE_BASIC), or ",
          "describe them ", describe);
    case WhyUnsupported::kQuantiser:
      return absl::StrCat(
          operators, ": a quantiser puts such operators in. Let it write pairs of QuantizeLinear ",
          "and DequantizeLinear around the operators of before (QuantFormat.QDQ), take the model ",
          "from before, or describe the operators themselves ", describe);
    case WhyUnsupported::kControlFlow:
      return absl::StrCat(
          operators,
          ": whether and how often the nodes inside it run is not known when planning. It ",
          "must follow from shapes, constants and inputs that --bind gives a value; else export "
          "by ",
          "tracing (torch.onnx.export of a module that is not scripted), with a fixed number of ",
          "iterations");
    case WhyUnsupported::kShapeFromData:
      return absl::StrCat(operators, ": how large the result is depends on values, and a plan ",
                          "needs every shape beforehand; no description can say it");
    case WhyUnsupported::kNoTensors:
      return absl::StrCat(
          operators, ": sequences, maps, optional values and strings are no ",
          "tensors, so that they cannot be cut. Export the model with tensors alone ",
          "(Split and Concat instead of a sequence)");
    case WhyUnsupported::kTraining:
      return absl::StrCat(operators, ": --train makes a training step of a forward model; give it ",
                          "the model without gradients and updates");
  }
  return operators;
}

}  // namespace yuba::onnx
