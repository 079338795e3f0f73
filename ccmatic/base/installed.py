"""What other installed packages define, by name: their entry points in the groups `ccmatic.models` and so on."""

import importlib.util

from ccmatic.base import blame
from ccmatic.base.errors import InputError

#: What a package can add: an entry point NAME = module:OBJECT in the group `ccmatic.KIND`.
KINDS = ("models", "properties", "templates", "proofs", "targets", "flows", "agents")


def points(kind, shipped):
    """The entry points of a kind, by name; no code is run. Raises InputError for a name that is in `shipped`, or that
    two packages give."""
    from importlib.metadata import entry_points  # 20 ms, for which few commands have a use

    by_name = {}
    for point in entry_points(group=f"ccmatic.{kind}"):
        if point.name in shipped:
            raise InputError(
                f"{origin(point)} has a '{point.name}' among its {kind}, and so has ccmatic; expected a name of its "
                "own: remove the package, or ask its authors"
            )
        if point.name in by_name:
            both = f"{origin(by_name[point.name])} and {origin(point)}"
            raise InputError(f"{both} both define '{point.name}' in {kind}; expected one of them: remove the other")
        by_name[point.name] = point
    return by_name


def origin(point):
    """The package of an entry point, for people."""
    return f"the package {point.dist.name} {point.dist.version}"


def load(point):
    """The object of an entry point: its package's code is run, and blamed for what comes of it. Raises InputError."""
    try:
        blame.register(file(point))
        with blame.blamed():
            return point.load()
    except (ImportError, AttributeError, SyntaxError) as error:
        raise InputError(f"{origin(point)} cannot give '{point.name}': {error}") from None


def file(point):
    """The file that defines it. Raises InputError."""
    spec = importlib.util.find_spec(point.module)
    if spec is None or spec.origin is None:
        raise InputError(f"{origin(point)} has no module {point.module}, which is to define '{point.name}'")
    return spec.origin
