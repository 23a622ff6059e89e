"""Bash's mutation matrix."""

from __future__ import annotations

from tests.codeindex.mutations import Matrix, Mutation

SOURCE = """\
#!/bin/bash
set -euo pipefail

RETRIES=3

# Fetches a page.
fetch() {
  local url="$1" retries="${2:-3}"
  for ((attempt = 0; attempt < retries; attempt++)); do
    if curl -fsS --max-time 5 "$url"; then
      return 0
    fi
    # wait a little
    sleep $((2 ** attempt))
  done
  echo "no answer from $url" >&2
  return 1
}

total() {
  awk '{ sum += $1 * $2 } END { print sum }' "$1"
  shipping "$1"
}

shipping() {
  if [ "$(wc -l <"$1")" -lt 3 ]; then echo 5; else echo 0; fi
}

outer() {
  inner() {
    printf '%s\\n' "$(($1 * 2))"
  }
  cat <<EOF
  header $1
EOF
  inner "$1"
}
"""

PATH = "bin/orders.sh"
FETCH = SOURCE[SOURCE.index("# Fetches") : SOURCE.index("total()")]
TOTAL = SOURCE[SOURCE.index("total()") : SOURCE.index("shipping()")]
SHIPPING = SOURCE[SOURCE.index("shipping()") : SOURCE.index("outer()")]

EMPTY = Matrix(PATH, SOURCE, {})
edit = EMPTY.edit

REFORMATTED = (
    SOURCE.replace("    ", "\t\t").replace("fetch() {", "function fetch {").replace("total() {", "function total()\n{")
)
REFORMATTED = REFORMATTED.replace("; then echo 5; else echo 0; fi", "\n  then\n    echo 5\n  else\n    echo 0\n  fi")
REFORMATTED = REFORMATTED.replace('curl -fsS --max-time 5 "$url"', 'curl -fsS \\\n      --max-time 5 \\\n      "$url"')

MUTATIONS = {
    "rename": edit("fetch() {", "download() {", fetch=f"moved: renamed to download -> {PATH}::download", total="fresh"),
    "move": Mutation(
        {PATH: SOURCE.replace(FETCH, ""), "bin/web.sh": FETCH},
        {"fetch": "moved: moved to bin/web.sh -> bin/web.sh::fetch", "total": "fresh"},
    ),
    "reformat": Mutation(
        {PATH: REFORMATTED}, {name: "fresh" for name in ("fetch", "total", "shipping", "outer", "outer.inner")}
    ),
    "comment": edit("# wait a little", "# wait\n    # some more", fetch="fresh", total="fresh"),
    "documentation": edit("# Fetches a page.", "# Fetches it.", fetch="fresh"),
    "body": edit("2 ** attempt", "attempt", fetch="drifted: body changed", total="fresh", outer="fresh"),
    "statements": edit("      return 0\n", "      return\n      0\n", fetch="drifted"),
    "words": edit("--max-time 5", "--max-time5", fetch="drifted"),
    "quotes": edit('"no answer from $url"', "'no answer from $url'", fetch="drifted"),
    "heredoc": edit("  header $1", "  footer $1", outer="drifted", outer__inner="fresh"),
    "redirect": edit("wc -l <", "wc -w <", shipping="drifted", total="fresh"),
    "constant": edit("RETRIES=3", "RETRIES=5", RETRIES="drifted", fetch="fresh"),
    "default": edit("${2:-3}", "${2:-4}", fetch="drifted"),
    "delete": Mutation(
        {PATH: SOURCE.replace(FETCH, "").replace(SHIPPING, "")},
        {"fetch": "orphaned: fetch deleted", "shipping": "orphaned", "total": "fresh", "outer": "fresh"},
    ),
    "split": Mutation(
        {PATH: None, "bin/total.sh": TOTAL + SHIPPING, "bin/rest.sh": SOURCE.replace(TOTAL + SHIPPING, "")},
        {
            "total": "moved -> bin/total.sh::total",
            "shipping": "moved -> bin/total.sh::shipping",
            "outer.inner": "moved -> bin/rest.sh::outer.inner",
        },
    ),
    "swap": Mutation(
        {PATH: SOURCE.replace(TOTAL, "").replace(SHIPPING, SHIPPING + TOTAL)}, {"total": "fresh", "shipping": "fresh"}
    ),
    "overload": edit("total() {", "total() { :; }\n\ntotal() {", total="fresh", fetch="fresh"),
    "nested": edit("$1 * 2))", "$1 * 3))", outer__inner="drifted", outer="drifted", fetch="fresh"),
    "syntax_error": edit("else echo 0; fi", "else echo 0", shipping="unverified", fetch="fresh", total="fresh"),
    "conflict": edit(
        "    sleep $((2 ** attempt))\n",
        "<<<<<<< HEAD\n    sleep $((2 ** attempt))\n=======\n    sleep 1\n>>>>>>> other\n",
        fetch="unverified: syntax error",
        total="fresh",
        outer="fresh",
    ),
    "line_endings": Mutation({PATH: SOURCE.replace("\n", "\r\n")}, {"total": "fresh"}),
}

# a function's parameters are in its body; nothing stands before a function
MATRIX = EMPTY._replace(mutations=MUTATIONS, without=("parameter", "decorator"))
