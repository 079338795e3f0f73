"""Observations, rewards and actions as Python runs them on floats of 64 bits: the files' own functions."""

import math

from ccmatic.base import definitions, read_text
from ccmatic.controllers import signal

#: What a formula may call.
SCOPE = {name: getattr(math, name) for name in ("exp", "log", "sqrt", "tanh", "cbrt")} | {"max": max, "min": min}


class PlainSender:
    """A sender that measures intervals, remembers registers, and works out formulas.

    files: the formulas' files; measures are found by their names. seconds: the length of an interval. known: numbers
    that are always known, by name.
    """

    def __init__(self, files, seconds, known):
        self.known, self.functions, self.registers = dict(known), {}, {}
        handshake = {"seconds": seconds, "rtt": known["R_m"], "rtt_end": known["R_m"]}
        self.now = self.before = dict.fromkeys(signal.INTERVAL, 0.0) | handshake
        for file in files:
            self._functions(file)

    def measure(self, interval):
        """An interval is over: registers get their next values, those of a file all at once."""
        self.before, self.now = self.now, interval
        self._old, self._updated = dict(self.registers), set()
        for file in [*self.functions]:
            self._update(file)

    def value(self, file, name, **others):
        """Return the result of a file's function after the latest interval."""
        self.known |= others
        return self._call(file, name, self.registers)

    def _functions(self, file):
        if file not in self.functions:
            scope = dict(SCOPE)
            exec(compile(read_text(file), str(file), "exec"), scope)
            self.functions[file] = {name: each for name, each in scope.items() if hasattr(each, "__code__")}
            for name in [each for each in self.functions[file] if each.startswith("first_")]:
                self.registers[file, name.removeprefix("first_")] = self._call(file, name, {})
        return self.functions[file]

    def _update(self, file):
        if file in self._updated:
            return
        self._updated.add(file)
        names = [name for each, name in self.registers if each == file]
        after = {(file, name): self._call(file, f"next_{name}", self._old) for name in names}
        self.registers |= after

    def _call(self, file, name, registers, interval=None):
        function = self._functions(file)[name]
        arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
        return function(*(self._read(file, each, registers, interval) for each in arguments))

    def _read(self, file, name, registers, interval):
        """Return the value of a parameter. `interval` selects the interval of a measure; None is the latest."""
        if (file, name) in registers:
            return registers[file, name]
        if name in self._functions(file):
            return self._call(file, name, registers, interval)
        if name in self.known:
            return self.known[name]
        if name in signal.INTERVAL:
            return (interval or self.now)[name]
        alone = name.removesuffix(signal.BEFORE)
        if alone in signal.INTERVAL:
            return self.before[alone]
        measure = definitions.find_file([signal.MEASURES], alone, ".py")
        if alone != name:
            return self._call(measure, alone, {}, self.before)
        if f"first_{name}" in self._functions(measure):
            self._update(measure)
            return self.registers[measure, name]
        return self._call(measure, name, self.registers, interval)
