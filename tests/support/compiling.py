"""One folder of compiled C for all tests of a session, whatever process compiles."""

import os
import shutil
from pathlib import Path

#: A compiler that copies what was compiled before from the same text, after the preprocessor, with the same options.
#: What it cannot judge, what fails and what is warned of is left to the compiler each time. Renaming is atomic.
SCRIPT = """#!/bin/sh
real={real} store={store}
for argument; do
    case $argument in -[EMS]* | *.[oa] | @*) exec "$real" "$@" ;; esac
done
output= options= is_output= has_source=
for argument; do
    shift
    if [ "$is_output" ]; then
        output=$argument is_output=
        continue
    fi
    case $argument in
        -o) is_output=yes && continue ;;
        -[ID]?*) ;;
        *.c) has_source=yes ;;
        *) options="$options $argument" ;;
    esac
    set -- "$@" "$argument"
done
[ "$output" ] && [ "$has_source" ] || exec "$real" "$@" ${{output:+-o "$output"}}
text=$("$real" -E -P "$@" 2>&1) || exec "$real" "$@" -o "$output"
key=$(printf '%s' "$real $options $text" | sha256sum) && key=$store/${{key%% *}} || exec "$real" "$@" -o "$output"
rm -f "$output"
cp "$key" "$output" 2>/dev/null && exit
said=$("$real" "$@" -o "$output" 2>&1) || failed=$?
if [ "$said" ] || [ "$failed" ]; then
    printf '%s\n' "$said" >&2
    exit $failed
fi
cp "$output" "$key-$$" && mv "$key-$$" "$key"
"""


def compile_once(folder):
    """Let this process, and all that it starts, compile the same C program once; `folder` keeps what is compiled."""
    for name in ("cc", "gcc", "clang"):
        real = shutil.which(name)
        if real:
            script = Path(folder) / name
            script.write_text(SCRIPT.format(real=real, store=folder))
            script.chmod(0o755)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
