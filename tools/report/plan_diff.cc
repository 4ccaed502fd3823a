// The difference of two plans of one model: what moves, what must fit, the nodes and tensors that
// are cut otherwise.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

constexpr size_t kMostRows = 20;  // of a table, unless all are asked for
constexpr char kNone[] = "–";

std::string WholeShapeText(const search::PlanFile::TensorRow& row) {
  return absl::StrJoin(row.dims, ", ", [](std::string* out, const std::vector<int64_t>& factors) {
    int64_t whole = 1;
    for (const int64_t factor : factors) whole *= factor;
    absl::StrAppend(out, whole);
  });
}

// What the user's model has, whatever a plan makes of its dimensions: (name, type and shape) of
// inputs and stored tensors.
std::set<std::pair<std::string, std::string>> OfTheModel(const search::PlanFile& plan) {
  std::set<std::pair<std::string, std::string>> tensors;
  for (const auto& row : plan.tensors) {
    if (row.kind == "activation" || row.kind == "copy" || row.kind == "partial") continue;
    tensors.emplace(row.name, absl::StrCat(Name(row.type), " ", WholeShapeText(row)));
  }
  return tensors;
}

std::string ModelName(const search::PlanFile& plan) {
  return absl::StrCat(plan.notes.graph_file, " (graph ", plan.notes.graph_hash.substr(0, 12), ")");
}

// How many of the first tensors of `plan` are stored alike in `other`.
int StoredAlike(const search::PlanFile& plan, const search::PlanFile& other,
                const TensorMap& theirs) {
  constexpr size_t kMostLookedAt = 500;
  int alike = 0;
  for (size_t t = 0; t < std::min(kMostLookedAt, plan.tensors.size()); ++t) {
    const auto it = theirs.find(plan.tensors[t].name);
    alike += it != theirs.end() &&
             ShardingText(plan, plan.tensors[t]) == ShardingText(other, *it->second);
  }
  return alike;
}

// The positions of the mesh's axes of each class, ascending.
using AxesByClass = std::map<AxisClass, std::vector<int>>;

AxesByClass ByClass(const std::vector<MeshAxis>& axes) {
  AxesByClass by_class;
  for (size_t a = 0; a < axes.size(); ++a) {
    by_class[axes[a].axis_class()].push_back(static_cast<int>(a));
  }
  return by_class;
}

// The next way to order the axes within their classes; false after the last.
bool NextOrder(AxesByClass& by_class) {
  return std::any_of(by_class.begin(), by_class.end(), [](auto& axes) {
    return std::next_permutation(axes.second.begin(), axes.second.end());
  });
}

// Calls the axes of `other` as those of `plan`, where the meshes have as many axes of each class.
// Axes of one class can be exchanged, so those are paired that make the most tensors alike; of many
// axes not all pairings are tried. Returns what they were called before, in the order of the axes
// of `plan`; nothing where the numbers of axes differ.
std::vector<std::string> CallAxesAs(const search::PlanFile& plan, search::PlanFile& other) {
  constexpr int kMostTried = 120;
  const std::vector<MeshAxis> here = plan.mesh.axes, there = other.mesh.axes;
  const AxesByClass theirs = ByClass(there);
  AxesByClass ours = ByClass(here), best;
  const bool fits = std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                               [](const auto& a, const auto& b) {
                                 return a.first == b.first && a.second.size() == b.second.size();
                               });
  if (!fits) return {};
  const auto rename = [&](const AxesByClass& order) {
    std::vector<std::string> before(here.size());
    for (const auto& [alike, axes] : theirs) {
      for (size_t a = 0; a < axes.size(); ++a) {
        const int own = order.at(alike)[a];
        before[own] = there[axes[a]].name;
        other.mesh.axes[axes[a]].name = here[own].name;
      }
    }
    return before;
  };
  const TensorMap rows = ByName(other);
  int most = -1, tried = 0;
  do {
    rename(ours);
    const int alike = StoredAlike(plan, other, rows);
    if (alike <= most) continue;
    most = alike;
    best = ours;
  } while (NextOrder(ours) && ++tried < kMostTried);
  return rename(best);
}

