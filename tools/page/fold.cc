#include "tools/page/fold.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/page/repeats.h"
#include "tools/page/units.h"

namespace yuba::tools {
namespace {

using Items = std::vector<FoldedItem>;

constexpr size_t kLeastBlock = 4;  // fewer units need no block

class Folder {
 public:
  explicit Folder(const std::vector<Unit>& units) : units_(units) {
    for (const Unit& unit : units) structure_.push_back(unit.structure);
  }

  Items Fold() const {
    const std::vector<Stretch> named = NamedBlocks(0, units_.size());
    size_t covered = 0;
    for (const Stretch& block : named) covered += block.end - block.begin;
    Items items;
    if (2 * covered >= units_.size()) items = FoldedByNames(named);
    // Where blocks take turns, as the layers of an unrolled recurrence, names find no runs.
    if (items.empty() || items.size() > kMostItems) {
      Items others = FoldedByStructure();
      if (items.empty() || others.size() < items.size()) items = std::move(others);
    }
    return InParts(std::move(items));
  }

 private:
  struct Stretch {
    size_t begin = 0, end = 0;  // units
  };

  // Neighbours of one prefix within [begin, end).
  std::vector<Stretch> NamedBlocks(size_t begin, size_t end) const {
    std::vector<Stretch> blocks;
    while (begin < end) {
      size_t next = begin + 1;
      while (next < end && !units_[begin].prefix.empty() &&
             units_[next].prefix == units_[begin].prefix)
        ++next;
      if (next - begin >= kLeastBlock) blocks.push_back({begin, next});
      begin = next;
    }
    return blocks;
  }

  bool AreAlike(const Stretch& a, const Stretch& b) const {
    return std::equal(structure_.begin() + a.begin, structure_.begin() + a.end,
                      structure_.begin() + b.begin, structure_.begin() + b.end);
  }

  Items FoldedByNames(const std::vector<Stretch>& blocks) const {
    Items items;
    size_t at = 0;
    for (size_t first = 0; first < blocks.size();) {
      size_t next = first + 1;
      while (next < blocks.size() && blocks[next].begin == blocks[next - 1].end &&
             AreAlike(blocks[first], blocks[next])) {
        ++next;
      }
      AddUnits(at, blocks[first].begin, items);
      const Repeat repeat = {blocks[first].begin, blocks[first].end - blocks[first].begin,
                             next - first};
      items.push_back(repeat.count > 1 ? Run(repeat) : Block(repeat.begin, repeat.end()));
      at = repeat.end();
      first = next;
    }
    AddUnits(at, units_.size(), items);
    return items;
  }

  Items FoldedByStructure() const {
    const std::vector<Repeat> repeats = FindRepeats(
        structure_, [this](size_t begin, size_t period) { return Unity(begin, period); });
    Items items;
    size_t at = 0;
    for (const Repeat& repeat : repeats) {
      AddNamed(at, repeat.begin, items);
      items.push_back(Run(repeat));
      at = repeat.end();
    }
    AddNamed(at, units_.size(), items);
    return items;
  }

  void AddUnits(size_t begin, size_t end, Items& items) const {
    for (size_t u = begin; u < end; ++u) {
      FoldedItem item;
      item.name = units_[u].name;
      item.gradient = units_[u].gradient;
      item.nodes = units_[u].nodes;
      items.push_back(std::move(item));
    }
  }

  // The units [begin, end), which no run has, in blocks where names give some.
  void AddNamed(size_t begin, size_t end, Items& items) const {
    for (const Stretch& block : NamedBlocks(begin, end)) {
      AddUnits(begin, block.begin, items);
      items.push_back(Block(block.begin, block.end));
      begin = block.end;
    }
    AddUnits(begin, end, items);
  }

