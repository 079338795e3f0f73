"""Whether data are as a JSON Schema of the records says."""

from jsonschema import Draft202012Validator

from ccmatic.records.schemas import schemas

SCHEMAS = schemas()


def validate(data, kind):
    """Raise a ValidationError unless they are."""
    Draft202012Validator(SCHEMAS[kind]).validate(data)
