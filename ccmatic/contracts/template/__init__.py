"""Templates: controllers with holes, and the values that may fill each hole.

A file in templates/ defines a `TEMPLATE`: a `Branch`, or a `Sketch` of controllers with state. `contract_sketch` makes
a Sketch of controllers whose rate falls with the delay.
"""

from ccmatic.contracts.template.branch import Branch, Form, linear_forms, value_of
from ccmatic.contracts.template.ladder import contract_sketch
from ccmatic.contracts.template.sketch import Sketch
from ccmatic.contracts.template.space import Template

__all__ = ["Branch", "Form", "Sketch", "Template", "contract_sketch", "linear_forms", "value_of"]
