"""validate.py SCHEMA DOCUMENT: prints what the schema says against it."""
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    document = json.load(file)
validator = jsonschema.Draft4Validator(schema)
for error in validator.iter_errors(document):
    print("/".join(map(str, error.absolute_path)), error.message[:200])