// "452.9 kB here, 505.6 kB there (+52.7 kB)"
std::string Change(int64_t here, int64_t there) {
  const std::string change =
      here == there ? "" : absl::StrCat(" (", SignedBytes(there - here), ")");
  return absl::StrCat(Bytes(here), " here, ", Bytes(there), " there", change);
}

int64_t ArenaOf(const search::PlanFile& plan) {
  int64_t most = 0;
  for (const search::DeviceMemory& device : plan.notes.memory) most = std::max(most, device.arena);
  return most;
}

// "asked for  search=default here, search=recursive there": the options that differ.
std::string OptionsText(const search::PlanFile& plan, const search::PlanFile& other) {
  std::vector<std::string> here, there;
  const auto only = [](const auto& some, const auto& others, std::vector<std::string>* words) {
    for (const auto& [name, value] : some) {
      const auto it = others.find(name);
      if (it != others.end() && it->second == value) continue;
      const bool is_unlimited = name == "memory" && value == "0";
      words->push_back(is_unlimited ? "no limit on memory" : absl::StrCat(name, "=", value));
    }
  };
  only(plan.notes.options, other.notes.options, &here);
  only(other.notes.options, plan.notes.options, &there);
  if (here.empty() && there.empty()) return "";
  const auto text = [](const std::vector<std::string>& words) {
    return words.empty() ? "nothing else" : absl::StrJoin(words, " ");
  };
  return absl::StrCat("asked for      ", text(here), " here, ", text(there), " there\n");
}

// Nodes, or tensors, of like names that are cut in one way in each plan.
struct Family {
  std::string name;
  int count = 0;
  std::string here, there;        // how they are cut
  int64_t bytes = 0, theirs = 0;  // that they move
  int64_t change() const { return theirs - bytes; }
};

// Families in the order of their first members.
class Families {
 public:
  Family& Add(const std::string& name, const std::string& here, const std::string& there) {
    const auto [place, is_new] =
        numbers_.emplace(std::make_tuple(NamePattern(name), here, there), rows_.size());
    if (is_new) rows_.push_back({name, 0, here, there});
    Family& family = rows_[place->second];
    family.name = CommonPattern(name, family.name);
    ++family.count;
    return family;
  }
  std::vector<Family> Take() { return std::move(rows_); }

 private:
  std::map<std::tuple<std::string, std::string, std::string>, size_t> numbers_;
  std::vector<Family> rows_;
};

std::map<std::string, int64_t> BytesByNode(const search::PlanFile& plan) {
  std::map<std::string, int64_t> bytes;
  for (const auto& row : plan.transfers) bytes[row.node] += row.bytes;
  return bytes;
}

// The nodes of both plans that move more or less, or are cut otherwise; the largest changes first.
std::vector<Family> ChangedNodes(const search::PlanFile& plan, const search::PlanFile& other) {
  std::map<std::string, std::string> cuts;  // of the nodes of `other` that are not seen yet
  for (const auto& node : other.nodes) cuts[node.name] = PartitionText(other, node);
  std::map<std::string, int64_t> here = BytesByNode(plan), there = BytesByNode(other);
  Families families;
  const auto add = [&](const std::string& name, const std::string& cut, const std::string& theirs) {
    if (cut == theirs && here[name] == there[name]) return;
    Family& family = families.Add(name, cut, theirs);
    family.bytes += here[name];
    family.theirs += there[name];
  };
  for (const auto& node : plan.nodes) {
    const auto same = cuts.find(node.name);
    add(node.name, PartitionText(plan, node), same == cuts.end() ? kNone : same->second);
    if (same != cuts.end()) cuts.erase(same);
  }
  for (const auto& node : other.nodes) {
    if (cuts.count(node.name) > 0) add(node.name, kNone, cuts[node.name]);
  }
  std::vector<Family> rows = families.Take();
  std::stable_sort(rows.begin(), rows.end(), [](const Family& a, const Family& b) {
    return std::llabs(a.change()) > std::llabs(b.change());
  });
  return rows;
}

std::string MoreText(size_t rows, size_t shown) {
  return rows <= shown ? "" : absl::StrCat(rows - shown, " more in all.  All rows: --all\n");
}

std::string NameOf(const Family& family) {
  return family.count == 1 ? ShortName(family.name)
                           : absl::StrCat(family.count, " x ", ShortName(family.name));
}

