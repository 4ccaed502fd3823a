// The `yuba` command: one subcommand a file, listed here.
#include <CLI/CLI.hpp>

#include "tools/run_main.h"
#include "tools/subcommands.h"

int main(int argc, char** argv) {
  CLI::App app("Yuba partitions a model graph over many devices and runs it.", "yuba");
  int exit_code = 0;
  yuba::tools::AddInfo(app, exit_code);
  yuba::tools::AddDevices(app, exit_code);
  yuba::tools::AddCalibrate(app, exit_code);
  yuba::tools::AddPartition(app, exit_code);
  yuba::tools::AddCompare(app, exit_code);
  yuba::tools::AddShow(app, exit_code);
  yuba::tools::AddCheck(app, exit_code);
  yuba::tools::AddWhy(app, exit_code);
  yuba::tools::AddVerify(app, exit_code);
  yuba::tools::AddRun(app, exit_code);
  yuba::tools::AddLaunch(app, exit_code);
  yuba::tools::AddCompile(app, exit_code);
  yuba::tools::AddExport(app, exit_code);
  yuba::tools::AddOp(app, exit_code);
  yuba::tools::AddZoo(app, exit_code);
  return yuba::tools::RunMain(app, exit_code, argc, argv);
}
