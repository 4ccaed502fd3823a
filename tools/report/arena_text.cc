// The arena on a terminal: figures, then a bar for each buffer.
#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/report/arena_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

constexpr int64_t kMostColumns = 48;
constexpr int64_t kNowhere = -1;  // the offset of several buffers in one row

// Program order on a few columns; each stands for one instruction or several.
class TimeScale {
 public:
  explicit TimeScale(int64_t instructions)
      : instructions_(instructions), columns_(std::min(instructions, kMostColumns)) {}

  int64_t columns() const { return columns_; }
  // The instructions [Begin(c), Begin(c + 1)) of a column, one at least.
  int64_t Begin(int64_t column) const { return column * instructions_ / columns_; }

  // Of each column what text(begin, end) says of its instructions.
  template <typename Text>
  std::string Row(const Text& text) const {
    std::string row;
    for (int64_t c = 0; c < columns_; ++c) row += text(Begin(c), Begin(c + 1));
    return row;
  }

 private:
  int64_t instructions_, columns_;
};

// Eighths of the arena, rounded up, of what is live at most.
std::string LiveBar(const ArenaReport& report, const TimeScale& scale) {
  static constexpr const char* kEighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double arena = std::max<double>(1, static_cast<double>(report.arena));
  return scale.Row([&](int64_t begin, int64_t end) {
    const int64_t most =
        *std::max_element(report.slots.begin() + begin, report.slots.begin() + end);
    const int eighths = static_cast<int>(8 * static_cast<double>(most) / arena + 0.999);
    return kEighths[std::min(eighths, 8)];
  });
}

std::string LifeBar(const ArenaBuffer& buffer, const TimeScale& scale) {
  return scale.Row([&](int64_t begin, int64_t end) {
    return buffer.first < end && buffer.last >= begin ? "█" : "·";
  });
}

// The buffers of each kind that live throughout, as one row.
std::vector<ArenaBuffer> Folded(const ArenaReport& report) {
  const int64_t last = static_cast<int64_t>(report.slots.size()) - 1;
  std::vector<ArenaBuffer> rows;
  std::map<std::string, std::vector<const ArenaBuffer*>> throughout;  // by kind
  for (const ArenaBuffer& buffer : report.buffers) {
    if (buffer.first > 0 || buffer.last < last) {
      rows.push_back(buffer);
    } else {
      throughout[buffer.kind].push_back(&buffer);
    }
  }
  for (const auto& [kind, buffers] : throughout) {
    ArenaBuffer row = *buffers[0];
    if (buffers.size() > 1) {
      row.name = absl::StrCat("all that live throughout, ", buffers.size());
      row.offset = kNowhere;
      row.slot = 0;
      for (const ArenaBuffer* buffer : buffers) row.slot += buffer->slot;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Those live at the peak first, the largest first.
void Rank(int64_t peak, std::vector<ArenaBuffer>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [&](const ArenaBuffer& a, const ArenaBuffer& b) {
    return std::make_tuple(!a.LivesAt(peak), -a.slot, a.first) <
           std::make_tuple(!b.LivesAt(peak), -b.slot, b.first);
  });
}

std::string OffsetText(int64_t offset, const ByteUnit& unit) {
  if (offset == kNowhere) return "several";
  return offset == 0 ? "0" : unit.Text(offset);
}

std::string FiguresText(const ArenaReport& report) {
  std::vector<std::string> held;
  for (const auto& [kind, bytes] : HeldAtPeak(report)) {
    held.push_back(absl::StrCat(kind, " ", Bytes(bytes)));
  }
  const size_t peak = report.peak;
  return absl::StrCat(
      "arena    ", Bytes(report.arena), " on ", report.devices > 1 ? "each of " : "",
      Counted(report.devices, "device"), ", ", Ratio(report.arena, report.live()), " times the ",
      Bytes(report.live()), " of slots that are live at the peak\n", "peak     instruction ", peak,
      peak < report.nodes.size() ? absl::StrCat(", of ", report.nodes[peak]) : "", "\n         ",
      absl::StrJoin(held, ", "), "\n", "unused   then ", Bytes(report.beyond()),
      " in slots beyond the boxes of device ", report.fullest, ", the fullest; ",
      Bytes(report.arena - report.live()), " in no slot\n", "whole    ", Bytes(report.share()),
      " is a device's share of what one alone needs; the arena is ",
      Ratio(report.arena, report.share()), " times that\n");
}

}  // namespace

std::string ArenaText(const ArenaReport& report, absl::optional<size_t> count) {
  const TimeScale scale(static_cast<int64_t>(report.slots.size()));
  const ByteUnit unit(report.arena);
  TextTable table(2);
  table.Add({"buffer", "kind", unit.name(), "at " + unit.name(),
             absl::StrCat("instructions 0 to ", report.slots.size() - 1)});
  table.Add({"peak", "", "", "", scale.Row([&](int64_t begin, int64_t end) {
               return begin <= report.peak && report.peak < end ? "▼" : " ";
             })});
  table.Add({"live, of the arena", "", unit.Text(report.live()), "", LiveBar(report, scale)});
  std::vector<ArenaBuffer> rows = count.has_value() ? Folded(report) : report.buffers;
  Rank(report.peak, rows);
  const size_t shown = std::min(count.value_or(rows.size()), rows.size());
  for (size_t i = 0; i < shown; ++i) {
    table.Add({ShortName(rows[i].name), rows[i].kind, unit.Text(rows[i].slot),
               OffsetText(rows[i].offset, unit), LifeBar(rows[i], scale)});
  }
  const size_t more = rows.size() - shown;
  return absl::StrCat(FiguresText(report), "\n", table.ToString(),
                      more > 0 ? absl::StrCat(more, " more.  All: --arena --all\n") : "");
}

}  // namespace yuba::tools
