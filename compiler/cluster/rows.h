// Which clusters a GPU computes as a kernel each, whose threads share out the rows.
#ifndef YUBA_COMPILER_CLUSTER_ROWS_H_
#define YUBA_COMPILER_CLUSTER_ROWS_H_

#include <vector>

#include "compiler/model.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

// The model's clusters of which threads can share out each row, as they are or, where a device has
// few long rows, in pieces that begin where there are loops: then several blocks compute each row.
// The plan says how many rows a device has: 512 rows, cut over 8 devices, are 64 on each, fewer
// than a GPU has multiprocessors. Clusters of nodes that are all of the plan's graph.
std::vector<Cluster> ClustersOfRows(const Model& model, const search::Plan& plan);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_CLUSTER_ROWS_H_
