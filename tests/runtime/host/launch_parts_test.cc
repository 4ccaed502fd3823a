// What threads do of a launch: every value of the split index once, in the steps allowed, and
// nothing shared where that is not worth a thread.
#include "runtime/host/launch_parts.h"

#include <catch2/catch.hpp>

#include "tests/runtime/program_builder.h"

namespace yuba::runtime {
namespace {

struct Split {
  int index, dim;
  int64_t step;
};

// The parts of a launch of a map y[i, j] over rows x columns, whose buffer begins at `origin`.
// The arguments are those of the two indices.
std::vector<std::vector<int64_t>> PartsOf(Interval rows, Interval columns, int64_t origin,
                                          const std::vector<Split>& splits, int threads) {
  ProgramBuilder builder({1});
  const int y = builder.AddBuffer("y", program::F32, {1 << 20, 1 << 20},
                                  {{{origin, rows.end}, {0, columns.end}}});
  program::LibraryCall call;  // makes the kernel; a function of code has the same tables
  program::Kernel* kernel = builder.AddLibraryKernel(call, {{rows}, {columns}}, {y}, y);
  program::Function& function = *builder.message().mutable_functions(0);
  function.clear_library();
  function.set_symbol("f");
  for (const Split& split : splits) {
    program::IndexSplit* added = function.add_splits();
    added->set_index(split.index);
    added->set_result_dim(split.dim);
    added->set_step(split.step);
  }
  const auto program = builder.Load();
  (void)kernel;
  return LaunchParts(*program, program->instructions()[0].kernel(), 0, threads,
                     {rows.begin, rows.end, columns.begin, columns.end});
}

using Parts = std::vector<std::vector<int64_t>>;

TEST_CASE("the outermost index that has enough steps is shared out") {
  const Interval all = {0, 512};
  CHECK(PartsOf(all, all, 0, {{0, 0, 1}, {1, 1, 256}}, 2) ==
        Parts{{0, 256, 0, 512}, {256, 512, 0, 512}});
  // One row: the columns.
  CHECK(PartsOf({3, 4}, {0, 1 << 17}, 0, {{0, 0, 1}, {1, 1, 256}}, 2) ==
        Parts{{3, 4, 0, 1 << 16}, {3, 4, 1 << 16, 1 << 17}});
  // Three rows for two threads would be 2 to 1.
  CHECK(PartsOf({0, 3}, {0, 1 << 16}, 0, {{0, 0, 1}, {1, 1, 256}}, 2) ==
        Parts{{0, 3, 0, 1 << 15}, {0, 3, 1 << 15, 1 << 16}});
}

TEST_CASE("parts begin whole steps behind the first index that the buffer has room for") {
  // The buffer begins at row 10, so blocks of 4 rows are counted from there.
  const Parts parts = PartsOf({7, 110}, {0, 4096}, 10, {{0, 0, 4}}, 3);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0][0] == 10);
  CHECK(parts[2][1] == 110);
  for (int p = 0; p < 2; ++p) {
    CHECK(parts[p][1] == parts[p + 1][0]);
    CHECK((parts[p][1] - 10) % 4 == 0);
  }
}

TEST_CASE("what is small, cannot be split or has one thread is one call") {
  const Interval all = {0, 512};
  const Parts whole = {{0, 512, 0, 512}};
  CHECK(PartsOf(all, all, 0, {}, 2) == whole);
  CHECK(PartsOf(all, all, 0, {{0, 0, 512}}, 2) == whole);
  CHECK(PartsOf(all, all, 0, {{0, 0, 1}}, 1) == whole);
  // Two threads' worth of points, less one row.
  const int64_t rows = 2 * kPointsPerThread / 512;
  CHECK(PartsOf({0, rows - 1}, all, 0, {{0, 0, 1}}, 2).size() == 1);
  CHECK(PartsOf({0, rows}, all, 0, {{0, 0, 1}}, 2).size() == 2);
  CHECK(PartsOf({0, rows}, all, 0, {{0, 0, 1}}, 64).size() == 2);
  CHECK(PartsOf({0, 0}, all, 0, {{0, 0, 1}}, 2).size() == 1);
}

}  // namespace
}  // namespace yuba::runtime
