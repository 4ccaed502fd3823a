// Reading JSON that anybody may have written. Every access is checked; none crashes.
//
// A JsonReader is a view of one value and of its place in the text, such as "tensors[3].dims". The
// first value that is not as expected sets the status that all readers of one text share; after
// that, reads return zeros and empty lists, so that callers may check once at the end. Example:
//   absl::Status status;
//   int64_t bytes = JsonReader(root, &status).Field("cost").Field("bytes").Integer(0, 100);
// For {"cost": {"bytes": "many"}} bytes is 0, and the status says
// `cost.bytes is "many", expected an integer from 0 to 100`.
#ifndef YUBA_OPSEMANTICS_BASE_JSON_READER_H_
#define YUBA_OPSEMANTICS_BASE_JSON_READER_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace yuba {

// `text` as JSON; InvalidArgument where it is none, is nested more than kMostLevels deep, or has an
// object with the same key twice: readers would differ in which of them they take.
// `stop`, which may be empty, is asked every few thousand values; once it returns true the rest is
// not read and the error is Cancelled.
constexpr int kMostLevels = 100;
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text,
                                         const std::function<bool()>& stop = nullptr);

class JsonReader {
 public:
  using Json = nlohmann::json;  // not ordered_json, which is quadratic in the number of keys

  // `root` and `status` must outlive the reader; `status` is OK at first.
  JsonReader(const Json& root, absl::Status* status) : value_(&root), status_(status) {}

  // Each sets an error where the value is not of the kind that is asked for.
  JsonReader Field(const std::string& name) const;  // of an object; an error where it has none
  bool Has(const std::string& name) const;          // false for a value that is no object; no error
  std::vector<JsonReader> Items() const;            // of an array
  std::vector<std::pair<std::string, JsonReader>> Fields() const;  // of an object, by name
  std::string String() const;
  int64_t Integer(int64_t least, int64_t most) const;                // both limits are allowed
  std::vector<int64_t> Integers(int64_t least, int64_t most) const;  // of an array; fast
  // Any number, of which JSON has finite ones only; both limits are allowed. An error names `unit`.
  double Number(double least, double most, absl::string_view unit) const;
  bool Bool() const;
  bool IsNull() const { return value_->is_null(); }  // no error
  std::vector<std::string> Strings() const;          // of an array

  // Sets "<place> is <the value>, expected <expected>" if there is no error yet.
  void Fail(const std::string& expected) const;
  // Sets "<place> <why>" if there is no error yet.
  void Refuse(const std::string& why) const;
  // An error that names the first field of the object that is none of `names`.
  void OnlyFields(const std::vector<std::string>& names) const;
  bool ok() const { return status_->ok(); }

 private:
  JsonReader(const Json* value, std::string place, absl::Status* status)
      : value_(value), place_(std::move(place)), status_(status) {}

  const Json* value_;
  std::string place_;
  absl::Status* status_;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_JSON_READER_H_
