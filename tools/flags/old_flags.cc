#include "tools/flags/old_flags.h"

#include <sstream>

namespace yuba::tools {
namespace {

struct Row {
  const char* commands;  // with blanks between
  const char* flags;
  const char* text;
};

constexpr char kPlanning[] = "partition info compare search", kRuns[] = "run yuba-run";

constexpr Row kRows[] = {
    {kRuns, "--lr", "it is --lr-schedule now"},
    {"yuba", "bench", "it is yuba-bench search now, a command of its own"},
    {"yuba", "solve", "it is yuba-bench solve now"},
    {"run check verify compile", "--freeze-rows --loss-output --eval-every --times", kPlanHasIt},
    {kPlanning, "--times", "it is a part of --entry now: --entry NAME*TIMES:SYMBOL=N,..."},
    {kPlanning, "--freeze-rows", "it is --freeze TABLE=ROW,... now"},
    {kPlanning, "--loss-output", "it is a part of --loss now: --loss NAME@OUTPUT"},
    {kPlanning, "--eval-every", "it is --eval-entry N now"},
    {kPlanning, "--copies", "it is a word of --space now: --space copies=all or copies=none"},
    {kPlanning, "--accumulators",
     "it is a word of --space now: --space accumulators=auto, =all or =none"},
    {"partition", "--from", "states are written, and not read: leave it out"},
    {"partition", "--no-verify", "it is --no-check now"},
    {"show", "--memory", "it is --arena now"},
    {"compile", "--dump", "it is --dump-kernels DIR now"},
    {kRuns, "--check", "it is --expect TOL now"},
    {kRuns, "--check-memory", "it is --guard memory now"},
    {kRuns, "--debug", "it is --guard nan now"},
    {kRuns, "--every", "it is --save-every N now"},
    {kRuns, "--seed-executor", "it is --interleave SEED now"},
    {kRuns, "--plain-exchanges --staged --nccl --exchanges",
     "exchanges are made in one way now: leave it out; --sums says how ranks on GPUs add up"},
    {"search", "--suite", "it is yuba-bench suite FILE now"},
};

bool Names(const char* words, const std::string& word) {
  std::istringstream list(words);
  for (std::string one; list >> one;) {
    if (one == word) return true;
  }
  return false;
}

}  // namespace

std::string OldFlag(const std::string& command, const std::string& flag) {
  for (const Row& row : kRows) {
    if (Names(row.commands, command) && Names(row.flags, flag)) return row.text;
  }
  return "";
}

}  // namespace yuba::tools
