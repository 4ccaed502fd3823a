#include "runtime/ranks/open_transport.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "runtime/shared_library.h"

namespace yuba::runtime {
namespace {

struct TransportRow {
  const char* name;
  const char* file;
  const char* use;
  const char* package;   // of Debian, that it is built with
  const char* packages;  // that run it
};

constexpr TransportRow kTransports[] = {
    {"gloo", "libyuba_gloo.so", "ranks of any launcher, by TCP", "libgloo-dev", "libgloo0"},
    {"openmpi", "libyuba_openmpi.so", "ranks that Open MPI's mpirun starts", "libopenmpi-dev",
     "libopenmpi3 and openmpi-bin"},
    {"mpich", "libyuba_mpich.so", "ranks that MPICH's mpiexec starts", "libmpich-dev",
     "libmpich12 and mpich"},
};

// The files of this name that are there, best first; the name itself for the loader to look for.
std::vector<std::string> Places(const std::string& file, const std::string& folder) {
  std::vector<std::filesystem::path> folders;
  if (!folder.empty()) folders.push_back(folder);
  std::error_code problem;
  const std::filesystem::path command = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (!problem) {
    folders.push_back(command.parent_path());
    folders.push_back(command.parent_path().parent_path() / "runtime/ranks/transports");
  }
  std::vector<std::string> places;
  for (const std::filesystem::path& path : folders) {
    if (std::filesystem::exists(path / file, problem)) places.push_back((path / file).string());
  }
  if (places.empty()) places.push_back(file);
  return places;
}

absl::StatusOr<SharedLibrary> OpenFile(const TransportRow& row, const std::string& folder) {
  const std::vector<std::string> places = Places(row.file, folder);
  absl::StatusOr<SharedLibrary> library = SharedLibrary::Open(places);
  if (library.ok()) return library;
  const absl::string_view reason = library.status().message();
  if (absl::StrContains(reason, absl::StrCat(row.file, ": cannot open shared object file"))) {
    return absl::UnavailableError(absl::StrCat("there is no ", row.file,
                                               " beside the command; it is built where ",
                                               row.package, " is installed"));
  }
  return absl::UnavailableError(absl::StrCat(reason, "; install ", row.packages));
}

absl::StatusOr<const TransportRow*> FindRow(const std::string& name) {
  std::vector<std::string> names;
  for (const TransportRow& row : kTransports) {
    if (row.name == name) return &row;
    names.push_back(row.name);
  }
  return UserError("no transport is called \"", name, "\"; there are ", absl::StrJoin(names, ", "));
}

// "4.1.4" of "Open MPI 4.1.4".
std::string VersionIn(const std::string& name) {
  const size_t begin = name.find_first_of("0123456789");
  return begin == name.npos ? name : name.substr(begin);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> OpenTransport(const std::string& name,
                                                         const TransportOptions& options,
                                                         const std::string& folder) {
  YUBA_ASSIGN_OR_RETURN(const TransportRow* row, FindRow(name));
  YUBA_ASSIGN_OR_RETURN(const SharedLibrary library, OpenFile(*row, folder));
  OpenTransportFunction* open = nullptr;
  YUBA_RETURN_IF_ERROR(library.Find(kOpenTransport, open));
  OpenError error;
  std::unique_ptr<Transport> transport(open(options, error));
  if (transport != nullptr) return transport;
  const std::string reason = absl::StrCat(name, ": ", error.what);
  return error.is_users ? absl::UnavailableError(reason) : absl::DeadlineExceededError(reason);
}

std::vector<TransportFacts> FindTransports(const std::string& folder) {
  std::vector<TransportFacts> facts;
  for (const TransportRow& row : kTransports) {
    facts.push_back({row.name, false, "", row.use});
    absl::StatusOr<SharedLibrary> library = OpenFile(row, folder);
    TransportNameFunction* name = nullptr;
    const absl::Status status =
        library.ok() ? library->Find(kTransportName, name) : library.status();
    facts.back().found = status.ok();
    facts.back().detail = status.ok() ? absl::StrCat(VersionIn(name()), ", ", library->path())
                                      : std::string(status.message());
  }
  return facts;
}

}  // namespace yuba::runtime
