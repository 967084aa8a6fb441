"""Prints the functions of the Python files that standard input names, one JSON object a
file: {"file", "functions": [[name, first line, last line]]} or {"file", "error": true}.
Functions inside of functions are left out; what a condition or a try declares counts."""
import ast
import json
import sys
import warnings

warnings.simplefilter("ignore")


def functions(node, owner, found):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.append([owner + child.name, child.lineno, child.end_lineno])
        elif isinstance(child, ast.ClassDef):
            functions(child, owner + child.name + ".", found)
        elif isinstance(child, (ast.If, ast.Try, ast.With, ast.ExceptHandler)):
            functions(child, owner, found)
    return found


for file in sys.stdin.read().splitlines():
    try:
        with open(file, encoding="utf-8") as f:
            tree = ast.parse(f.read())
    except (SyntaxError, ValueError):
        print(json.dumps({"file": file, "error": True}))
        continue
    print(json.dumps({"file": file, "functions": functions(tree, "", [])}))
