// How the commands read their command lines with CLI11: numbers that are numbers, values that are
// not empty, errors that name the subcommand. A validator returns the message for the user, or
// nothing.
#ifndef YUBA_TOOLS_COMMAND_LINE_H_
#define YUBA_TOOLS_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace yuba::tools {

// Checks of an option's value; infinite numbers and NaN pass none of them.
CLI::Validator WholeNumber(int64_t low, int64_t high = INT64_MAX);
CLI::Validator Seed();  // any of 64 bits
CLI::Validator NumberAbove0();
CLI::Validator NumberFrom0();

// Turns "1.5MB", "40 MB" or "2GiB" into a number of bytes, from 1 to kMostMemory: MB is 10^6 bytes,
// GiB 2^30.
CLI::Validator SizeInBytes();
constexpr int64_t kMostMemory = int64_t{1} << 50;  // what a device may have

constexpr int kMostThreads = 64;  // as --threads takes them

// Options that may be repeated take one value each time: in `--pin a=b model.onnx` the second word
// is no pin. Their help says so.
void OneValueAtATime(CLI::App* app);

// `text` quoted where a shell needs it, to be one word; a file besides gets ./ in front where it
// would be read as a flag.
std::string ShellWord(const std::string& text);
std::string ShellFile(const std::string& file);

// An error for an option that was given as "", as in -o "".
absl::Status RefuseEmptyValues(const CLI::App& app);

// An error where a word stands in place of a subcommand and names none; it lists them all. OK where
// the app has none.
absl::Status CheckSubcommand(const CLI::App& app, int argc, const char* const* argv);

// Why a command takes no such flag, and what to do instead; "" where nothing is known of it.
using WhyNotTaken = std::string (*)(const CLI::App& command, const std::string& flag);

// Prints what --help or --version ask for, or the error after the name of the subcommand. Returns
// the exit code. `why` is asked of flags that are none of OldFlag; may be null.
int ReportParseError(const CLI::App& app, const CLI::ParseError& error, WhyNotTaken why = nullptr);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_COMMAND_LINE_H_
