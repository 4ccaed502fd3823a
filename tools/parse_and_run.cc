#include "tools/parse_and_run.h"

#include <csignal>
#include <iostream>
#include <new>

#include "tools/last_resort.h"
#include "tools/report/printable.h"
#include "tools/run/end_process.h"

namespace yuba::tools {

int ParseAndRun(CLI::App& app, int argc, char** argv, const std::function<int()>& run,
                WhyNotTaken why) {
  const std::string name = app.get_name();
  const LastResort last_resort(name.c_str());
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error of write()
  const PrintableStream out(std::cout), errors(std::cerr);
  if (const absl::Status known = CheckSubcommand(app, argc, argv); !known.ok()) {
    std::cerr << name << ": " << known.message() << "\n";
    return 2;
  }
  try {
    app.parse(argc, argv);
    const int exit_code = run();
    std::cout.flush();
    if (exit_code == 0 && !std::cout) {
      std::cerr << name << ": the output cannot be written\n";
      return 2;
    }
    return EndProcess(exit_code);
  } catch (const CLI::ParseError& error) {
    return ReportParseError(app, error, why);
  } catch (const std::bad_alloc&) {
    std::cerr << name << ": out of memory\n";
    return EndProcess(3);
  }
}

}  // namespace yuba::tools
