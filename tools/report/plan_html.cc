// A plan as an HTML page and as a graph for Graphviz: PlanHtml and PlanDot.
#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/report/plan_report.h"
#include "tools/report/printable.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

constexpr char kStyle[] = R"(
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:78em;padding:0 1em;color:#222}
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2em .7em .2em 0;
border-bottom:1px solid #e4e4e4;vertical-align:top}td.n,th.n{text-align:right;white-space:nowrap}
code{font:13px ui-monospace,monospace}.bar{display:inline-block;height:.75em;background:#4a7fb5}
.bar.sum{background:#c7803c}.figures{display:flex;flex-wrap:wrap;gap:2.5em;margin:1em 0}
.figures b{display:block;font-size:1.5em}input{font:inherit;padding:.2em;width:24em}
)";

// A script that hides the rows without the text that is typed; the page works without it.
constexpr char kScript[] = R"(
document.getElementById('find').addEventListener('input',function(e){
var t=e.target.value.toLowerCase();
document.querySelectorAll('#nodes tbody tr').forEach(function(r){
r.style.display=r.textContent.toLowerCase().indexOf(t)<0?'none':''})})
)";

void Figure(std::string& html, const std::string& value, const std::string& what) {
  absl::StrAppend(&html, "<div><b>", HtmlText(value), "</b>", HtmlText(what), "</div>");
}

std::string Figures(const search::PlanFile& plan) {
  std::string html = "<div class=figures>";
  Figure(html, Bytes(plan.cost.bytes()), "moved a step");
  Figure(html, Bytes(plan.cost.weight), "weights gathered");
  Figure(html, Bytes(plan.cost.activation), "activations gathered");
  Figure(html, Bytes(plan.cost.partial), "partial sums");
  Figure(html, Bytes(plan.cost.halo), "halos");
  int64_t peak = 0;
  for (const search::DeviceMemory& device : plan.notes.memory) peak = std::max(peak, device.peak);
  Figure(html, Bytes(peak), "on the fullest device");
  Figure(html, plan.proof.kind == search::ProofKind::kNone ? "–" : Bytes(plan.lower_bound),
         "lower bound");
  return html + "</div>";
}

std::string NodeRows(const search::PlanFile& plan) {
  int64_t most = 1;
  const std::vector<NodeGroup> groups = GroupNodes(plan, true);
  for (const NodeGroup& group : groups) most = std::max(most, group.gathered + group.reduced);
  std::string html =
      "<table id=nodes><thead><tr><th>node<th>operator<th>splits its<th>output as stored<th>weight "
      "as stored<th class=n>MB<th style='width:16em'></tr></thead><tbody>";
  for (const NodeGroup& group : groups) {
    absl::StrAppend(&html, "<tr><td><code>", HtmlText(group.name), "</code><td>",
                    group.count > 1 ? absl::StrCat(group.count, " ") : "", HtmlText(group.op),
                    "<td><code>", HtmlText(group.partition), "</code><td><code>",
                    HtmlText(group.output), "</code><td><code>", HtmlText(group.weight),
                    "</code><td class=n>", Megabytes(group.gathered + group.reduced), "<td>");
    absl::StrAppendFormat(&html, "<span class=bar style='width:%.2fem'></span>",
                          15.0 * group.gathered / most);
    absl::StrAppendFormat(&html, "<span class='bar sum' style='width:%.2fem'></span></tr>\n",
                          15.0 * group.reduced / most);
  }
  return html + "</tbody></table>";
}

std::string TransferRows(const search::PlanFile& plan) {
  std::string html = "<table><tr><th>node<th>tensor<th>what<th>as<th>because<th class=n>MB</tr>";
  for (const auto& row : plan.transfers) {
    absl::StrAppend(&html, "<tr><td><code>", HtmlText(row.node), "</code><td><code>",
                    HtmlText(row.tensor), "</code><td>", HtmlText(row.kind), "<td>",
                    HtmlText(row.collective), "<td>", HtmlText(row.why), "<td class=n>",
                    Megabytes(row.bytes), "</tr>\n");
  }
  return html + "</table>";
}

}  // namespace

std::string PlanHtml(const search::PlanFile& plan, const std::string& arena) {
  const std::string title = absl::StrCat("Plan of ", plan.notes.graph_file);
  return absl::StrCat(
      "<!doctype html><html lang=en><meta charset=utf-8><title>", HtmlText(title),
      "</title><style>", kStyle, "</style><h1>", HtmlText(title), "</h1><p>",
      Counted(plan.mesh.devices(), "device"), ", mesh <code>", HtmlText(MeshText(plan.mesh)),
      "</code>. <code>[32/ab, 64]</code> reads: the first dimension, 32 "
      "long, is cut over mesh axes a and b; the second is whole. ",
      HtmlText(StoppedText(plan)), "</p>", Figures(plan),
      "<h2>Nodes</h2><p><input id=find placeholder='show rows that hold …'></p>", NodeRows(plan),
      "<p><span class=bar style='width:1em'></span> gathered <span class='bar sum' "
      "style='width:1em'></span> partial sums and results reduced</p>",
      "<h2>Transfers</h2>", TransferRows(plan), "<h2>Memory</h2><pre>", HtmlText(MemoryText(plan)),
      "</pre>", arena.empty() ? absl::StrCat("<p>", HtmlText(kModelForArena), "</p>") : arena,
      "<script>", kScript, "</script></html>\n");
}

std::string PlanDot(const search::PlanFile& plan) {
  std::string dot = "digraph plan {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  std::map<std::string, std::string> next;  // a carried tensor -> the node that has computed it
  for (const auto& node : plan.nodes) {
    absl::StrAppend(&dot, "  \"", absl::CEscape(node.name), "\" [label=\"", absl::CEscape(node.op),
                    "\\n", absl::CEscape(PartitionText(plan, node)), "\"];\n");
    for (const std::string& read : node.reads) {
      int64_t bytes = 0;
      for (const auto& move : plan.transfers) {
        if (move.node == node.name && move.tensor == read && move.kind == "gather")
          bytes += move.bytes;
      }
      const std::string& from = next.count(read) > 0 ? next[read] : read;
      absl::StrAppend(&dot, "  \"", absl::CEscape(from), "\" -> \"", absl::CEscape(node.name), "\"",
                      bytes > 0 ? absl::StrCat(" [color=red, label=\"", Bytes(bytes), "\"]") : "",
                      ";\n");
    }
    if (node.writes != node.name) next[node.writes] = node.name;
  }
  return dot + "}\n";
}

}  // namespace yuba::tools
