// The nodes of a plan as a tree to unfold: definitions of one node of the model are a unit, units
// of one layer a block, and equal blocks one after the other a run. Names say what a block is,
// where most of them do (h.0.attn.MatMul); else repetitions in the structure. What is equal is told
// by the structure alone: which operators, in which order.
//
// Example, GPT-2 (12 layers): Gather, Add, a run "h.0 … h.11" of 12 blocks "h.0", "h.1", ...,
// ln_f.LayerNormalization, MatMul.
#ifndef YUBA_TOOLS_PAGE_FOLD_H_
#define YUBA_TOOLS_PAGE_FOLD_H_

#include <string>
#include <vector>

#include "search/file/plan_file.h"

namespace yuba::tools {

struct FoldedItem {
  // kBlock: units that belong together. kRun: at least two blocks of one structure, item by item.
  // kPart: neighbours that are folded only because they are many.
  enum Kind { kUnit, kBlock, kRun, kPart };
  Kind kind = kUnit;
  std::string name;               // "h.0.attn.MatMul", "h.0", "h.0 … h.11", "first … last"
  std::string prefix;             // of a block: what the names of its units begin with, or ""
  bool gradient = false;          // all its nodes compute gradients
  std::vector<int> nodes;         // of a unit: numbers of the plan's nodes
  std::vector<FoldedItem> items;  // of all others
};

// How many items stand side by side at most, so that they can be laid out and looked at.
inline constexpr size_t kMostItems = 48;

// Every node of the plan is in one unit. Items stand in the plan's order, each where its first
// node does.
std::vector<FoldedItem> FoldNodes(const search::PlanFile& plan);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PAGE_FOLD_H_
