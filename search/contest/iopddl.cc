#include "search/contest/iopddl.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/numeric/int128.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/json_reader.h"
#include "opsemantics/base/status.h"

namespace yuba::search {
namespace {

constexpr int64_t kMostBytes = int64_t{4} << 30;
constexpr int64_t kMostTime = int64_t{1} << 62;
constexpr int64_t kMostUsage = int64_t{1} << 44;  // of one node, so that sums do not overflow

class Parser {
 public:
  explicit Parser(const JsonReader& problem) : problem_(problem) {}

  PairwiseProblem Run() {
    Nodes();
    if (problem_.ok()) Edges();
    if (problem_.ok() && problem_.Has("usage_limit")) {
      result_.memory.limit = problem_.Field("usage_limit").Integer(0, kMostTime);
    }
    if (problem_.ok() && largest_ >= kForbidden) {
      problem_.Fail("a problem whose finite costs add up to less than 10^18");
    }
    return std::move(result_);
  }

 private:
  void Nodes() {
    const JsonReader nodes = problem_.Field("nodes");
    const std::vector<JsonReader> costs = nodes.Field("costs").Items();
    const std::vector<JsonReader> intervals = nodes.Field("intervals").Items();
    const std::vector<JsonReader> usages = nodes.Field("usages").Items();
    if (intervals.size() != costs.size()) nodes.Field("intervals").Fail(OneForEach(costs.size()));
    if (usages.size() != costs.size()) nodes.Field("usages").Fail(OneForEach(costs.size()));
    for (size_t v = 0; v < costs.size() && nodes.ok(); ++v) {
      std::vector<int64_t> cost = costs[v].Integers(0, kMostTime);
      std::vector<int64_t> usage = usages[v].Integers(0, kMostUsage);
      const std::vector<int64_t> interval = intervals[v].Integers(0, kMostTime);
      if (!nodes.ok()) return;
      if (cost.empty()) costs[v].Fail("the cost of at least one strategy");
      if (interval.size() != 2) intervals[v].Fail("a begin and an end");
      if (usage.size() != cost.size()) {
        usages[v].Fail(absl::StrCat("as many usages as the node has costs (", cost.size(), ", not ",
                                    usage.size(), ")"));
      }
      if (!nodes.ok()) return;
      result_.variables.push_back(DomainOf(static_cast<int>(cost.size())));
      if (interval[0] < interval[1]) {
        result_.memory.uses.push_back(
            {static_cast<int>(v), interval[0], interval[1], Share(std::move(usage))});
      }
      AddFactor({static_cast<int>(v)}, std::move(cost));
    }
  }

  void Edges() {
    const JsonReader edges = problem_.Field("edges");
    const std::vector<JsonReader> nodes = edges.Field("nodes").Items();
    const std::vector<JsonReader> costs = edges.Field("costs").Items();
    if (costs.size() != nodes.size()) {
      edges.Field("costs").Fail(
          absl::StrCat("one list of costs for each of ", nodes.size(), " edges"));
    }
    for (size_t e = 0; e < nodes.size() && edges.ok(); ++e) {
      const std::vector<int64_t> ends =
          nodes[e].Integers(0, static_cast<int64_t>(result_.variables.size()) - 1);
      std::vector<int64_t> cells = costs[e].Integers(0, kMostTime);
      if (!edges.ok()) return;
      if (ends.empty() || ends.size() > 2) nodes[e].Fail("one node or two");
      size_t expected = 1;
      for (int64_t v : ends) expected *= result_.variables[v]->size;
      if (cells.size() != expected) {
        costs[e].Fail(absl::StrCat("one cost for each choice of the edge's nodes (", expected,
                                   ", not ", cells.size(), ")"));
      }
      if (!edges.ok()) return;
      AddEdge(ends, std::move(cells));
    }
  }

  void AddEdge(const std::vector<int64_t>& ends, std::vector<int64_t> cells) {
    const int a = static_cast<int>(ends[0]), b = static_cast<int>(ends.back());
    if (ends.size() == 2 && a == b) {  // a node with itself: the diagonal
      const int size = result_.variables[a]->size;
      for (int x = 0; x < size; ++x) cells[x] = cells[x * (size + 1)];
      cells.resize(size);
    }
    AddFactor(a == b ? std::vector<int>{a} : std::vector<int>{a, b}, std::move(cells));
  }

  void AddFactor(std::vector<int> scope, std::vector<int64_t> cells) {
    int64_t largest = 0;
    for (int64_t& cell : cells) {
      cell = std::min(cell, kForbidden);
      if (cell < kForbidden) largest = std::max(largest, cell);
    }
    largest_ += largest;
    result_.factors.push_back({std::move(scope), Share(std::move(cells))});
  }

  // Equal lists become one: most edges repeat.
  Cells Share(std::vector<int64_t> cells) {
    size_t hash = cells.size();
    for (int64_t cell : cells) hash = hash * 1000003 ^ static_cast<size_t>(cell);
    std::vector<Cells>& alike = known_[hash];
    for (const Cells& other : alike) {
      if (*other == cells) return other;
    }
    alike.push_back(std::make_shared<const std::vector<int64_t>>(std::move(cells)));
    return alike.back();
  }

  DomainPtr DomainOf(int size) {
    DomainPtr& domain = domains_[size];
    if (domain == nullptr) {
      Domain made{size, {{}}};
      for (int x = 0; x < size; ++x) made.images[0].push_back(x);
      domain = std::make_shared<const Domain>(std::move(made));
    }
    return domain;
  }

  static std::string OneForEach(size_t nodes) {
    return absl::StrCat("one for each of the ", nodes, " nodes that have costs");
  }

  JsonReader problem_;
  PairwiseProblem result_;
  absl::int128 largest_ = 0;  // what the finite costs can add up to
  std::map<size_t, std::vector<Cells>> known_;
  std::map<int, DomainPtr> domains_;
};

}  // namespace

absl::StatusOr<std::string> ReadGzip(const std::string& path, const std::function<bool()>& stop) {
  YUBA_ASSIGN_OR_RETURN(UniqueFd descriptor, OpenToRead(path));
  gzFile file = gzdopen(descriptor.get(), "rb");
  if (file == nullptr) return UserError(path, ": cannot be opened: out of memory");
  descriptor.Release();  // gzclose closes it
  std::string text, buffer(1 << 20, '\0');
  int got = 0;
  bool stopped = false;
  while ((got = gzread(file, &buffer[0], static_cast<unsigned>(buffer.size()))) > 0) {
    text.append(buffer, 0, got);
    stopped = stop != nullptr && stop();
    if (stopped || static_cast<int64_t>(text.size()) > kMostBytes) break;
  }
  int error = Z_OK;
  const std::string message = gzerror(file, &error);
  gzclose(file);
  if (stopped) return absl::CancelledError("the reading was stopped");
  if (static_cast<int64_t>(text.size()) > kMostBytes) {
    return UserError(path, ": is longer than 4 GiB, which no problem is");
  }
  if (got < 0 || error != Z_OK) return UserError(path, ": cannot be read: ", message);
  return text;
}

absl::StatusOr<PairwiseProblem> ParseIopddl(const std::string& text,
                                            const std::function<bool()>& stop) {
  YUBA_ASSIGN_OR_RETURN(const JsonReader::Json root, ParseJson(text, stop));
  absl::Status status;
  const JsonReader reader(root, &status);
  PairwiseProblem problem = Parser(reader.Field("problem")).Run();
  if (!status.ok()) return status;
  return problem;
}

}  // namespace yuba::search
