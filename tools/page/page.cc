#include "tools/page/page.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/check.h"
#include "tools/page/page_data.h"
#include "tools/page/page_files.h"
#include "tools/report/plan_report.h"
#include "tools/report/printable.h"

namespace yuba::tools {
namespace {

// The script's parts, in the order in which they use each other.
constexpr absl::string_view kScripts[] = {"dagre.min.js", "model.js",  "views.js",  "edges.js",
                                          "layout.js",    "graph.js",  "tensor.js", "details.js",
                                          "timeline.js",  "tables.js", "main.js"};

absl::string_view File(absl::string_view name) {
  for (const PageFile& file : PageFiles()) {
    if (file.name == name) return file.text;
  }
  YUBA_CHECK(false) << "no file " << name << " in the page";
  return "";
}

// `text` with each `mark` replaced.
std::string Replaced(absl::string_view text, absl::string_view mark, absl::string_view by) {
  YUBA_CHECK(absl::StrContains(text, mark)) << "the page has no " << mark;
  return absl::StrReplaceAll(text, {{mark, by}});
}

}  // namespace

std::string PlanPage(const search::PlanFile& plan, const std::string& arena) {
  std::string script;
  for (const absl::string_view name : kScripts) {
    absl::StrAppend(&script, "<script>\n", File(name), "</script>\n");
  }
  const std::string title = HtmlText(absl::StrCat("Plan of ", plan.notes.graph_file));
  std::string page = Replaced(File("page.html"), "<!-- title -->", title);
  page = Replaced(page, "/* style */", File("page.css"));
  // What is put in has no "<" of a name's, so that nothing looks like a mark by accident.
  page = Replaced(page, "<!-- script -->", script);
  page = Replaced(page, "<!-- data -->", ScriptText(PageData(plan)));
  page = Replaced(page, "<!-- memory -->", HtmlText(MemoryText(plan)));
  return Replaced(
      page, "<!-- arena -->",
      arena.empty() ? absl::StrCat("<p class=missing>", HtmlText(kModelForArena), "</p>") : arena);
}

}  // namespace yuba::tools
