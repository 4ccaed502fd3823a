// Plan files with changed words and bytes: read, attached and checked, or refused; never a crash.
#include <catch2/catch.hpp>
#include <iostream>

#include "compiler/import/onnx.h"
#include "opsemantics/language/library.h"
#include "search/check/check.h"
#include "search/file/plan_file.h"
#include "search/search.h"
#include "tests/support/command.h"
#include "tests/support/mutate.h"

namespace yuba {
namespace {

TEST_CASE("mutants of a plan never crash the reader or pass with a lie") {
  const OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  ImportOptions import;
  import.library = &library;
  const Model model = ImportOnnx(RepositoryFile("tests/models/conv/model.onnx"), import).value();
  SearchOptions options;
  options.mesh = MeshOf(6);
  const Plan plan = Search(model.graph, options).value();
  PlanNotes notes;
  notes.graph_hash = model.graph_hash;
  const std::string text = WritePlan(model.graph, plan, notes);
  const int64_t least = plan.cost.bytes();
  const std::vector<std::string> words = {"a",     "b",   "\"",          "{",        "}",    "[",
                                          "]",     ",",   ":",           "null",     "true", "-1",
                                          "1e999", "0.5", "\"tensors\"", "\"axes\"", "[[]]", "{}"};
  const uint64_t seed = Catch::rngSeed() * uint64_t{1000003};
  int accepted = 0;
  for (int round = 0; round < 1500; ++round) {
    Random random(seed + round);
    std::cerr << "plan seed " << seed + round << "\r" << std::flush;
    const std::string mutant =
        Below(random, 2) == 0 ? MutateWords(text, words, random) : MutateBytes(text, random);
    const absl::StatusOr<PlanFile> file = ReadPlan(mutant);
    if (!file.ok()) continue;
    const absl::StatusOr<Plan> attached = AttachPlan(model.graph, *file, notes);
    if (!attached.ok() || !CheckPlan(model.graph, *attached).ok()) continue;
    ++accepted;
    INFO("seed " << seed + round);
    CHECK(CostOf(model.graph, *attached).bytes() == attached->cost.bytes());
    CHECK(attached->lower_bound <= least);
  }
  std::cerr << "plan: " << accepted << " of 1500 mutants were accepted\n";
  CHECK(accepted < 1500);
}

}  // namespace
}  // namespace yuba
