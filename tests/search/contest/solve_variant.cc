// Solves a variant of a problem file on one thread and prints what came out, to measure by hand:
//   bazel run -c opt //tests/search/contest:solve_variant -- B.json.gz tighter,permuted 60
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "search/contest/iopddl.h"
#include "search/rows/memory_solve.h"
#include "tests/search/contest/variants.h"

namespace yuba::search {
namespace {

int Run(const std::string& file, const std::string& variants, double seconds) {
  const auto text = ReadGzip(file);
  auto problem = text.ok() ? ParseIopddl(*text) : text.status();
  if (!problem.ok()) {
    std::cerr << file << ": " << problem.status() << "\n";
    return 1;
  }
  const std::vector<std::string> names = absl::StrSplit(variants, ',');
  for (const std::string& name : names) {
    if (name == "tighter") {
      *problem = Tighter(*problem, 0.1);
    } else if (name == "permuted") {
      *problem = Permuted(*problem, 1);
    } else if (name == "perturbed") {
      *problem = Perturbed(*problem, 0.05, 1);
    } else if (name == "allowed") {
      *problem = Allowed(*problem);
    } else if (name != "itself") {
      std::cerr << name << ": no such variant\n";
      return 2;
    }
  }
  const auto solution = SolveWithMemory(*problem, Budget(seconds, 1));
  if (!solution.ok()) {
    std::cerr << solution.status() << "\n";
    return 1;
  }
  std::cout << file << " " << variants << " " << seconds << " s: cost " << solution->cost
            << ", bound " << solution->bound << "\n";
  return 0;
}

}  // namespace
}  // namespace yuba::search

int main(int argc, char** argv) {
  if (argc != 4 || std::atof(argv[3]) <= 0) {
    std::cerr << "usage: solve_variant FILE VARIANT[,VARIANT...] SECONDS\n"
              << "variants: itself, tighter, permuted, perturbed, allowed\n";
    return 2;
  }
  return yuba::search::Run(argv[1], argv[2], std::atof(argv[3]));
}