std::string NodesText(const std::vector<Family>& rows, size_t most) {
  if (rows.empty()) return "all nodes are cut alike\n";
  int64_t largest = 0;
  for (const Family& row : rows) largest = std::max({largest, row.bytes, row.theirs});
  const ByteUnit unit(largest);
  TextTable table(3);
  table.Add({"nodes that differ", "split its", "there", unit.name() + " here", "there", "change"});
  for (size_t r = 0; r < std::min(most, rows.size()); ++r) {
    const Family& row = rows[r];
    table.Add({NameOf(row), row.here, row.there, unit.Text(row.bytes), unit.Text(row.theirs),
               row.change() == 0 ? kNone : SignedBytes(row.change())});
  }
  return absl::StrCat(table.ToString(), MoreText(rows.size(), most));
}

std::string TensorsText(const search::PlanFile& plan, const search::PlanFile& other, size_t most) {
  const TensorMap theirs = ByName(other);
  Families families;
  int same = 0;
  for (const auto& row : plan.tensors) {
    const auto it = theirs.find(row.name);
    const std::string here = ShardingText(plan, row);
    const std::string there = it == theirs.end() ? kNone : ShardingText(other, *it->second);
    if (here == there) {
      ++same;
    } else {
      families.Add(row.name, here, there);
    }
  }
  const std::vector<Family> rows = families.Take();
  TextTable table(9);
  if (!rows.empty()) table.Add({"tensors that differ", "stored here", "there"});
  for (size_t r = 0; r < std::min(most, rows.size()); ++r) {
    table.Add({NameOf(rows[r]), rows[r].here, rows[r].there});
  }
  return absl::StrCat(table.ToString(), MoreText(rows.size(), most), Counted(same, "tensor"),
                      same == 1 ? " is" : " are", " stored alike\n");
}

}  // namespace

std::string CostChangeText(const search::PlanCost& here, const search::PlanCost& there) {
  std::vector<std::string> words;
  const auto add = [&](const char* kind, int64_t more) {
    if (more != 0) words.push_back(absl::StrCat(kind, " ", SignedBytes(more)));
  };
  add("weights", there.weight - here.weight);
  add("activations", there.activation - here.activation);
  add("partial sums", there.partial - here.partial);
  add("halos", there.halo - here.halo);
  return absl::StrJoin(words, ", ");
}

absl::Status CheckSameModel(const search::PlanFile& plan, const search::PlanFile& other) {
  // Plans with and without factors are of two graphs of one model.
  const bool same =
      plan.notes.graph_hash == other.notes.graph_hash || OfTheModel(plan) == OfTheModel(other);
  if (same) return absl::OkStatus();
  return UserError("the plan is of another model, or of other sizes of it: ", ModelName(plan),
                   " here, ", ModelName(other),
                   " there; make both plans of one model with yuba partition, and compare models ",
                   "with yuba info");
}

std::string DiffText(const search::PlanFile& plan, const search::PlanFile& given, bool all) {
  search::PlanFile other = given;
  const std::vector<std::string> axes = CallAxesAs(plan, other);
  const size_t most = all ? plan.tensors.size() + given.tensors.size() : kMostRows;
  std::string text = OptionsText(plan, given);
  const std::string kinds = CostChangeText(plan.cost, other.cost);
  absl::StrAppend(&text, "moved          ", Change(plan.cost.bytes(), other.cost.bytes()),
                  kinds.empty() ? "" : ": ", kinds, "\n");
  absl::StrAppend(&text, "must fit       ", Change(ArenaOf(plan), ArenaOf(other)),
                  " on a device\n");
  if (MeshText(plan.mesh) != MeshText(given.mesh)) {
    absl::StrAppend(&text, "mesh           ", MeshText(plan.mesh), " here, ", MeshText(given.mesh),
                    " there\n");
  }
  std::vector<std::string> pairs;
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a] != plan.mesh.axes[a].name)
      pairs.push_back(absl::StrCat(plan.mesh.axes[a].name, " is ", axes[a]));
  }
  if (!pairs.empty()) {
    absl::StrAppend(&text, "axes           called as here; there ", absl::StrJoin(pairs, ", "),
                    "\n");
  }
  return absl::StrCat(text, "\n", NodesText(ChangedNodes(plan, other), most), "\n",
                      TensorsText(plan, other, most));
}

}  // namespace yuba::tools
