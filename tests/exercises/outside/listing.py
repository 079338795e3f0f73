"""An export target: the controller as mathematics, for papers."""


def listing(export):
    """The files of an Export, by name."""
    return {f"{export.name}.txt": f"{export.name}, for {export.model.name}\n\n{export.controller.pretty()}\n"}
