"""The workbench: a local web page for experiments with counterexamples."""

from ccmatic.workbench.files import begin
from ccmatic.workbench.serving import serve

__all__ = ["begin", "serve"]
