// Where cuBLAS, cuDNN and NCCL may lie besides the loader's path: wheels of Python put them into
// site-packages/nvidia/*/lib, where no loader looks.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_FOLDERS_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_FOLDERS_H_

#include <string>
#include <vector>

namespace yuba::cuda {

// A folder in which libraries are looked for before all others (`--cuda-libs`). To be called before
// any library is opened: what is open stays.
void SetLibraryFolder(const std::string& folder);

// The folder that was set; empty where none was.
std::string LibraryFolder();

// nvidia/*/lib of the Python environments that the variables VIRTUAL_ENV and CONDA_PREFIX name, of
// that of the first python3 in PATH, and of the system's.
std::vector<std::string> PythonLibraryFolders();

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_FOLDERS_H_
