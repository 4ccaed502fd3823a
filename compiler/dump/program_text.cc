#include "compiler/dump/program_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/dump/enum_words.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "opsemantics/sharding/mesh_text.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Longer texts, as the code of a GPU, are written as bytes are.
constexpr size_t kLongText = 1000;

class ProgramWriter {
 public:
  explicit ProgramWriter(const program::Program& program) : mesh_(program::MeshOf(program)) {}

  // A line for each field of `message`, and for each element of a list of messages.
  std::string Lines(const Message& message) const {
    std::string text;
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (!field->is_repeated() || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
        absl::StrAppend(&text, "  ", field->name(), " ", FieldText(message, *field), "\n");
        continue;
      }
      for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
        const Message& element = message.GetReflection()->GetRepeatedMessage(message, field, i);
        absl::StrAppend(&text, "  ", field->name(), " ", i, " ", MessageText(element), "\n");
      }
    }
    return text;
  }

 private:
  // "7", "a(0 6)": a number for each position on the axes.
  std::string BoundText(const program::Bound& bound) const {
    if (bound.axes().empty() && bound.values_size() == 1) return absl::StrCat(bound.values(0));
    const AxisList axes(bound.axes().begin(), bound.axes().end());
    return absl::StrCat(AxesText(mesh_, axes), "(", absl::StrJoin(bound.values(), " "), ")");
  }

  std::string RangeText(const program::Range& range) const {
    return absl::StrCat(BoundText(range.begin()), ":", BoundText(range.end()));
  }

  // "(name "x", size 1152)". Numbers stand there also where they are 0, as buffers count from 0.
  std::string MessageText(const Message& message) const {
    if (const auto* bound = dynamic_cast<const program::Bound*>(&message)) return BoundText(*bound);
    if (const auto* range = dynamic_cast<const program::Range*>(&message)) return RangeText(*range);
    if (const auto* box = dynamic_cast<const program::Box*>(&message)) {
      return ListText(box->dims(), [this](const program::Range& dim) { return RangeText(dim); });
    }
    std::vector<std::string> texts;
    for (int f = 0; f < message.GetDescriptor()->field_count(); ++f) {
      const FieldDescriptor& field = *message.GetDescriptor()->field(f);
      if (!IsWritten(message, field)) continue;
      texts.push_back(absl::StrCat(field.name(), " ", FieldText(message, field)));
    }
    return absl::StrCat("(", absl::StrJoin(texts, ", "), ")");
  }

  static bool IsWritten(const Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    if (field.is_repeated()) return reflection.FieldSize(message, &field) > 0;
    const bool number = field.cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
                        field.cpp_type() == FieldDescriptor::CPPTYPE_INT64;
    return (number && !field.has_presence()) || reflection.HasField(message, &field);
  }

  std::string FieldText(const Message& message, const FieldDescriptor& field) const {
    if (!field.is_repeated()) return ValueText(message, field, -1);
    std::vector<std::string> texts;
    for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
      texts.push_back(ValueText(message, field, i));
    }
    return absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
  }

  // The value of a field, or element `i` of a list.
  std::string ValueText(const Message& message, const FieldDescriptor& field, int i) const {
    const Reflection& of = *message.GetReflection();
    const FieldDescriptor* f = &field;
    const bool single = i < 0;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return MessageText(single ? of.GetMessage(message, f) : of.GetRepeatedMessage(message, f, i));
    }
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      const std::string text =
          single ? of.GetString(message, f) : of.GetRepeatedString(message, f, i);
      const bool bytes = field.type() == FieldDescriptor::TYPE_BYTES || text.size() > kLongText;
      return bytes ? BytesText(text) : Quoted(text);
    }
    std::string text;
    google::protobuf::TextFormat::PrintFieldValueToString(message, f, i, &text);
    return text;
  }

  const Mesh mesh_;
};

}  // namespace

std::string ProgramText(const program::Program& program) {
  return ProgramWriter(program).Lines(program);
}

}  // namespace yuba::compiler
