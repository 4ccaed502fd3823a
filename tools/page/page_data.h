// What the script of a page reads: a plan as one JSON object. Nodes, tensors and mesh axes are
// numbers there, places in the lists of the object. `fold.h` says what the items of "tree" are.
//
//   {"graph": "mlp.onnx", "mesh": [{"name": "a", "size": 2}, ...], "devices": 8,
//    "kinds": ["weight", "activation", "partial", "halo"], "bytes": [0, 11520, 17152, 0],
//    "tensors": [{"name": "x", "kind": "input", "type": "f32", "text": "[12, 48/cba]",
//                 "dims": [[[12, []]], [[48, [2, 1, 0]]]], "bytes": 2304, "shard": 288}, ...],
//    "nodes": [{"name": "y/z", "op": "linear", "from": "y", "kernel": "onednn", "cut": "q/cba",
//               "reads": [3, 4], "writes": 5}, ...],
//    "moves": [{"node": 0, "tensor": 3, "kind": 1, "reduces": false, "as": "all_gather",
//               "over": "abc", "why": "...", "bytes": 3456}, ...],
//    "tree": [{"kind": "run", "name": "h.0 … h.11", "items": [...]},
//             {"kind": "unit", "name": "y", "nodes": [4, 5]}], ...}
//
// "bytes" is by kind: weights gathered, activations gathered, partial sums, halos.
#ifndef YUBA_TOOLS_PAGE_PAGE_DATA_H_
#define YUBA_TOOLS_PAGE_PAGE_DATA_H_

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "search/file/plan_file.h"

namespace yuba::tools {

nlohmann::ordered_json PageData(const search::PlanFile& plan);

// `data` as text that may stand in a <script> element, whatever names it holds. Bytes that are no
// UTF-8 become U+FFFD.
std::string ScriptText(const nlohmann::ordered_json& data);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PAGE_PAGE_DATA_H_
