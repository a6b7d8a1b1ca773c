# SPDX-License-Identifier: Apache-2.0
"""A description that cannot be is refused with an error that names the layout and the field, and nothing is written."""
import unittest

from generator import GeneratorError, generate

GOOD = """
[abi]
major = 1
minor = 0

[[enum]]
name = "colour"
width = 2
text = "Colours."
values = [["red", "Red."], ["green", "Green."]]

[[layout]]
name = "first"
words = 2
text = "One."
fields = [
  [["alpha", 16, "A"], ["beta", 2, "B", "colour"]],
  [["gamma", 64, "C"]],
]

[[layout]]
name = "second"
words = 3
prefix = ["first", 1]
text = "Two."
fields = [[["delta", 1, "D"]]]

[registers]
bytes = 64
text = "Registers."

[[register]]
name = "magic"
offset = 0x00
access = "ro"
reset = 1
text = "Magic."

[[register]]
name = "control"
offset = 0x04
access = "rw"
text = "Control."
"""

# Words of C++20 and of SystemVerilog that are no names.
KEYWORDS = """alignas alignof and asm auto bool break case catch char class concept const constexpr continue co_await
decltype default delete do double else enum explicit export extern false float for friend goto if inline int long
mutable namespace new noexcept not nullptr operator or private protected public register requires return short signed
sizeof static struct switch template this thread_local throw true try typedef typeid typename union unsigned using
virtual void volatile while xor always assert assign begin bit buf byte checker clocking cover cross disable edge end
endmodule event final force fork function generate genvar import initial inout input inside integer interface join
local logic longint module negedge output package packed parameter posedge priority program property pure rand real
ref reg release repeat restrict sequence shortint signed static strong string supply0 supply1 table tagged task time
timeunit tri type unique use var wait weak wire with within wor""".split()


class Refused(unittest.TestCase):
    def refused(self, old: str, new: str, *named: str):
        """The description with this change is refused, and the error names all of these."""
        self.assertIn(old, GOOD)
        with self.assertRaises(GeneratorError) as caught:
            generate(GOOD.replace(old, new, 1))
        text = str(caught.exception)
        for name in named:
            self.assertIn(name, text)
        self.assertEqual(len(text.splitlines()), 1, text)

    def test_nothing_of_a_good_description(self):
        for text in generate(GOOD):
            self.assertIn("alpha", text)

    # Fields.

    def test_a_field_past_the_end_of_its_word(self):
        self.refused('["alpha", 16,', '["alpha", 63,', "layout first.beta", "word 0", "65")

    def test_a_width_that_no_field_has(self):
        self.refused('["gamma", 64,', '["gamma", 65,', "layout first.gamma", "65")
        self.refused('["gamma", 64,', '["gamma", 0,', "layout first.gamma", "0")
        self.refused('["gamma", 64,', '["gamma", -1,', "layout first.gamma")
        self.refused('["gamma", 64,', '["gamma", "64",', "layout first.gamma")

    def test_a_field_that_stands_twice(self):
        self.refused('["gamma",', '["alpha",', "layout first", "alpha", "twice")

    def test_a_field_that_a_prefix_has_already(self):
        self.refused('["delta",', '["beta",', "layout second", "beta", "twice")

    def test_a_keyword_of_either_language(self):
        for word in KEYWORDS:
            with self.subTest(word):
                self.refused('["delta",', f'["{word}",', f"layout second.{word}", "keyword")

    def test_a_name_that_is_no_identifier(self):
        for name in ("two-words", "9lives", "", "CamelCase", "_x", "x__y"):
            with self.subTest(name):
                self.refused('["delta",', f'["{name}",', "layout second", repr(name))

    def test_a_name_that_the_generated_code_needs_itself(self):
        for name in ("w0", "w17", "reserved0"):
            with self.subTest(name):
                self.refused('["delta",', f'["{name}",', f"layout second.{name}")

    def test_a_field_with_a_part_missing(self):
        self.refused('["alpha", 16, "A"]', '["alpha", 16]', "layout first", "alpha")

    # Layouts.

    def test_more_words_of_fields_than_the_layout_has(self):
        self.refused("words = 2", "words = 1", "layout first", "2 words of fields", "words = 1")

    def test_a_layout_that_stands_twice(self):
        self.refused('name = "second"', 'name = "first"', "layout first", "twice")

    def test_a_prefix_of_a_layout_that_is_not_there(self):
        self.refused('prefix = ["first", 1]', 'prefix = ["third", 1]', "layout second", "third")
        self.refused('prefix = ["first", 1]', 'prefix = ["first", 9]', "layout second", "first", "9")

    def test_a_layout_with_a_part_missing(self):
        self.refused("words = 3\n", "", "layout second", "words")
        self.refused('name = "second"\n', "", "layout", "name")

    # Values.

    def test_more_values_than_fit(self):
        four_more = '["green", "G."], ["blue", "B."], ["pink", "P."], ["grey", "G."]'
        self.refused('["green", "Green."]', four_more, "enum colour", "5 values", "2 bits")

    def test_an_enum_wider_than_its_storage(self):
        self.refused("width = 2", "width = 9", "enum colour", "9")

    def test_a_value_that_stands_twice(self):
        self.refused('["green", "Green."]', '["red", "Red again."]', "enum colour", "red", "twice")

    def test_a_value_that_is_a_keyword(self):
        self.refused('["green", "Green."]', '["default", "The usual."]', "enum colour", "default", "keyword")

    def test_an_enum_that_stands_twice(self):
        again = '[[enum]]\nname = "colour"\nwidth = 2\ntext = ""\nvalues = [["red", ""]]\n'
        self.refused("[[layout]]", f"{again}[[layout]]", "enum colour", "twice")

    def test_a_field_of_an_enum_that_is_not_there(self):
        self.refused('"B", "colour"', '"B", "shape"', "layout first.beta", "shape")

    def test_a_field_of_another_width_than_its_enum(self):
        self.refused('["beta", 2,', '["beta", 3,', "layout first.beta", "colour", "2 bits", "3")

    # Registers.

    def test_registers_that_overlap(self):
        self.refused("offset = 0x04", "offset = 0x00", "register control", "magic")
        self.refused("offset = 0x04", "offset = 0x02", "register control", "multiple of 4")

    def test_a_register_outside_the_register_file(self):
        self.refused("offset = 0x04", "offset = 0x40", "register control", "0x40")
        self.refused("offset = 0x04", "offset = -4", "register control")

    def test_a_register_that_stands_twice(self):
        self.refused('name = "control"', 'name = "magic"', "register magic", "twice")

    def test_a_register_that_is_a_keyword(self):
        self.refused('name = "control"', 'name = "operator"', "register operator", "keyword")

    def test_a_register_with_a_part_missing(self):
        self.refused("offset = 0x04\n", "", "register control", "offset")

    # The file.

    def test_what_is_no_toml(self):
        self.refused("words = 2", "words = = 2", "abi.toml")

    def test_a_table_that_is_missing(self):
        self.refused("[registers]", "[registres]", "registers")


if __name__ == "__main__":
    unittest.main()
