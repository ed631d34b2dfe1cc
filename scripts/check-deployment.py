"""Kubernetes objects by the schemas of the API, and Bicep files by their grammar."""

import sys
from pathlib import Path

import kubernetes_validate
import tree_sitter
import tree_sitter_bicep
import yaml

deploy = Path(__file__).parent.parent / "deploy"
findings: list[str] = []

# KEDA's kinds are a third party's, and kustomize's own file is no object.
foreign = ("keda.sh/", "kustomize.config.k8s.io/")
checked = 0
for file in sorted((deploy / "kubernetes").glob("*.yaml")):
    for document in yaml.safe_load_all(file.read_text()):
        if document["apiVersion"].startswith(foreign):
            continue
        checked += 1
        try:
            kubernetes_validate.validate(document, "1.31", strict=True)
        except kubernetes_validate.ValidationError as error:
            where = "/".join(str(each) for each in error.path)
            findings.append(f"{file.name}: {document['kind']} {where}: {error.message}")

parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bicep.language()))
for file in sorted((deploy / "azure").glob("*.bicep")):
    checked += 1
    nodes = [parser.parse(file.read_bytes()).root_node]
    while nodes:
        node = nodes.pop()
        if node.type == "ERROR" or node.is_missing:
            line, column = node.start_point
            findings.append(f"{file.name}:{line + 1}:{column + 1}: cannot be parsed")
        else:
            nodes.extend(node.children)

print("\n".join(findings) or f"{checked} checked, no findings")
sys.exit(1 if findings else 0)
