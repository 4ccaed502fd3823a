// The pins of a search: what its options say as texts and by number, and whether a plan has what
// they demand.
#ifndef YUBA_SEARCH_ENGINES_PINS_H_
#define YUBA_SEARCH_ENGINES_PINS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/plan.h"
#include "search/search_options.h"
#include "search/space/pin.h"
#include "search/space/restriction.h"

namespace yuba::search {

// The different texts of the options' pins ("" for pins that nobody wrote), and the options without
// the pins of one text.
std::vector<std::string> PinTexts(const SearchOptions& options);
SearchOptions WithoutPin(SearchOptions options, const std::string& text);

// options.pins and those of options.pin_texts. InvalidArgument where a text is no pin of this graph
// and mesh.
absl::StatusOr<std::vector<Pin>> AllPins(const Graph& graph, const SearchOptions& options);

// InvalidArgument where axes must nest by level and a pin demands another order.
absl::Status CheckNesting(const Graph& graph, const SearchOptions& options,
                          const std::vector<Pin>& pins);
// InvalidArgument where the plan does not meet the demands of a pin.
absl::Status CheckPins(const Graph& graph, const std::vector<Pin>& pins, const Plan& plan);

// The restrictions without those that only a replicated tensor meets; empty where none is left.
Restrictions MetWithoutReplicas(const Graph& graph, const Mesh& mesh, Restrictions restrictions);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_PINS_H_
