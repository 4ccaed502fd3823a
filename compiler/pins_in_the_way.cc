#include "compiler/pins_in_the_way.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/optional.h"
#include "compiler/search_within.h"
#include "search/engines/within_limit.h"
#include "search/solve/budget.h"

namespace yuba::compiler {
namespace {

constexpr size_t kMostTried = 8;  // pins that are left out one at a time

std::string Flags(const std::vector<std::string>& texts) {
  return absl::StrJoin(texts, ", ", [](std::string* out, const std::string& text) {
    absl::StrAppend(out, "--pin '", text, "'");
  });
}

std::string Fits(const std::string& without, int64_t bytes) {
  return absl::StrCat("without ", without, " a plan fits that needs ", bytes, " bytes a device");
}

class PinsInTheWay {
 public:
  PinsInTheWay(const search::SearchOptions& options, const Model& bare, const SearchModel& search,
               const search::Budget& budget)
      : options_(options), bare_(bare), search_(search), budget_(budget) {}

  // `error`, which the search with all pins returned, with what fits without pins added.
  absl::Status Explain(const absl::Status& error) const {
    const std::vector<std::string> texts = search::PinTexts(options_);
    const absl::StatusOr<int64_t> free = Need(texts);
    std::string message(error.message());
    if (absl::IsFailedPrecondition(free.status())) {
      const int64_t smallest = search::SmallestPeak(free.status());
      const bool known = smallest < std::numeric_limits<int64_t>::max();
      absl::StrAppend(&message, ". Nothing fits without ", Flags(texts), " either",
                      known ? absl::StrCat(": the smallest that was found needs ", smallest) : "");
    } else if (!free.ok()) {
      absl::StrAppend(&message, ". Whether ", Flags(texts), " is in the way was not found in time");
    } else {
      const char* const them = texts.size() == 1 ? "it" : "all pins";
      message = absl::StrCat(Culprits(texts, *free), ". With ", them, ": ", message);
    }
    return absl::Status(error.code(), message);
  }

 private:
  // The arena, in bytes a device, of the plan that is found without the pins of these texts.
  absl::StatusOr<int64_t> Need(const std::vector<std::string>& texts) const {
    search::SearchOptions options = search::InTimeLeft(options_, budget_);
    for (const std::string& text : texts) options = search::WithoutPin(std::move(options), text);
    Model model = bare_;
    const absl::StatusOr<search::Plan> plan = search_(options, model);
    if (!plan.ok()) return plan.status();
    return ArenaBytes(model, *plan);
  }

  // A clause that names each pin whose removal alone makes a plan fit; where there is none, all of
  // them. `free`: the bytes a device of the plan without any pin.
  std::string Culprits(const std::vector<std::string>& texts, int64_t free) const {
    if (texts.size() == 1) {
      return absl::StrCat(Flags(texts), " is in the way: ", Fits("it", free));
    }
    std::vector<std::string> alone;
    size_t tried = 0;
    for (; tried < std::min(texts.size(), kMostTried); ++tried) {
      const absl::StatusOr<int64_t> need = Need({texts[tried]});
      if (!need.ok() && !absl::IsFailedPrecondition(need.status())) break;  // no time is left
      if (need.ok()) alone.push_back(Fits(Flags({texts[tried]}), *need));
    }
    if (!alone.empty()) return absl::StrCat("a pin is in the way: ", absl::StrJoin(alone, "; "));
    return absl::StrCat("pins are in the way, and to leave out one",
                        tried < texts.size() ? absl::StrCat(" of the first ", tried) : "",
                        " is not enough: ", Fits(Flags(texts), free));
  }

  const search::SearchOptions& options_;
  const Model& bare_;
  const SearchModel& search_;
  const search::Budget& budget_;
};

}  // namespace

absl::StatusOr<search::Plan> SearchNamingPins(const search::SearchOptions& options, Model& model,
                                              const SearchModel& search) {
  const search::Budget budget(options.time_limit, options.threads, options.asked);
  absl::optional<Model> bare;
  if (options.memory_limit > 0 && !search::PinTexts(options).empty()) bare = model;
  absl::StatusOr<search::Plan> plan = search(options, model);
  if (!bare.has_value() || !absl::IsFailedPrecondition(plan.status())) return plan;
  return PinsInTheWay(options, *bare, search, budget).Explain(plan.status());
}

}  // namespace yuba::compiler
