// What Wang, Huang and Li print of Tofu ("Supporting Very Large Models using Automatic Dataflow
// Graph Partitioning", EuroSys 2019): throughput on a p2.8xlarge (figures 8 and 9), shares of
// communication of several ways to partition (figure 10), and seconds of the search (section 5.2).
// Samples a second are of all eight GPUs together.
#ifndef YUBA_TOOLS_BENCH_PAPER_PUBLISHED_H_
#define YUBA_TOOLS_BENCH_PAPER_PUBLISHED_H_

#include <cstdint>

namespace yuba::tools {

// A row of figure 8 or 9, in samples a second. Ideal is one GPU with as much memory as it needs,
// times eight, with 128 images or 512 sequences; Tofu ran with the largest batch that fit, which is
// printed of four models: the zoo's presets have these, and what lies between for the others.
struct PublishedThroughput {
  const char* model;  // of the zoo
  int64_t ideal_batch;
  double ideal, tofu;
};
inline constexpr PublishedThroughput kThroughputs[] = {
    {"wresnet-50-4", 128, 47, 41},    {"wresnet-50-6", 128, 18, 17},
    {"wresnet-50-8", 128, 10, 9.3},   {"wresnet-50-10", 128, 6.4, 6.0},
    {"wresnet-101-4", 128, 27, 20},   {"wresnet-101-6", 128, 9.4, 8.7},
    {"wresnet-101-8", 128, 5.3, 4.8}, {"wresnet-101-10", 128, 3.3, 3.1},
    {"wresnet-152-4", 128, 19, 11},   {"wresnet-152-6", 128, 6.5, 5.4},
    {"wresnet-152-8", 128, 3.6, 2.7}, {"wresnet-152-10", 128, 2.3, 1.9},
    {"rnn-6-4k", 512, 233, 210},      {"rnn-6-6k", 512, 108, 102},
    {"rnn-6-8k", 512, 58, 57},        {"rnn-8-4k", 512, 172, 154},
    {"rnn-8-6k", 512, 78, 75},        {"rnn-8-8k", 512, 45, 41},
    {"rnn-10-4k", 512, 136, 122},     {"rnn-10-6k", 512, 60, 55},
    {"rnn-10-8k", 512, 33, 23},
};

// A bar of figure 10: the share of communication in the step, in percent; 0: out of memory, or not
// printed.
struct PublishedShare {
  const char* search;  // as --search takes it
  const char* name;    // in the paper
  double rnn, wresnet;
};
inline constexpr PublishedShare kShares[] = {{"all-row", "AllRow-Greedy", 24.5, 0},
                                             {"spartan", "Spartan", 21.1, 33.8},
                                             {"equal-chop", "EqualChop", 13.8, 35.2},
                                             {"icml18", "ICML18", 13.2, 0},
                                             {"recursive", "Tofu", 6.4, 21.9}};
// The models of figure 10.
inline constexpr int64_t kShareRnnBatch = 512, kShareWresnetBatch = 8;

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_PAPER_PUBLISHED_H_
