#include "search/space/pin.h"

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/plan/choice_space.h"

namespace yuba::search {
namespace {

// Joins `more` into `demand`, so that it demands what both do; false where they contradict each
// other.
bool Join(const Demand& more, Demand* demand) {
  if (more.axes == demand->axes || more.axes.empty()) {
    if (!more.others && demand->axes != more.axes) return false;
    demand->others &= more.others;
    return true;
  }
  if (!demand->axes.empty() || !demand->others) return false;
  *demand = more;
  return true;
}

std::string Quoted(const Pin& pin) {
  return pin.text.empty() ? std::string() : absl::StrCat(" (", pin.text, ")");
}

}  // namespace

Pin ExactPin(bool is_node, int id, const Sharding& sharding) {
  Pin pin{is_node, id, {}, ""};
  for (const AxisList& axes : sharding.axes) pin.demands.push_back({axes, false});
  return pin;
}

absl::StatusOr<Restrictions> RestrictionsOf(const Graph& graph, const Mesh& mesh,
                                            const std::vector<Pin>& pins, bool replicate) {
  Restrictions restrictions;
  if (pins.empty()) return restrictions;
  restrictions.resize(graph.tensors.size() + graph.nodes.size());
  std::vector<const Pin*> first(restrictions.size(), nullptr);
  for (const Pin& pin : pins) {
    const size_t count = pin.is_node ? graph.nodes.size() : graph.tensors.size();
    if (pin.id < 0 || static_cast<size_t>(pin.id) >= count) {
      return UserError("a pin names ", pin.is_node ? "node" : "tensor", " number ", pin.id, " of ",
                       count);
    }
    ChoiceSpace space = pin.is_node ? SpaceOfNode(graph, pin.id) : SpaceOfTensor(graph, pin.id);
    space.optional |= replicate && !pin.is_node;
    const std::string name = pin.is_node ? absl::StrCat("node ", graph.nodes[pin.id].name)
                                         : absl::StrCat("tensor ", graph.tensors[pin.id].name);
    if (!pin.is_node && graph.tensors[pin.id].kind == TensorKind::kPartial) {
      return UserError("a pin of ", name, Quoted(pin),
                       ", which is never stored: it is a term of a sum; plan with "
                       "--space accumulators=none to store it");
    }
    if (pin.demands.size() != space.extents.size()) {
      return UserError("the pin of ", name, Quoted(pin), " speaks of ", pin.demands.size(),
                       " dimensions; it has ", space.extents.size());
    }
    const size_t element = pin.is_node ? graph.tensors.size() + pin.id : pin.id;
    Restriction& restriction = restrictions[element];
    if (restriction.none()) {
      restriction.any_of = {pin.demands};
      first[element] = &pin;
    }
    for (size_t e = 0; e < pin.demands.size(); ++e) {
      if (Join(pin.demands[e], &restriction.any_of[0][e])) continue;
      return UserError("two pins of ", name, " contradict each other", Quoted(*first[element]),
                       Quoted(pin));
    }
    const std::string why = WhyUnmet(space, mesh, restriction.any_of[0]);
    if (why.empty()) continue;
    ChoiceSpace replicated = space;
    replicated.optional = true;
    const bool would = !pin.is_node && WhyUnmet(replicated, mesh, restriction.any_of[0]).empty();
    const Pin& other = *first[element];
    return UserError("the pin of ", name, " cannot be satisfied",
                     other.text == pin.text ? "" : Quoted(other), Quoted(pin), ": ", why,
                     would ? "; --replicate auto allows replicas" : "");
  }
  return restrictions;
}

}  // namespace yuba::search
