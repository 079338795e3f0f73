"""Definitions of other installed packages, by name: their entry points in the groups `ccmatic.models` and so on."""

import importlib.util

from ccmatic.base.errors import InputError, blamed, register

#: The kinds of definitions that a package can add by an entry point NAME = module:OBJECT in the group
#: `ccmatic.KIND`.
KINDS = ("models", "properties", "templates", "proofs", "targets", "flows", "agents", "adaptors")


def points(kind, shipped):
    """Return the entry points of a kind by name, without running any code. A name may be defined once only."""
    from importlib.metadata import entry_points  # takes 20 ms, and few commands need it

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
    return f"the package {point.dist.name} {point.dist.version}"


def load(point):
    """Return the object of an entry point. If its code raises an error, the error message names the package."""
    try:
        register(file(point))
        with blamed():
            return point.load()
    except (ImportError, AttributeError, SyntaxError) as error:
        raise InputError(f"{origin(point)} cannot give '{point.name}': {error}") from None


def file(point):
    """Return the file that defines an entry point's object."""
    spec = importlib.util.find_spec(point.module)
    if spec is None or spec.origin is None:
        raise InputError(f"{origin(point)} has no module {point.module}, which should define '{point.name}'")
    return spec.origin
