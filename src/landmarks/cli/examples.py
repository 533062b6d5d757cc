"""The examples at the end of each help text."""

EXAMPLES = {
    "select": """examples:
  landmarks select my.csv -k 10 --standardize
  landmarks select my.csv -k 0.1 --id name --numeric-only -o chosen.csv
  landmarks select my.xlsx --error 0.05 --center --scale --report page.html
  landmarks select points.npy -k 50 --kernel rbf
""",
    "compare": """examples:
  landmarks compare my.csv -k 10 --standardize
  landmarks compare my.csv -k 5,10,20 --methods greedy,swap,uniform --plot errors.png
""",
    "demo": """example:
  landmarks demo
""",
    "data": """examples:
  landmarks data list
  landmarks data fetch
  landmarks data check --data-dir my-folder
""",
    "reproduce": """examples:
  landmarks reproduce figure3 --quick
  landmarks reproduce all --data-dir my-folder
""",
    "info": """examples:
  landmarks info
  landmarks info --json
""",
    "completion": """example:
  landmarks completion bash > ~/.local/share/bash-completion/completions/landmarks
""",
}
