// Choices that the anchored dual prefers (search/solve/anchored_dual.h): a start of two engines.
#ifndef YUBA_SEARCH_ENGINES_ANCHORED_CHOICES_H_
#define YUBA_SEARCH_ENGINES_ANCHORED_CHOICES_H_

#include "absl/types/optional.h"
#include "search/engines/task.h"
#include "search/plan/choice.h"

namespace yuba::search {

// [element]: its choice, not yet improved by local search. Elements that are `period` repetitions
// apart choose alike (search/model/ties.h); with 0 none need to. Nothing where no axes are equal,
// or where the budget is spent.
absl::optional<Choices> AnchoredChoices(Task& task, int period);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_ANCHORED_CHOICES_H_
