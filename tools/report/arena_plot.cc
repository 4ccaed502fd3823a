#include "tools/report/arena_plot.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/report/printable.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

// Pixels. The plot grows with the program, so that an instruction of a long one can still be seen;
// the page scrolls it.
constexpr double kLeft = 80, kTop = 18, kHeight = 440, kBottom = 34, kRight = 24;
constexpr double kLeastWidth = 980, kMostWidth = 6000, kForInstruction = 4;

class Plot {
 public:
  Plot(const ArenaReport& report, const Addresses& shown)
      : report_(report), shown_(shown), instructions_(static_cast<double>(report.slots.size())) {
    width_ = std::clamp(instructions_ * kForInstruction, kLeastWidth, kMostWidth);
  }

  double X(int64_t instruction) const {
    return kLeft + static_cast<double>(instruction) / instructions_ * width_;
  }
  // What lies below or above the plot is at its edge.
  double Y(int64_t bytes) const {
    const int64_t within = std::clamp(bytes, shown_.begin, shown_.end) - shown_.begin;
    return kTop + kHeight -
           static_cast<double>(within) / static_cast<double>(shown_.size()) * kHeight;
  }

  std::string Svg() const {
    std::string svg = absl::StrFormat("<svg width='%.0f' height='%.0f' role=img>",
                                      kLeft + width_ + kRight, kTop + kHeight + kBottom);
    absl::StrAppend(&svg, Axes());
    for (const ArenaBuffer& buffer : report_.buffers) {
      const bool is_shown =
          buffer.offset < shown_.end && buffer.offset + buffer.slot > shown_.begin;
      if (is_shown) absl::StrAppend(&svg, Rectangle(buffer));
    }
    absl::StrAppend(&svg, "<path d='", Line(report_.slots), "'/><path class=own d='",
                    Line(report_.own), "'/>", Peak(), "</svg>\n");
    return svg;
  }

 private:
  std::string Rectangle(const ArenaBuffer& buffer) const {
    const double x = X(buffer.first), y = Y(buffer.offset + buffer.slot);
    std::string svg =
        absl::StrFormat("<rect class=%s x='%.2f' y='%.2f' width='%.2f' height='%.2f'>", buffer.kind,
                        x, y, X(buffer.last + 1) - x, std::max(0.3, Y(buffer.offset) - y));
    absl::StrAppend(&svg, "<title>", HtmlText(buffer.name), "\n", buffer.kind, ", ",
                    Bytes(buffer.slot), " at ", Bytes(buffer.offset));
    if (buffer.box != buffer.slot) {
      absl::StrAppend(&svg, "; ", Bytes(buffer.box), " on device ", report_.fullest);
    }
    absl::StrAppend(&svg, "\nlives in instructions ", buffer.first, " to ", buffer.last,
                    buffer.users.empty() ? "" : "\nused by ", HtmlText(buffer.users),
                    "</title></rect>\n");
    return svg;
  }

  // Steps: what is live stays the same during an instruction.
  std::string Line(const std::vector<int64_t>& bytes) const {
    std::string path;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const int64_t at = static_cast<int64_t>(i);
      if (i == 0) absl::StrAppendFormat(&path, "M%.2f %.2f", X(0), Y(bytes[0]));
      if (i > 0 && bytes[i] != bytes[i - 1]) {
        absl::StrAppendFormat(&path, "H%.2fV%.2f", X(at), Y(bytes[i]));
      }
    }
    absl::StrAppendFormat(&path, "H%.2f", X(static_cast<int64_t>(bytes.size())));
    return path;
  }

  std::string Axes() const {
    std::string svg;
    for (int quarter = 0; quarter <= 4; ++quarter) {
      const int64_t bytes =
          shown_.begin + shown_.size() / 4 * quarter + shown_.size() % 4 * quarter / 4;
      absl::StrAppendFormat(&svg, "<line class=grid x1='%.0f' x2='%.0f' y1='%.1f' y2='%.1f'/>",
                            kLeft, kLeft + width_, Y(bytes), Y(bytes));
      absl::StrAppendFormat(&svg, "<text x='%.0f' y='%.1f' text-anchor=end>%s</text>\n", kLeft - 6,
                            Y(bytes) + 4, Bytes(bytes));
    }
    const int64_t count = static_cast<int64_t>(report_.slots.size());
    for (int64_t i = 0; i < count; i += TickStep()) {
      absl::StrAppendFormat(&svg, "<text x='%.1f' y='%.0f'>%d</text>", X(i), kTop + kHeight + 16,
                            i);
    }
    return svg;
  }

  // 1, 2 or 5 times a power of ten, so that numbers stand at least 60 pixels apart.
  int64_t TickStep() const {
    const double least = 60 * instructions_ / width_;
    for (int64_t power = 1;; power *= 10) {
      for (int64_t step : {power, 2 * power, 5 * power}) {
        if (static_cast<double>(step) >= least) return step;
      }
    }
  }

  std::string Peak() const {
    const double x = (X(report_.peak) + X(report_.peak + 1)) / 2;
    return absl::StrFormat(
        "<path class=peak d='M%.2f %.1fV%.1f'/><text x='%.2f' y='%.1f' text-anchor=%s>peak</text>",
        x, kTop - 4, kTop + kHeight, x + (x < width_ ? 4 : -4), kTop - 6,
        x < width_ ? "start" : "end");
  }

  const ArenaReport& report_;
  const Addresses shown_;
  double instructions_, width_ = 0;
};

}  // namespace

std::string ArenaSvg(const ArenaReport& report, const Addresses& shown) {
  return Plot(report, shown).Svg();
}

}  // namespace yuba::tools
