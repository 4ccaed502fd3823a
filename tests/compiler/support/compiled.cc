#include "tests/compiler/support/compiled.h"

#include <catch2/catch.hpp>

#include "compiler/cluster/products.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/memory/memory.h"
#include "compiler/spmd/recognise.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {

program::Program CompiledProgram(const Model& model, const search::Plan& plan,
                                 Arithmetic arithmetic, bool library, Joins joins,
                                 const Layouts& layouts) {
  kernels::KernelChoice choice;
  choice.target.arithmetic = arithmetic;
  choice.library = library;
  std::vector<Cluster> products;
  if (joins != Joins::kNone)
    products = kernels::LibraryProducts(model.graph, FindProducts(model.graph), choice);
  program::Program program = MakeSpmdProgram(model, plan, arithmetic, joins, products, layouts);
  RecogniseCollectives(program);
  PlanMemory(program);
  const absl::Status status = kernels::AddKernels(model, choice, program);
  REQUIRE_THAT(status, IsOk());
  return program;
}

}  // namespace yuba::compiler
