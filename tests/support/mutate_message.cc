#include "tests/support/mutate_message.h"

#include <map>
#include <string>

namespace yuba {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

using Places = std::map<const FieldDescriptor*, std::vector<Message*>>;

// Every message in which a field of the schema stands or could stand.
void Collect(Message& message, Places& instructions) {
  const Reflection& reflection = *message.GetReflection();
  for (int f = 0; f < message.GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor* field = message.GetDescriptor()->field(f);
    instructions[field].push_back(&message);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        Collect(*reflection.MutableRepeatedMessage(&message, field, i), instructions);
      }
    } else if (reflection.HasField(message, field)) {
      Collect(*reflection.MutableMessage(&message, field), instructions);
    }
  }
}

int64_t NewNumber(int64_t old, int64_t other, Random& random) {
  switch (Below(random, 4)) {
    case 0: return OddNumber(random);
    case 1: return old == INT64_MAX ? old : old + 1;
    case 2: return old == INT64_MIN ? old : old - 1;
    default: return other;
  }
}

// One value: an element of a list (`at` >= 0) or a field of its own.
class Value {
 public:
  Value(Message& message, const FieldDescriptor* field, int at)
      : message_(message), reflection_(*message.GetReflection()), field_(field), at_(at) {}

  // `other`: some message of the same type, from which a number may be taken.
  void Mutate(const Message& other, Random& random) {
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
      case FieldDescriptor::CPPTYPE_INT64:
        return SetNumber(NewNumber(Number(message_, at_), NumberOf(other, random), random));
      case FieldDescriptor::CPPTYPE_ENUM: return SetEnum(static_cast<int>(Below(random, 16)) - 1);
      case FieldDescriptor::CPPTYPE_BOOL:
        return reflection_.SetBool(&message_, field_, Below(random, 2));
      case FieldDescriptor::CPPTYPE_STRING: return MutateString(random);
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (at_ < 0 && reflection_.HasField(message_, field_)) {
          reflection_.ClearField(&message_, field_);
        } else if (at_ < 0) {
          reflection_.MutableMessage(&message_, field_);
        } else {
          reflection_.MutableRepeatedMessage(&message_, field_, at_)->Clear();
        }
        return;
      default: return;  // no such field in these schemas
    }
  }

 private:
  bool wide() const { return field_->cpp_type() == FieldDescriptor::CPPTYPE_INT64; }

  int64_t Number(const Message& message, int at) const {
    if (at < 0) {
      return wide() ? reflection_.GetInt64(message, field_) : reflection_.GetInt32(message, field_);
    }
    return wide() ? reflection_.GetRepeatedInt64(message, field_, at)
                  : reflection_.GetRepeatedInt32(message, field_, at);
  }

  int64_t NumberOf(const Message& other, Random& random) const {
    if (!field_->is_repeated()) return Number(other, -1);
    const int size = reflection_.FieldSize(other, field_);
    return size == 0 ? 0 : Number(other, static_cast<int>(Below(random, size)));
  }

  void SetNumber(int64_t value) {
    const int32_t narrow = static_cast<int32_t>(value);
    if (at_ < 0) {
      wide() ? reflection_.SetInt64(&message_, field_, value)
             : reflection_.SetInt32(&message_, field_, narrow);
    } else {
      wide() ? reflection_.SetRepeatedInt64(&message_, field_, at_, value)
             : reflection_.SetRepeatedInt32(&message_, field_, at_, narrow);
    }
  }

  void SetEnum(int value) {
    if (at_ < 0)
      reflection_.SetEnumValue(&message_, field_, value);
    else
      reflection_.SetRepeatedEnumValue(&message_, field_, at_, value);
  }

  void MutateString(Random& random) {
    if (at_ >= 0) return;  // no list of strings in these schemas
    std::string text = reflection_.GetString(message_, field_);
    text = Below(random, 4) == 0 ? "" : MutateBytes(text + "x", random);
    if (field_->type() == FieldDescriptor::TYPE_STRING) {
      for (char& c : text) c = static_cast<char>(c & 0x7f);  // text must be UTF-8
    }
    reflection_.SetString(&message_, field_, text);
  }

  Message& message_;
  const Reflection& reflection_;
  const FieldDescriptor* field_;
  const int at_;
};

void AddElement(Message& message, const FieldDescriptor* field) {
  const Reflection& reflection = *message.GetReflection();
  const int last = reflection.FieldSize(message, field) - 1;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.AddInt32(&message, field,
                                 last < 0 ? 0 : reflection.GetRepeatedInt32(message, field, last));
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.AddInt64(&message, field,
                                 last < 0 ? 0 : reflection.GetRepeatedInt64(message, field, last));
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      Message* added = reflection.AddMessage(&message, field);
      if (last >= 0) added->CopyFrom(reflection.GetRepeatedMessage(message, field, last));
      return;
    }
    default: return;
  }
}

}  // namespace

void MutateMessage(Message& message, Random& random) {
  Places instructions;
  Collect(message, instructions);
  std::map<std::string, const FieldDescriptor*>
      fields;  // in an order that does not depend on memory
  for (const auto& [field, messages] : instructions) fields[field->full_name()] = field;
  const FieldDescriptor* field = std::next(fields.begin(), Below(random, fields.size()))->second;
  const std::vector<Message*>& messages = instructions[field];
  Message& chosen = *messages[Below(random, messages.size())];
  const Message& other = *messages[Below(random, messages.size())];
  const Reflection& reflection = *chosen.GetReflection();
  if (!field->is_repeated()) return Value(chosen, field, -1).Mutate(other, random);
  const int size = reflection.FieldSize(chosen, field);
  const size_t what = size == 0 ? 3 : Below(random, 8);
  const int at = static_cast<int>(Below(random, size));
  if (what == 0)
    reflection.RemoveLast(&chosen, field);
  else if (what == 1)
    reflection.SwapElements(&chosen, field, at, static_cast<int>(Below(random, size)));
  else if (what == 2 || what == 3)
    AddElement(chosen, field);
  else
    Value(chosen, field, at).Mutate(other, random);
}

}  // namespace yuba
