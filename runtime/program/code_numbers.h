// The numbers of a program's code (code_numbers.proto): their field of Program, written and read.
//
//   program::CodeNumbers numbers;
//   numbers.add_numbers()->set_name("epsilon");
//   program::AddCodeNumbers(numbers, program);
//   program::CodeNumbersOf(program).numbers(0).name();  // "epsilon"
#ifndef YUBA_RUNTIME_PROGRAM_CODE_NUMBERS_H_
#define YUBA_RUNTIME_PROGRAM_CODE_NUMBERS_H_

#include "runtime/program/code_numbers.pb.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

// Adds to those that the program has.
void AddCodeNumbers(const CodeNumbers& numbers, Program& program);

// None where the program has none. Numbers of a damaged program count as not there: its checksum is
// the reader's matter (program_file.h). Each has a type of ours and the bytes of one element.
CodeNumbers CodeNumbersOf(const Program& program);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_CODE_NUMBERS_H_
