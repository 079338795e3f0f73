"""`import ccmatic` stays cheap: modules are imported when one of their names is first used."""

import subprocess
import sys


def test_the_package_imports_nothing_of_itself():
    program = "import sys, ccmatic; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"pysmt", "z3", "numpy", "click", "ccmatic.api", "ccmatic.base"} & {*done.stdout.split()}


def test_what_is_offered_is_there_and_nothing_else():
    program = (
        "import ccmatic\n"
        "names = [name for name in dir(ccmatic) if not name.startswith('_')]\n"
        "assert {'verify', 'Network', 'Query', 'synthesise', 'prove', 'check', 'replay', 'check_cover', 'export',\n"
        "        'load_query', 'Trace'} <= {*names}\n"
        "for name in ccmatic.api.__all__: assert getattr(ccmatic, name) is getattr(ccmatic.api, name), name\n"
        "assert callable(ccmatic.export) and callable(ccmatic.verify)\n"
        "assert not hasattr(ccmatic, 'verifyy')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_rerun_of_a_witness_loads_no_solver():
    program = "import sys; from ccmatic import api, judging; judging.rerun_witness, judging.judge; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"pysmt", "z3", "ccmatic.logic", "ccmatic.contracts"} & {*done.stdout.split()}


def test_a_package_offers_what_it_imports_late():
    program = (
        "from importlib import import_module\n"
        "for name in ('api', 'judging', 'worlds.runtime', 'networks.traces'):\n"
        "    package = import_module('ccmatic.' + name)\n"
        "    offered = {each: getattr(package, each) for each in package.__all__}\n"
        "    assert not any(type(value) is type(package) for value in offered.values()), name\n"
        "    assert not hasattr(package, 'nosuch')\n"
        "import ccmatic.judging as j\n"
        "files = __import__('pathlib').Path(j.__file__).parent.glob('*.py')\n"
        "assert not {file.stem for file in files} & {*j.__all__}\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
