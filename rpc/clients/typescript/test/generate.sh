#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Generates the clients that the tests use into test/gen. Called with the root of the tree, in the
# folder of the package.
set -euo pipefail
mkdir -p test/gen
protoc "-I$1" --plugin=protoc-gen-es=node_modules/.bin/protoc-gen-es --es_out=test/gen \
  --es_opt=target=ts,import_extension=js rpc/options.proto services/chess/chess.proto \
  services/chess/game.proto test/rpc/echo.proto test/rpc/talk.proto
