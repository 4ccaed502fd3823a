// Reading JSON that anybody may have written: every access is checked, and the first thing that is
// not as expected is kept with its place ("tensors[3].dims"). After it all reads give zeros.
#ifndef YUBA_SEARCH_FILE_JSON_READER_H_
#define YUBA_SEARCH_FILE_JSON_READER_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace yuba::search {

// `text` as JSON, at most kMostLevels deep. `stop` is asked now and then: where it says so the rest
// is not read, and that is the error (Cancelled); it may be empty.
constexpr int kMostLevels = 100;
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text,
                                         const std::function<bool()>& stop = nullptr);

class JsonReader {
 public:
  using Json = nlohmann::json;  // not ordered: that one is quadratic in the number of keys

  // `root` and `status` must outlive the reader; `status` is OK at first.
  JsonReader(const Json& root, absl::Status* status) : value_(&root), status_(status) {}

  JsonReader Field(const std::string& name) const;                 // an error where there is none
  bool Has(const std::string& name) const;                         // false for what is no object
  std::vector<JsonReader> Items() const;                           // of an array
  std::vector<std::pair<std::string, JsonReader>> Fields() const;  // of an object, in order
  std::string String() const;
  int64_t Integer(int64_t least, int64_t most) const;
  std::vector<int64_t> Integers(int64_t least, int64_t most) const;  // of an array; fast
  bool Bool() const;
  std::vector<std::string> Strings() const;

  void Fail(const std::string& expected) const;  // "<place> is <what is found>, expected ..."
  bool ok() const { return status_->ok(); }

 private:
  JsonReader(const Json* value, std::string place, absl::Status* status)
      : value_(value), place_(std::move(place)), status_(status) {}

  const Json* value_;
  std::string place_;
  absl::Status* status_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_FILE_JSON_READER_H_
