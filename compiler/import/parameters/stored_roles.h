// Which stored values of a file are parameters: the file's word first, the operators that read them
// where it says nothing.
//
// In a file of PyTorch's exporter of today, what it calls PARAMETER is one, and what it calls
// BUFFER is none. What folding has made of parameters alone, as a transpose, is one too (folded.h).
// Of the others those are none that a node reads which the exporter wrote; what only nodes without
// a word of it read, as a head that was added by hand, is judged as in a file without any word.
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_STORED_ROLES_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_STORED_ROLES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/file/file_graph.h"
#include "compiler/import/parameters/export_record.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// What a file says of its stored values, and of what it lacks.
struct StoredRoles {
  std::map<std::string, StoredRole> of;  // by the names of initializers that needed nodes read
  // Initializers that are one parameter in two forms: the second's value is the first's.
  std::vector<std::pair<std::string, std::string>> same;
  // Parameters of the user's program that nodes were made of and that no stored value is, and what
  // is known of each, perhaps nothing: "n2.weight", "stored once, as n1.weight".
  std::map<std::string, std::string> missing;
  // Of the same, where the file has one initializer for several equal parameters: its name by
  // theirs. A tie of the two is what the file has.
  std::map<std::string, std::string> merged;
  std::vector<std::string> unused;  // parameters that the file has not and no node was made of
  std::vector<std::string> notes;  // for people: how many of each kind there are; what was not read
};

StoredRoles FindStoredRoles(const ::onnx::GraphProto& graph, const ExportRecord& record,
                            const FileGraph& order);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_STORED_ROLES_H_
