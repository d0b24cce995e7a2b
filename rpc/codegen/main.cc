// SPDX-License-Identifier: MIT
// protoc-gen-corolane: `protoc --corolane_out=DIR` finds it by that name.
#include <google/protobuf/compiler/plugin.h>

#include "rpc/codegen/generator.h"

int main(int argc, char** argv) {
  const corolane::rpc::codegen::Generator generator;
  return google::protobuf::compiler::PluginMain(argc, argv, &generator);
}
