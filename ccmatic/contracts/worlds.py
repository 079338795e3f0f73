"""The worlds of a link: files beside its laws, each of which is optional.

`packets.h` is the link packet by packet, in C; `fluid.py` is the link as arrays. A model without such a file has that
of the model of which it is a subclass.
"""

import inspect
from pathlib import Path

from ccmatic.contracts.model import Model


def folders(model: Model) -> list[Path]:
    """Return the folders of a model's class and of its base classes, the nearest first."""
    return list(dict.fromkeys(_folder(kind) for kind in type(model).__mro__ if issubclass(kind, Model)))


def _folder(kind: type) -> Path:
    """Where a class is defined. Python cannot tell of a class of a file that was loaded by its path, but its functions
    can."""
    written = next((member.__code__ for member in vars(kind).values() if hasattr(member, "__code__")), None)
    return Path(written.co_filename if written else inspect.getfile(kind)).parent