  // The prefix that most of the units have, and how many.
  std::pair<std::string, size_t> CommonPrefix(size_t begin, size_t end) const {
    std::map<std::string, size_t> counts;
    std::pair<std::string, size_t> best;
    for (size_t u = begin; u < end; ++u) {
      if (units_[u].prefix.empty()) continue;
      const size_t count = ++counts[units_[u].prefix];
      if (count > best.second) best = {units_[u].prefix, count};
    }
    return best;
  }
  size_t Unity(size_t begin, size_t period) const {
    return CommonPrefix(begin, begin + period).second;
  }

  // "adam of ", where a third of the units are called so before the prefix.
  std::string Lead(size_t begin, size_t end, const std::string& prefix) const {
    std::map<std::string, size_t> counts;
    for (size_t u = begin; u < end && !prefix.empty(); ++u) {
      const size_t at = units_[u].name.find(prefix);
      if (at == std::string::npos || at == 0 || units_[u].name[at - 1] != ' ') continue;
      const std::string lead = units_[u].name.substr(0, at);
      if (3 * ++counts[lead] >= end - begin) return lead;
    }
    return "";
  }

  // The units [begin, end) as one block.
  FoldedItem Block(size_t begin, size_t end) const {
    FoldedItem block;
    block.kind = FoldedItem::kBlock;
    const auto [prefix, count] = CommonPrefix(begin, end);
    if (2 * count > end - begin) block.prefix = prefix;
    block.name = block.prefix.empty()
                     ? absl::StrCat(units_[begin].name, " … ", units_[end - 1].name)
                     : block.prefix.substr(0, block.prefix.size() - 1);
    block.gradient = std::all_of(units_.begin() + begin, units_.begin() + end,
                                 [](const Unit& unit) { return unit.gradient; });
    block.name = absl::StrCat(Lead(begin, end, block.prefix), block.name);
    AddUnits(begin, end, block.items);
    block.items = InParts(std::move(block.items));
    return block;
  }

  FoldedItem Run(const Repeat& repeat) const {
    FoldedItem run;
    run.kind = FoldedItem::kRun;
    for (size_t i = 0; i < repeat.count; ++i) {
      const size_t begin = repeat.begin + i * repeat.period;
      run.items.push_back(Block(begin, begin + repeat.period));
    }
    const FoldedItem &first = run.items.front(), &last = run.items.back();
    run.gradient = first.gradient;
    run.name = first.prefix.empty() || last.prefix.empty()
                   ? absl::StrCat(units_[repeat.begin].name, " … ", units_[repeat.end() - 1].name)
                   : absl::StrCat(first.name, " … ", last.name);
    return run;
  }

  // What stands at the ends of an item that is called after them.
  static std::string FirstName(const FoldedItem& item) {
    return item.kind == FoldedItem::kPart ? FirstName(item.items.front())
                                          : item.name.substr(0, item.name.find(" … "));
  }
  static std::string LastName(const FoldedItem& item) {
    if (item.kind == FoldedItem::kPart) return LastName(item.items.back());
    const size_t at = item.name.rfind(" … ");
    return at == std::string::npos ? item.name : item.name.substr(at + 5);
  }

  // The items, or where they are too many, parts of them of about one size.
  static Items InParts(Items items) {
    if (items.size() <= kMostItems) return items;
    const size_t parts = (items.size() + kMostItems - 1) / kMostItems;
    Items result;
    for (size_t p = 0; p < parts; ++p) {
      FoldedItem part;
      part.kind = FoldedItem::kPart;
      const size_t begin = items.size() * p / parts, end = items.size() * (p + 1) / parts;
      part.items.assign(std::make_move_iterator(items.begin() + begin),
                        std::make_move_iterator(items.begin() + end));
      part.name = absl::StrCat(FirstName(part.items.front()), " … ", LastName(part.items.back()));
      result.push_back(std::move(part));
    }
    return InParts(std::move(result));
  }

  const std::vector<Unit>& units_;
  std::vector<int> structure_;  // [unit]
};

}  // namespace

std::vector<FoldedItem> FoldNodes(const search::PlanFile& plan) {
  return Folder(UnitsOf(plan)).Fold();
}

}  // namespace yuba::tools
