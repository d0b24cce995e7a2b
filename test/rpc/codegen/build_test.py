#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests corolane_add_protos() in a separate project: what the build repeats after a change, and the
errors for wrong calls.

Called with the path of the plugin. The project has two folders of protos, each with its own import
root. Its sources are preprocessed instead of compiled: their dependencies are the same, and other
tests compile them.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
PLUGIN = "protoc-gen-corolane"

PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(scratch LANGUAGES CXX)
find_package(Protobuf REQUIRED)
set(CMAKE_CXX_COMPILE_OBJECT
  "<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -E -o <OBJECT> <SOURCE>")

include({REPOSITORY}/tools/cmake/corolane.cmake)
target_include_directories(corolane_compile_options INTERFACE {REPOSITORY})
include({REPOSITORY}/rpc/codegen/corolane_add_protos.cmake)
add_executable(corolane::protoc-gen-corolane IMPORTED)
set_target_properties(corolane::protoc-gen-corolane PROPERTIES
  IMPORTED_LOCATION ${{PROJECT_SOURCE_DIR}}/protoc-gen-corolane)
foreach(module rpc framework)
  add_library(corolane_${{module}} INTERFACE)
  add_library(corolane::${{module}} ALIAS corolane_${{module}})
endforeach()

corolane_add_protos(TARGET rpc_protos
  PROTOS {REPOSITORY}/rpc/options.proto IMPORT_ROOT {REPOSITORY})
corolane_add_protos(TARGET shared_protos
  PROTOS shared/money.proto shared/colour.proto IMPORT_ROOT shared)
corolane_add_protos(TARGET shop_protos
  PROTOS protos/shop/shop.proto protos/shop/stock.proto IMPORT_ROOT protos)
corolane_module(user SOURCES user.cc USES shop_protos)
"""

FILES = {
    "CMakeLists.txt": PROJECT,
    "shared/money.proto": """
syntax = "proto3";
package shared;
message Money { int64 cents = 1; }
""",
    "shared/colour.proto": """
syntax = "proto3";
package shared;
message Colour { uint32 rgb = 1; }
""",
    "protos/shop/stock.proto": """
syntax = "proto3";
package shop;
import "money.proto";
// An article in stock.
message Article { shared.Money price = 1; }
""",
    "protos/shop/shop.proto": """
