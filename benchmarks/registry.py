"""Importing aircraft registries and looking aircraft up: rows per second and ms, by format.

Files of invented aircraft, as many rows as a real registry has. `raw` is what Python's csv module and SQLite
need for the same rows without cleaning or checks: read the ratio to it; times move with the machine.

    make bench    or    .venv/bin/python -m benchmarks.registry --rows 500000
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fieldmark.tools.aircraft.db import AircraftDb
from fieldmark.tools.aircraft.importing import import_sources
from fieldmark.tools.aircraft.n_numbers import FIRST, n_number_of

MODELS = [("BOEING", f"737-{n}00", f"B73{n}") for n in range(2, 9)] + [("CESSNA", "172S", "C172")]
LOOK_UPS = 500


def aircraft(rows: int) -> Iterator[tuple[str, str, str, tuple[str, str, str]]]:
    """(N-number, 24-bit address, serial number, model), spread over the whole US range."""
    chance = random.Random(7)
    for n in range(rows):
        address = (
            FIRST + n * 915_399 // max(rows, 915_399) + (0 if rows > 915_399 else n * 915_398 // rows - n)
        )
        yield n_number_of(address) or "N1", f"{address:06x}", str(10_000 + n), chance.choice(MODELS)


def write_faa(folder: Path, rows: int) -> Path:
    folder = folder / "faa"
    folder.mkdir()
    with (folder / "ACFTREF.txt").open("w", encoding="utf-8-sig") as file:
        file.write("CODE,MFR,MODEL,TYPE-ACFT,\n")
        file.writelines(f"{at:07},{one[0]:30},{one[1]:20},4,\n" for at, one in enumerate(MODELS))
    columns = ["STREET", "CITY", "STATE", "ZIP CODE", "COUNTRY", "STATUS CODE", "EXPIRATION DATE"]
    names = ["N-NUMBER", "SERIAL NUMBER", "MFR MDL CODE", "YEAR MFR", "TYPE REGISTRANT", "NAME", *columns]
    with (folder / "MASTER.txt").open("w", encoding="utf-8-sig") as file:
        file.write(",".join([*names, "MODE S CODE HEX"]) + ",\n")
        for mark, address, serial, one in aircraft(rows):
            known = f"{mark[1:]:5},{serial:30},{MODELS.index(one):07},2001,3,{'AIR LEASING LLC':50},"
            file.write(f"{known}{'1 MAIN ST':33},AUSTIN    ,TX,78701,US,V ,20290131,{address.upper():10},\n")
    return folder


def write_opensky(folder: Path, rows: int) -> Path:
    path = folder / "aircraftDatabase.csv"
    names = "icao24,registration,manufacturericao,manufacturername,model,typecode,serialnumber,linenumber"
    with path.open("w") as file:
        file.write(f"{names},icaoaircrafttype,operator,owner,built,notes,categoryDescription\n")
        for mark, address, serial, one in aircraft(rows):
            file.write(f'{address},{mark},{one[0]},"{one[0]}",{one[1]},{one[2]},{serial},,L2J,,')
            file.write('"Air Leasing, LLC",2001-01-01,,\n')
    return path


def write_tar1090(folder: Path, rows: int) -> Path:
    path = folder / "aircraft.csv.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        for mark, address, _, one in aircraft(rows):
            file.write(f"{address.upper()};{mark};{one[2]};00;{one[0]} {one[1]};2001;Air Leasing\\; LLC;\n")
    return path


def write_fieldmark(folder: Path, rows: int) -> Path:
    path = folder / "own.csv"
    with path.open("w") as file:
        file.write("registration,icao24,serial,type,manufacturer,model,operator,built,source,date\n")
        for mark, address, serial, one in aircraft(rows):
            file.write(f"{mark},{address},{serial},{one[2]},{one[0]},{one[1]},,2001,own,2026-01-31\n")
    return path


def raw(path: Path, target: Path) -> None:
    """The floor: the rows of a CSV as they are into one table with three indexes."""
    connection = sqlite3.connect(target)
    with path.open(newline="") as file:
        reader = csv.reader(file)
        width = len(next(reader))
        connection.execute(f"CREATE TABLE t ({', '.join(f'c{n}' for n in range(width))})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * width)})", reader)
    for column in (0, 1, 2):
        connection.execute(f"CREATE INDEX i{column} ON t (c{column})")
    connection.commit()
    connection.close()


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def look_up(path: Path, rows: int) -> dict[str, tuple[float, float]]:
    """Kind of query -> median and 99th percentile of its ms."""
    registry = AircraftDb.open(path)
    known = random.Random(1).sample(list(aircraft(rows)), min(LOOK_UPS, rows))
    queries = {
        "registration": [one[0] for one in known],
        "24-bit address": [one[1] for one in known],
        "serial": [f"serial:{one[2]}" for one in known],
        "misread": [one[0][:1] + one[0][1:].translate(str.maketrans("0158", "OISB")) for one in known],
        "unknown": [f"D-A{mark[-3:]}" for mark, *_ in known],
    }
    found = {}
    for kind, texts in queries.items():
        times = [1000 * seconds(lambda text=text: registry.lookup(text)) for text in texts]  # type: ignore[misc]
        found[kind] = (statistics.median(times), statistics.quantiles(times, n=100)[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    rows = parser.parse_args().rows
    console = Console(width=110)
    speeds = Table("file", "rows", "seconds", "rows / s", "time over raw")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        every = folder / "all.sqlite"
        own = write_fieldmark(folder, rows)
        floor = seconds(lambda: raw(own, folder / "raw.sqlite"))
        speeds.add_row("raw", f"{rows:,}", f"{floor:.1f}", f"{rows / floor:,.0f}", "1.0 x")
        for write in (write_faa, write_opensky, write_tar1090, write_fieldmark):
            path = own if write is write_fieldmark else write(folder, rows)
            spent = seconds(lambda path=path: import_sources([path], folder / f"{path.name}.sqlite"))  # type: ignore[misc]
            speeds.add_row(
                path.name, f"{rows:,}", f"{spent:.1f}", f"{rows / spent:,.0f}", f"{spent / floor:.1f} x"
            )
            if write is not write_fieldmark:
                import_sources([path], every)
        spent = seconds(lambda: import_sources([own], every))
        speeds.add_row("4th source of one file", f"{rows:,}", f"{spent:.1f}", f"{rows / spent:,.0f}", "")
        spent = seconds(lambda: import_sources([own], every))
        speeds.add_row("the same again", f"{rows:,}", f"{spent:.1f}", f"{rows / spent:,.0f}", "")
        console.print(speeds)
        looks = Table("look-up", "one source: median ms", "p99 ms", "four sources: median ms", "p99 ms")
        one, four = look_up(folder / f"{own.name}.sqlite", rows), look_up(every, rows)
        for kind in one:
            looks.add_row(kind, *(f"{value:.2f}" for value in (*one[kind], *four[kind])))
        console.print(looks)
        console.print(f"four sources: {every.stat().st_size / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
