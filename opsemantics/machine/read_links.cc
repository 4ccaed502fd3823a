#include "opsemantics/machine/read_links.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/collectives.h"
#include "opsemantics/base/mesh.h"
#include "opsemantics/machine/collective_table.h"
#include "opsemantics/machine/machine_fields.h"

namespace yuba {
namespace {

std::vector<std::pair<double, double>> ReadRows(const JsonReader& rows) {
  constexpr Quantity kTensorBytes = {"bytes of a tensor", 1, 1e15};
  std::vector<std::pair<double, double>> result;
  for (const JsonReader& row : rows.Items()) {
    const std::vector<JsonReader> items = row.Items();
    if (items.size() != 2) row.Fail("[bytes, seconds]");
    if (!rows.ok()) return result;
    result.emplace_back(Read(items[0], kTensorBytes), Read(items[1], kSeconds));
    if (result.size() < 2 || result.back().first > result[result.size() - 2].first) continue;
    items[0].Fail("more bytes than the row before has");
  }
  if (result.empty()) rows.Fail("at least one row [bytes, seconds]");
  return result;
}

CollectiveTable ReadTable(const JsonReader& reader) {
  reader.OnlyFields({"collective", "devices", "one_process", "seconds", "source"});
  ReadSource(reader);
  CollectiveTable table;
  table.collective = reader.Field("collective").String();
  if (CollectiveNumber(table.collective) < 1) {
    const auto name = [](std::string* text, const Collective& row) { text->append(row.name); };
    reader.Field("collective").Fail(absl::StrJoin(Collectives(), ", ", name));
  }
  table.devices = static_cast<int>(reader.Field("devices").Integer(2, kMostPlannedDevices));
  table.one_process = reader.Field("one_process").Bool();
  table.seconds = ReadRows(reader.Field("seconds"));
  return table;
}

// All but how many devices a group has.
LinkModel ReadLink(const JsonReader& reader) {
  LinkModel link;
  link.name = reader.Field("name").String();
  link.latency = ReadConstant(reader.Field("latency"), kSeconds);
  link.bandwidth = ReadConstant(reader.Field("bandwidth"), kBandwidth);
  if (reader.Has("shared_by")) {
    link.shared_by =
        static_cast<int>(ValueOf(reader.Field("shared_by")).Integer(1, kMostPlannedDevices));
  }
  if (!reader.Has("tables")) return link;
  for (const JsonReader& row : reader.Field("tables").Items()) {
    CollectiveTable table = ReadTable(row);
    for (const CollectiveTable& other : link.tables) {
      if (other.collective == table.collective && other.devices == table.devices &&
          other.one_process == table.one_process) {
        row.Refuse("is a second table of the same collective, devices and processes");
      }
    }
    if (!reader.ok()) return link;
    link.tables.push_back(std::move(table));
  }
  return link;
}

// The kinds of links of some nodes, as they come in a file: the innermost first.
class Kinds {
 public:
  explicit Kinds(int nodes) : nodes_(nodes) {}

  void Add(const JsonReader& reader) {
    reader.OnlyFields(
        {"name", "devices", "most_nodes", "latency", "bandwidth", "shared_by", "tables"});
    LinkModel link = ReadLink(reader);
    const bool used = reader.Has("most_nodes") ? JoinNodes(reader) : JoinDevices(reader);
    if (!used || !reader.ok()) return;
    link.devices = devices_;
    const auto larger = [&](const CollectiveTable& table) { return table.devices > devices_; };
    link.tables.erase(std::remove_if(link.tables.begin(), link.tables.end(), larger),
                      link.tables.end());
    RaiseTables(link);
    links_.push_back(std::move(link));
  }

  std::vector<LinkModel> Finish(const JsonReader& links) {
    if (links_.empty()) links.Fail("at least one kind of links, from the innermost out");
    if (joined_ < nodes_ && most_ > 1) {
      links.Refuse(absl::StrCat("join at most ", most_, " nodes, and ", nodes_, " are asked for"));
    } else if (joined_ < nodes_) {
      links.Refuse(absl::StrCat("join the devices of one node alone, and ", nodes_,
                                " nodes are asked for: a kind with most_nodes is missing"));
    } else if (devices_ > kMostPlannedDevices) {
      links.Refuse(absl::StrCat("join ", devices_, " devices, and plans are for at most ",
                                kMostPlannedDevices));
    }
    return std::move(links_);
  }

 private:
  bool JoinDevices(const JsonReader& reader) {
    const JsonReader value = ValueOf(reader.Field("devices"));
    const auto devices = static_cast<int>(value.Integer(1, kMostPlannedDevices));
    if (most_ > 1) {
      reader.Refuse("joins the devices of a node, so its place is before those with most_nodes");
    }
    if (!links_.empty() && (devices <= devices_ || devices % devices_ != 0)) {
      value.Fail(absl::StrCat("a multiple, from ", 2 * devices_, " on, of the ", devices_,
                              " devices of a group of the kind before: groups nest"));
    }
    devices_ = devices;
    return true;
  }

  // Whether the nodes need the kind.
  bool JoinNodes(const JsonReader& reader) {
    if (reader.Has("devices")) reader.Refuse("has devices and most_nodes: leave one of them");
    if (links_.empty()) reader.Refuse("joins nodes, so one that joins a node's devices is before");
    const JsonReader value = ValueOf(reader.Field("most_nodes"));
    most_ = static_cast<int>(value.Integer(most_ + 1, kMostPlannedDevices));
    if (!reader.ok() || joined_ == nodes_) return false;
    if (nodes_ % joined_ != 0) {
      reader.Refuse(absl::StrCat("joins groups of ", joined_,
                                 " nodes, so that there are a multiple of them, not ", nodes_));
    }
    const int joins = std::min(most_, nodes_);
    devices_ = devices_ / joined_ * joins;
    joined_ = joins;
    return true;
  }

  const int nodes_;
  int devices_ = 1;  // of a group of the kinds so far
  int joined_ = 1;   // nodes of one
  int most_ = 1;     // nodes that the kinds of the file so far may join
  std::vector<LinkModel> links_;
};

}  // namespace

std::vector<LinkModel> ReadLinks(const JsonReader& links, int nodes) {
  Kinds kinds(nodes);
  for (const JsonReader& reader : links.Items()) {
    kinds.Add(reader);
    if (!links.ok()) return {};
  }
  return kinds.Finish(links);
}

}  // namespace yuba
