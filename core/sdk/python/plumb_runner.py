"""A runner in Python: serve(engine) speaks plumb.runner/1 for it. Needs the standard library only.

The protocol is told in core/doc/runner.md. An engine is an object with

    name: str
    version() -> str
    load(path: str, threads: int, options: dict) -> dict    the facts of the loaded model
    forward(keep: int, ids: array of int, taps: list of str, all_rows: bool) -> list of Tensor

and raises Refusal for what is the caller's to repair, before anything has changed. Any other exception ends the runner;
its traceback is shown by the host.
"""

import array
import json
import os
import sys
from dataclasses import dataclass

PROTOCOL = "plumb.runner/1"
LINE_BYTES_MAX = 1 << 20

if sys.byteorder != "little":
    raise SystemExit("plumb.runner/1 carries little-endian tensors; this machine is not little-endian")


class Refusal(Exception):
    """Answered as an error; the session stays as it was.

    code: invalid_argument, invalid_config, not_found, unsupported, corrupt or internal.
    """

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


@dataclass
class Tensor:
    """f32 values in row-major order, as bytes-like data."""

    name: str
    shape: list[int]
    data: object


class Pipe:
    """The two streams of a runner. Whatever else prints goes to standard error."""

    def __init__(self):
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        sys.stdout = sys.stderr

    def request(self) -> tuple[dict, array.array] | None:
        """The next request and its ids; None at the end of the stream."""
        line = self._in.readline(LINE_BYTES_MAX + 1)
        if not line.endswith(b"\n"):
            return None
        request = json.loads(line)
        ids = array.array("i")
        for tensor in request.get("tensors", []):
            data = self._in.read(4 * tensor["shape"][0])
            if len(data) != 4 * tensor["shape"][0]:
                return None
            ids.frombytes(data)
        return request, ids

    def line(self, answer: dict) -> None:
        self.bytes(json.dumps(answer).encode() + b"\n")
        self.flush()

    def bytes(self, data) -> None:
        self._out.write(data)

    def flush(self) -> None:
        self._out.flush()

    def tensors(self, tensors: list[Tensor]) -> None:
        heads = [{"name": t.name, "dtype": "f32", "shape": list(t.shape)} for t in tensors]
        self.line({"tensors": heads})
        for tensor in tensors:
            self.bytes(tensor.data)
        self.flush()

    def error(self, code: str, message: str) -> None:
        self.line({"error": {"code": code, "message": message}})


def option(options: dict, name: str, fallback, choices=None):
    """Takes one option out of the rest."""
    value = options.pop(name, fallback)
    if choices is not None and value not in choices:
        raise Refusal("invalid_config", f"runner.options.{name}: {value!r}, expected one of {', '.join(choices)}")
    return value


def no_more(options: dict, known: list[str]) -> None:
    """Refuses what no one has taken."""
    for name in options:
        raise Refusal("invalid_config", f"runner.options.{name}: unknown, expected one of {', '.join(known)}")


def package_version(package: str, needs: str) -> str:
    """The installed version of a package; needs: the file that lists what to install."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise Refusal(
            "not_found",
            f"{sys.executable} has no package {package}: {sys.executable} -m pip install -r {needs}, "
            "or runner.python names another Python",
        ) from None


def _answer(engine, pipe: Pipe, request: dict, ids) -> None:
    do = request.get("do")
    if do == "hello":
        if request.get("protocol") != PROTOCOL:
            raise Refusal("unsupported", f"{request.get('protocol')!r} is not spoken, only {PROTOCOL}")
        pipe.line({"protocol": PROTOCOL, "engine": engine.name, "engine_version": engine.version()})
    elif do == "load":
        pipe.line(engine.load(request["path"], request["threads"], dict(request["options"])))
    elif do == "forward":
        pipe.tensors(engine.forward(request["keep"], ids, request["taps"], request["logits"] == "all"))
    else:
        raise Refusal("unsupported", f"{do!r} is no request of {PROTOCOL}")


def serve(engine) -> None:
    """Answers requests until `end`, or until the other side is gone."""
    pipe = Pipe()
    while (got := pipe.request()) is not None:
        request, ids = got
        if request.get("do") == "end":
            return
        try:
            _answer(engine, pipe, request, ids)
        except Refusal as refusal:
            pipe.error(refusal.code, str(refusal))
        except BrokenPipeError:
            return
