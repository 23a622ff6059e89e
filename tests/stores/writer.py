"""A process that writes until it is told to stop, and prints what was acknowledged, each time after the call."""

from __future__ import annotations

import sys

from holdfast import plugins
from holdfast.testing.builders import make_delivery, make_event, make_lesson, next_version


def main(url: str, name: str, count: int) -> None:
    with plugins.load("stores", url.partition(":")[0], {"url": url, "timeout_s": "60"}) as store:
        print("ready", flush=True)
        for i in range(count):
            id_ = f"{name}-{i}"
            lesson = make_lesson(id=id_, insight=f"writer {name} says {i}", path=f"src/{name}.py")
            store.put([lesson], {})
            print("lesson", id_, flush=True)
            store.append_events([make_event(id=id_, text="x" * 500)])
            print("event", id_, flush=True)
            store.record([make_delivery(id=id_)])
            print("delivery", id_, flush=True)
            if i % 3 == 0:
                store.put([next_version(lesson, pinned=True)], {lesson.id: lesson.recorded_at})
                print("pinned", id_, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
