#include "opsemantics/base/json_reader.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

const JsonReader::Json& Null() {
  static const JsonReader::Json& null = *new JsonReader::Json;
  return null;
}

std::string Shortly(const JsonReader::Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  std::string text = value.dump(-1, ' ', true, JsonReader::Json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 40) + "...";
}

// Whether the value is an integer that 64 bits hold with its sign, from `least` to `most`.
bool IsIntegerWithin(const JsonReader::Json& value, int64_t least, int64_t most) {
  if (!value.is_number_integer()) return false;
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (value.is_number_unsigned() && value.get<uint64_t>() > kMost) return false;
  const auto number = value.get<int64_t>();
  return least <= number && number <= most;
}

}  // namespace

void JsonReader::Fail(const std::string& expected) const {
  if (!status_->ok()) return;
  *status_ = absl::InvalidArgumentError(absl::StrCat(place_.empty() ? "the file" : place_, " is ",
                                                     Shortly(*value_), ", expected ", expected));
}

void JsonReader::Refuse(const std::string& why) const {
  if (status_->ok()) *status_ = UserError(place_, " ", why);
}

void JsonReader::OnlyFields(const std::vector<std::string>& names) const {
  for (const auto& [name, value] : Fields()) {
    if (std::count(names.begin(), names.end(), name) > 0) continue;
    value.Refuse(absl::StrCat("is an unknown field; ", place_.empty() ? "the file" : place_,
                              " has ", absl::StrJoin(names, ", ")));
  }
}

JsonReader JsonReader::Field(const std::string& name) const {
  std::string place = place_.empty() ? name : absl::StrCat(place_, ".", name);
  if (!value_->is_object()) {
    Fail("an object");
    return JsonReader(&Null(), place, status_);
  }
  auto found = value_->find(name);
  if (found != value_->end()) return JsonReader(&*found, place, status_);
  if (status_->ok()) {
    *status_ = absl::InvalidArgumentError(absl::StrCat("there is no ", place));
  }
  return JsonReader(&Null(), place, status_);
}

bool JsonReader::Has(const std::string& name) const {
  return value_->is_object() && value_->contains(name);
}

std::vector<JsonReader> JsonReader::Items() const {
  std::vector<JsonReader> items;
  if (!value_->is_array()) {
    Fail("an array");
    return items;
  }
  for (size_t i = 0; i < value_->size(); ++i) {
    items.push_back(JsonReader(&(*value_)[i], absl::StrCat(place_, "[", i, "]"), status_));
  }
  return items;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::Fields() const {
  std::vector<std::pair<std::string, JsonReader>> fields;
  if (!value_->is_object()) {
    Fail("an object");
    return fields;
  }
  for (const auto& [name, value] : value_->items()) {
    const std::string place = place_.empty() ? name : absl::StrCat(place_, ".", name);
    fields.emplace_back(name, JsonReader(&value, place, status_));
  }
  return fields;
}

std::string JsonReader::String() const {
  if (value_->is_string()) return value_->get<std::string>();
  Fail("a string");
  return "";
}

int64_t JsonReader::Integer(int64_t least, int64_t most) const {
  if (IsIntegerWithin(*value_, least, most)) return value_->get<int64_t>();
  Fail(absl::StrCat("an integer from ", least, " to ", most));
  return 0;
}

std::vector<int64_t> JsonReader::Integers(int64_t least, int64_t most) const {
  std::vector<int64_t> numbers;
  if (!value_->is_array()) Fail("an array of integers");
  if (!ok()) return numbers;
  numbers.reserve(value_->size());
  for (const Json& item : *value_) {
    // Only an error needs the place of an item, which is a text: so it is made for errors alone.
    if (!IsIntegerWithin(item, least, most)) {
      Items()[numbers.size()].Integer(least, most);
      return {};
    }
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}

double JsonReader::Number(double least, double most, absl::string_view unit) const {
  const double number = value_->is_number() ? value_->get<double>() : 0;
  if (value_->is_number() && least <= number && number <= most) return number;
  Fail(absl::StrCat("a number from ", least, " to ", most, " (", unit, ")"));
  return least;
}

std::string JsonReader::Text() const { return value_->dump(); }

bool JsonReader::Bool() const {
  if (value_->is_boolean()) return value_->get<bool>();
  Fail("true or false");
  return false;
}

std::vector<std::string> JsonReader::Strings() const {
  std::vector<std::string> strings;
  for (const JsonReader& item : Items()) strings.push_back(item.String());
  return strings;
}

}  // namespace yuba
