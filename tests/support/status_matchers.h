// Matchers for absl::Status and absl::StatusOr<T>, for CHECK_THAT and REQUIRE_THAT:
//
//   REQUIRE_THAT(status, IsOk());
//   CHECK_THAT(ReadPlan(text), StatusIs(absl::StatusCode::kInvalidArgument, "no cost.bytes"));
//   CHECK_THAT(CheckPlan(graph, plan), Fails("sharded differently"));
//
// A check that fails prints the status as it is.
#ifndef YUBA_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define YUBA_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"

namespace yuba {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& value) {
  return value.status();
}

class StatusMatcher {
 public:
  StatusMatcher(bool ok, absl::optional<absl::StatusCode> code, std::string part)
      : ok_(ok), code_(code), part_(std::move(part)) {}

  template <typename T>
  bool match(const T& value) const {
    const absl::Status& status = StatusOf(value);
    return status.ok() == ok_ && (!code_.has_value() || status.code() == *code_) &&
           absl::StrContains(status.message(), part_);
  }
  std::string toString() const {
    if (ok_) return "is OK";
    return absl::StrCat("is ", code_.has_value() ? absl::StatusCodeToString(*code_) : "an error",
                        part_.empty() ? "" : absl::StrCat(" that says \"", part_, "\""));
  }

 private:
  const bool ok_;
  const absl::optional<absl::StatusCode> code_;
  const std::string part_;
};

inline StatusMatcher IsOk() { return {true, absl::nullopt, ""}; }
// An error, of any code, whose message has `part`.
inline StatusMatcher Fails(std::string part) { return {false, absl::nullopt, std::move(part)}; }
inline StatusMatcher StatusIs(absl::StatusCode code, std::string part = "") {
  return {false, code, std::move(part)};
}

}  // namespace yuba

namespace Catch {

template <>
struct StringMaker<absl::Status> {
  static std::string convert(const absl::Status& status) { return status.ToString(); }
};
template <typename T>
struct StringMaker<absl::StatusOr<T>> {
  static std::string convert(const absl::StatusOr<T>& value) { return value.status().ToString(); }
};

}  // namespace Catch

#endif  // YUBA_TESTS_SUPPORT_STATUS_MATCHERS_H_
