#include "compiler/import/translate/by_name.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "compiler/import/translate/table.h"

namespace yuba::onnx {
namespace {

// Whether the operand is written x[a.., ..., b..]: two packs, of which shapes do not tell the
// ranks.
bool PlacesAxis(const Param& param) {
  const std::vector<Dim>& dims = param.dims;
  return !dims.empty() && dims[0].pack() && dims[0].element().kind == Syntax::kName &&
         std::count_if(dims.begin(), dims.end(), [](const Dim& dim) { return dim.pack(); }) == 2;
}

// The attribute `axis` of a node is a place among the dimensions of an operand; in a description it
// is one between packs, x[a.., c, b..]. So it says what a.. are: the dimensions in front of it.
void BindAxis(const OpDescription& op, int64_t axis, NodeContext& node, Attributes& attributes) {
  for (size_t i = 0; i < op.params.size(); ++i) {
    const int operand = node.Optional(static_cast<int>(i));
    if (operand < 0 || !PlacesAxis(op.params[i])) continue;
    const int front = node.Axis(axis, node.Rank(operand));
    if (node.failed()) return;
    const std::vector<int64_t>& extents = node.Dims(operand);
    attributes[op.params[i].dims[0].element().name] =
        std::vector<int64_t>(extents.begin(), extents.begin() + front);
  }
}

// The integer that the description gives for `axis` where a node has none.
absl::optional<int64_t> DefaultAxis(const OpDescription& op) {
  for (const Attribute& attribute : op.attributes) {
    if (attribute.name != "axis" || attribute.value == nullptr) continue;
    const bool negative = attribute.value->kind == Syntax::kNegate;
    const Syntax& number = negative ? *attribute.value->args[0] : *attribute.value;
    if (number.kind == Syntax::kNumber && number.is_integer)
      return negative ? -number.integer : number.integer;
  }
  return absl::nullopt;
}

bool Declares(const OpDescription& op, const std::string& attribute) {
  return std::any_of(op.attributes.begin(), op.attributes.end(),
                     [&](const Attribute& a) { return a.name == attribute; });
}

// Whether the signature has an operand x[a.., ..., b..], so that `axis` can say what a.. are.
bool HasPlaceOfAxis(const OpDescription& op) {
  return std::any_of(op.params.begin(), op.params.end(), PlacesAxis);
}

// A description takes no text: it is one of a use with this text, by its name.
void FailOnText(const OpDescription& op, const ::onnx::AttributeProto& attribute,
                NodeContext& node) {
  const std::string named = DescriptionNameOf(node.proto());
  if (op.name == named) return;
  node.Fail("attribute '", attribute.name(), "' is the text '", attribute.s(),
            "', and descriptions take numbers: describe the operator with this text by the name ",
            named);
}

}  // namespace

std::string DescriptionNameOf(const ::onnx::NodeProto& node) {
  std::map<std::string, std::string> texts;
  for (const ::onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_s()) texts[attribute.name()] = attribute.s();
  }
  std::string name = node.op_type();
  for (const auto& [attribute, text] : texts) {
    absl::StrAppend(&name, "_");
    for (const char c : text) {
      if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_') name += c;
    }
  }
  return name;
}

void TranslateByName(const OpDescription& op, NodeContext& node) {
  Attributes attributes;
  absl::optional<int64_t> axis;
  if (HasPlaceOfAxis(op)) axis = DefaultAxis(op);
  std::set<std::string> seen;
  for (const ::onnx::AttributeProto& attribute : node.proto().attribute()) {
    if (!seen.insert(attribute.name()).second)
      return node.Fail("attribute '", attribute.name(), "' is given twice");
    if (attribute.has_i()) {
      const bool place = attribute.name() == "axis" && HasPlaceOfAxis(op);
      if (place) axis = attribute.i();
      if (!place || Declares(op, "axis")) attributes[attribute.name()] = attribute.i();
    } else if (attribute.has_f()) {
      attributes[attribute.name()] = static_cast<double>(attribute.f());
    } else if (attribute.ints_size() > 0) {
      attributes[attribute.name()] = node.Ints(attribute.name());
    } else if (attribute.has_s()) {
      FailOnText(op, attribute, node);
    } else {
      node.Fail("attribute '", attribute.name(),
                "' is neither a number, a list of integers nor a text, and descriptions take no ",
                "others");
    }
  }
  if (axis.has_value()) BindAxis(op, *axis, node, attributes);
  TranslateOneToOne(node, op.name, attributes);
}

}  // namespace yuba::onnx
