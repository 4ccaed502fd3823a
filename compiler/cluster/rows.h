// How a GPU computes the rows of clusters, where devices have the parts of a plan.
#ifndef YUBA_COMPILER_CLUSTER_ROWS_H_
#define YUBA_COMPILER_CLUSTER_ROWS_H_

#include "compiler/model.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

// Makes Cluster::kOnce of kTogether where a device has few long rows: then several blocks compute
// each row. 512 rows, cut over 8 devices, are 64 on each, fewer than a GPU has multiprocessors. The
// plan is of the model's graph.
void MarkFewRows(const search::Plan& plan, Model& model);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_CLUSTER_ROWS_H_
