// The part of a page that shows the arena: figures, a legend, and plots. A line of script dims what
// is not looked for; the plots work without it.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/report/arena_plot.h"
#include "tools/report/arena_report.h"
#include "tools/report/printable.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

constexpr char kStyle[] = R"(
.arena{overflow-x:auto}.arena svg{font:12px system-ui,sans-serif;display:block}
.arena rect{stroke:#fff;stroke-width:.4}.arena rect:hover{stroke:#000;stroke-width:1.5}
.arena .dim{opacity:.12}.arena text,.arena .axis{fill:#555}.arena .grid{stroke:#ddd}
.arena path{fill:none;stroke:#000;stroke-width:1.3;pointer-events:none}
.arena .own{stroke-dasharray:3 3}.arena .peak{stroke:#b00020;stroke-dasharray:6 3}
.key{display:inline-block;width:.9em;height:.9em;margin:0 .3em 0 1em;vertical-align:-.1em}
.weight{fill:#4a7fb5;background:#4a7fb5}.constant{fill:#8fb3d4;background:#8fb3d4}
.input{fill:#3c9a8f;background:#3c9a8f}.state{fill:#2b5c8a;background:#2b5c8a}
.output{fill:#7a6bb0;background:#7a6bb0}.activation{fill:#8bb36b;background:#8bb36b}
.partial{fill:#b9a23a;background:#b9a23a}.copy{fill:#e3b45c;background:#e3b45c}
.gathered{fill:#d98b4a;background:#d98b4a}.written{fill:#c2563f;background:#c2563f}
)";

constexpr char kScrolled[] = "<div class=arena>";

constexpr char kScript[] = R"(
document.getElementById('findbuffer').addEventListener('input',function(e){
var t=e.target.value.toLowerCase();
document.querySelectorAll('.arena rect').forEach(function(r){
r.classList.toggle('dim',r.textContent.toLowerCase().indexOf(t)<0)})})
)";

// Where buffers come and go: beside large weights, which live throughout, it would hardly be seen.
// The whole arena where most of it is so, and where none is.
Addresses Changing(const ArenaReport& report) {
  const int64_t last = static_cast<int64_t>(report.slots.size()) - 1;
  const Addresses whole = {0, std::max<int64_t>(report.arena, 1)};
  Addresses changing = {whole.end, 0};
  for (const ArenaBuffer& buffer : report.buffers) {
    if (buffer.first == 0 && buffer.last == last) continue;
    changing.begin = std::min(changing.begin, buffer.offset);
    changing.end = std::max(changing.end, buffer.offset + buffer.slot);
  }
  return changing.size() > 0 && changing.size() < whole.size() / 2 ? changing : whole;
}

std::string Legend(const ArenaReport& report) {
  const std::map<std::string, int64_t> held = HeldAtPeak(report);
  std::string html = "<p>";
  for (const char* kind : kArenaKinds) {
    const bool exists = std::any_of(report.buffers.begin(), report.buffers.end(),
                                    [&](const ArenaBuffer& buffer) { return buffer.kind == kind; });
    if (!exists) continue;
    const auto at_peak = held.find(kind);
    absl::StrAppend(&html, "<span class='key ", kind, "'></span>", kind, " ",
                    Bytes(at_peak == held.end() ? 0 : at_peak->second));
  }
  return absl::StrCat(html, " (at the peak)</p>");
}

}  // namespace

std::string ArenaHtml(const ArenaReport& report) {
  const size_t peak = report.peak;
  const Addresses whole = {0, std::max<int64_t>(report.arena, 1)}, changing = Changing(report);
  std::string html = absl::StrCat(
      "<style>", kStyle, "</style><p>", Bytes(report.arena), " on every device, ",
      Ratio(report.arena, report.live()), " times the ", Bytes(report.live()),
      " of slots that are live at the peak, instruction ", peak,
      peak < report.nodes.size() ? absl::StrCat(" of ", HtmlText(report.nodes[peak])) : "",
      "; what one device would need for all, shared out: ", Bytes(report.share()),
      ". Upwards the address, to the right the instructions of a step. Solid line: slots that are "
      "live; dashed: what the fullest device, ",
      report.fullest, ", fills of them. Point at a buffer for its name.</p>", Legend(report),
      "<p><input id=findbuffer placeholder='show buffers that hold …'></p>", kScrolled,
      ArenaSvg(report, whole), "</div>");
  if (changing.size() < whole.size()) {
    absl::StrAppend(&html, "<p>The same from ", Bytes(changing.begin), " to ", Bytes(changing.end),
                    ", where buffers come and go:</p>", kScrolled, ArenaSvg(report, changing),
                    "</div>");
  }
  return absl::StrCat(html, "<script>", kScript, "</script>");
}

}  // namespace yuba::tools
