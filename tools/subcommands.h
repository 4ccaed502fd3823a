// The subcommands of `yuba`. Each function adds one to `app`, with its flags; when the user calls
// it, it sets `exit_code`.
#ifndef YUBA_TOOLS_SUBCOMMANDS_H_
#define YUBA_TOOLS_SUBCOMMANDS_H_

namespace CLI {
class App;
}

namespace yuba::tools {

void AddInfo(CLI::App& app, int& exit_code);
void AddDevices(CLI::App& app, int& exit_code);
void AddCalibrate(CLI::App& app, int& exit_code);
void AddPartition(CLI::App& app, int& exit_code);
void AddCompare(CLI::App& app, int& exit_code);
void AddShow(CLI::App& app, int& exit_code);
void AddCheck(CLI::App& app, int& exit_code);
void AddWhy(CLI::App& app, int& exit_code);
void AddVerify(CLI::App& app, int& exit_code);
void AddRun(CLI::App& app, int& exit_code);
void AddLaunch(CLI::App& app, int& exit_code);
void AddCompile(CLI::App& app, int& exit_code);
void AddExport(CLI::App& app, int& exit_code);
void AddOp(CLI::App& app, int& exit_code);
void AddZoo(CLI::App& app, int& exit_code);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_SUBCOMMANDS_H_
