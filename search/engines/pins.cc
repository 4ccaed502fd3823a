#include "search/engines/pins.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/sharding/mesh_text.h"
#include "search/engines/incumbent.h"
#include "search/space/pin_text.h"

namespace yuba::search {
namespace {

std::string NameOf(const Graph& graph, const Pin& pin) {
  const std::string name = pin.is_node ? absl::StrCat("node ", graph.nodes[pin.id].name)
                                       : absl::StrCat("tensor ", graph.tensors[pin.id].name);
  return pin.text.empty() ? name : absl::StrCat(name, " (", pin.text, ")");
}

}  // namespace

std::vector<std::string> PinTexts(const SearchOptions& options) {
  std::vector<std::string> texts;
  const auto add = [&](const std::string& text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  };
  for (const Pin& pin : options.pins) add(pin.text);
  for (const std::string& text : options.pin_texts) add(text);
  return texts;
}

SearchOptions WithoutPin(SearchOptions options, const std::string& text) {
  const auto is_it = [&](const Pin& pin) { return pin.text == text; };
  std::vector<Pin>& pins = options.pins;
  pins.erase(std::remove_if(pins.begin(), pins.end(), is_it), pins.end());
  std::vector<std::string>& texts = options.pin_texts;
  texts.erase(std::remove(texts.begin(), texts.end(), text), texts.end());
  return options;
}

absl::StatusOr<std::vector<Pin>> AllPins(const Graph& graph, const SearchOptions& options) {
  std::vector<Pin> pins = options.pins;
  for (const std::string& text : options.pin_texts) {
    YUBA_ASSIGN_OR_RETURN(const std::vector<Pin> more, ParsePin(graph, options.mesh, text));
    pins.insert(pins.end(), more.begin(), more.end());
  }
  return pins;
}

absl::Status CheckNesting(const Graph& graph, const SearchOptions& options,
                          const std::vector<Pin>& pins) {
  if (!NestsByLevel(options)) return absl::OkStatus();
  for (const Pin& pin : pins) {
    if (NestByLevel(pin.demands)) continue;
    return UserError("the pin of ", NameOf(graph, pin),
                     " nests axes in an order that is not the mesh's (", MeshText(options.mesh),
                     "), and here they nest in that order: write it so, ",
                     "or leave --search recursive or --space tofu out");
  }
  return absl::OkStatus();
}

absl::Status CheckPins(const Graph& graph, const std::vector<Pin>& pins, const Plan& plan) {
  for (const Pin& pin : pins) {
    if (Meets(pin.is_node ? plan.nodes[pin.id] : plan.tensors[pin.id], pin.demands)) continue;
    return UserError("no plan was found that has what the pin of ", NameOf(graph, pin),
                     " demands: demand less, or use fewer devices");
  }
  return absl::OkStatus();
}

Restrictions MetWithoutReplicas(const Graph& graph, const Mesh& mesh, Restrictions restrictions) {
  for (size_t t = 0; t < graph.tensors.size() && !restrictions.empty(); ++t) {
    if (restrictions[t].none()) continue;
    const ChoiceSpace space = SpaceOfTensor(graph, static_cast<TensorId>(t));
    if (!WhyUnmet(space, mesh, restrictions[t].any_of[0]).empty()) restrictions[t] = {};
  }
  const auto none = [](const Restriction& restriction) { return restriction.none(); };
  if (std::all_of(restrictions.begin(), restrictions.end(), none)) return {};
  return restrictions;
}

}  // namespace yuba::search
