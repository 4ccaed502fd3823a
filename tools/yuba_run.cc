// yuba-run: runs a compiled program on a machine without the compiler.
#include <CLI/CLI.hpp>
#include <iostream>
#include <new>

#include "runtime/program.h"
#include "tools/run_command.h"

namespace {

// 0 done, 1 a negative answer, 2 bad input or usage, 3 a failed run.
int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk: return 0;
    case absl::StatusCode::kFailedPrecondition: return 1;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnavailable: return 2;
    default: return 3;
  }
}

absl::Status Run(const std::string& file, const yuba::RunFlags& flags) {
  absl::StatusOr<std::shared_ptr<const yuba::LoadedProgram>> program =
      yuba::LoadedProgram::FromFile(file);
  if (!program.ok()) return program.status();
  return yuba::RunProgram(*program, flags);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs a program that `yuba compile` wrote.", "yuba-run");
  std::string file;
  yuba::RunFlags flags;
  app.add_option("program", file, "the program, a .yuba file")->required();
  yuba::AddRunFlags(&app, flags);
  try {
    app.parse(argc, argv);
    const absl::Status status = Run(file, flags);
    if (!status.ok()) std::cerr << "yuba-run: " << status.message() << "\n";
    std::cout.flush();
    if (status.ok() && !std::cout) {
      std::cerr << "yuba-run: the output cannot be written\n";
      return 2;
    }
    return ExitCodeOf(status);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::bad_alloc&) {
    std::cerr << "yuba-run: out of memory\n";
    return 3;
  }
}
