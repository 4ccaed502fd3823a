// The choices that options, plans and plan files make by a word. Each is an enumeration with the
// words of its values; WordOf and FromWord translate, at the edge: command line, plan file, dump.
//
//   WordOf(Replicate::kAuto) is "auto"; FromWord<Nesting>("level") is kLevel, of "lvl" nullopt.
#ifndef YUBA_SEARCH_PLAN_WORDS_H_
#define YUBA_SEARCH_PLAN_WORDS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace yuba::search {

// In which order axes may cut one extent, when some are there already (the prefix). kFree: new axes
// in any order, all inside the prefix. kAnywhere: in any order, also outside the prefix or between
// its axes. kLevel: in the order in which they are listed, inside the prefix. Of the whole space of
// a plan kFree or kLevel.
enum class Nesting : uint8_t { kFree, kAnywhere, kLevel };

// What a search makes as small as it can (objective.h).
enum class ObjectiveKind : uint8_t { kBytes, kTime };

// Whether stored tensors may be replicated.
enum class Replicate : uint8_t { kNone, kAuto };

// Whether products of one sum are added up before they are reduced: all that can be, none, or what
// the search finds better (search/search.h).
enum class Accumulators : uint8_t { kAuto, kAll, kNone };

// What proves a plan's lower bound (search/THEORY.md). kNone: nothing is proved beyond 0.
enum class ProofKind : uint8_t { kNone, kElimination, kDual };

// What the bytes of a transfer are, a field of PlanCost for each. kHalo: an activation, gathered
// because a window reaches beyond the shard.
enum class CostKind : uint8_t { kWeight, kActivation, kPartial, kHalo };

template <typename Enum>
struct Words;

template <>
struct Words<Nesting> {
  static constexpr std::pair<Nesting, const char*> kList[] = {
      {Nesting::kFree, "free"}, {Nesting::kAnywhere, "anywhere"}, {Nesting::kLevel, "level"}};
};
template <>
struct Words<ObjectiveKind> {
  static constexpr std::pair<ObjectiveKind, const char*> kList[] = {
      {ObjectiveKind::kBytes, "bytes"}, {ObjectiveKind::kTime, "time"}};
};
template <>
struct Words<Replicate> {
  static constexpr std::pair<Replicate, const char*> kList[] = {{Replicate::kNone, "none"},
                                                                {Replicate::kAuto, "auto"}};
};
template <>
struct Words<Accumulators> {
  static constexpr std::pair<Accumulators, const char*> kList[] = {
      {Accumulators::kAuto, "auto"}, {Accumulators::kAll, "all"}, {Accumulators::kNone, "none"}};
};
template <>
struct Words<ProofKind> {
  static constexpr std::pair<ProofKind, const char*> kList[] = {
      {ProofKind::kNone, "none"},
      {ProofKind::kElimination, "elimination"},
      {ProofKind::kDual, "dual"}};
};
template <>
struct Words<CostKind> {
  static constexpr std::pair<CostKind, const char*> kList[] = {
      {CostKind::kWeight, "weight"},
      {CostKind::kActivation, "activation"},
      {CostKind::kPartial, "partial"},
      {CostKind::kHalo, "halo"}};
};

template <typename Enum>
const char* WordOf(Enum value) {
  for (const auto& [here, word] : Words<Enum>::kList) {
    if (here == value) return word;
  }
  return "?";
}

template <typename Enum>
absl::optional<Enum> FromWord(absl::string_view text) {
  for (const auto& [value, word] : Words<Enum>::kList) {
    if (text == word) return value;
  }
  return absl::nullopt;
}

// All words, for messages: "one of none, auto".
template <typename Enum>
std::string OneOf() {
  std::string text = "one of";
  const char* separator = " ";
  for (const auto& [value, word] : Words<Enum>::kList) {
    absl::StrAppend(&text, separator, word);
    separator = ", ";
  }
  return text;
}

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_WORDS_H_