syntax = "proto3";
package shop;
import "rpc/options.proto";
import "shop/stock.proto";
service Shop {
  // Sells it.
  rpc Buy(Article) returns (Article) { option (corolane.method).timeout = "1s"; }
}
// Not used by the service.
message Coupon {}
""",
    "user.cc": '#include "shop/shop.corolane.h"\n',
}


def in_project(folder, *command):
    process = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    return process.returncode, process.stdout + process.stderr


class Project:
    def __init__(self, folder):
        self.folder = Path(folder)
        for name, text in FILES.items():
            self.write(name, text)
        shutil.copy(PLUGIN, self.folder / "protoc-gen-corolane")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def replace(self, name, old, new):
        text = (self.folder / name).read_text()
        if old not in text:
            raise AssertionError(f"there is no {old!r} in {name}")
        self.write(name, text.replace(old, new))

    def configure(self):
        return in_project(self.folder, "cmake", "-G", "Ninja", "-S", ".", "-B", "build")

    def build(self):
        """The generated and the compiled files, as two sets of names."""
        status, output = in_project(self.folder, "ninja", "-C", "build")
        if status != 0:
            raise AssertionError(output)
        generated = re.findall(r"\] Generating (\S+)", output)
        compiled = re.findall(r"\] Building CXX object \S*/(\w+(?:\.\w+)?)\.cc\.o", output)
        return set(generated), set(compiled)


SHOP = {"shop/shop.pb.{h,cc}", "shop/shop.corolane.{h,cc}"}
STOCK = {"shop/stock.pb.{h,cc}"}


class RebuildTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built_folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.built_folder.cleanup)
        cls.project = Project(cls.built_folder.name)
        status, output = cls.project.configure()
        if status != 0:
            raise AssertionError(output)
        cls.first_build = cls.project.build()

    def setUp(self):
        self.addCleanup(self.restore)

    def restore(self):
        for name, text in FILES.items():
            if (self.project.folder / name).read_text() != text:
                self.project.write(name, text)
        self.project.build()

    def assert_rebuilds(self, generated, compiled):
        self.assertEqual(self.project.build(), (generated, compiled))
        self.assertEqual(self.project.build(), (set(), set()), "the second time")

    def test_the_first_build_makes_everything_once(self):
        generated, compiled = self.first_build
        options, shared = "rpc/options.pb.{h,cc}", ("money.pb.{h,cc}", "colour.pb.{h,cc}")
        self.assertEqual(generated, {options, *shared, *STOCK, *SHOP})
        self.assertEqual(
            compiled,
            {"options.pb", "money.pb", "colour.pb", "stock.pb", "shop.pb", "shop.corolane", "user"},
        )
        self.assert_rebuilds(set(), set())

    def test_a_comment_that_no_service_needs_compiles_nothing(self):
        self.project.replace("protos/shop/shop.proto", "Not used", "Not used at all")
        self.assert_rebuilds(SHOP, set())

    def test_a_comment_on_a_message_compiles_the_method_table(self):
        self.project.replace("protos/shop/stock.proto", "An article", "One article")
        self.assert_rebuilds(STOCK | SHOP, {"shop.corolane"})

    def test_a_comment_on_a_method_compiles_what_includes_it(self):
        self.project.replace("protos/shop/shop.proto", "Sells it.", "Sells one.")
        self.assert_rebuilds(SHOP, {"shop.corolane", "user"})

    def test_an_option_compiles_the_method_table_and_its_users(self):
        self.project.replace("protos/shop/shop.proto", '"1s"', '"2s"')
        # The descriptor, the method table, and the comment above the method change.
        self.assert_rebuilds(SHOP, {"shop.pb", "shop.corolane", "user"})

    def test_a_field_compiles_all_that_includes_its_message(self):
        self.project.replace("protos/shop/stock.proto", "price = 1;", "price = 1; int32 age = 2;")
        self.assert_rebuilds(STOCK | SHOP, {"stock.pb", "shop.pb", "shop.corolane", "user"})

    def test_an_imported_file_reaches_those_that_import_it(self):
        self.project.replace("shared/money.proto", "cents = 1;", "cents = 1; int32 mills = 2;")
        self.assert_rebuilds(
            {"money.pb.{h,cc}"} | STOCK | SHOP,
            {"money.pb", "stock.pb", "shop.pb", "shop.corolane", "user"},
        )
        self.project.replace("shared/colour.proto", "rgb = 1;", "rgb = 1; uint32 alpha = 2;")
        self.assert_rebuilds({"colour.pb.{h,cc}"}, {"colour.pb"})

    def test_a_plugin_that_makes_the_same_compiles_nothing(self):
        os.utime(self.project.folder / "protoc-gen-corolane")
        self.assert_rebuilds({"shop/shop.corolane.{h,cc}"}, set())

    def test_a_first_service_is_noticed(self):
        self.project.replace(
            "protos/shop/stock.proto",
            "message Article",
            "service /* once */ Stock\n// more\n{ rpc Find(Article) returns (Article); }\n"
            "message Article",
        )
        self.project.write("user.cc", '#include "shop/stock.corolane.h"\n')
        generated, compiled = self.project.build()
        self.assertIn("shop/stock.corolane.{h,cc}", generated)
        self.assertTrue({"stock.corolane", "user"} <= compiled, compiled)

    def test_a_problem_is_reported_with_its_place(self):
        self.project.replace("protos/shop/shop.proto", '"1s"', '"1 s"')
        with self.assertRaisesRegex(AssertionError, r"shop/shop.proto:8:40: Buy: timeout: read "):
            self.project.build()


class DescriptorsTest(unittest.TestCase):
    def test_descriptors_have_all_imports_and_follow_their_changes(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        project = Project(folder.name)
        shop = "IMPORT_ROOT protos"
        project.replace("CMakeLists.txt", f"{shop})", f"{shop} DESCRIPTORS web/shop.binpb)")
        status, output = project.configure()
        self.assertEqual(status, 0, output)
        self.assertIn("shop.binpb", project.build()[0])
        file = project.folder / "web/shop.binpb"
        for name in (b"shop/shop.proto", b"shop/stock.proto", b"money.proto", b"rpc/options.proto"):
            self.assertIn(name, file.read_bytes())
        self.assertEqual(project.build()[0], set())
        project.replace("shared/money.proto", "cents = 1;", "cents = 1; int32 mills = 2;")
        self.assertIn("shop.binpb", project.build()[0])
        self.assertIn(b"mills", file.read_bytes())


class LinkTest(unittest.TestCase):
    """The modules that the library of a file passes on."""

    PROTOS = {
        "messages": "message A {}",
        "services": "service A {}",
        "objects": 'service A { option (corolane.object).state = "M"; }',
        "spread": "service A { option /* of it */ ( .corolane.object // such\n) = {} ; }",
        "neighbours": 'package corolane.x; service A { option (object).state = "M"; }',
        "remarks": "service A { /* option (corolane.object) */ } // option (corolane.object)",
        "methods": "message object {} service A { rpc B(object) returns (object); }",
    }

    def test_the_content_of_a_file_decides_what_it_links(self):
        with tempfile.TemporaryDirectory() as folder:
            project = Project(folder)
            for name, text in self.PROTOS.items():
                project.write(f"{name}.proto", text)
                project.replace(
                    "CMakeLists.txt",
                    "corolane_module(user",
                    f"corolane_add_protos(TARGET {name} PROTOS {name}.proto)\n"
                    f"get_target_property(links corolane_{name} INTERFACE_LINK_LIBRARIES)\n"
                    f'message(STATUS "{name}: ${{links}}")\ncorolane_module(user',
                )
            status, output = project.configure()
        self.assertEqual(status, 0, output)
        links = dict(re.findall(r"^-- (\w+): (\S*protobuf\S*)$", output, re.MULTILINE))
        used = {name: set(re.findall(r"corolane::(\w+)", links[name])) for name in self.PROTOS}
        with_objects = dict.fromkeys(("objects", "spread", "neighbours"), {"rpc", "framework"})
        without = dict.fromkeys(("services", "remarks", "methods"), {"rpc"})
        self.assertEqual(used, {"messages": set(), **without, **with_objects})


class MisuseTest(unittest.TestCase):
    """The output of cmake for a call, without its line breaks."""

    def configured(self, text, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            (Path(folder) / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\n"
                "project(scratch LANGUAGES NONE)\n"
                f"include({REPOSITORY}/rpc/codegen/corolane_add_protos.cmake)\n"
                "function(corolane_module name)\n"
                "  add_library(corolane_${name} INTERFACE)\n"
                "endfunction()\n"
                "add_library(corolane_taken INTERFACE)\n" + text
            )
            status, output = in_project(folder, "cmake", "-G", "Ninja", "-S", ".", "-B", "build")
            return status, " ".join(output.replace(str(Path(folder).resolve()), "DIR").split())

    def assert_told(self, call, message, files={}):
        status, output = self.configured(call, {"a.proto": "", "b.txt": "", **files})
        self.assertNotEqual(status, 0)
        self.assertIn(message, output)

    def test_an_unknown_argument(self):
        self.assert_told(
            "corolane_add_protos(TARGET a PROTO a.proto)",
            'corolane_add_protos(TARGET a): "PROTO a.proto" belongs to none of '
            "TARGET, PROTOS, USES, IMPORT_ROOT, FRAMEWORK and DESCRIPTORS",
        )

    def test_a_missing_argument(self):
        as_in = " is missing, as in TARGET chess_protos PROTOS chess.proto"
        self.assert_told("corolane_add_protos(PROTOS a.proto)", "TARGET" + as_in)
        self.assert_told("corolane_add_protos(TARGET a)", "PROTOS" + as_in)
        self.assert_told("corolane_add_protos(TARGET a PROTOS USES b)", "PROTOS" + as_in)

    def test_a_name_that_is_taken(self):
        self.assert_told(
            "corolane_add_protos(TARGET taken PROTOS a.proto)",
            "there is a corolane_taken already; choose another name",
        )

    def test_a_file_that_is_missing_or_not_a_proto(self):
        self.assert_told(
            "corolane_add_protos(TARGET a PROTOS a.proto c.proto)",
            "PROTOS: there is no DIR/c.proto",
        )
        self.assert_told(
            "corolane_add_protos(TARGET a PROTOS a.proto b.txt)",
            'PROTOS: "b.txt" is not a .proto file',
        )

    def test_a_file_beside_the_import_root(self):
        self.assert_told(
            "corolane_add_protos(TARGET a PROTOS a.proto IMPORT_ROOT protos)",
            "PROTOS: DIR/a.proto is not below DIR/protos, where imports begin; "
            "say where with IMPORT_ROOT",
        )

    def test_a_file_of_another_library(self):
        self.assert_told(
            "set_property(GLOBAL PROPERTY _corolane_owner_of_a.proto first)\n"
            "corolane_add_protos(TARGET a PROTOS a.proto)",
            "a a.proto is part of first already; link that, or give this a path of its own",
        )

    def test_an_import_of_no_library(self):
        self.assert_told(
            "corolane_add_protos(TARGET c PROTOS c.proto)",
            "DIR/c.proto imports a.proto, which is part of no library yet; "
            "declare one before, or add it to PROTOS",
            files={"c.proto": '// import "none.proto";\nimport public "a.proto";'},
        )


if __name__ == "__main__":
    PLUGIN = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
