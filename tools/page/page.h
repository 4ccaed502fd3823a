// A plan as a page for a browser: one file that needs nothing from elsewhere. The graph of the
// model, folded by repeated blocks; for a chosen tensor its pieces on the devices; the transfers in
// the order of the program; memory over time. The page is data (page_data.h), a script and a style
// (script/), and a library that lays out graphs (third_party/dagre).
#ifndef YUBA_TOOLS_PAGE_PAGE_H_
#define YUBA_TOOLS_PAGE_PAGE_H_

#include <string>

#include "search/file/plan_file.h"

namespace yuba::tools {

// `arena` is the part of the page that shows the arena over time, HTML (ArenaHtml of
// tools/report/arena_report.h), which a plan file alone does not know; "": the page says how to
// see it.
std::string PlanPage(const search::PlanFile& plan, const std::string& arena);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PAGE_PAGE_H_
