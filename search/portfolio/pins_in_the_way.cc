#include "search/portfolio/pins_in_the_way.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "search/engines/engine.h"
#include "search/engines/nothing_fits.h"
#include "search/engines/pins.h"
#include "search/portfolio/alternatives.h"
#include "search/solve/budget.h"

namespace yuba::search {
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
  PinsInTheWay(const SearchOptions& options, const Variant& variant, const SearchOfVariants& search,
               const Budget& budget)
      : options_(options), variant_(variant), search_(search), budget_(budget) {}

  // `error`, which the search with all pins returned, with what fits without pins added.
  absl::Status Explain(const absl::Status& error) const {
    const std::vector<std::string> texts = PinTexts(options_);
    const absl::StatusOr<int64_t> free = ArenaWithout(texts);
    std::string message(error.message());
    if (absl::IsFailedPrecondition(free.status())) {
      const int64_t smallest = SmallestPeak(free.status());
      const bool known = smallest < std::numeric_limits<int64_t>::max();
      absl::StrAppend(
          &message, ". Nothing fits without ", Flags(texts), " either",
          known ? absl::StrCat(": the smallest of those that were tried needs ", smallest) : "");
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
  absl::StatusOr<int64_t> ArenaWithout(const std::vector<std::string>& texts) const {
    SearchOptions options = NamedWithin("without pins", InTimeLeft(options_, budget_));
    for (const std::string& text : texts) options = WithoutPin(std::move(options), text);
    const absl::StatusOr<PlannedGraph> found = search_(variant_, options);
    if (!found.ok()) return found.status();
    return options_.memory_of(found->graph, found->plan);
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
      const absl::StatusOr<int64_t> arena = ArenaWithout({texts[tried]});
      if (!arena.ok() && !absl::IsFailedPrecondition(arena.status())) break;  // no time is left
      if (arena.ok()) alone.push_back(Fits(Flags({texts[tried]}), *arena));
    }
    if (!alone.empty()) return absl::StrCat("a pin is in the way: ", absl::StrJoin(alone, "; "));
    return absl::StrCat("pins are in the way, and to leave out one",
                        tried < texts.size() ? absl::StrCat(" of the first ", tried) : "",
                        " is not enough: ", Fits(Flags(texts), free));
  }

  const SearchOptions& options_;
  const Variant& variant_;
  const SearchOfVariants& search_;
  const Budget& budget_;
};

}  // namespace

absl::StatusOr<PlannedGraph> SearchNamingPins(const SearchOptions& options, const Variant& variant,
                                              const SearchOfVariants& search) {
  const Budget budget(options.time_limit, options.threads, options.asked);
  absl::StatusOr<PlannedGraph> found = search(variant, options);
  const bool pinned = options.memory_limit > 0 && !PinTexts(options).empty();
  if (!pinned || !options.memory_of || !absl::IsFailedPrecondition(found.status())) return found;
  return PinsInTheWay(options, variant, search, budget).Explain(found.status());
}

}  // namespace yuba::search
