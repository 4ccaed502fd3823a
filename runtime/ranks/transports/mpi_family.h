// The two families of MPI, which differ in their binary interfaces and launchers. Each includes its
// own <mpi.h>, which says which one it is.
#ifndef YUBA_RUNTIME_RANKS_TRANSPORTS_MPI_FAMILY_H_
#define YUBA_RUNTIME_RANKS_TRANSPORTS_MPI_FAMILY_H_

#include <mpi.h>

#include <string>

namespace yuba::runtime {

// Why this process was not started by a launcher of this family, in words for the user; empty where
// it was. Without one MPI says of each process that it is alone, and no error.
std::string WrongLauncher();

// What the family needs of the loader before MPI_Init.
void PrepareLibrary();

// "Open MPI 4.1.4". Starts nothing.
std::string LibraryName();

// "what MPI says", of an error code.
std::string ErrorText(int code);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_TRANSPORTS_MPI_FAMILY_H_
