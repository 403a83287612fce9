"""Writes the logs of this folder with pm4py; they hold nothing but what is made up here."""

import random
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pandas as pd
import pm4py
from pm4py.objects.log.exporter.xes import exporter
from pm4py.objects.log.obj import Event, EventLog, Trace

HERE = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent


def repairs():
    """A data frame, as most logs are made: texts, times, numbers, truth values, gaps."""
    draw, rows = random.Random(0), []
    for case in range(12):
        time = datetime(2024, 3, 30, 8, tzinfo=UTC) + timedelta(hours=7 * case)
        steps = ["register", *draw.sample(["check", "repair", "test"], 3), "hand over"]
        good = steps.index("repair") < steps.index("test")
        for step in steps:
            rows.append(
                {
                    "case:concept:name": f"job {case}",
                    "case:outcome": "good" if good else "bad",
                    "case:value": draw.randrange(100, 200) / 4,
                    "concept:name": step,
                    "time:timestamp": time,
                    "org:resource": draw.choice(["Ann", "Bob", "Zoë <ops>"]),
                    "lifecycle:transition": "complete",
                    "cost": draw.randrange(5),
                    "urgent": draw.random() < 0.5,
                    "note": None if draw.random() < 0.6 else draw.choice(["a & b", 'so "so"']),
                }
            )
            time += timedelta(minutes=draw.randrange(1, 600), milliseconds=250)
    return pd.DataFrame(rows)


def nested():
    """Objects, as logs with nested attributes, lists and empty traces are made."""
    log = EventLog(attributes={"source": "made up", "year": 2024})
    log.extensions["Concept"] = {
        "prefix": "concept",
        "uri": "http://www.xes-standard.org/concept.xesext",
    }
    log.omni_present["event"] = {"concept:name": "none"}
    log.classifiers["Step and phase"] = ["concept:name", "the phase"]
    zone = timezone(timedelta(hours=-3, minutes=-30))
    for i in range(4):
        trace = Trace(attributes={"concept:name": str(i), "size": 1.5 * i})
        for j in range(i):
            event = Event({"concept:name": "ab"[j % 2], "the phase": "first" if j == 0 else "later"})
            event["time:timestamp"] = datetime(2024, 1, 1 + j, 23, 59, 59, 1000, tzinfo=zone)
            event["place"] = {"value": "hall", "children": {"floor": j, "bay": {"value": "west", "children": {"light": True}}}}
            event["parts"] = {"value": None, "children": [("part", "bolt"), ("part", "nut")]}
            trace.append(event)
        log.append(trace)
    return log


if __name__ == "__main__":
    frame = repairs()
    pm4py.write_xes(frame, str(HERE / "repairs.xes"), case_id_key="case:concept:name")
    exporter.apply(nested(), str(HERE / "nested.xes"))
    exporter.apply(nested(), str(HERE / "nested.xes"), parameters={"compress": True})
    bare = frame[["case:concept:name", "concept:name", "time:timestamp"]].head(15)
    pm4py.write_xes(bare, str(HERE / "bare.xes"), case_id_key="case:concept:name")
