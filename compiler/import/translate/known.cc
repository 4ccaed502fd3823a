#include "compiler/import/translate/known.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/translate/versions.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

using ::onnx::AttributeProto;

struct Kind {
  char letter;  // of versions.h
  AttributeProto::AttributeType type;
  const char* name;
};

constexpr Kind kKinds[] = {
    {'i', AttributeProto::INT, "an integer"},
    {'f', AttributeProto::FLOAT, "a float"},
    {'s', AttributeProto::STRING, "a string"},
    {'t', AttributeProto::TENSOR, "a tensor"},
    {'g', AttributeProto::GRAPH, "a graph"},
    {'p', AttributeProto::SPARSE_TENSOR, "a sparse tensor"},
    {'o', AttributeProto::TYPE_PROTO, "a type"},
    {'I', AttributeProto::INTS, "a list of integers"},
    {'F', AttributeProto::FLOATS, "a list of floats"},
    {'S', AttributeProto::STRINGS, "a list of strings"},
};

// The kind of the attribute. Files of before IR version 2 do not name it.
AttributeProto::AttributeType TypeOf(const AttributeProto& attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
  return attribute.has_i()               ? AttributeProto::INT
         : attribute.has_f()             ? AttributeProto::FLOAT
         : attribute.has_s()             ? AttributeProto::STRING
         : attribute.has_t()             ? AttributeProto::TENSOR
         : attribute.has_g()             ? AttributeProto::GRAPH
         : attribute.has_sparse_tensor() ? AttributeProto::SPARSE_TENSOR
         : attribute.ints_size() > 0     ? AttributeProto::INTS
         : attribute.floats_size() > 0   ? AttributeProto::FLOATS
         : attribute.strings_size() > 0  ? AttributeProto::STRINGS
                                         : AttributeProto::UNDEFINED;
}

bool IsDefault(const AttributeProto& attribute, const VersionAttribute& known) {
  if (!known.fallback.has_value()) return false;
  const std::string& text = *known.fallback;
  float number = 0;
  switch (known.kind) {
    case 'i': return absl::StrCat(attribute.i()) == text;
    case 'f': return absl::SimpleAtof(text, &number) && number == attribute.f();
    case 's': return attribute.s() == text;
    case 'I': return absl::StrJoin(attribute.ints(), ",") == text;
    default: return false;
  }
}

bool Reads(const OperatorRow& row, const std::string& attribute) {
  return std::count(row.reads.begin(), row.reads.end(), attribute) > 0 ||
         std::any_of(row.attributes.begin(), row.attributes.end(),
                     [&](const AttributeRow& read) { return read.onnx == attribute; });
}

class Checker {
 public:
  Checker(const ::onnx::NodeProto& node, int64_t opset, const OperatorRow& row,
          const std::vector<OperatorVersion>& versions)
      : node_(node),
        opset_(opset),
        row_(row),
        versions_(versions),
        version_(VersionAt(versions, opset)),
        name_(absl::StrCat(node.op_type(), "-", version_.since)) {}

  absl::Status Check() const {
    if (opset_ < version_.since) {
      return UserError("the model is of opset ", opset_, ", and ", node_.op_type(),
                       " came with opset ", version_.since,
                       ": the model was made for another opset than it says; export it again, or ",
                       "convert it (onnx.version_converter)");
    }
    if (MeaningOf(versions_, version_.since) > row_.newest) {
      return UserError("opset ", opset_, " has ", name_, ", and ", node_.op_type(),
                       " is known up to version ", row_.newest,
                       ": export the model for an older opset");
    }
    std::set<std::string> seen;
    for (const AttributeProto& attribute : node_.attribute()) {
      if (!seen.insert(attribute.name()).second) {
        return UserError("attribute '", attribute.name(), "' is given twice");
      }
      YUBA_RETURN_IF_ERROR(CheckAttribute(attribute));
    }
    return CheckCounts();
  }

 private:
  absl::Status CheckAttribute(const AttributeProto& attribute) const {
    const auto known = version_.attributes.find(attribute.name());
    if (known == version_.attributes.end()) return Unknown(attribute.name());
    const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                    [&](const Kind& k) { return k.letter == known->second.kind; });
    YUBA_CHECK(kind != std::end(kKinds));
    if (TypeOf(attribute) != kind->type) {
      return UserError("attribute '", attribute.name(), "' must be ", kind->name);
    }
    if (Reads(row_, attribute.name()) || IsDefault(attribute, known->second)) {
      return absl::OkStatus();
    }
    return UserError("attribute '", attribute.name(), "' of ", name_, " is not supported",
                     known->second.fallback.has_value()
                         ? absl::StrCat(", but at its default, ", *known->second.fallback)
                         : "");
  }

  absl::Status Unknown(const std::string& name) const {
    std::vector<int64_t> others;
    for (const OperatorVersion& version : versions_) {
      if (version.attributes.count(name) > 0) others.push_back(version.since);
    }
    if (!others.empty()) {
      return UserError("attribute '", name, "' is one of ", node_.op_type(), "-", others.front(),
                       others.size() > 1 ? absl::StrCat(" to ", others.back()) : "", ", and opset ",
                       opset_, " has ", name_, ", where it means nothing: the model was made for ",
                       "another opset than it says; export it again, or convert it ",
                       "(onnx.version_converter)");
    }
    std::vector<std::string> names;
    for (const auto& [known, kind] : version_.attributes) names.push_back(known);
    return UserError("attribute '", name, "' is unknown: no version of ", node_.op_type(),
                     " has it (", name_, " has ",
                     names.empty() ? "none" : absl::StrJoin(names, ", "),
                     "). If the node means more than ONNX says, describe it by its name in a file ",
                     "for --operators");
  }

  // Absent ones at the end do not count.
  template <typename Names>
  static int CountOf(const Names& names) {
    int count = names.size();
    while (count > 0 && names.Get(count - 1).empty()) --count;
    return count;
  }

  absl::Status CheckCounts() const {
    const int inputs = CountOf(node_.input()), outputs = CountOf(node_.output());
    if (inputs > version_.most_inputs) {
      return UserError("it has ", inputs, " operands, and ", name_, " has at most ",
                       version_.most_inputs);
    }
    // Whether one that is named "" may be absent, the translation knows.
    if (node_.input_size() < version_.least_inputs)
      return UserError("operand ", node_.input_size(), " is missing");
    if (outputs > version_.most_outputs) {
      return UserError("it has ", outputs, " outputs, and ", name_, " has at most ",
                       version_.most_outputs);
    }
    return absl::OkStatus();
  }

  const ::onnx::NodeProto& node_;
  const int64_t opset_;
  const OperatorRow& row_;
  const std::vector<OperatorVersion>& versions_;
  const OperatorVersion& version_;
  const std::string name_;  // as Clip-13
};

}  // namespace

absl::Status CheckKnown(const ::onnx::NodeProto& node, int64_t opset, const OperatorRow& row) {
  const std::vector<OperatorVersion>* versions = VersionsOf(row.onnx);
  YUBA_CHECK(versions != nullptr);  // versions_test holds every row to it
  return Checker(node, opset, row, *versions).Check();
}

}  // namespace yuba::onnx
