# SPDX-License-Identifier: BSD-3-Clause
"""The lists SAME and DIFFERS of a test name every field of a struct. Where a
test compares several structs, each list begins with the struct's name.

usage: fields.py TEST HEADER STRUCT
"""

import re
import sys

test, header, struct = sys.argv[1:]


def code(path):
    with open(path, encoding="utf-8") as f:
        return re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)


body = re.search(r"^struct %s \{\n(.*?)^\}" % struct, code(header),
                 re.M | re.S)[1]
# of a union the first member stands for all
body = re.sub(r"union \{\s*([^;]*;).*?\};", r"\1", body, flags=re.S)
body = re.sub(r"RL_ALIGNED\(\w+\)", "", body)
# a flexible array is no field
have = set(re.findall(r"(\w+)\s*(?:\[[^][]+\])?[,;]", body))
lists = [re.findall(r"#define %s(?:SAME|DIFFERS)\(X\)((?:.*\\\n)*.*)" % of,
                    code(test)) for of in (struct.upper() + "_", "")]
lists = lists[0] or lists[1]
named = set(re.findall(r"X\((\w+)\)", "".join(lists)))
if not have or have != named:
    sys.exit("%s: %s" % (test, " ".join(sorted(have ^ named))))
