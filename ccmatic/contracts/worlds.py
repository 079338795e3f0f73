"""The worlds of a link: optional files beside its laws, which other tools use to simulate or fit the link.

`packets.h` simulates the link packet by packet, in C code. `fluid.py` simulates the link on arrays. `logs.py` computes
the jitter with which the link explains a packet log. A model without such a file uses the file of its base class.
"""

import inspect
from functools import cache
from pathlib import Path
from types import ModuleType

from ccmatic.base import InputError, definitions
from ccmatic.contracts.model import Model

#: The names of the files.
PACKETS, FLUID, LOGS = "packets.h", "fluid.py", "logs.py"


def world(model: Model, name: str) -> Path:
    """Return the file of a model for one of the worlds."""
    places = folders(model)
    file = next((place / name for place in places if (place / name).is_file()), None)
    if file is None:
        raise InputError(f"the model {model.name} has no {name}; expected one beside its laws, in {places[0]}")
    return file


@cache
def load_fluid(model: Model) -> ModuleType:
    """Return a model's fluid.py, which has the functions that `ccmatic.contracts.fluid` describes."""
    return _load(world(model, FLUID), "begin", "advance")


@cache
def load_logs(model: Model) -> ModuleType:
    """Return a model's logs.py, which has the functions that `ccmatic.contracts.rows` describes."""
    return _load(world(model, LOGS), "least_jitter")


def _load(file: Path, *functions: str) -> ModuleType:
    """Run a file and return its module. Raise InputError if the file lacks one of the functions."""
    module: ModuleType = definitions.run_file(f"{file.parent.name}_{file.stem}", file)
    for name in functions:
        if not hasattr(module, name):
            raise InputError(f"it defines no {name}; expected a function of this name", str(file))
    return module


def folders(model: Model) -> list[Path]:
    """Return the folders of a model's class and of its base classes, the nearest class first."""
    kinds = [kind for kind in type(model).__mro__ if issubclass(kind, Model) and kind is not Model]
    return list(dict.fromkeys(map(_folder, kinds)))


def _folder(kind: type) -> Path:
    """Return the folder that defines a class.

    Python does not record it for a class whose file was loaded by its path, but the functions of the class record it.
    """
    written = next((member.__code__ for member in vars(kind).values() if hasattr(member, "__code__")), None)
    return Path(written.co_filename if written else inspect.getfile(kind)).parent
