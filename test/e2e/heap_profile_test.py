#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The profile of a node's heap, which jemalloc keeps when it is preloaded.

Called with the path of chess_node.
"""

import ctypes.util
import os
import sys
import tempfile
import unittest
import urllib.error

import harness

CHESS_NODE = "chess_node"
SAMPLES = "prof:true,prof_active:true"


class Node(harness.Node):
    """A chess node whose allocator is jemalloc."""

    def __init__(self, folder, options):
        super().__init__(
            *("env", f"LD_PRELOAD={ctypes.util.find_library('jemalloc')}"),
            f"MALLOC_CONF={options}",
            *(CHESS_NODE, "--set", f"node.store.file={folder}/objects.db"),
        )

    def open_profiles(self):
        """The files in memory that the node still holds."""
        folder = f"/proc/{self.process.pid}/fd"
        files = []
        for number in os.listdir(folder):
            try:
                files.append(os.readlink(f"{folder}/{number}"))
            except FileNotFoundError:
                pass  # A connection that has just been closed.
        return [file for file in files if file.startswith("/memfd:heap profile")]


@harness.needs_library("jemalloc")
class HeapProfileTest(unittest.TestCase):
    """What /heap says of jemalloc, with its sampling and without."""

    def start(self, options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        node = Node(folder.name, options)
        self.addCleanup(node.stop)
        self.assertIn("allocator jemalloc", node.page("heap"))
        return node

    def test_a_sampled_heap_has_a_profile(self):
        node = self.start(SAMPLES)
        self.assertIn("/heap?format=profile is a profile for jeprof", node.page("heap"))
        profile = node.page("heap?format=profile")
        self.assertRegex(profile, r"\Aheap_v2/\d+\n")
        self.assertIn("MAPPED_LIBRARIES:", profile)
        # A map of another process would not name the functions of this one.
        self.assertIn(os.path.basename(CHESS_NODE), profile)

    def test_a_profile_that_was_sent_holds_no_memory(self):
        node = self.start(SAMPLES)
        for _ in range(3):
            node.page("heap?format=profile")
        self.assertEqual(node.open_profiles(), [])

    def test_a_heap_without_sampling_says_how_to_sample(self):
        node = self.start("prof:false")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            node.page("heap?format=profile")
        with refused.exception as reply:
            self.assertEqual(reply.code, 503)
            self.assertIn("MALLOC_CONF=prof:true", reply.read().decode())


if __name__ == "__main__":
    CHESS_NODE = sys.argv.pop(1)
    unittest.main()
