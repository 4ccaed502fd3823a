// Plan files with changed words and bytes: read, attached and checked, or refused; never a crash,
// and never a plan that passes with a wrong number.
#include <catch2/catch.hpp>
#include <iostream>

#include "opsemantics/language/library.h"
#include "search/check/check.h"
#include "search/file/plan_file.h"
#include "search/search.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/command.h"
#include "tests/support/mutate.h"

namespace yuba {
namespace {

TEST_CASE("mutants of a plan never crash the reader or pass with a lie") {
  const OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  onnx::ImportOptions import;
  import.library = &library;
  const compiler::Model model =
      compiler::ImportFile(RepositoryFile("tests/models/conv/model.onnx"), import).value();
  search::SearchOptions options;
  options.mesh = MeshOf(6);
  const search::Plan plan = search::Search(model.graph, options).value();
  search::PlanNotes notes;
  notes.graph_hash = model.graph_hash;
  const std::string text = search::WritePlan(model.graph, plan, notes);
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
    const absl::StatusOr<search::PlanFile> file = search::ReadPlan(mutant);
    if (!file.ok()) continue;
    const absl::StatusOr<search::Plan> attached = search::AttachPlan(model.graph, *file, notes);
    if (!attached.ok() || !search::CheckPlan(model.graph, *attached).ok()) continue;
    ++accepted;
    INFO("seed " << seed + round);
    CHECK(search::CostOf(model.graph, *attached).bytes() == attached->cost.bytes());
    CHECK(attached->lower_bound <= least);
  }
  std::cerr << "plan: " << accepted << " of 1500 mutants were accepted\n";
  CHECK(accepted < 1500);
}

}  // namespace
}  // namespace yuba
