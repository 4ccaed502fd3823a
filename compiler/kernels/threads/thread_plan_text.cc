// Thread plans as texts for people and tests.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/kernels/threads/thread_plan.h"

namespace yuba::kernels {
namespace {

std::string By(int lanes) { return lanes > 1 ? absl::StrCat(" by ", lanes) : ""; }

std::string Name(const MergedLoop& loop, const Definition& definition) {
  return absl::StrJoin(loop.indices, "*", [&](std::string* name, int index) {
    absl::StrAppend(name, definition.indices[index].name);
  });
}

std::string Names(const std::vector<MergedLoop>& loops, const Definition& definition) {
  return absl::StrJoin(loops, " ", [&](std::string* text, const MergedLoop& loop) {
    absl::StrAppend(text, Name(loop, definition));
  });
}

// "i by 4 j by 4" of i that is across.
std::string PointsOf(const ThreadPlan& plan, const Definition& definition) {
  if (!plan.InTiles()) return Names(plan.points, definition) + By(plan.lanes);
  std::vector<std::string> names;
  for (const MergedLoop& loop : plan.points) names.push_back(Name(loop, definition));
  names[plan.tile.across] += By(plan.tile.side.lanes);
  names.back() += By(plan.tile.last.lanes);
  return absl::StrJoin(names, " ");
}

std::string TileOf(const ThreadTile& tile, const std::string& across) {
  const int side = tile.side.threads * tile.side.warps, last = tile.last.threads * tile.last.warps;
  return absl::StrCat(" in tiles of ", side, " x ", last, " across ", across, ", ",
                      tile.side.threads, " x ", tile.last.threads, " a warp");
}

std::string TextOf(const ThreadPlan& plan, const NamedKernel& kernel) {
  const auto definition = [&](size_t d) -> const Definition& {
    return *kernel.definitions[d].definition;
  };
  static const char* const kStages[] = {"", "sums of parts, ", "identities, ", "places, "};
  std::string text = absl::StrCat(kStages[plan.stage], plan.threads, " threads");
  if (plan.group > 1) {
    absl::StrAppend(&text, ", ", plan.group, plan.columns ? " apart" : "", " a point",
                    plan.parts > 1 ? absl::StrCat(" in ", plan.parts, " parts") : "");
  }
  if (plan.InTiles()) {
    absl::StrAppend(&text, TileOf(plan.tile, Name(plan.points[plan.tile.across], definition(0))));
  }
  absl::StrAppend(&text, "; points ", PointsOf(plan, definition(0)));
  for (size_t d = 0; d < plan.inner.size(); ++d) {
    absl::StrAppend(&text, "; turns ", Names(plan.inner[d].loops, definition(d)),
                    By(plan.inner[d].lanes));
  }
  if (plan.step >= 0) absl::StrAppend(&text, "; turns of ", definition(0).indices[plan.step].name);
  if (plan.step_of_parts != plan.step && plan.parts > 1)
    absl::StrAppend(&text, "; parts of ", definition(0).indices[plan.step_of_parts].name);
  return text;
}

}  // namespace

std::string ToString(const std::vector<ThreadPlan>& plans, const NamedKernel& kernel) {
  if (!kernel.sections.empty()) {
    std::vector<std::string> texts;
    for (size_t s = 0; s < plans.size(); ++s)
      texts.push_back(TextOf(plans[s], SectionOf(kernel, s)));
    return absl::StrJoin(texts, "; beside ");
  }
  return absl::StrJoin(plans, "; then ", [&](std::string* text, const ThreadPlan& plan) {
    absl::StrAppend(text, TextOf(plan, kernel));
  });
}

}  // namespace yuba::kernels
